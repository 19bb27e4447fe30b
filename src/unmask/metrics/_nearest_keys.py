"""Shares among the synthetic rows whose keys differ least: the part of GCAP that hashing cannot answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.compiled import njit
from unmask.tables.distance import all_nearest
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

QUERIES = 250  # distinct keys asked at a time: their values and "any other" fit one byte, the fastest distance
MOST_TIES = 8_000_000  # 64 MB of row numbers at a time


@dataclass(frozen=True, eq=False)
class Candidates:
    """The distinct keys of the synthetic table, and how often each goes with each secret."""

    digits: np.ndarray  # keys x distinct keys: the group of each key column's value
    starts: np.ndarray  # secrets of distinct key i: entries starts[i] .. starts[i + 1]
    secrets: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, digits: np.ndarray, keys: np.ndarray, secrets: np.ndarray) -> Candidates:
        """From the groups of the key columns (columns x rows), the group of the whole key, and that of the secret."""
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        size = int(secrets.max(initial=0)) + 1
        pairs, counts = np.unique(place * size + secrets, return_counts=True)
        starts = np.searchsorted(pairs // size, np.arange(len(first) + 1))
        return cls(digits[:, first], starts, pairs % size, counts)


def shares_at_nearest(
    candidates: Candidates, digits: np.ndarray, keys: np.ndarray, secrets: np.ndarray, *, workers: int
) -> np.ndarray:
    """For each record, how often its secret occurs among all synthetic rows at the least Hamming distance of its key."""
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    asked = digits[:, first]
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(first) + 1))
    shares = np.empty(len(keys))
    scratch = np.zeros(int(max(secrets.max(initial=0), candidates.secrets.max(initial=0))) + 1, dtype=np.int64)
    size = max(1, min(QUERIES, MOST_TIES // candidates.digits.shape[1]))
    for low in range(0, len(first), size):
        high = min(low + size, len(first))
        tied = all_nearest(*_coded(asked[:, low:high], candidates.digits), workers=workers)
        records = order[starts[low] : starts[high]]
        shares[records] = _shares(
            tied.starts,
            tied.rows,
            candidates.starts,
            candidates.secrets,
            candidates.counts,
            starts[low : high + 1] - starts[low],
            secrets[records],
            scratch,
        )
    return shares


def _coded(asked: np.ndarray, candidates: np.ndarray) -> tuple[Table, Table]:
    """Both sides as tables of one-byte codes: the values asked for, and one code for all others."""
    schema = _schema(len(asked))
    queries = np.empty((asked.shape[1], len(asked)), dtype=schema.code_type, order="F")
    others = np.empty((candidates.shape[1], len(asked)), dtype=schema.code_type, order="F")
    for position, (values, pool) in enumerate(zip(asked, candidates, strict=True)):
        known, queries[:, position] = np.unique(values, return_inverse=True)
        code = np.full(max(int(values.max()), int(pool.max())) + 1, QUERIES, dtype=schema.code_type)
        code[known] = np.arange(len(known))
        others[:, position] = code[pool]
    return Table(schema, queries, np.empty((len(queries), 0))), Table(schema, others, np.empty((len(others), 0)))


def _schema(columns: int) -> Schema:
    values: Sequence[int] = range(QUERIES + 1)
    return Schema(tuple(Column(f"key {i}", Kind.CATEGORICAL, values=tuple(values)) for i in range(columns)))


@njit(nogil=True, cache=True)
def _shares(tie_starts, ties, key_starts, key_secrets, key_counts, starts, secrets, scratch):
    """Count the secrets of all tied keys into `scratch` (all zero before and after), then read each record's own."""
    found = np.empty(secrets.size)
    for query in range(starts.size - 1):
        total = 0
        for tie in range(tie_starts[query], tie_starts[query + 1]):
            for entry in range(key_starts[ties[tie]], key_starts[ties[tie] + 1]):
                scratch[key_secrets[entry]] += key_counts[entry]
                total += key_counts[entry]
        for record in range(starts[query], starts[query + 1]):
            found[record] = scratch[secrets[record]] / total
        for tie in range(tie_starts[query], tie_starts[query + 1]):
            for entry in range(key_starts[ties[tie]], key_starts[ties[tie] + 1]):
                scratch[key_secrets[entry]] = 0
    return found
