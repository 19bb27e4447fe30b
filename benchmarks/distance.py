"""Nearest neighbours, one thread: nanoseconds per pair of rows, beside scikit-learn's brute force and a naive loop."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from benchmarks._timing import cpu_seconds, line
from unmask.tables.distance import (
    Euclid,
    Gower,
    Hamming,
    Metric,
    Nearest,
    RankCriterion,
    Ranks,
    all_nearest,
    count_within,
    kth_distances,
    nearest,
)
from unmask.tables.matching import By, count_matches
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

ROWS, CATEGORIES, NUMBERS = 20_000, 9, 6
PEER_ROWS = 1_000  # queries for scikit-learn and for the slower metrics: all are linear in the queries

SCHEMA = Schema(
    tuple(Column(f"c{i}", Kind.CATEGORICAL, values=tuple(map(str, range(5 + 3 * i)))) for i in range(CATEGORIES))
    + tuple(Column(f"x{i}", Kind.CONTINUOUS, lower=-3.0, upper=3.0, missing=("",)) for i in range(NUMBERS))
)


def people(rows: int, seed: int) -> Table:
    """Rows with skewed categories, clipped Gaussian numbers and 2 % missing ones."""
    rng = np.random.default_rng(seed)
    codes = np.empty((rows, len(SCHEMA.columns)), dtype=SCHEMA.code_type, order="F")
    numbers = np.asfortranarray(rng.normal(size=(rows, NUMBERS)).clip(-3, 3))
    numbers[rng.random(numbers.shape) < 0.02] = np.nan
    for position, column in enumerate(SCHEMA.columns):
        if column.is_numeric:
            values = numbers[:, position - CATEGORIES]
            codes[:, position] = np.where(np.isnan(values), column.missing_code, column.bin_of(values))
        else:
            codes[:, position] = (rng.random(rows) ** 2 * column.size).astype(np.uint8)
    return Table(SCHEMA, codes, numbers)


def naive(queries: Table, candidates: Table, k: int, metric: Metric) -> Nearest:
    """One query after the other, column by column, everything sorted."""
    distances, rows = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.int64)
    counted = range(CATEGORIES) if isinstance(metric, Gower) else range(CATEGORIES + NUMBERS)
    for row in range(len(queries)):
        sums = np.zeros(len(candidates))
        for position in counted:
            sums += candidates.codes[:, position] != queries.codes[row, position]
        if isinstance(metric, Gower):
            for i in range(NUMBERS):
                a, b = queries.numbers[row, i], candidates.numbers[:, i]
                gap = np.minimum(np.abs(b - a) * (1 / 6.0), 1)
                sums += np.where(np.isnan(gap), np.isnan(a) != np.isnan(b), gap)
            sums /= CATEGORIES + NUMBERS
        rows[row] = np.argsort(sums, kind="stable")[:k]
        distances[row] = sums[rows[row]]
    return Nearest(distances, rows)


def check(found: Nearest, queries: Table, candidates: Table, metric: Metric) -> None:
    """Stop unless the first 200 queries equal the naive loop bit for bit."""
    expected = naive(queries.take(range(200)), candidates, found.rows.shape[1], metric)
    if not np.array_equal(expected.rows, found.rows[:200]) or not np.array_equal(
        expected.distances, found.distances[:200]
    ):
        raise SystemExit(f"{metric} differs from the naive loop")


def peer_seconds(queries: np.ndarray, candidates: np.ndarray, metric: str) -> float:
    """scikit-learn, brute force, one thread, two neighbours."""
    with threadpool_limits(1):
        search = NearestNeighbors(n_neighbors=2, algorithm="brute", metric=metric, n_jobs=1).fit(candidates)
        return cpu_seconds(lambda: search.kneighbors(queries), repeat=3)


def show(what: str, seconds: float, queries: int, *, most: float | None = None, peer: float | None = None) -> None:
    """One line: nanoseconds per pair, the bar, and how many times longer the peer takes per pair."""
    per_pair = seconds / queries / ROWS * 1e9
    bar = "" if most is None else f"{'met' if per_pair <= most else 'MISSED'}: at most {most} ns"
    against = "" if peer is None else f"scikit-learn takes {peer / PEER_ROWS * queries / seconds:.1f} x as long"
    line(f"{what}: {per_pair:.2f} ns per pair", seconds, bar=bar, against=against)


def kth() -> None:
    """k-th distances at the sizes at which an audit asks for them, all of one call included, beside `nearest(k=20)`."""
    for rows, total, bars in ((2_000, 1_000, (1.0, 2.5)), (10_000, 5_000, (0.8, 1.6))):
        queries, candidates = people(rows, 1), people(total, 2)
        for metric, most in zip((Hamming(), Gower()), bars, strict=True):
            found = kth_distances(queries, candidates, metric=metric)
            lists = nearest(queries, candidates, k=20, metric=metric).distances
            if not np.array_equal(found, lists[:, [0, 4, 19]]):
                raise SystemExit(f"k-th distances by {metric} differ from nearest")
            seconds = cpu_seconds(lambda q=queries, c=candidates, m=metric: kth_distances(q, c, metric=m), repeat=5)
            longer = cpu_seconds(lambda q=queries, c=candidates, m=metric: nearest(q, c, k=20, metric=m), repeat=2)
            per_pair = seconds / rows / total * 1e9
            line(
                f"{type(metric).__name__} k-th (1, 5, 20), {rows:,} x {total:,}: {per_pair:.2f} ns per pair",
                seconds,
                bar=f"{'met' if per_pair <= most else 'MISSED'}: at most {most} ns",
                against=f"nearest(k=20) takes {longer / seconds:.1f} x as long",
            )


def euclid_widths() -> None:
    """Euclid on independent Gaussian columns, the hardest case for boxes, and on columns of three common causes, an easy one."""
    rng, metric = np.random.default_rng(0), Ranks(RankCriterion.EUCLID)
    for width in (2, 10, 50):
        for what, causes in (("independent", None), ("3 causes", rng.normal(size=(3, width)))):
            queries, candidates = (
                rng.normal(size=(rows, width)) if causes is None
                else rng.normal(size=(rows, 3)) @ causes + 0.1 * rng.normal(size=(rows, width))
                for rows in (PEER_ROWS, ROWS)
            )  # fmt: skip
            peer = peer_seconds(queries, candidates, "euclidean")
            seconds = cpu_seconds(lambda q=queries, c=candidates: nearest(q, c, k=2, metric=metric), repeat=3)
            show(f"Euclid k=2, {width} columns, {what}", seconds, PEER_ROWS, peer=peer)


def peak_memory() -> None:
    """Run 100,000 x 100,000 in a process of its own and print how far its memory rises."""
    code = "from benchmarks.distance import measure_memory; measure_memory()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    verdict = "met" if after < 500 else "MISSED"
    print(f"  Hamming k=2, 100,000 x 100,000: {after - before} MB above the {before} MB of Python with both tables;")
    print(f"  peak of the whole process {after} MB{'':<55}{verdict}: under 500 MB")


def measure_memory() -> None:
    """Print the peak memory of this process (MB) before and after, the compiler warmed up and both tables in memory."""
    queries, candidates = people(100_000, 1), people(100_000, 2)
    nearest(queries.take(range(10)), candidates.take(range(10)), k=2)
    before = _peak()
    nearest(queries, candidates, k=2, workers=2)
    print(before, _peak())


def _peak() -> int:
    with open("/proc/self/status") as status:  # unlike getrusage, not inherited from the parent
        return next(int(entry.split()[1]) // 1024 for entry in status if entry.startswith("VmHWM"))


def main() -> None:
    """Print everything; about a minute."""
    queries, candidates = people(ROWS, 1), people(ROWS, 2)
    part = queries.take(range(PEER_ROWS))
    euclid = Euclid.fitted_to(candidates)
    check(nearest(queries, candidates, k=2), queries, candidates, Hamming())
    check(nearest(part, candidates, k=2, metric=Gower()), queries, candidates, Gower())
    print(
        f"  {ROWS:,} candidates x {CATEGORIES + NUMBERS} columns ({NUMBERS} numeric); Hamming and Gower equal the naive loop"
    )

    peer = peer_seconds(part.codes, candidates.codes, "hamming")
    seconds = cpu_seconds(lambda: nearest(queries, candidates, k=2), repeat=3)
    show(f"Hamming k=2, {ROWS:,} queries", seconds, ROWS, most=1.3, peer=peer)
    seconds = cpu_seconds(lambda: nearest(part, candidates, k=64), repeat=3)
    show("Hamming k=64", seconds, PEER_ROWS)
    seconds = cpu_seconds(lambda: count_within(part, candidates, radius=4), repeat=3)
    show("Hamming, count within 4", seconds, PEER_ROWS)
    seconds = cpu_seconds(lambda: all_nearest(part, candidates), repeat=3)
    show("Hamming, all nearest", seconds, PEER_ROWS)
    seconds = cpu_seconds(lambda: nearest(queries, candidates, k=2, metric=Gower()), repeat=1)
    show(f"Gower k=2, {ROWS:,} queries", seconds, ROWS, most=8)

    kth()

    dense, others = (np.nan_to_num(table.numbers) for table in (part, candidates))
    peer = peer_seconds(np.hstack([part.codes, dense]), np.hstack([candidates.codes, others]), "euclidean")
    seconds = cpu_seconds(lambda: nearest(part, candidates, k=2, metric=euclid), repeat=3)
    show("Euclid k=2, 2 % missing (peer: filled with 0)", seconds, PEER_ROWS, peer=peer)
    euclid_widths()
    ranks = np.argsort(np.argsort(candidates.codes, axis=0), axis=0).astype(float)
    for criterion in RankCriterion:
        seconds = cpu_seconds(lambda c=criterion: nearest(ranks[:PEER_ROWS], ranks, metric=Ranks(c)), repeat=3)
        show(f"Ranks, {criterion}", seconds, PEER_ROWS)
    for by in By:
        line(f"exact matches by {by}", cpu_seconds(lambda b=by: count_matches(queries, candidates, by=b), repeat=3))
    peak_memory()
