"""Small audits of every kind, through the public functions, for fixed seeds: what a change of structure must not change.

`python -m tests.golden.cases [NAME ...]` freezes them anew; CHANGELOG.md says why under *Changed numbers*.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

import unmask
from unmask.audits.demo import demo
from unmask.audits.foreign.audit import attack_pool
from unmask.audits.foreign.export import export_pool

FROZEN = Path(__file__).parent / "frozen"
ATTACKS = (  # all of the time when the results were frozen
    "naive", "histogram", "correlation", "groundhog", "queries", "synthetic-predictor", "linear", "record-linkage",
    "closest-record", "local-neighbourhood", "density", "density-ratio", "gen-lra", "marginal-ratio", "likelihood",
)  # fmt: skip


def people(count: int, start: int = 0) -> unmask.Table:
    """Some people of Adult with public domains, four keys and a secret."""
    table = unmask.datasets.adult()
    schema = replace(table.schema, keys=("age", "sex", "race", "marital-status"), secrets=("income",))
    return replace(table.take(np.arange(start, start + count)), schema=schema)


def made(generator: str, real: unmask.Table, rows: int, seed: int = 1) -> unmask.Table:
    """A release of a generator."""
    rng = np.random.default_rng(seed)
    return unmask.generators.parse(generator).fit(real, rng).sample(rows, rng)


def release(workers: int) -> unmask.Result:
    real, holdout = people(500), people(500, 500)
    return unmask.audit(real, made("cart", real, 500), holdout=holdout, seed=1, workers=workers)


def release_sets(workers: int) -> unmask.Result:
    """Two sets, an inferred schema, numeric and other secrets, persons with several rows."""
    frame = people(400).to_pandas()
    frame["who"] = [f"p{row // 2}" for row in range(len(frame))]
    schema = unmask.read_table(frame).schema
    schema = replace(schema, columns=tuple(c for c in schema.columns if c.name != "who"), person="who", identifiers=())
    real, holdout = (unmask.read_table(part, schema) for part in (frame[:200], frame[200:]))
    sets = [made("independent", replace(real, persons=None), 150, seed) for seed in (1, 2)]
    return unmask.audit(real, sets, holdout=holdout, secrets=["age", "income"], keys=["sex", "race"], workers=workers)


def release_without_holdout(workers: int) -> unmask.Result:
    real = people(300).to_pandas()
    return unmask.audit(real, [real[:200]], secrets=["income"], seed=3, workers=workers)


def release_shifted(workers: int) -> unmask.Result:
    """Real table and holdout differ by themselves."""
    frame = people(1200).to_pandas().sort_values("age", kind="stable")
    schema = people(1).schema
    real, holdout = (unmask.read_table(part, schema) for part in (frame[:600], frame[600:]))
    return unmask.audit(real, real.take(np.arange(0, 600, 2)), holdout=holdout, workers=workers)


def attack(workers: int) -> unmask.Result:
    sizes = {"targets": "isolated:2+random:2", "shadows": 24, "tests": 24, "train_rows": 120}
    return unmask.attack("bayesnet", people(400), attacks=ATTACKS, seed=1, workers=workers, **sizes)


def attack_claim(workers: int) -> unmask.Result:
    """White box, exact knowledge, a claim with a limit."""
    chosen = {
        "targets": "rare:2",
        "shadows": 12,
        "tests": 16,
        "train_rows": 100,
        "access": "white-box",
        "knowledge": "exact",
    }
    attacks = ("likelihood", "marginal-ratio", "naive", "closest-record:metric=hamming")
    return unmask.attack(
        "privbayes",
        people(300),
        settings=("epsilon=1",),
        placement="append",
        attacks=attacks,
        workers=workers,
        **chosen,
    )


def attack_category(workers: int) -> unmask.Result:
    chosen = {"goal": "attribute", "secret": "income", "secret_values": "uniform", "targets": "unlikely:2"}
    sizes = {"shadows": 16, "tests": 16, "train_rows": 100}
    return unmask.attack("cart", people(300), attacks=ATTACKS, workers=workers, isolate_targets=True, **chosen, **sizes)


def attack_number(workers: int) -> unmask.Result:
    """Knowledge of nobody, a numeric secret, an uncertain box."""
    chosen = {"goal": "attribute", "secret": "age", "targets": "rows:3,17", "knowledge": "none"}
    boxed = {"access": "uncertain-box", "possible": ("independent", "bayesnet")}
    sizes = {"shadows": 12, "tests": 12, "train_rows": 80}
    attacks = ("synthetic-predictor:model=linear", "record-linkage", "linear", "queries:order=1")
    return unmask.attack("independent", people(300), workers=workers, attacks=attacks, **chosen, **boxed, **sizes)


def everyone(workers: int) -> unmask.Result:
    asked = {"secrets": ("income", "age"), "redraw_secrets": True, "confirm": 2, "confirm_runs": 40}
    return unmask.everyone("copycat:p=0.3", people(150), runs=24, groups=("sex",), seed=1, workers=workers, **asked)


def everyone_paired(workers: int) -> unmask.Result:
    return unmask.everyone(
        "privbayes", people(121), settings=("epsilon=1",), runs=18, access="white-box", confirm=1, confirm_runs=24,
        coins="paired", workers=workers,
    )  # fmt: skip


def everyone_boosted(workers: int) -> unmask.Result:
    frame = people(160).to_pandas()
    chosen = {"scorer": "boosted", "prediction_errors": True, "subsample": 120}
    return unmask.everyone("bayesnet", frame, runs=16, workers=workers, **chosen)


def pool(workers: int) -> unmask.Result:
    """A generator that runs elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        export_pool(people(100), folder, runs=16, seed=2, claim="epsilon=3")
        for train in sorted(Path(folder, "train").glob("*.csv")):
            shown = pd.read_csv(train, dtype=str, keep_default_na=False)
            shown.sample(50, replace=True, random_state=int(train.stem[-4:])).to_csv(
                Path(folder, "synthetic", train.name), index=False
            )
        return attack_pool(folder, name="lender", secrets=("income",), workers=workers)


