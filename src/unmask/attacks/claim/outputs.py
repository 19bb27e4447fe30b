"""What an attacker looks at in one output, with the two tables in mind: named numbers, and fingerprints that tell repeats."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from unmask.attacks.claim.likelihood import PairLikelihood
from unmask.generators._counts import mutual_information
from unmask.generators._generator import Measurement
from unmask.tables.exact import ExactValues
from unmask.tables.table import Table, concatenate
from unmask.threats.pairs import Pair

LARGE = 1e9
IMPOSSIBLE = -60.0  # stands for a log-likelihood of minus infinity
MOST_COUNTS = 60  # codes that are counted one by one; larger domains only at the target's values
MOST_PAIRS = 10
MOST_ENTRIES = 60  # numbers of a bare mechanism's array that are looked at
FLAT = 1e-7  # standard deviation of a column, in units of its largest number, below which it does not vary
WHOLE = 60.0  # granularity of a whole number: nothing to read from its last bits

BLACK, WHITE, BITS, ORDER = "black", "white", "bits", "order"
Mapped: TypeAlias = dict[str, float]


@dataclass(frozen=True, eq=False)
class TableReader:
    """Black-box statistics of a synthetic table with the target in mind."""

    pair: Pair

    @cached_property
    def _target(self) -> np.ndarray:
        return np.asarray(self.pair.target.codes[0])

    @cached_property
    def _margins(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Shares of the codes of each column in D and in D'."""
        return [
            (_shares(self.pair.inside.codes[:, j], size), _shares(self.pair.outside.codes[:, j], size))
            for j, size in enumerate(self.pair.inside.schema.sizes)
        ]

    @cached_property
    def _own_codes(self) -> list[np.ndarray]:
        """For each column: codes that no row of D' has."""
        return [without == 0 for _, without in self._margins]

    @cached_property
    def _ranges(self) -> list[tuple[float, float]]:
        numbers = self.pair.outside.numbers
        return [(float(np.nanmin(x)), float(np.nanmax(x))) if not np.isnan(x).all() else (0.0, 0.0) for x in numbers.T]

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of columns, those first whose mutual information the target raises most."""
        width = len(self._target)
        if width < 2:
            return []
        sizes = self.pair.inside.schema.sizes
        gain = mutual_information(self.pair.inside.codes, sizes) - mutual_information(self.pair.outside.codes, sizes)
        first, second = np.triu_indices(width, 1)
        order = np.argsort(-gain[first, second], kind="stable")[:MOST_PAIRS]
        return [(int(first[place]), int(second[place])) for place in order]

    @cached_property
    def variants(self) -> Table:
        """The target, and the target with each column in turn changed to the commonest other value of D'."""
        target, width = self.pair.target, len(self._target)
        table = concatenate([target] * (1 + width))
        codes = table.codes.copy(order="F")
        for j, (_, without) in enumerate(self._margins):
            others = np.where(np.arange(len(without)) == self._target[j], -1.0, without)
            codes[1 + j, j] = int(np.argmax(others))
        return replace(table, codes=codes)

    def read(self, synthetic: Table) -> Mapped:
        """Named statistics; shares, so that a release of another length stays comparable."""
        codes, rows = synthetic.codes, len(synthetic)
        schema, some = self.pair.inside.schema, max(rows, 1)
        agree = self._target[:, None] == codes.T
        agreeing = agree.sum(axis=0, dtype=np.uint16)
        copies = int(np.sum(agreeing == len(self._target)))
        seen: Mapped = {"rows": rows, "target row": copies / some, "target row (log)": math.log1p(copies)}
        seen["nearest to target"] = float(agreeing.max()) if rows else 0.0
        seen["near target"] = float(np.mean(agreeing >= len(self._target) - 1)) if rows else 0.0
        nearer, outside, every = 0.0, 0, int(schema.sizes.sum()) <= MOST_COUNTS
        for j, column in enumerate(schema.columns):
            counts = np.bincount(codes[:, j].astype(np.int64), minlength=column.size)
            share = counts[: column.size] / some
            within, without = self._margins[j]
            nearer += float(np.abs(share - without).sum() - np.abs(share - within).sum())
            outside += bool(counts[: column.size][self._own_codes[j]].any() or counts[column.size :].any())
            seen[f"distinct {column.name}"] = int(np.count_nonzero(counts))
            for code in range(column.size) if every else (int(self._target[j]),):
                seen[f"share {column.name}={code}"] = float(share[code])
        seen["nearer to D"] = nearer
        for a, b in self.pairs:
            seen[f"both {schema.names[a]},{schema.names[b]}"] = float(np.mean(agree[a] & agree[b])) if rows else 0
        for i, j in enumerate(schema.numeric):
            low, high = self._ranges[i]
            numbers = synthetic.numbers[:, i][~np.isnan(synthetic.numbers[:, i])]
            smallest, largest = (float(numbers.min()), float(numbers.max())) if len(numbers) else (low, high)
            seen[f"lowest {schema.names[j]}"], seen[f"highest {schema.names[j]}"] = smallest, largest
            outside += smallest < low or largest > high
        seen["columns beyond D'"] = outside
        return seen | self._exact(synthetic)

    def read_order(self, synthetic: Table) -> Mapped:
        """What the order of the rows shows."""
        return order_features(synthetic, (synthetic.codes == self._target).all(axis=1))

    @cached_property
    def _values(self) -> ExactValues:
        return ExactValues(self.pair.target)

    @cached_property
    def _own_numbers(self) -> list[int]:
        """Numeric columns in which nobody but the target has the target's very number."""
        held = (self._values.find(self.pair.outside) == self._values.codes[0]).any(axis=0)
        return [j for j in self.pair.outside.schema.numeric if not held[j] and self._values.codes[0, j] >= 0]

    def _exact(self, synthetic: Table) -> Mapped:
        """How often the target's very numbers occur: a bin that many are in hides that one of them was published."""
        schema = self.pair.inside.schema
        if not schema.numeric or not len(synthetic):
            return {}
        equal = self._values.find(synthetic) == self._values.codes[0]
        seen = {f"exact {schema.names[j]}": float(equal[:, j].mean()) for j in schema.numeric}
        return seen | {
            "exact row": float(equal.all(axis=1).mean()),
            "own numbers": int(equal[:, self._own_numbers].sum()),
        }


