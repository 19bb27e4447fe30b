"""The distances to closest records of other tools, under their names: for comparing reports, not for verdicts.

What differs, and what makes figures from different tools incomparable:

    sdmetrics     distance   Gower, on ranges observed in the table that is searched
                  ties       of real and holdout count for the holdout
                  direction  higher = better, at most 1
                  sizes      as they come (or rows drawn from every table)
    mostlyai-qa   distance   numbers by quantile (-0.5 to 0.5), categories embedded, rows scaled to length 1, Euclid
                  ties       one half
                  direction  a share above one half is too close
                  sizes      one size for all three tables
                  columns    the worst of seven groups, printed as if it were all columns
    ours          distance   Hamming, Euclid or Gower on public ranges (`similarity`)
                  ties       one half in the share, a random tied row in the test
                  direction  a share above one half is too close
                  sizes      real and holdout brought to one size
                  error      an interval and an exact test, which the other two do not have

Categories of mostlyai-qa pass through a language model; here each value is a direction of its own, all equally far apart.
Figures for tables of numbers follow its definition; for categories only the rules (ties, order statistics) are reproduced.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unmask.errors import InputError
from unmask.metrics._rebinning import with_numeric_columns
from unmask.tables.distance import Gower, RankCriterion, Ranks, kth_distances, nearest
from unmask.tables.schema import Column
from unmask.tables.table import Table

SAME = 1e-6  # mostlyai-qa: rows this close are identical
SOFT = 1e-8  # mostlyai-qa: added to both distances of a ratio


@dataclass(frozen=True)
class Overfitting:
    """sdmetrics' DCROverfittingProtection: 1 = no overfitting seen."""

    score: float  # min(1, 2 (1 - closer_to_training))
    closer_to_training: float
    closer_to_holdout: float  # ties included
    tied: float  # not reported by sdmetrics
    warnings: tuple[str, ...]


def sdmetrics_overfitting(real: Table, synthetic: Table, *, holdout: Table, workers: int = 1) -> Overfitting:
    """DCROverfittingProtection as sdmetrics defines it, without its subsampling.

    Each distance is Gower on the range observed in the table that is searched, so the two that are compared have different units.
    """
    _check(real, synthetic, holdout)
    to_real = _observed_gower(synthetic, real, workers)
    to_holdout = _observed_gower(synthetic, holdout, workers)
    closer, tied = float(np.mean(to_real < to_holdout)), float(np.mean(to_real == to_holdout))
    warning = (
        "Ties count for the holdout: on coarse tables the score is perfect although a tenth of the rows are copies."
    )
    return Overfitting(min((1 - closer) * 2, 1.0), closer, 1 - closer, tied, (warning,))


@dataclass(frozen=True)
class Baseline:
    """sdmetrics' DCRBaselineProtection: 1 = as far from the real rows as random rows are."""

    score: float  # min(1, synthetic_median / random_median); NaN if random rows have a median of 0
    synthetic_median: float
    random_median: float
    warnings: tuple[str, ...]


def sdmetrics_baseline(real: Table, synthetic: Table, *, workers: int = 1, rng: np.random.Generator) -> Baseline:
    """DCRBaselineProtection as sdmetrics defines it, without its subsampling: medians against uniformly random rows."""
    _check(real, synthetic)
    mine = float(np.median(_observed_gower(synthetic, real, workers)))
    random = float(np.median(_observed_gower(random_rows(real, len(synthetic), rng), real, workers)))
    warning = "A median against random rows: useful synthetic rows score low, and copies of fewer than half the rows do not show."
    return Baseline(min(mine / random, 1.0) if random else float("nan"), mine, random, (warning,))


def random_rows(real: Table, rows: int, rng: np.random.Generator) -> Table:
    """Each column alone, uniform over the observed range or values; missing as often as in the real table."""
    codes = np.empty((rows, real.codes.shape[1]), dtype=real.schema.code_type, order="F")
    numbers = np.full((rows, real.numbers.shape[1]), np.nan, order="F")
    for position, column in enumerate(real.schema.columns):
        seen = real.codes[:, position]
        place = real.schema.numeric.index(position) if column.is_numeric else -1
        absent = np.isnan(real.numbers[:, place]) if column.is_numeric else seen == column.missing_code
        absent &= bool(column.missing)
        gone = rng.random(rows) < absent.mean()
        if absent.all():
            codes[:, position] = column.missing_code
            continue
        if not column.is_numeric:
            codes[:, position] = rng.choice(np.unique(seen[~absent]), rows)
        else:
            values = real.numbers[~absent, place]
            low, high = values.min(), values.max()
            drawn = rng.integers(int(low), int(high) + 1, rows) if column.is_integral else rng.uniform(low, high, rows)
            numbers[:, place] = np.where(gone, np.nan, drawn)
            codes[:, position] = column.bin_of(drawn)
        codes[gone, position] = column.missing_code
    return Table(real.schema, codes, numbers)


def _observed_gower(queries: Table, searched: Table, workers: int) -> np.ndarray:
    """Gower distance to the closest row, numbers on the range observed in the searched table."""
    columns = list(searched.schema.columns)
    for place, position in enumerate(searched.schema.numeric):
        columns[position] = _observed(columns[position], searched.numbers[:, place])
    a, b = (with_numeric_columns(table, columns) for table in (queries, searched))
    return kth_distances(a, b, ks=(1,), metric=Gower(), workers=workers)[:, 0]


def _observed(column: Column, numbers: np.ndarray) -> Column:
    present = numbers[~np.isnan(numbers)]
    low, high = (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)
    return replace(column, lower=low, upper=high, bins=1, cuts=())


