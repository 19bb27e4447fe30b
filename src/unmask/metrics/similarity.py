"""How close synthetic rows come to real ones: IMS, DCR and NNDR, pass or fail against a holdout (ganev2023, section 2).

    IMS    share of synthetic rows identical to a real row             pass if <= that of holdout rows
    DCR    5th percentile of the distance to the closest real row      pass if >= that of holdout rows
    NNDR   5th percentile of nearest / second nearest, 0/0 = 1         pass if >= that of holdout rows

Equality passes. "Private" if all three pass: the industry's verdict, reproduced with the warnings that belong to it, not ours.
Distances run from each synthetic (holdout) row to the real table, never the other way round.

    hamming   numbers by their bin, number of columns that differ      the customary choice; overstates privacy
    euclid    label-encoded, divided by the standard deviation in the real table
    gower     numbers on their public range, categories 0 or 1

Cost: columns x synthetic x (real + holdout) + columns x holdout x real pairs; each subsample adds columns x (synthetic +
holdout) x the smaller table. Memory is linear in the rows. Definitions of other tools: `mostlyai_qa`, `sdmetrics_baseline`,
`sdmetrics_overfitting`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from unmask.errors import InputError, ParameterError
from unmask.metrics._closeness import Closeness, ClosenessScores, Curves, closeness, curves, scores, search
from unmask.metrics._comparison import (
    HANGS_ON_SPLIT,
    PROVES_NOTHING,
    Compared,
    Comparison,
    SimilarityVerdict,
    Statistic,
    compared,
)
from unmask.metrics._holdout_share import Hits, HoldoutShare, count_hits, holdout_share
from unmask.metrics._minimal_distance import MinimalDistance, minimal_distance
from unmask.metrics._rebinning import Binning, Quantile, Uniform, rebinned, with_numeric_columns
from unmask.metrics._similarity_modes import (
    Baseline,
    MostlyQa,
    Overfitting,
    mostlyai_qa,
    sdmetrics_baseline,
    sdmetrics_overfitting,
)
from unmask.tables.distance import Euclid, Gower, Hamming, Metric
from unmask.tables.matching import By, group_ids
from unmask.tables.schema import quoted
from unmask.tables.table import Table

__all__ = [
    "Baseline",
    "ClosenessScores",
    "Compared",
    "Comparison",
    "Curves",
    "Distance",
    "HoldoutShare",
    "MinimalDistance",
    "MostlyQa",
    "Overfitting",
    "Quantile",
    "Reference",
    "Similarity",
    "SimilarityVerdict",
    "Statistic",
    "Uniform",
    "minimal_distance",
    "mostlyai_qa",
    "sdmetrics_baseline",
    "sdmetrics_overfitting",
]  # fmt: skip


class Distance(StrEnum):
    """How far apart two rows are."""

    HAMMING = "hamming"
    EUCLID = "euclid"
    GOWER = "gower"

    @classmethod
    def named(cls, name: str) -> Distance:
        """The distance of this name, with an error that lists them."""
        if name not in list(cls):
            raise ParameterError(f"'{name}' is no distance; choose one of {', '.join(cls)}.")
        return cls(name)

    def metric(self, real: Table) -> Metric:
        """The metric; Euclid takes its scale from the real table."""
        if self is Distance.EUCLID:
            return Euclid.fitted_to(real)
        return Gower() if self is Distance.GOWER else Hamming()

    @property
    def by(self) -> By:
        """What identical rows must share: the bins for Hamming, else the numbers."""
        return By.CODES if self is Distance.HAMMING else By.VALUES


@dataclass(frozen=True, eq=False)
class Reference:
    """A real table and what its holdout scores against it: judges any number of synthetic tables."""

    similarity: Similarity
    real: Table
    metric: Metric
    holdout: ClosenessScores

    def judge(self, synthetic: Table, *, workers: int = 1) -> SimilarityVerdict:
        """The three tests, without estimates."""
        if not len(synthetic):
            raise InputError("The synthetic table has no rows, so nothing can be close to the real one. Give it rows.")
        if self.similarity.binning is not None:
            synthetic = self.similarity.same_bins(synthetic, self.real)
        asked, listed = group_ids(synthetic, self.real, by=self.similarity.distance.by)
        found = closeness(search(synthetic, self.real, self.metric, workers=workers), np.isin(asked, listed))
        return SimilarityVerdict(scores(found, self.similarity.percentile), self.holdout, self.similarity.statistic)


@dataclass(frozen=True)
class Similarity:
    """What is compared and how.

    Real table and holdout are brought to one size: the larger is subsampled `repeats` times, and medians are reported. Tables
    of one size are compared once, as they are.
    """

    distance: Distance = Distance.HAMMING
    statistic: Statistic = Statistic.PERCENTILE
    percentile: float = 5.0
    binning: Binning | None = None  # None = the bins of the schema; matters for Hamming only
    repeats: int = 10
    confidence: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "distance", Distance.named(self.distance))
        if self.statistic not in list(Statistic):
            raise ParameterError(f"'{self.statistic}' is no statistic; choose one of {', '.join(Statistic)}.")
        object.__setattr__(self, "statistic", Statistic(self.statistic))
        if not 0 <= self.percentile <= 100:
            raise ParameterError(f"percentile is {self.percentile}; use 0 to 100.")
        if self.repeats < 1:
            raise ParameterError(f"repeats is {self.repeats}; use 1 or more.")

    def reference(self, real: Table, holdout: Table, *, workers: int = 1) -> Reference:
        """Score the holdout once, to judge many synthetic tables; sizes are taken as they are."""
        if not len(real) or not len(holdout):
            raise InputError("The real table or the holdout has no rows. Both need some.")
        real, holdout = self.tables(real, holdout)
        metric = self.distance.metric(real)
        asked, listed = group_ids(holdout, real, by=self.distance.by)
        found = closeness(search(holdout, real, metric, workers=workers), np.isin(asked, listed))
        return Reference(self, real, metric, scores(found, self.percentile))

    def compare(
        self,
        real: Table,
        synthetic: Table,
        *,
        holdout: Table | None = None,
        most_rows: int | None = None,
        workers: int = 1,
        rng: np.random.Generator,
    ) -> Comparison:
        """Everything about one release. Without a holdout: the values, and no pass or fail.

        Of more than `most_rows` synthetic or holdout rows so many, drawn at random, are asked about; all real rows are searched.
        """
        for name, table in (("real", real), ("synthetic", synthetic), ("holdout", holdout)):
            if table is not None and not len(table):
                raise InputError(
                    f"The {name} table has no rows, so distances to or from it are undefined. Give it rows."
                )
        if holdout is None:
            real, synthetic = self.tables(real, synthetic)
            asked = _asked(len(synthetic), most_rows, rng)
            found = _without_holdout(self, real, _of(synthetic, asked), workers)
            return replace(found, notes=(*found.notes, *_fewer(("synthetic", asked, synthetic))))
        real, synthetic, holdout = self.tables(real, synthetic, holdout)
        asked, held = (_asked(len(table), most_rows, rng) for table in (synthetic, holdout))
        found = _with_holdout(self, real, _of(synthetic, asked), holdout, held, workers, rng)
        fewer = _fewer(("synthetic", asked, synthetic), ("holdout", held, holdout))
        return replace(found, notes=(*found.notes, *fewer))

    def tables(self, *tables: Table) -> list[Table]:
        """The tables with the chosen bins, quantiles taken from the first."""
        return list(tables) if self.binning is None else rebinned(tables, self.binning)

    def compared(self, found: list[Closeness], held: list[Closeness] | None) -> dict[str, Compared]:
        """The five metrics over the subsamples."""
        binned = self.distance is Distance.HAMMING
        return compared(found, held, percentile=self.percentile, binned=binned, confidence=self.confidence)

    def same_bins(self, synthetic: Table, real: Table) -> Table:
        """A synthetic table with the bins of a real one that was rebinned before."""
        return with_numeric_columns(synthetic, real.schema.columns)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Synthetic and holdout rows against real, for one equal-sized subsample."""

    synthetic: Closeness
    holdout: Closeness
    to_holdout: np.ndarray