def order_features(synthetic: Table, like_target: np.ndarray) -> Mapped:
    """What the order of the rows shows: how each column runs with it, and where rows like the target stand.

    A release is a list, not a set: rows that are sorted one way with the target and another way without give everything away.
    """
    rows = len(synthetic)
    if rows < 2:
        return {}
    place, values = np.linspace(-1.0, 1.0, rows), synthetic.codes.astype(np.float64)
    for i, j in enumerate(synthetic.schema.numeric):
        numbers = np.nan_to_num(synthetic.numbers[:, i])
        values[:, j] = numbers / max(float(np.abs(numbers).max()), 1e-300)
    mean = values.mean(axis=0)
    spread = np.sqrt(np.maximum((values * values).mean(axis=0) - mean**2, 0.0) * (place @ place) * rows)
    runs = np.divide(place @ values, spread, out=np.zeros(len(spread)), where=spread > FLAT * rows)
    seen = {f"order of {name}": float(found) for name, found in zip(synthetic.schema.names, runs, strict=True)}
    seen["order: first row"], seen["order: last row"] = float(like_target[0]), float(like_target[-1])
    seen["order: place of the target"] = float(place[like_target].mean()) if like_target.any() else 0.0
    seen["order: neighbours alike"] = float(np.mean((synthetic.codes[1:] == synthetic.codes[:-1]).all(axis=1)))
    return seen


def model_features(
    reader: TableReader, likelihood: PairLikelihood, model: Any, measurements: Sequence[Measurement]
) -> Mapped:
    """What a fitted model shows: its measurements, its structure, and how probable it finds the rows in question."""
    seen: Mapped = {}
    if measurements:
        seen["likelihood ratio"] = likelihood.ratio(measurements)
        seen["deviation"] = likelihood.deviation(measurements)
        seen["cells as in D'"] = float(likelihood.unmoved(measurements))
        seen["total"] = float(np.sum(measurements[0].counts))
        seen["zero cells"] = float(sum(np.count_nonzero(m.counts == 0) for m in measurements))
        seen["granularity"] = _target_granularity(likelihood, measurements)
        seen["beyond the measurements"] = _beyond(reader.pair, model, measurements)
        seen |= _structure(reader, measurements)
    if hasattr(model, "log_likelihood"):
        logs = model.log_likelihood(reader.variants)
        seen["log-likelihood of target"] = float(logs[0])
        seen["log-likelihood of others"] = float(np.maximum(logs[1:], IMPOSSIBLE).mean())
    if hasattr(model, "evidence"):
        found = model.evidence(reader.pair.target, reader.pair.outside)
        seen |= {name if name == "likelihood ratio" else f"model: {name}": float(found[name]) for name in found}
    return seen