def epsilon(workers: int) -> unmask.Result:
    return unmask.audit_epsilon("histogram:epsilon=1", runs=160, seed=1, workers=workers)


def epsilon_canary(workers: int) -> unmask.Result:
    return unmask.audit_epsilon("privbayes:epsilon=1", table=people(60), runs=48, synthetic_rows=200, workers=workers)


def epsilon_refuted(workers: int) -> unmask.Result:
    claim = unmask.Claim(epsilon=0.3)
    return unmask.audit_epsilon("independent", claim=claim, pairs="tiny", runs=80, access="black-box", workers=workers)


def noisy_count(table: unmask.Table, rng: np.random.Generator) -> float:
    return len(table) + rng.laplace(0, 1)


def epsilon_mechanism(workers: int) -> unmask.Result:
    return unmask.audit_epsilon(
        noisy_count, claim=unmask.Claim(epsilon=0.9), runs=120, stop_early=False, workers=workers
    )


def epsilon_carried(workers: int) -> unmask.Result:
    with tempfile.TemporaryDirectory() as folder:
        for carry_on in (False, True):
            result = unmask.audit_epsilon(
                "mst:epsilon=1",
                pairs="narrow",
                runs=40,
                synthetic_rows=100,
                out=folder,
                carry_on=carry_on,
                workers=workers,
            )
            unmask.write(result, Path(folder, str(carry_on)))
        return result


def describe(workers: int) -> unmask.Result:
    return unmask.describe(people(300), seed=1, workers=workers)


def demonstration(workers: int) -> unmask.Result:
    return demo(seed=1, workers=workers)


CASES: dict[str, Callable[[int], unmask.Result]] = {
    case.__name__.replace("_", "-"): case
    for case in (
        release, release_sets, release_without_holdout, release_shifted, attack, attack_claim, attack_category,
        attack_number, everyone, everyone_paired, everyone_boosted, pool, epsilon, epsilon_canary, epsilon_refuted,
        epsilon_mechanism, epsilon_carried, describe, demonstration,
    )
}  # fmt: skip


def frozen(name: str) -> dict:
    """What a case gave when it was frozen: the result, and its records apart."""
    return json.loads((FROZEN / f"{name}.json").read_text())


def plain_of(result: unmask.Result) -> dict:
    """A result with its records as JSON-ready data, without the versions of this machine."""
    records = None if result.records is None else [list(result.records.columns), *map(list, result.records.rows)]
    plain = {name: value for name, value in result.to_plain().items() if name != "versions"}
    return json.loads(json.dumps({"result": plain, "records": records}))


def freeze(names: list[str]) -> None:
    FROZEN.mkdir(exist_ok=True)
    for name in names or CASES:
        lines = json.dumps(plain_of(CASES[name](1)), ensure_ascii=False).replace("}, {", "},\n {")
        (FROZEN / f"{name}.json").write_text(lines + "\n")
        sys.stdout.write(f"{name}\n")


if __name__ == "__main__":
    freeze(sys.argv[1:])
