"""One fit and one sample of a peer, timed: runs in the peer's own environment, so it imports nothing of unmask.

    python _generator_peers.py job.json

The job names the peer, the training files (values.csv as a person would load it, codes.csv with every number binned), the
domain sizes, rows, epsilon, and the files to write to. CPU seconds are those of all processes and threads.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import tempfile

import numpy as np
import pandas as pd

SLOW = 120.0  # a run this long is not repeated


def data_synthesizer(job: dict) -> pd.DataFrame:
    """PrivBayes on categories. It infers domains from the data, and its noise is half of what it must be."""
    from DataSynthesizer.DataDescriber import DataDescriber
    from DataSynthesizer.DataGenerator import DataGenerator

    columns = [f"c{position}" for position in range(len(job["sizes"]))]
    with tempfile.TemporaryDirectory() as folder:
        describer = DataDescriber(category_threshold=10**6)
        describer.describe_dataset_in_correlated_attribute_mode(
            job["codes"],
            k=job["degree"],
            epsilon=job["epsilon"],
            attribute_to_datatype=dict.fromkeys(columns, "Integer"),
            attribute_to_is_categorical=dict.fromkeys(columns, True),
            attribute_to_is_candidate_key=dict.fromkeys(columns, False),
        )
        describer.save_dataset_description_to_file(f"{folder}/description.json")
        generator = DataGenerator()
        generator.generate_dataset_in_correlated_attribute_mode(job["rows"], f"{folder}/description.json")
    return generator.synthetic_dataset[columns]


def mbi(job: dict) -> pd.DataFrame:
    """MST by McKenna's steps on mbi 2.0, which ships the inference only. Rows are drawn one by one, as ours are."""
    import jax

    jax.config.update("jax_enable_x64", True)
    from mbi import Dataset, Domain, LinearMeasurement
    from mbi.estimation import MirrorDescent

    rng = np.random.default_rng(job["seed"])
    frame = pd.read_csv(job["codes"])
    data = Dataset({name: frame[name].to_numpy() for name in frame}, Domain(list(frame), job["sizes"]))

    def measure(source: Dataset, cliques: list) -> list:
        spread = job["sigma"] * np.sqrt(len(cliques))
        counts = [source.project(clique).datavector() for clique in cliques]
        return [
            LinearMeasurement(c + rng.normal(0, spread, c.size), q, spread)
            for c, q in zip(counts, cliques, strict=True)
        ]

    singles = measure(data, [(name,) for name in frame])
    mapping = {}
    for measured in singles:
        seen = np.asarray(measured.noisy_measurement) >= 3 * measured.stddev
        if not seen.all():
            mapping[measured.clique[0]] = np.where(seen, np.cumsum(seen) - 1, seen.sum())
    small = data.compress(mapping)
    singles = [measured.compress(mapping, data.domain) for measured in singles]
    rough = MirrorDescent().estimate(small.domain, singles, iters=2500)
    pairs = list(itertools.combinations(frame, 2))
    scores = {p: np.abs(small.project(p).datavector() - rough.project(p).datavector()).sum() for p in pairs}
    part, edges = {name: name for name in frame}, []
    epsilon = np.sqrt(8 * job["rho"] / 3 / (len(part) - 1))
    while len(edges) < len(part) - 1:
        free = [pair for pair in pairs if part[pair[0]] != part[pair[1]]]
        best = free[int(np.argmax([epsilon * scores[pair] / 2 + rng.gumbel() for pair in free]))]
        edges.append(best)
        old, new = (part[name] for name in best)
        part = {name: new if where == old else where for name, where in part.items()}
    model = MirrorDescent().estimate(small.domain, singles + measure(small, edges), iters=job["iterations"])
    return pd.DataFrame(model.synthetic_data(job["rows"], method="sample").decompress(mapping).data)[list(frame)]


def synthpop(job: dict) -> pd.DataFrame:
    """CART of py-synthpop (needs pandas below 2)."""
    from synthpop import Synthpop

    frame = pd.read_csv(job["values"])
    kinds = {name: "category" if frame[name].dtype == object else "int" for name in frame}
    model = Synthpop()
    model.fit(frame.astype({name: kind for name, kind in kinds.items() if kind == "category"}), kinds)
    return model.generate(job["rows"])


def sdv(job: dict) -> pd.DataFrame:
    """The Gaussian copula of SDV."""
    import sdv
    from sdv.metadata import Metadata
    from sdv.single_table import GaussianCopulaSynthesizer

    frame = pd.read_csv(job["values"])
    kinds = {name: {"sdtype": "categorical" if frame[name].dtype == object else "numerical"} for name in frame}
    document = {"METADATA_SPEC_VERSION": "SINGLE_TABLE_V1", "columns": kinds}
    model = GaussianCopulaSynthesizer(Metadata.load_from_dict(document, "table"))
    named = int(sdv.__version__.split(".")[0]) >= 2
    model.fit({"table": frame} if named else frame)
    sampled = model.sample(num_rows=job["rows"])
    return sampled["table"] if named else sampled


PEERS = {"DataSynthesizer": data_synthesizer, "mbi": mbi, "synthpop": synthpop, "sdv": sdv}


def cpu() -> float:
    """CPU seconds of this process and of its finished children."""
    return sum(os.times()[:4])


def main() -> None:
    """Run the job; the least of two runs counts, the first of which warms up caches and compilers."""
    with open(sys.argv[1]) as file:
        job = json.load(file)
    times: list[float] = []
    while len(times) < 2 and not (times and times[0] > SLOW):
        start = cpu()
        frame = PEERS[job["peer"]](job)
        times.append(cpu() - start)
    frame.to_csv(job["out"], index=False)
    with open(job["result"], "w") as file:
        json.dump({"seconds": min(times), "runs": len(times)}, file)


if __name__ == "__main__":
    main()
