"""MST built on McKenna's mbi (2.0 or later), for an interpreter that has it: what ours is compared with.

    .venv/bin/python benchmarks/_peer_mst.py prepare table.csv codes.npz 5000
    mbi-venv/bin/python benchmarks/_peer_mst.py codes.npz 1 1000      epsilon, steps of mirror descent

Prints CPU seconds of the fit, then the mean total variation of 1-way and of 2-way marginals between the training rows and
50,000 sampled ones. Needs numpy and mbi only; imports nothing of unmask but to prepare.
"""

from __future__ import annotations

import itertools
import math
import sys
import time

import numpy as np

DELTA = 1e-9
EPSILONS = (1.0, 10.0)
ROWS = 50_000


def prepare(table: str, target: str, rows: int) -> None:
    """Codes of the first so many rows of a shuffled table, domain sizes, and the budget of each epsilon."""
    from unmask.stats.zcdp import rho_from
    from unmask.tables.read import read_table

    whole = read_table(table)
    taken = whole.take(np.random.default_rng(1).choice(len(whole), rows, replace=False))
    rhos = [rho_from(epsilon, DELTA) for epsilon in EPSILONS]
    np.savez(target, codes=taken.codes, sizes=whole.schema.sizes, rhos=rhos)


def count(columns: dict[str, np.ndarray], sizes: dict[str, int], names: tuple[str, ...]) -> np.ndarray:
    """Counts of these columns' combinations."""
    counts = np.zeros([sizes[name] for name in names])
    np.add.at(counts, tuple(columns[name] for name in names), 1)
    return counts


def measure(columns, sizes, groups, sigma, rng):
    """Gaussian noise on every cell of these marginals, the budget shared equally."""
    import mbi

    spread = sigma * math.sqrt(len(groups))
    noisy = [count(columns, sizes, names) for names in groups]
    noisy = [counts + rng.normal(0, spread, counts.shape) for counts in noisy]
    return [mbi.LinearMeasurement(y.ravel(), names, stddev=spread) for y, names in zip(noisy, groups, strict=True)]


def choose(model, columns, sizes, rho, rng) -> list[tuple[str, str]]:
    """The spanning tree by the exponential mechanism on the distance from independence."""
    scores = {}
    for pair in itertools.combinations(sizes, 2):
        expected = np.asarray(model.project(pair).datavector(flatten=False))
        scores[pair] = np.abs(count(columns, sizes, pair) - expected).sum()
    epsilon = math.sqrt(8 * rho / 3 / (len(sizes) - 1))
    part = {name: name for name in sizes}
    edges: list[tuple[str, str]] = []
    while len(edges) < len(sizes) - 1:
        left = [pair for pair in scores if part[pair[0]] != part[pair[1]]]
        weights = np.array([epsilon / 2 * scores[pair] for pair in left])
        a, b = left[int(np.argmax(weights + rng.gumbel(size=len(left))))]
        edges.append((a, b))
        part = {name: part[a] if old == part[b] else old for name, old in part.items()}
    return edges


def synthesize(codes: np.ndarray, sizes: np.ndarray, rho: float, steps: int, seed: int) -> tuple[np.ndarray, float]:
    """Sampled codes, and the CPU seconds of the fit."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import mbi

    begin = time.process_time()
    rng = np.random.default_rng(seed)
    sigma = math.sqrt(3 / (2 * rho))
    names = [f"c{j:03d}" for j in range(len(sizes))]
    domain = dict(zip(names, map(int, sizes), strict=True))
    columns = {name: codes[:, j] for j, name in enumerate(names)}
    singles = measure(columns, domain, [(name,) for name in names], sigma, rng)
    cell_of = {}
    for measurement in singles:
        common = np.asarray(measurement.noisy_measurement) >= 3 * measurement.stddev
        cell_of[measurement.clique[0]] = np.where(common, np.cumsum(common) - 1, common.sum())
    singles = [measurement.compress(cell_of, mbi.Domain.fromdict(domain)) for measurement in singles]
    cells = {name: cell_of[name][columns[name]] for name in names}
    merged = {name: int(cell_of[name].max()) + 1 for name in names}
    estimator = mbi.estimation.MirrorDescent()
    independent = estimator.estimate(mbi.Domain.fromdict(merged), singles, iters=1000)
    pairs = measure(cells, merged, choose(independent, cells, merged, rho, rng), sigma, rng)
    model = estimator.estimate(mbi.Domain.fromdict(merged), singles + pairs, iters=steps)
    seconds = time.process_time() - begin
    drawn = model.synthetic_data(rows=ROWS, method="sample").to_dict()
    sampled = np.empty((ROWS, len(names)), dtype=np.int64)
    for j, name in enumerate(names):
        for cell in range(merged[name]):
            hit = np.flatnonzero(np.asarray(drawn[name]) == cell)
            sampled[hit, j] = rng.choice(np.flatnonzero(cell_of[name] == cell), len(hit))
    return sampled, seconds


def variation(one: np.ndarray, other: np.ndarray, sizes: np.ndarray, order: int) -> float:
    """Mean total variation of all marginals of this order."""
    distances = []
    for at in itertools.combinations(range(len(sizes)), order):
        shares = []
        for codes in (one, other):
            counts = np.zeros(sizes[list(at)])
            np.add.at(counts, tuple(codes[:, j] for j in at), 1)
            shares.append(counts / len(codes))
        distances.append(0.5 * np.abs(shares[0] - shares[1]).sum())
    return float(np.mean(distances))


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        stored = np.load(sys.argv[1])
        budget = float(stored["rhos"][EPSILONS.index(float(sys.argv[2]))])
        sampled, seconds = synthesize(stored["codes"], stored["sizes"], budget, int(sys.argv[3]), seed=0)
        errors = [variation(stored["codes"], sampled, stored["sizes"], order) for order in (1, 2)]
        print(f"{seconds:.1f} {errors[0]:.4f} {errors[1]:.4f}")
