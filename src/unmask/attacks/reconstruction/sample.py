"""OutliersLocator and SampleAttack of ReconSyn (ganev2023, algorithm 1): draw synthetic rows and ask which are real."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from unmask.attacks.reconstruction.asked_rows import AskedRows
from unmask.attacks.reconstruction.padding import Reader
from unmask.tables.regions import CodeScale, Region, smallest_clusters
from unmask.threats.oracle import Oracle


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """Records at distance 0, in the order in which they were found, with the round and the rows read by then."""

    codes: np.ndarray
    rounds: np.ndarray  # -1: by search
    read: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    def __add__(self, other: Rebuilt) -> Rebuilt:
        pairs = ((self.codes, other.codes), (self.rounds, other.rounds), (self.read, other.read))
        return Rebuilt(*(np.concatenate(each) for each in pairs))


def locate(
    oracle: Oracle, train_rows: int, outliers: int, *, clusters: int, scale: CodeScale, rng: np.random.Generator
) -> Region:
    """OutliersLocator: the smallest clusters of a mixture fitted to synthetic rows, up to so many outliers.

    The attacker knows the number of train rows and roughly how many outliers there are, and no real row.
    """
    drawn = oracle.sample(3 * train_rows, rng)
    return smallest_clusters(drawn, clusters=clusters, rows=3 * outliers, scale=scale, seed=int(rng.integers(2**31)))


def candidates(
    oracle: Oracle, rows: int, streams: Iterable[np.random.Generator], region: Region | None
) -> tuple[np.ndarray, np.ndarray]:
    """Synthetic rows of some rounds that lie in the region, each once, and their rounds counted from 0."""
    codes, rounds = [], []
    for place, rng in enumerate(streams):
        drawn = np.ascontiguousarray(oracle.sample(rows, rng).codes)
        if region is not None:
            drawn = drawn[region.holds(drawn)]
        codes.append(drawn)
        rounds.append(np.full(len(drawn), place))
    return np.concatenate(codes), np.concatenate(rounds)


def sample_attack(reader: Reader, history: AskedRows, codes: np.ndarray, rounds: np.ndarray) -> Rebuilt:
    """SampleAttack on the rows of some rounds: those not asked about before are read; distance 0 is a record."""
    fresh = history.fresh(codes)
    codes, rounds, before = codes[fresh], rounds[fresh], reader.read
    distances = reader.distances(codes)
    history.add(codes, distances)
    found = np.flatnonzero(distances == 0)
    return Rebuilt(codes[found], rounds[found], before + 1 + found)


def nothing(schema_columns: int, kind: np.dtype) -> Rebuilt:
    """No record yet."""
    return Rebuilt(np.empty((0, schema_columns), dtype=kind), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
