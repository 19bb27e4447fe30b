"""Filters that the industry applies to synthetic rows, and why they do not help (ganev2023, section 2 and appendix E).

    similarity   drops rows identical to a real row, or closer than a radius
    outlier      drops rows that lie where real rows are rare

Both return the cleaned table and the numbers of the dropped rows. Neither makes a release private: see their warnings.
`parse("similarity:radius=0.05")` and `get("similarity", radius=0.05)` make one by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from unmask.errors import InputError, ParameterError
from unmask.metrics.similarity import Distance
from unmask.registry import construct, settings_from
from unmask.tables.distance import MOST_NEIGHBOURS, nearest
from unmask.tables.matching import count_matches
from unmask.tables.table import Table

HOLES = (
    "Filtering leaves holes around exactly the real rows it protects: whoever sees enough filtered rows reads them off, "
    "outliers first, since nothing else is missing there (ganev2023, counter-example 5)."
)
FLIPS = (
    "Removing outliers does not make the rest private: it flips the similarity tests both ways, from fail to pass and from "
    "pass to fail (ganev2023, counter-example 4)."
)
LOOKED = (
    "The filter looked at the real table, so a differential-privacy claim of the generator does not cover its output."
)


@dataclass(frozen=True, eq=False)
class Cleaned:
    """What a filter left, and what it took."""

    table: Table
    dropped: np.ndarray  # row numbers in the synthetic table, rising
    threshold: float  # distance below (similarity) or above (outlier) which a row was dropped
    warnings: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SimilarityFilter:
    """Drop synthetic rows identical to a real row, or at most `radius` away from one.

    The unit of the radius is that of the distance: columns for hamming, standard deviations for euclid, a share of the
    public range for gower. Radius 0 drops identical rows only.
    """

    name: ClassVar[str] = "similarity"

    radius: float = 0.0
    distance: Distance = Distance.GOWER

    def __post_init__(self) -> None:
        object.__setattr__(self, "distance", Distance.named(self.distance))
        if not (_is_number(self.radius) and self.radius >= 0):
            raise ParameterError(f"radius is {self.radius}; use 0 (identical rows only) or more.")

    def clean(self, real: Table, synthetic: Table, *, workers: int = 1) -> Cleaned:
        """The rows that are not too close."""
        if not len(real):
            raise InputError("The real table has no rows, so no synthetic row can be close to one. Give it rows.")
        close = count_matches(synthetic, real, by=self.distance.by) > 0
        if self.radius > 0 and len(synthetic):
            metric = self.distance.metric(real)
            close |= nearest(synthetic, real, metric=metric, workers=workers).distances[:, 0] <= self.radius
        return _cleaned(synthetic, close, self.radius, (HOLES, LOOKED))


@dataclass(frozen=True)
class OutlierFilter:
    """Drop synthetic rows that are lonelier among real rows than all but a `share` of the real rows are.

    Loneliness is the mean distance to the nearest `neighbours` real rows, the row itself not counted among real ones.
    """

    name: ClassVar[str] = "outlier"

    share: float = 0.1
    neighbours: int = 5
    distance: Distance = Distance.GOWER

    def __post_init__(self) -> None:
        object.__setattr__(self, "distance", Distance.named(self.distance))
        if not (_is_number(self.share) and 0 < self.share < 1):
            raise ParameterError(f"share is {self.share}; use a share between 0 and 1, such as 0.1.")
        if not (isinstance(self.neighbours, Integral) and 1 <= self.neighbours <= MOST_NEIGHBOURS):
            raise ParameterError(f"neighbours is {self.neighbours}; use a whole number from 1 to {MOST_NEIGHBOURS}.")

    def clean(self, real: Table, synthetic: Table, *, workers: int = 1) -> Cleaned:
        """The rows that are no outliers with respect to the real table."""
        if len(real) < 2:
            raise InputError(
                f"The real table has {len(real)} row(s); who is an outlier takes at least two. Give it rows."
            )
        k, metric = min(self.neighbours, len(real) - 1), self.distance.metric(real)
        usual = nearest(real, real, k=k, metric=metric, exclude_same_row=True, workers=workers).distances.mean(axis=1)
        limit = float(np.quantile(usual, 1 - self.share))
        found = nearest(synthetic, real, k=k, metric=metric, workers=workers).distances.mean(axis=1)
        return _cleaned(synthetic, found > limit, limit, (FLIPS, LOOKED))


Filter = SimilarityFilter | OutlierFilter
_KINDS: dict[str, type[SimilarityFilter] | type[OutlierFilter]] = {
    kind.name: kind for kind in (SimilarityFilter, OutlierFilter)
}


def names() -> tuple[str, ...]:
    """The names that `get` knows."""
    return tuple(_KINDS)


def get(name: str, **parameters: Any) -> Filter:
    """A filter by name, such as `get("similarity", radius=0.05)`."""
    found: Filter = construct(_kind(name), f"filter '{name}'", parameters)
    return found


def parse(text: str) -> Filter:
    """A filter from text such as `similarity:radius=0.05,distance=euclid`, as the command line has it."""
    name, colon, settings = text.partition(":")
    _kind(name)  # a name that does not exist is told before anything about its settings
    return get(name, **settings_from(settings.split(","), such_as="radius=0.05") if colon else {})


def _kind(name: str) -> type[SimilarityFilter] | type[OutlierFilter]:
    if name not in _KINDS:
        raise ParameterError(f"There is no filter '{name}'. There are: {', '.join(_KINDS)}.")
    return _KINDS[name]


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _cleaned(synthetic: Table, drop: np.ndarray, threshold: float, warnings: tuple[str, ...]) -> Cleaned:
    dropped = np.flatnonzero(drop)
    notes = [f"{len(dropped):,} of {len(synthetic):,} synthetic rows were dropped."]
    if len(dropped) == len(synthetic) > 0:
        notes.append("Nothing is left: the filter is too strict for this table, or the table holds nothing but copies.")
    return Cleaned(synthetic.take(~drop), dropped, threshold, warnings, tuple(notes))
