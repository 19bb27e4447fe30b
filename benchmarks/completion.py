"""Record completion on the bundled Adult: memory of releases of several generators, over seeds.

python -m benchmarks.completion 0-4 [GENERATOR ...]   5,000 real, published and holdout people; what is known are the keys
"""

import sys
import time

import numpy as np

import unmask
from unmask.metrics.completing.combined import COMBINED
from unmask.metrics.completing.completion import completion

GENERATORS = ("fresh", "raw", "cart", "copula", "bayesnet", "privbayes:epsilon=1")
ROWS = 5_000


def completed(generator: str, seed: int):
    """A release of the generator, or other people for `fresh`, and what it completes."""
    table, rng = unmask.datasets.adult(), np.random.default_rng(seed)
    order = rng.permutation(len(table))
    real, holdout, fresh = (table.take(order[place * ROWS : (place + 1) * ROWS]) for place in range(3))
    release = fresh if generator == "fresh" else unmask.generators.parse(generator).fit(real, rng).sample(ROWS, rng)
    return completion(real, release, known=table.schema.keys, holdout=holdout, rng=rng)


def main(seeds: str = "0", *generators: str) -> None:
    """A line for each generator and seed."""
    first, _, last = seeds.partition("-")
    for generator in generators or GENERATORS:
        for seed in range(int(first), int(last or first) + 1):
            began = time.process_time()
            found = completed(generator, seed)
            memory, control, (mine, theirs) = found.memory(), found.control(), found.records()
            interval = f"({memory.low:+.3f} to {memory.high:+.3f})"
            parts = " ".join(f"{name} {found.share(name).value:.3f}" for name in found.attacks if name != COMBINED)
            print(
                f"{generator:20} seed {seed}: completed {found.share().value:.3f} ({parts}), holdout {control.value:.3f}, "
                f"without {found.without_release().value:.3f}; memory {memory.value:+.3f} {interval}, "
                f"p {found.p_value(np.random.default_rng(seed)):.4f}; records {mine.successes.mean():.4f}, holdout "
                f"{theirs.successes.mean():.4f}, p {found.records_p_value():.2g}; CPU {time.process_time() - began:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
