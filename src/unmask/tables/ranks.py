"""Ranks of every column: 1 is the smallest, nominal values in schema order, missing values last.

Nominal values have no order of their own. Where the schema lists groups (a hierarchy), they are ranked by *marginality*: the mean
semantic distance of a value to the values of a table, the most central value first (as ruiz2018, section 3.1, refers to).
The distance of two values is the share of the domain in the smallest group that holds both, so that nested groups count too. An
ordered column keeps its order, a group of its values standing at their mean. Without groups the order of the schema counts.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from unmask.tables.schema import Column
from unmask.tables.table import Table


class Ties(StrEnum):
    """What rank equal values get."""

    IN_ORDER = "in order"  # 1..n in order of appearance: a permutation, as the reverse mapping needs
    MIDDLE = "middle"  # the mean rank: says nothing about the row's position, as rank linkage needs


def ranks(table: Table, ties: Ties = Ties.MIDDLE, *, like: Table | None = None) -> np.ndarray:
    """Rank of each value within its column, rows x columns, float64.

    Tables that are to be compared must agree on the order of nominal values: `like` is the table whose frequencies decide where
    the schema has groups (None = this one).
    """
    place = {position: i for i, position in enumerate(table.schema.numeric)}
    result = np.empty(table.codes.shape, order="F")
    for position, column in enumerate(table.schema.columns):
        if position in place:
            values = np.nan_to_num(table.numbers[:, place[position]], nan=np.inf)
        elif column.groups:
            source = table if like is None else like
            values = nominal_places(column, source.codes[:, source.schema.position(column.name)])
            values = values[table.codes[:, position]]
        else:
            values = table.codes[:, position]
        result[:, position] = _ranked(values, ties)
    return result


def _ranked(values: np.ndarray, ties: Ties) -> np.ndarray:
    """Ranks by counting equal values: hashing them and sorting distinct ones is ten times as fast as sorting all."""
    import pandas as pd

    codes = values if values.dtype.kind == "u" else pd.factorize(values, sort=True)[0]
    if ties is Ties.IN_ORDER:
        found = np.empty(len(codes))
        found[np.argsort(codes, kind="stable")] = np.arange(1, len(codes) + 1)
        return found
    counts = np.bincount(codes)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[codes])


def nominal_places(column: Column, codes: np.ndarray) -> np.ndarray:
    """Where each code of a column with groups stands on its scale; missing and unlisted values after all others."""
    member = np.array([[value in values for value in column.values] for _, values in column.groups])
    nodes = [*range(column.listed), *range(column.size + 1, column.code_count)]  # the values, then the groups
    places = np.arange(column.code_count) + 2.0 * column.code_count
    if column.ordered:
        middles = [np.flatnonzero(row).mean() for row in member]
        places[nodes] = np.concatenate([np.arange(column.listed), middles])
        return places
    counts = np.bincount(codes, minlength=column.code_count)[nodes]
    centrality = _merged(member) @ counts / max(1, counts.sum())
    order = np.lexsort((np.arange(len(nodes)), np.round(centrality, 12)))  # equally central values in schema order
    places[np.array(nodes)[order]] = np.arange(len(nodes))
    return places


def _merged(member: np.ndarray) -> np.ndarray:
    """The share of the domain that two nodes, values or groups, must be merged to in order to be equal; 0 on the diagonal."""
    values = member.shape[1]
    sets = np.concatenate([np.eye(values, dtype=bool), member])
    distance = np.full((len(sets), len(sets)), 1.0)
    for group in sorted(member, key=lambda each: -int(each.sum())):
        inside = ~(sets & ~group).any(axis=1)
        distance[np.ix_(inside, inside)] = group.mean()
    np.fill_diagonal(distance, 0.0)
    return distance
