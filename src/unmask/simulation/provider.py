"""A provider of synthetic data with its metrics, as ganev2023 describes the industry's; the oracle under attack.

Distances are Hamming over bins, tests against the holdout, direction and ties as in `unmask.metrics.similarity`. Mitigations can be tried: fewer
scores, rounding, a limit of calls, Laplace noise, and filters on what the generator draws.

Noise: a call spends its epsilon in five equal parts on IMS, DCR and NNDR (5th percentile and mean). One train record can move
every distance of a call, so the sensitivity is the number of columns for DCR and 1 for the others; tests compare noisy scores
with limits that got noise once. After c calls all that is promised is (c + 1) epsilon.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from unmask.errors import InputError
from unmask.generators._generator import Model
from unmask.metrics.filters import Filter
from unmask.metrics.similarity import Distance, Reference, Similarity
from unmask.tables.distance import kth_distances
from unmask.tables.schema import Schema
from unmask.tables.table import Table
from unmask.threats.oracle import Answers, Cost, Rules, Shown, table_of

FEW = 64  # rows that are compared without packing the train table anew
PERCENTILE = 5.0
SCORES = 5


class Provider:
    """Train, holdout and a fitted model behind an `Oracle`. What it holds is nobody's business but its own."""

    def __init__(
        self,
        model: Model,
        train: Table,
        holdout: Table,
        rng: np.random.Generator,
        *,
        rules: Rules | None = None,
        filters: tuple[Filter, ...] = (),
    ) -> None:
        if min(len(train), len(holdout)) < 2:
            raise InputError(
                f"Train has {len(train)} rows and holdout {len(holdout)}. The tests compare nearest and second nearest rows, "
                "so each needs two or more."
            )
        self._model, self._train, self._filters, self._rng = model, train, filters, rng
        self._rules = rules or Rules()
        self._reference: Reference = Similarity(distance=Distance.HAMMING).reference(train, holdout)
        self._rows = np.ascontiguousarray(train.codes)
        held = self._reference.holdout
        self._limits = np.array([held.ims, held.dcr, held.nndr])
        self._scale = np.zeros(SCORES)
        if self._rules.epsilon is not None:
            columns = len(train.schema.columns)
            self._scale = np.array([1.0, columns, 1.0, columns, 1.0]) * SCORES / self._rules.epsilon
            self._limits = self._limits + rng.laplace(0.0, self._scale[:3])
        self._calls = self._sent = 0

    @property
    def schema(self) -> Schema:
        return self._train.schema

    @property
    def rules(self) -> Rules:
        return self._rules

    @property
    def cost(self) -> Cost:
        return Cost(self._calls, self._sent)

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        """Draw from the model; filtered rows are gone."""
        drawn = self._model.sample(rows, rng)
        for each in self._filters:
            drawn = each.clean(self._train, drawn).table
        return drawn

    def ask(self, rows: Table) -> Answers | None:
        """Judge these rows."""
        if not self._left(1):
            return None
        found = self._reference.judge(rows).synthetic
        self._count(1, len(rows))
        return self._answered(np.array([[found.ims, found.dcr, found.nndr, found.dcr_mean, found.nndr_mean]]))

    def ask_padded(self, codes: np.ndarray, padding: np.ndarray, copies: int) -> Answers:
        """What `ask` answers to each row with so many copies of the padding; all at once."""
        codes = codes[: self._left(len(codes))]
        first, second = self._two_nearest(codes)
        pad_first, pad_second = (float(each[0]) for each in self._two_nearest(padding[None]))
        self._count(len(codes), len(codes) * (copies + 1))
        ratio, pad_ratio = _ratio(first, second), float(_ratio(np.array([pad_first]), np.array([pad_second]))[0])
        identical, pad_identical = (first == 0).astype(float), float(pad_first == 0)
        found = np.empty((len(codes), SCORES))
        found[:, 0] = (identical + copies * pad_identical) / (copies + 1)
        found[:, 1] = _percentile(first, pad_first, copies)
        found[:, 2] = _percentile(ratio, pad_ratio, copies)
        found[:, 3] = (first + copies * pad_first) / (copies + 1)
        found[:, 4] = (ratio + copies * pad_ratio) / (copies + 1)
        return self._answered(found)

    def _left(self, wanted: int) -> int:
        return wanted if self._rules.calls is None else max(0, min(wanted, self._rules.calls - self._calls))

    def _count(self, calls: int, rows: int) -> None:
        self._calls, self._sent = self._calls + calls, self._sent + rows

    def _two_nearest(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if len(codes) <= FEW:
            found = np.empty((len(codes), 2))
            _two_nearest(np.ascontiguousarray(codes, dtype=self._rows.dtype), self._rows, found)
        else:
            found = kth_distances(table_of(self.schema, codes), self._train, ks=(1, 2))
        return found[:, 0], found[:, 1]

    def _answered(self, found: np.ndarray) -> Answers:
        """Noise, then the tests, then what is shown of the scores."""
        if self._rules.epsilon is not None:
            found = found + self._rng.laplace(0.0, self._scale, size=found.shape)
        passed = (
            (found[:, 0] <= self._limits[0]) & (found[:, 1] >= self._limits[1]) & (found[:, 2] >= self._limits[2])
        )
        told = found if self._rules.decimals is None else found.round(self._rules.decimals)
        hidden = {Shown.ALL: [], Shown.MEAN: [1, 2], Shown.PERCENTILE: [3, 4], Shown.NONE: [0, 1, 2, 3, 4]}
        told = np.where(passed[:, None], told, np.nan)
        told[:, hidden[self._rules.shown]] = np.nan
        return Answers(passed, *told.T)


def _ratio(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.divide(first, second, out=np.ones(len(first)), where=second > 0)


def _percentile(values: np.ndarray, pad: float, copies: int) -> np.ndarray:
    """The 5th percentile (linear) of a value among copies of another one."""
    place = PERCENTILE / 100 * copies
    below = values + min(place, 1.0) * (pad - values)
    above = pad + max(place - (copies - 1), 0.0) * (values - pad)
    return np.where(values <= pad, below, above)


@njit(cache=True)
def _two_nearest(codes, rows, found):
    columns = rows.shape[1]
    for query in range(len(codes)):
        first = second = columns + 1
        for row in range(len(rows)):
            gap = 0
            for column in range(columns):
                gap += codes[query, column] != rows[row, column]
                if gap >= second:
                    break
            if gap < first:
                first, second = gap, first
            elif gap < second:
                second = gap
        found[query, 0], found[query, 1] = first, second
