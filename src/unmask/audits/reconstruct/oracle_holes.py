"""Holes that a similarity filter leaves in numeric rows, and the real people in their middle (ganev2023, counter-example 5)."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from unmask.attacks.reconstruction.swiss_cheese import holes
from unmask.audits.part import Part
from unmask.audits.reconstruct.oracle_rounds import Deployment
from unmask.metrics.filters import SimilarityFilter
from unmask.metrics.similarity import Distance
from unmask.results.figures import figure, in_100
from unmask.results.grid import Cell, Grid, Section
from unmask.stats import clopper_pearson
from unmask.stream import stream
from unmask.tables.metric import Euclid
from unmask.tables.table import Table

DRAWN = 500_000  # rows that the attacker looks at
AT_ONCE = 50_000
NEAR = 0.25  # of the filter's radius: a person so near to the middle of a hole is found
CONFIDENCE = 0.95


def filter_with_holes(deployment: Deployment) -> SimilarityFilter | None:
    """The filter whose holes can be looked for: by distance, on two or three columns of numbers."""
    columns = deployment.train.schema.columns
    if len(columns) not in (2, 3) or not all(column.is_numeric for column in columns):
        return None
    for each in deployment.filters:
        if isinstance(each, SimilarityFilter) and each.radius > 0 and each.distance is Distance.EUCLID:
            return each
    return None


def holes_part(deployment: Deployment, seed: int) -> Part:
    """How many train people sit in the middle of a hole, beside holdout people, whom the filter does not know."""
    sieve = filter_with_holes(deployment)
    if sieve is None:
        return Part()
    rng = stream(seed, "holes")
    drawn = [_numbers(deployment, _filtered(deployment, AT_ONCE, rng)) for _ in range(DRAWN // AT_ONCE)]
    found = holes(np.concatenate(drawn), sieve.radius)
    rows = tuple(_line(name, _numbers(deployment, table), found.centres, sieve.radius)
                 for name, table in (("train", deployment.train), ("holdout", deployment.holdout)))  # fmt: skip
    grid = Grid(
        "holes", f"People in the middle of {len(found.centres):,} holes of the filter",
        ("people", "of", "found", "share", "at least", "at most"), rows, Section.ATTACKS,
    )  # fmt: skip
    share = float(rows[0][3])  # type: ignore[arg-type]
    note = (
        f"The similarity filter left {len(found.centres):,} holes in {DRAWN:,} drawn rows; {in_100(share)} train people "
        "are within a quarter of its radius of the middle of one."
    )
    return Part(grids=(grid,), notes=(note,))


def _filtered(deployment: Deployment, rows: int, rng: np.random.Generator) -> Table:
    table = deployment.model.sample(rows, rng)
    for each in deployment.filters:
        table = each.clean(deployment.train, table).table
    return table


def _numbers(deployment: Deployment, table: Table) -> np.ndarray:
    """Rows in the unit of the filter: standard deviations of the train table."""
    deviations = np.array([max(each, 1e-300) for _, each in Euclid.fitted_to(deployment.train).deviations])
    numbers = table.numbers / deviations
    present: np.ndarray = numbers[~np.isnan(numbers).any(axis=1)]
    return present


def _line(name: str, people: np.ndarray, centres: np.ndarray, radius: float) -> tuple[Cell, ...]:
    away = np.asarray(cKDTree(centres).query(people)[0]) if len(centres) else np.full(len(people), np.inf)
    found = int((away <= NEAR * radius).sum())
    told = figure(clopper_pearson(found, len(people), confidence=CONFIDENCE))
    return (name, len(people), found, told.value, told.low, told.high)
