"""A provider of synthetic data with its metrics, as ganev2023 describes the industry's; the oracle under attack.

Distances are Hamming over bins; tests against the holdout, direction and ties as in `unmask.metrics.similarity`. Mitigations can
be tried: fewer scores, rounding, a limit of calls, Laplace noise, and filters on what the generator draws.

Noise: a call spends its epsilon in five equal parts on IMS, DCR and NNDR (5th percentile and mean). One train record can move
every distance of a call, so the sensitivity is the number of columns for DCR and 1 for the others; tests compare noisy scores
with limits that got noise once. After c calls all that is promised is (c + 1) epsilon.
"""

from __future__ import annotations

import numpy as np

from unmask.compiled import inner, njit
from unmask.errors import InputError
from unmask.generators._generator import Model
from unmask.metrics.filters import Filter
from unmask.metrics.similarity import Distance, Reference, Similarity
from unmask.tables.distance import kth_distances
from unmask.tables.schema import Schema
from unmask.tables.table import Table
from unmask.threats.knowledge import ScoresShown
from unmask.threats.oracle import Answers, CallCount, Rules, table_of

FEW = 64  # rows that are compared without packing the train table anew
PERCENTILE = 5.0
SCORES = 5  # IMS, the percentiles of DCR and NNDR, their means
HIDDEN = {
    ScoresShown.ALL: [],
    ScoresShown.MEAN: [1, 2],
    ScoresShown.PERCENTILE: [3, 4],
    ScoresShown.NONE: [0, 1, 2, 3, 4],
}


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
        self._columns = np.ascontiguousarray(train.codes.T)
        held = self._reference.holdout
        self._limits = np.array([held.ims, held.dcr, held.nndr])
        self._scale = np.zeros(SCORES)
        if self._rules.epsilon is not None:
            columns = len(train.schema.columns)
            self._scale = np.array([1.0, columns, 1.0, columns, 1.0]) * SCORES / self._rules.epsilon
            self._limits = self._limits + rng.laplace(0.0, self._scale[:3])
        self._calls = self._sent = 0
        self._last: tuple[bytes, np.ndarray] | None = None  # padding and its closeness

    @property
    def schema(self) -> Schema:
        return self._train.schema

    @property
    def rules(self) -> Rules:
        return self._rules

    @property
    def cost(self) -> CallCount:
        return CallCount(self._calls, self._sent)

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
        self._count(len(codes), len(codes) * (copies + 1))
        each, pad = self._closeness(codes), self._padded(padding)
        found = (each + copies * pad) / (copies + 1)  # shares and means
        place = PERCENTILE / 100 * copies
        low, high = min(place, 1.0), max(place - (copies - 1), 0.0)
        percentiles = np.where(each <= pad, each + low * (pad - each), pad + high * (each - pad))[:, 1:]
        return self._answered(np.concatenate([found[:, :1], percentiles, found[:, 1:]], axis=1))

    def _left(self, wanted: int) -> int:
        return wanted if self._rules.calls is None else max(0, min(wanted, self._rules.calls - self._calls))

    def _count(self, calls: int, rows: int) -> None:
        self._calls, self._sent = self._calls + calls, self._sent + rows

    def _padded(self, padding: np.ndarray) -> np.ndarray:
        """The closeness of the padding, which stays the same for many calls."""
        key = padding.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._closeness(padding[None])
        return self._last[1]

    def _closeness(self, codes: np.ndarray) -> np.ndarray:
        """Whether each row is a train row, its distance, and the ratio of nearest to second nearest (0/0 = 1)."""
        if len(codes) <= FEW:
            near = np.empty((len(codes), 2))
            _two_nearest(np.ascontiguousarray(codes, dtype=self._columns.dtype), self._columns, near)
        else:
            near = kth_distances(table_of(self.schema, codes), self._train, ks=(1, 2))
        first, second = near.T
        found = np.ones((len(codes), 3))
        found[:, 0], found[:, 1] = first == 0, first
        np.divide(first, second, out=found[:, 2], where=second > 0)
        return found

    def _answered(self, found: np.ndarray) -> Answers:
        """Noise, then the tests, then what is shown of the scores."""
        if self._rules.epsilon is not None:
            found = found + self._rng.laplace(0.0, self._scale, size=found.shape)
        passed = (found[:, 0] <= self._limits[0]) & (found[:, 1] >= self._limits[1]) & (found[:, 2] >= self._limits[2])
        told = found.copy() if self._rules.decimals is None else found.round(self._rules.decimals)
        told[~passed] = np.nan
        told[:, HIDDEN[self._rules.shown]] = np.nan
        return Answers(passed, *told.T)


@njit(cache=True)
def _two_nearest(codes: np.ndarray, columns: np.ndarray, found: np.ndarray) -> None:
    """`columns` holds the train table column by column, so that the inner loop runs over many rows at a time."""
    gaps = np.empty(columns.shape[1], dtype=np.uint16)
    for query in range(len(codes)):
        gaps[:] = 0
        for column in range(len(columns)):
            _add_mismatches(columns[column], codes[query, column], gaps)
        first = second = np.uint16(65535)
        for gap in gaps:
            if gap < second:
                first, second = min(first, gap), max(first, gap)
        found[query, 0], found[query, 1] = first, second


@inner()
def _add_mismatches(column: np.ndarray, code: int, gaps: np.ndarray) -> None:
    for row in range(len(column)):
        gaps[row] += column[row] != code
