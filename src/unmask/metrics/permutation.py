"""How much of a release is permutation and how much is noise, column by column (after ruiz2018, section 3.1).

By reverse mapping a release is a permutation of the real columns plus noise that cannot change a rank. Noise costs information
and protects nobody; what protects, and what costs the relations between columns, is how far ranks moved. How far, needs a pairing
of release rows with real records: the record that a row stems from (`aligned` releases), or else, since rows of a fully synthetic
table stem from nobody, the row or rows to which rank linkage with the sum of the differences leads, the mean over all that tie.

    displacement   |rank of the record - rank of its row| as a share of the rows: 0 = nothing moved. Mean, maximum, and share
                   of records within some per cent of the ranks, which is what an attacker learns of a value
    permutation    mean squared difference of the reverse-mapped values and the record's own, as a share of the whole change
    noise          mean squared noise as a share of the whole change; 1 - permutation. Its mean in the unit of the column
    relations      mean and largest change of the rank correlation (Spearman) with another column: the information that was lost

Ranks are mid-ranks, so that ties say nothing. Beside it stands the mean displacement of the same release with each of its columns
shuffled: what remains if all relations are lost. Nominal columns count positions in the schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from unmask.errors import ParameterError
from unmask.metrics.rank_linkage import links
from unmask.metrics.reverse_mapping import ReverseMapping, permuted, positions
from unmask.tables.distance import Tied
from unmask.tables.ranks import ranks
from unmask.tables.table import Table

WITHIN = (1.0, 5.0, 10.0)  # per cent of the ranks
MOST_RECORDS = 5_000  # paired by linkage; more are drawn from at random

Measured = Callable[[np.ndarray, np.ndarray, int], np.ndarray]  # of records and the rows paired with them, in a column


@dataclass(frozen=True)
class ColumnPermutation:
    """One column of one release. Shares unless said otherwise; NaN where a column has no two values to compare."""

    column: str
    displacement: float  # mean over records
    largest: float
    within: tuple[float, ...]  # share of records whose displacement is at most WITHIN per cent
    shuffled: float  # mean displacement if every column is shuffled
    permutation: float  # share of the squared change; NaN if nothing changed
    noise: float
    mean_noise: float  # absolute, in the unit of the column
    relation: float  # mean absolute change of the rank correlations with the other columns
    largest_relation: float


@dataclass(frozen=True, eq=False)
class Permutation:
    """One release."""

    columns: tuple[ColumnPermutation, ...]
    records: int  # that were paired
    aligned: bool


def permutation(
    real: Table, mapping: ReverseMapping, *, aligned: bool = False, workers: int = 1, rng: np.random.Generator
) -> Permutation:
    """Displacement and noise of a reverse-mapped release. `rng` draws records where there are many, and shuffles columns."""
    rows, mapped = len(real), mapping.release
    if aligned and not np.array_equal(mapping.rows, np.arange(rows)):
        raise ParameterError(
            f"The release has another number of rows than the {rows:,} of the real table, so its rows are not those of the real "
            "table in order. Leave out --aligned."
        )
    some = not aligned and rows > MOST_RECORDS
    chosen = np.sort(rng.choice(rows, MOST_RECORDS, replace=False)) if some else np.arange(rows)
    mixed = permuted(mapped, rng.permuted(np.tile(np.arange(rows)[:, None], (1, mapped.codes.shape[1])), axis=0))
    pairs, others = (None if aligned else _linked(real, table, chosen, workers) for table in (mapped, mixed))
    own, values, places, found = positions(real), positions(mapped), ranks(real), ranks(mapped, like=real)
    apart, change, noise = _means(
        pairs,
        chosen,
        len(mapped.schema.columns),
        lambda record, row, j: np.abs(places[record, j] - found[row, j]) / rows,
        lambda record, row, j: np.square(values[row, j] - own[record, j]),
        lambda record, row, j: np.square(mapping.noise[row, j]),
    )
    lost = ranks(mixed, like=real)
    (shuffled,) = _means(
        others,
        chosen,
        len(mapped.schema.columns),
        lambda record, row, j: np.abs(places[record, j] - lost[row, j]) / rows,
    )
    relations = np.abs(_spearman(places) - _spearman(found))
    np.fill_diagonal(relations, np.nan)
    columns = []
    for j, column in enumerate(mapped.schema.columns):
        moved, added = _mean(change[:, j]), _mean(noise[:, j])
        total = moved + added
        columns.append(
            ColumnPermutation(
                column.name,
                _mean(apart[:, j]),
                float(apart[:, j].max()),
                tuple(float((apart[:, j] <= limit / 100 + 1e-12).mean()) for limit in WITHIN),
                _mean(shuffled[:, j]),
                moved / total if total > 0 else float("nan"),
                added / total if total > 0 else float("nan"),
                _mean(np.abs(mapping.noise[:, j])),
                *_mean_and_largest(relations[j]),
            )
        )
    return Permutation(tuple(columns), len(chosen), aligned)


def _linked(real: Table, release: Table, chosen: np.ndarray, workers: int) -> Iterator[Tied]:
    return links(real, release, only=chosen, workers=workers)


def _means(pairs: Iterator[Tied] | None, chosen: np.ndarray, columns: int, *measures: Measured) -> list[np.ndarray]:
    """Each measure of each record, column by column: the mean over the rows that it is paired with (None = its own row)."""
    found = [np.empty((len(chosen), columns)) for _ in measures]
    low = 0
    for tied in (_own(chosen),) if pairs is None else pairs:
        part = slice(low, low + len(tied.counts))
        records = np.repeat(chosen[part], tied.counts)
        for target, measure in zip(found, measures, strict=True):
            for j in range(columns):  # one at a time: millions may tie
                target[part, j] = np.add.reduceat(measure(records, tied.rows, j), tied.starts[:-1]) / tied.counts
        low = part.stop
    return found


def _own(chosen: np.ndarray) -> Tied:
    return Tied(np.zeros(len(chosen)), np.arange(len(chosen) + 1), chosen)


def _spearman(places: np.ndarray) -> np.ndarray:
    """Rank correlations; NaN with a column that is constant."""
    centred = places - places.mean(axis=0)
    size = np.sqrt(np.square(centred).sum(axis=0))
    scale = np.outer(size, size)
    return np.divide(centred.T @ centred, scale, out=np.full(scale.shape, np.nan), where=scale > 0)


def _mean(values: np.ndarray) -> float:
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else float("nan")


def _mean_and_largest(values: np.ndarray) -> tuple[float, float]:
    values = values[~np.isnan(values)]
    return (float(values.mean()), float(values.max())) if len(values) else (float("nan"), float("nan"))