def _beyond(pair: Pair, model: Any, measurements: Sequence[Measurement]) -> float:
    """Whether conditional tables know more than was measured, at the target's values of the parents.

    Where noise left no count there: +1 if the table still favours the target's value, -1 if it does not; summed up.
    """
    total, target = 0, pair.target.codes[0].astype(np.int64)
    counts = {m.columns: m.counts for m in measurements if not m.cells}
    for node in getattr(model, "nodes", ()):
        measured = counts.get((*node.parents, node.child))
        if measured is None or not node.parents or np.any(measured[tuple(target[list(node.parents)])] > 0):
            continue
        row = int(np.ravel_multi_index(tuple(target[list(node.parents)]), measured.shape[:-1]))
        share = float(node.conditional[row, target[node.child]])
        total += 1 if share > 1 / measured.shape[-1] else -1
    return float(total)


def _structure(reader: TableReader, measurements: Sequence[Measurement]) -> Mapped:
    """Which pairs of columns were measured together."""
    together = {
        (a, b) for m in measurements for a in m.columns for b in m.columns if a < b and len(m.columns) <= MOST_PAIRS
    }
    pairs = reader.pairs
    return {f"measured {a + 1},{b + 1}": float((a, b) in together) for a, b in pairs} if len(pairs) > 1 else {}


def _target_granularity(likelihood: PairLikelihood, measurements: Sequence[Measurement]) -> float:
    """The finest last bit among the changed cells."""
    values = [float(m.counts[cell]) for m in measurements for cell, _, _ in likelihood.changed(m)]
    return min((granularity(value) for value in values), default=WHOLE)


def granularity(value: float) -> float:
    """Exponent of the last bit that is set: a sum 1 + noise has no bits below 2^-53, noise near 0 has (Mironov 2012)."""
    if value == 0 or not math.isfinite(value) or float(value).is_integer():
        return WHOLE
    whole, exponent = int(math.frexp(value)[0] * 2**53), math.frexp(value)[1] - 53
    return float(exponent + (whole & -whole).bit_length() - 1)


def array_features(values: np.ndarray) -> Mapped:
    """What a bare mechanism shows: its first numbers, their sum, and their last bits."""
    seen: Mapped = {"rows": len(values), "sum": float(values.sum()), "zero cells": float(np.count_nonzero(values == 0))}
    seen |= {f"number {place + 1}": value for place, value in enumerate(values[:MOST_ENTRIES].tolist())}
    seen["granularity"] = min((granularity(value) for value in values[:MOST_ENTRIES].tolist()), default=WHOLE)
    return {name: finite(value) for name, value in seen.items()}


def group_of(name: str) -> str:
    """Who can see a statistic: everybody, who sees the model, who reads the last bits of floating point, or the order of rows."""
    if name == "granularity":
        return BITS
    if name.startswith("order"):
        return ORDER
    first = (
        "likelihood",
        "deviation",
        "cells as",
        "total",
        "log-likelihood",
        "beyond",
        "measured",
        "zero cells",
        "model:",
    )
    return WHITE if name.startswith(first) else BLACK


def is_readable(name: str, *, white_box: bool) -> bool:
    """Whether a statistic is for the attacks on all of them; last bits and the order of rows have attacks of their own."""
    return group_of(name) in ((BLACK, WHITE) if white_box else (BLACK,))


def _shares(codes: np.ndarray, size: int) -> np.ndarray:
    return np.asarray(np.bincount(codes.astype(np.int64), minlength=size)[:size] / max(len(codes), 1))


def finite(value: float) -> float:
    """A number that attacks can compute with."""
    if math.isnan(value):
        return 0.0
    return IMPOSSIBLE if value == -math.inf else min(max(float(value), -LARGE), LARGE)


def digest(*arrays: np.ndarray) -> str:
    """A fingerprint that tells outputs that came before."""
    seal = hashlib.blake2b(digest_size=8)
    for array in arrays:
        seal.update(np.ascontiguousarray(array).tobytes())
    return seal.hexdigest()