def _with_holdout(
    how: Similarity,
    real: Table,
    synthetic: Table,
    holdout: Table,
    held: np.ndarray,
    workers: int,
    rng: np.random.Generator,
) -> Comparison:
    """Of the holdout the rows `held` are asked about; all are searched."""
    others = _of(holdout, held)
    metric = how.distance.metric(real)
    ids_s, ids_r, ids_h = group_ids(synthetic, real, holdout, by=how.distance.by)
    hits = count_hits(real, synthetic, holdout=holdout, metric=metric, workers=workers, rng=rng)
    whole = _Sample(
        closeness(hits.to_real, np.isin(ids_s, ids_r)),
        closeness(search(others, real, metric, workers=workers), np.isin(ids_h[held], ids_r)),
        hits.to_holdout,
    )
    samples = []
    size = min(len(real), len(holdout))
    for rows in _subsamples(max(len(real), len(holdout)), size, how.repeats, rng):
        if len(real) == len(holdout):
            samples.append(whole)
        elif len(real) < len(holdout):
            part = search(synthetic, holdout.take(rows), metric, neighbours=1, workers=workers)[:, 0]
            samples.append(_Sample(whole.synthetic, whole.holdout.take(np.flatnonzero(np.isin(held, rows))), part))
        else:
            part_real, listed = real.take(rows), ids_r[rows]
            near = closeness(search(synthetic, part_real, metric, workers=workers), np.isin(ids_s, listed))
            far = closeness(search(others, part_real, metric, workers=workers), np.isin(ids_h[held], listed))
            samples.append(_Sample(near, far, hits.to_holdout))
    return _assemble(how, samples, whole, hits, size, _notes(real, holdout, metric, len(samples)), rng)