@dataclass(frozen=True)
class MostlyQa:
    """mostlyai-qa's distances on all columns, and apart from them those of its worst column group."""

    ims: float  # share of synthetic rows within 1e-6 of a real row
    ims_holdout: float
    dcr: float  # mean distance to the closest real row
    dcr_holdout: float  # of holdout rows
    share: float  # P(closer to real) + 1/2 P(tie)
    nndr: float  # tenth smallest ratio to real, over the tenth smallest ratio to the holdout
    worst_share: float  # the largest share over all columns and the column groups: what the tool prints as the share
    worst_columns: tuple[str, ...]
    warnings: tuple[str, ...]


def mostlyai_qa(
    real: Table,
    synthetic: Table,
    *,
    holdout: Table,
    most_rows: int = 10_000,
    groups: int = 3,
    workers: int = 1,
    rng: np.random.Generator,
) -> MostlyQa:
    """Distances as mostlyai-qa defines them, rows of each table drawn to one size of at most `most_rows`.

    Random column groups are drawn for tables of more than 10 columns; the tool's three correlated groups, which cluster the
    output of its language model, have no counterpart. Cost is quadratic in the rows and linear in the number of categories.
    """
    _check(real, synthetic, holdout)
    rows = min(len(real), len(synthetic), len(holdout), most_rows)
    tables = [table.take(np.sort(rng.permutation(len(table))[:rows])) for table in (synthetic, real, holdout)]
    blocks = _encoded(tables)
    names = real.schema.names
    every = list(range(len(names)))
    chosen = [every]
    if len(names) > 10:
        chosen += [sorted(part.tolist()) for part in np.array_split(rng.permutation(len(names)), groups)]
    found = [_distances(blocks, columns, workers) for columns in chosen]
    shares = [_share(to_real[:, 0], to_holdout[:, 0]) for to_real, to_holdout, _ in found]
    worst = int(np.argmax(shares))
    to_real, to_holdout, held = found[0]
    return MostlyQa(
        float(np.mean(to_real[:, 0] <= SAME)),
        float(np.mean(held[:, 0] <= SAME)),
        float(to_real[:, 0].mean()),
        float(held[:, 0].mean()),
        shares[0],
        _tenth_ratio(to_real) / _tenth_ratio(to_holdout),
        shares[worst],
        tuple(names[position] for position in chosen[worst]),
        ("The worst of several column groups lies above one half without any leak; compare the share of all columns.",),
    )


def _share(to_real: np.ndarray, to_holdout: np.ndarray) -> float:
    return float(np.mean(to_real < to_holdout) + np.mean(to_real == to_holdout) / 2)


def _tenth_ratio(distances: np.ndarray) -> float:
    """The tenth smallest ratio, or the largest of fewer."""
    ratios = np.sort((distances[:, 0] + SOFT) / (distances[:, -1] + SOFT))
    return float(ratios[min(9, len(ratios) - 1)])


def _distances(blocks: list[list[np.ndarray]], columns: list[int], workers: int) -> tuple[np.ndarray, ...]:
    """Synthetic to real, synthetic to holdout, holdout to real: Euclid on rows of length 1, two nearest."""
    synthetic, real, holdout = (_unit_rows(np.hstack([block[column] for column in columns])) for block in blocks)
    k, metric = min(2, len(real)), Ranks(RankCriterion.EUCLID)
    pairs = ((synthetic, real), (synthetic, holdout), (holdout, real))
    return tuple(nearest(a, b, k=k, metric=metric, workers=workers).distances for a, b in pairs)


def _unit_rows(values: np.ndarray) -> np.ndarray:
    length = np.sqrt((values * values).sum(axis=1, keepdims=True))
    return np.divide(values, length, out=np.zeros_like(values), where=length > 0)


def _encoded(tables: list[Table]) -> list[list[np.ndarray]]:
    """For each table (synthetic, real, holdout) the coordinates of each column."""
    result: list[list[np.ndarray]] = [[] for _ in tables]
    for position, column in enumerate(tables[0].schema.columns):
        if not column.is_numeric:
            for table, blocks in zip(tables, result, strict=True):
                blocks.append(np.eye(column.code_count)[table.codes[:, position]] / np.sqrt(2))
            continue
        place = tables[0].schema.numeric.index(position)
        numbers = [table.numbers[:, place] for table in tables]
        known = np.concatenate(numbers[1:])
        gaps = any(np.isnan(part).any() for part in numbers)
        for part, blocks in zip(numbers, result, strict=True):
            scaled = np.nan_to_num(_quantile_scaled(part, known))
            flag = [np.isnan(part) - 0.5] if gaps else []
            blocks.append(np.column_stack([scaled, *flag]))
    return result


def _quantile_scaled(numbers: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Position among the quantiles of the known numbers, -0.5 to 0.5; ties get the middle (as scikit-learn does)."""
    present = known[~np.isnan(known)]
    if not len(present):
        return np.where(np.isnan(numbers), np.nan, 0.0)
    levels = np.linspace(0, 1, min(100, len(known)))
    values = np.maximum.accumulate(np.quantile(present, levels))
    up = np.interp(numbers, values, levels)
    down = -np.interp(-numbers, -values[::-1], -levels[::-1])
    middle = (up + down) / 2
    middle = np.where(numbers <= values[0], 0.0, np.where(numbers >= values[-1], 1.0, middle))
    return np.where(np.isnan(numbers), np.nan, middle - 0.5)


def _check(*tables: Table) -> None:
    if any(not len(table) for table in tables):
        raise InputError("One of the tables has no rows, so there is no closest row. Give each table rows.")
