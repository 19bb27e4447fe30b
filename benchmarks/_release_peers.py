"""What peers take for the measures of a release, timed: runs in a peer's own environment, so it imports nothing of unmask.

    python _release_peers.py job.json

The job names the peer, the files of real, synthetic and holdout rows, the columns that are categories, and the file to write
to. CPU seconds are those of all processes and threads, without imports and reading; everything runs once.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd

Tables = dict[str, pd.DataFrame]


def anonymeter(tables: Tables, job: dict[str, Any]) -> dict[str, float]:
    """Its three criteria, with control and baseline: the calls of `_release_legal`."""
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    attacks, secret = job["attacks"], job["secret"]
    real, synthetic, holdout = (tables[name] for name in ("real", "synthetic", "holdout"))
    keys = [name for name in real if name != secret]
    names = list(real)
    halves = names[: len(names) // 2], names[len(names) // 2 :]
    common = {"ori": real, "syn": synthetic, "control": holdout, "n_attacks": attacks}
    return {
        "singling out, univariate": timed(lambda: SinglingOutEvaluator(**common).evaluate(mode="univariate")),
        "singling out, multivariate": timed(lambda: SinglingOutEvaluator(**common).evaluate(mode="multivariate")),
        "linking": timed(lambda: LinkabilityEvaluator(**common, aux_cols=halves, n_neighbors=1).evaluate(n_jobs=1)),
        "inferring": timed(lambda: InferenceEvaluator(**common, aux_cols=keys, secret=secret).evaluate(n_jobs=1)),
    }


def mostlyai(tables: Tables, job: dict[str, Any]) -> dict[str, float]:
    """IMS, DCR, NNDR and the share: rows as numbers, then its searches (all columns, and six groups of them)."""
    from mostlyai.qa import _distances, _sampling

    def run() -> None:
        rows = _sampling.prepare_data_for_embeddings(
            syn_tgt_data=tables["synthetic"], trn_tgt_data=tables["real"], hol_tgt_data=tables["holdout"]
        )
        _distances.calculate_distances(syn_embeds=rows[0], trn_embeds=rows[1], hol_embeds=rows[2])

    return {"distances": timed(run)}


def syntheval(tables: Tables, job: dict[str, Any]) -> dict[str, float]:
    """DCR and NNDR, on the rows that its memory allows; it takes no missing values."""
    from syntheval import SynthEval

    real, synthetic = (tables[name].fillna(0).head(job["rows"]) for name in ("real", "synthetic"))
    made = SynthEval(real, cat_cols=job["categories"], verbose=False)
    return {"distances": timed(lambda: made.evaluate(synthetic, dcr={}, nndr={}))}


PEERS: dict[str, Callable[[Tables, dict[str, Any]], dict[str, float]]] = {
    "anonymeter": anonymeter,
    "mostlyai": mostlyai,
    "syntheval": syntheval,
}


def timed(call: Callable[[], object]) -> float:
    """CPU seconds of this process and of its finished children."""
    before = os.times()
    call()
    after = os.times()
    return sum(after[:4]) - sum(before[:4])


def main() -> None:
    """Run the job."""
    warnings.simplefilter("ignore")
    with open(sys.argv[1]) as file:
        job = json.load(file)
    kinds = dict.fromkeys(job["categories"], str)
    tables = {name: pd.read_csv(job[name], dtype=kinds) for name in ("real", "synthetic", "holdout")}
    began = time.perf_counter()
    seconds = PEERS[job["peer"]](tables, job)
    with open(job["result"], "w") as file:
        json.dump({"seconds": seconds, "wall": time.perf_counter() - began}, file)


if __name__ == "__main__":
    main()