def _assemble(
    how: Similarity,
    samples: list[_Sample],
    whole: _Sample,
    hits: Hits,
    size: int,
    notes: tuple[str, ...],
    rng: np.random.Generator,
) -> Comparison:
    verdicts = [
        SimilarityVerdict(scores(s.synthetic, how.percentile), scores(s.holdout, how.percentile), how.statistic)
        for s in samples
    ]
    pairs = [(s.synthetic.distance, s.to_holdout) for s in samples]
    metrics = how.compared([s.synthetic for s in samples], [s.holdout for s in samples])
    return Comparison(
        **metrics,
        passes=float(np.mean([verdict.private for verdict in verdicts])),
        share=holdout_share(pairs, hits, confidence=how.confidence, rng=rng),
        rows=size,
        subsamples=len(samples),
        closeness=whole.synthetic,
        to_holdout=whole.to_holdout,
        dcr_curves=curves(samples[0].synthetic.distance, samples[0].to_holdout, samples[0].holdout.distance),
        nndr_curves=curves(samples[0].synthetic.ratio, None, samples[0].holdout.ratio),
        warnings=(PROVES_NOTHING, HANGS_ON_SPLIT),
        notes=notes,
    )


def _without_holdout(how: Similarity, real: Table, synthetic: Table, workers: int) -> Comparison:
    ids_s, ids_r = group_ids(synthetic, real, by=how.distance.by)
    found = closeness(search(synthetic, real, how.distance.metric(real), workers=workers), np.isin(ids_s, ids_r))
    return Comparison(
        **how.compared([found], None),
        passes=None,
        share=None,
        rows=len(real),
        subsamples=1,
        closeness=found,
        to_holdout=None,
        dcr_curves=curves(found.distance, None, None),
        nndr_curves=curves(found.ratio, None, None),
        warnings=(PROVES_NOTHING,),
        notes=(
            "There is no holdout, so how close is too close cannot be said. Cut one off before training next time.",
        ),
    )


def _subsamples(total: int, size: int, repeats: int, rng: np.random.Generator) -> list[np.ndarray]:
    """`repeats` draws of `size` rows out of `total`, disjoint for as long as rows last; one draw of all if they are equal."""
    if total == size:
        return [np.arange(total)]
    draws: list[np.ndarray] = []
    while len(draws) < repeats:
        order = rng.permutation(total)
        draws += [np.sort(order[low : low + size]) for low in range(0, total - size + 1, size)]
    return draws[:repeats]


def _asked(rows: int, most: int | None, rng: np.random.Generator) -> np.ndarray:
    """The rows that are asked about: all, or so many of them."""
    return np.arange(rows) if most is None or rows <= most else np.sort(rng.choice(rows, most, replace=False))


def _of(table: Table, rows: np.ndarray) -> Table:
    return table if len(rows) == len(table) else table.take(rows)


def _fewer(*sides: tuple[str, np.ndarray, Table]) -> tuple[str, ...]:
    told = [f"{len(asked):,} of {len(table):,} {name} rows" for name, asked, table in sides if len(asked) < len(table)]
    if not told:
        return ()
    return (
        f"Similarity: {' and '.join(told)}, drawn at random, were compared with all others; intervals allow for it.",
    )


def _notes(real: Table, holdout: Table, metric: Metric, samples: int) -> tuple[str, ...]:
    notes = []
    if samples > 1:
        larger = "real table" if len(real) > len(holdout) else "holdout"
        notes.append(
            f"Real has {len(real):,} rows and holdout {len(holdout):,}: the {larger} was subsampled to "
            f"{min(len(real), len(holdout)):,} rows {samples} times."
        )
    if isinstance(metric, Euclid) and (constant := [name for name, spread in metric.deviations if spread == 0]):
        notes.append(f"Constant in the real table, so not compared by euclid: {quoted(constant)}.")
    if min(len(real), len(holdout)) < 2:
        notes.append("One row has no second neighbour: its NNDR is 1 by definition.")
    if real.persons is not None and len(np.unique(real.persons)) < len(real):
        notes.append("Several rows belong to one person. Distances and their tests count rows, not persons.")
    return tuple(notes)
