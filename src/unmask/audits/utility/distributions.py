"""Columns by themselves and in twos and threes: total variation; and the numbers in them: moments and quantiles."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from unmask.audits.part import Part
from unmask.audits.utility.case import (
    DRAWN,
    MOST_COLUMNS,
    UtilityCase,
    UtilityMeasure,
    UtilityPart,
    kept,
    line,
    rounded,
    significant,
    table,
    three,
)
from unmask.results.grid import Cell, Grid, Role
from unmask.tables.schema import Kind
from unmask.tables.units import SMALLEST_GROUP
from unmask.utility.comparison import Gaps, gaps
from unmask.utility.marginals import MOST_SUBSETS, marginals, subsets_of, variations
from unmask.utility.moments import STATISTICS, moment_errors, moments, quantile_errors, quantiles

ORDERS = {1: "one-way", 2: "two-way", 3: "three-way"}


def marginals_part(case: UtilityCase) -> UtilityPart:
    """Total variation of every column, and of twos and threes of columns."""
    release, schema = case.release, case.release.schema
    overview: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    grids: tuple[Grid, ...] = ()
    for size, name in ORDERS.items():
        rng = case.rng("marginals", name)
        places = range(len(schema.columns)) if size == 1 else case.positions
        subsets = [(place,) for place in places] if size == 1 else subsets_of(places, size, rng=rng)
        if not subsets:
            continue
        found = gaps(
            partial(marginals, subsets=subsets), variations, release.real, release.sets,
            confidence=case.plan.confidence, rng=rng,
        )  # fmt: skip
        overview.append(line(f"{name} marginals (1 - mean total variation)", *kept(found)))
        if size == 1:
            grids = (_columns(schema.names, found),)
        elif len(subsets) < math.comb(len(places), size):
            notes.append(
                f"Of all {name} marginals {MOST_SUBSETS}, drawn at random, were compared; their mean stands for all."
            )
    if len(schema.columns) > MOST_COLUMNS:
        notes.append(f"Pairs and threes were compared of the first {MOST_COLUMNS} columns only.")
    return UtilityPart(grids=grids, notes=tuple(notes), overview=tuple(overview))


def _columns(names: tuple[str, ...], found: Gaps) -> Grid:
    rows: list[tuple[Cell, ...]] = [
        (name, *three(found.at(place)), rounded(found.noise[place])) for place, name in enumerate(names)
    ]
    heads = ("column", "total variation", "low", "high", "sampling noise")
    return table("utility/columns", "How far each column is from the real one", heads, rows, roles=(Role.TEXT, *DRAWN))


def numbers_part(case: UtilityCase) -> Part:
    """Mean, median, variance and quantiles of every number."""
    release, confidence = case.release, case.plan.confidence
    columns = [release.schema.columns[position] for position in release.schema.numeric]
    if not columns:
        return Part()
    tables = (release.real, release.sets)
    errors = gaps(moments, moment_errors, *tables, confidence=confidence, rng=case.rng("moments"))
    apart = gaps(quantiles, quantile_errors, *tables, confidence=confidence, rng=case.rng("quantiles"))
    truth = moments(release.real)
    present = (~np.isnan(release.real.numbers)).sum(axis=0)
    rows: list[tuple[Cell, ...]] = []
    shapes: list[tuple[Cell, ...]] = []
    for place, column in enumerate(columns):
        if present[place] < SMALLEST_GROUP:
            continue  # a mean of few people is theirs
        shapes.append((column.name, *three(apart.at(place)), rounded(apart.noise[place])))
        for which, statistic in enumerate(STATISTICS):
            error, real = errors.at(len(STATISTICS) * place + which), float(truth[place, which])
            shown = (
                (None, None) if column.kind is Kind.DATETIME else (significant(real), significant(real + error.value))
            )
            noise = significant(float(errors.noise[len(STATISTICS) * place + which]))
            numbers = (significant(each) for each in (error.value, error.low, error.high))
            relative = None if column.kind is Kind.DATETIME or real == 0 else rounded(abs(error.value / real))
            rows.append((column.name, statistic, *shown, *numbers, relative, noise))
    heads = ("column", "statistic", "real", "synthetic", "error", "low", "high", "relative error", "sampling noise")
    quantile_heads = ("column", "quantile error", "low", "high", "sampling noise")
    title = "Percentiles: mean difference, in standard deviations of the real column"
    grids = (
        table("utility/numbers", "Mean, median and variance (three digits)", heads, rows, detail=True),
        table("utility/quantiles", title, quantile_heads, shapes, roles=(Role.TEXT, *DRAWN), detail=True),
    )
    few = [column.name for place, column in enumerate(columns) if present[place] < SMALLEST_GROUP]
    told = f"No statistics are told of {', '.join(few)}: fewer than {SMALLEST_GROUP} real people have a value there."
    return Part(grids=grids if rows else (), notes=(told,) if few else ())


MARGINALS = UtilityMeasure("marginals", marginals_part)
NUMBERS = UtilityMeasure("summary statistics", numbers_part)
