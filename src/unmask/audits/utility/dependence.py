"""Pairs of columns: correlations and normalised mutual information, real, synthetic and their difference."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from unmask.audits.utility.case import (
    DRAWN,
    UtilityCase,
    UtilityMeasure,
    UtilityPart,
    heat,
    kept,
    line,
    rounded,
    table,
    three,
)
from unmask.results.grid import Cell, Grid, Role
from unmask.tables.table import Table
from unmask.utility.comparison import Gaps, gaps
from unmask.utility.dependence import (
    correlation_gaps,
    correlations,
    dissimilarity,
    information_gaps,
    mutual_information,
    on_a_scale,
    similarity_statistic,
    upper,
)

WORST = 10  # pairs that are listed
DRAWN_COLUMNS = 15  # of a heat map: where most has changed

S = TypeVar("S")


def dependence_part(case: UtilityCase) -> UtilityPart:
    """What columns say of each other, and the similarity score of ganev2023."""
    release = case.release
    overview: list[tuple[Cell, ...]] = []
    grids: list[Grid] = []
    notes: list[str] = []
    scaled = tuple(place for place in on_a_scale(release.real) if place in case.positions)
    for what, places, statistic, gap in (
        ("correlation", scaled, correlations, correlation_gaps),
        ("mutual information", case.positions, mutual_information, information_gaps),
    ):
        if len(places) < 2:
            continue
        of = partial(statistic, positions=places)
        found = _gaps(case, of, gap, what)
        overview.append(line(f"{what} of pairs (1 - mean difference)", *kept(found)))
        names = [release.schema.names[place] for place in places]
        grids.append(_worst(what, names, found))
        if case.in_full:
            matrices = of(release.real), np.mean([of(table) for table in release.sets], axis=0)
            grids += _drawn(what, names, *matrices)
            if len(names) > DRAWN_COLUMNS:
                notes.append(f"The {what} of the {DRAWN_COLUMNS} columns that have changed most is drawn.")
    score = _gaps(case, partial(similarity_statistic, positions=case.positions), dissimilarity, "similarity")
    overview.append(line("similarity score of columns and pairs (ganev2023)", *kept(score)))
    return UtilityPart(grids=tuple(grids), notes=tuple(notes), overview=tuple(overview))


def _gaps(case: UtilityCase, statistic: Callable[[Table], S], gap: Callable[[S, S], np.ndarray], what: str) -> Gaps:
    release = case.release
    return gaps(statistic, gap, release.real, release.sets, confidence=case.plan.confidence, rng=case.rng(what))


def _drawn(what: str, names: list[str], real: np.ndarray, synthetic: np.ndarray) -> list[Grid]:
    """Heat maps of the real table, the release, and their difference; of the columns that have changed most, in their order."""
    change = synthetic - real
    shown = np.sort(np.argsort(-np.nan_to_num(np.abs(change)).sum(axis=0), kind="stable")[:DRAWN_COLUMNS])
    heads = [names[place] for place in shown]
    matrices = {"in the real table": real, "in the release": synthetic, "release less real": change}
    return [
        heat(f"heat/{what}/{title}", f"{what.capitalize()}: {title}", heads, matrix[np.ix_(shown, shown)])
        for title, matrix in matrices.items()
    ]


def _worst(what: str, names: list[str], found: Gaps) -> Grid:
    """The pairs that have changed most."""
    sizes = np.abs(found.value[:-1])
    first = np.argsort(-np.nan_to_num(sizes), kind="stable")[:WORST]
    ones, others = upper(len(names))
    rows: list[tuple[Cell, ...]] = [
        (f"{names[ones[place]]} and {names[others[place]]}", *three(found.at(int(place))), rounded(found.noise[place]))
        for place in first
        if np.isfinite(sizes[place])
    ]
    heads = ("pair", "release less real", "low", "high", "sampling noise")
    title = f"Pairs whose {what} has changed most"
    return table(f"utility/{what}", title, heads, rows, roles=(Role.TEXT, *DRAWN), detail=True)


DEPENDENCE = UtilityMeasure("dependence", dependence_part)
