"""What makes the leaking people different, and in which groups they are. Nothing here points at a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unmask.attacks.everyone.features import Features
from unmask.audits.everyone.people import People
from unmask.metrics.legal import value_text
from unmask.results.grid import Cell, Grid, GridKind, Role, Section
from unmask.results.small_groups import hidden_places
from unmask.stats import auc, clopper_pearson
from unmask.tables.distance import MOST_NEIGHBOURS, kth_distances, nearest
from unmask.tables.metric import Gower
from unmask.tables.schema import Origin, Schema
from unmask.tables.units import SMALLEST_GROUP

MOST_GROUPS = 12  # values of a column that is told about without being asked for
NEAR = {1: "nearest", 5: "5th nearest"}


@dataclass(frozen=True, eq=False)
class Marks:
    """Properties of every unit, from the candidates alone: the same whatever the coins."""

    values: dict[str, np.ndarray]


def marks_of(features: Features) -> Marks:
    """How alone each unit is: distances, rare values, small cells. Of a person's rows the most telling one counts."""
    others = features.others
    sizes = np.array([len(subset) for subset in features.subsets])
    of_row, count = features.units.of_row, features.units.count
    found: dict[str, np.ndarray] = {}
    for k, distances in _near(features).items():
        found[f"distance to the {NEAR[k]} other"] = _most(distances, of_row, count)
    found["others who share the rarest value"] = -_most(-others[:, sizes == 1].min(axis=1), of_row, count)
    if (sizes == 2).any():
        pairs = others[:, sizes == 2]
        found["pairs of values nobody shares"] = _most((pairs == 0).sum(axis=1), of_row, count)
        found["others who share a typical pair"] = -_most(-np.median(pairs, axis=1), of_row, count)
    missing = np.array([column.missing_code if column.missing else -1 for column in features.candidates.schema.columns])
    found["missing values"] = _most((features.candidates.codes == missing).sum(axis=1), of_row, count)
    if count < len(of_row):
        found["rows of the person"] = features.units.sizes.astype(np.float64)
    return Marks(found)


def _near(features: Features) -> dict[int, np.ndarray]:
    """Distances of each row to the nearest rows of other units; none where a unit has too many rows to look past them."""
    rows, of_row = features.candidates, features.units.of_row
    wanted = max(NEAR) + int(features.units.sizes.max()) - 1
    if wanted > MOST_NEIGHBOURS or len(rows) <= wanted:
        return {}
    if wanted == max(NEAR):  # a row each: the rows of other units are all other rows
        found = kth_distances(rows, rows, ks=tuple(NEAR), metric=Gower(), exclude_same_row=True)
        return dict(zip(NEAR, found.T, strict=True))
    near = nearest(rows, rows, k=wanted, metric=Gower(), exclude_same_row=True)
    others = np.where(of_row[near.rows] == of_row[:, None], np.inf, near.distances)
    others.sort(axis=1)
    return {k: others[:, k - 1] for k in NEAR}


def _most(rows: np.ndarray, of_row: np.ndarray, count: int) -> np.ndarray:
    """From rows to units, taking the largest."""
    most = np.full(count, -np.inf)
    np.maximum.at(most, of_row, rows.astype(np.float64))
    return most


def marks_grid(marks: Marks, people: People) -> Grid | None:
    """Medians among the listed and among the others; None where either are too few to be told about."""
    listed = people.listed
    if min(listed.sum(), (~listed).sum()) < SMALLEST_GROUP:
        return None
    rows: list[tuple[float, tuple[Cell, ...]]] = []
    for name, values in marks.values.items():
        if values.min() == values.max():
            continue
        apart = auc(values[listed], values[~listed])
        medians = float(np.median(values[listed])), float(np.median(values[~listed]))
        figures = (float(f"{each:.3g}") for each in (*medians, apart.value, apart.low, apart.high))
        rows.append((abs(apart.value - 0.5), (name, *figures)))
    heads = ("mark", "median of the listed", "median of the others", "AUC", "low", "high")
    clearest_first = tuple(cells for _, cells in sorted(rows, key=lambda row: -row[0]))
    return Grid(
        "people/marks", "What marks the people on the list", heads, clearest_first, Section.RISK,
        roles=(Role.TEXT, Role.TEXT, Role.TEXT, Role.AUC, Role.LOW, Role.HIGH),
    )  # fmt: skip


def groups_grid(features: Features, people: People, columns: tuple[str, ...]) -> Grid | None:
    """The share of listed people by value of some columns; small groups are left out, and names that are not public."""
    if not people.listed.any():
        return None
    rows = [row for column in columns for row in _group_rows(features, people, column)]
    heads = ("column", "value", "people", "listed", "low", "high", "mean AUC")
    roles = (Role.BY, Role.GROUP, Role.PEOPLE, Role.ESTIMATE, Role.LOW, Role.HIGH, Role.TEXT)
    if not rows:
        return None
    return Grid(
        "groups", "Who is on the list, by group", heads, tuple(rows), Section.RISK, GridKind.GROUPS, roles, detail=True
    )


def _group_rows(features: Features, people: People, name: str) -> Iterator[tuple[Cell, ...]]:
    schema = features.candidates.schema
    position = schema.position(name)
    column, codes = schema.columns[position], features.candidates.codes[:, position]
    units = {int(code): np.unique(features.units.of_row[codes == code]) for code in np.unique(codes)}
    hidden = hidden_places([len(members) for members in units.values()])
    for place, (code, members) in enumerate(units.items()):
        if place in hidden:
            continue
        share = clopper_pearson(int(people.listed[members].sum()), len(members))
        told = value_text(column, code) if schema.origin is Origin.PUBLIC else f"value {place + 1}"
        figures = (share.value, share.low, share.high, float(np.nanmean(people.auc[members])))
        yield (name, told, len(members), *(round(figure, 4) for figure in figures))


def group_columns(schema: Schema, asked: tuple[str, ...]) -> tuple[str, ...]:
    """Columns by which risk is told: those asked for, else the keys, else all, but only those with few values."""
    for name in asked:
        schema.position(name)  # an unknown name is an error that lists the known ones
    names = asked or tuple(schema.keys) or schema.names
    return tuple(name for name in names if asked or schema.column(name).listed <= MOST_GROUPS)
