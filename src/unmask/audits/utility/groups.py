"""Group by group: does the minority pay? Groups under ten people are not told."""

from __future__ import annotations

from collections.abc import Sequence

from unmask.audits.part import Part
from unmask.audits.utility.case import DRAWN, UtilityCase, UtilityMeasure, rounded, table, three
from unmask.metrics.legal import value_text
from unmask.results.grid import Cell, Grid, GridKind, Role
from unmask.results.result import NotTested
from unmask.results.small_groups import hidden_places
from unmask.tables.schema import Origin, Schema
from unmask.tables.table import Table
from unmask.utility.learners import ACCURACY
from unmask.utility.subgroups import GroupGap, dividing, group_marginals, group_predictions, group_sizes

ROLES = (Role.BY, Role.GROUP, Role.PEOPLE, *DRAWN)


def groups_part(case: UtilityCase) -> Part:
    """Total variation within each group, and what predictions lose there."""
    release, confidence = case.release, case.plan.confidence
    label = case.label
    columns = dividing(release.real, (*((label,) if label else ()), *release.schema.keys))
    grids: list[Grid] = []
    marginal: list[tuple[Cell, ...]] = []
    for column in columns:
        rng = case.rng("groups", column)
        found = group_marginals(release.real, release.sets, column, confidence=confidence, rng=rng)
        marginal += _lines(release.real, column, found)
    if marginal:
        heads = ("column", "value", "people", "total variation", "low", "high", "sampling noise")
        title = "Within groups: how far the other columns are from the real ones, on average"
        grids.append(table("utility/groups", title, heads, marginal, kind=GridKind.GROUPS, roles=ROLES, detail=True))
    taught = case.taught
    if not isinstance(taught, NotTested):
        people, measure = taught.people, taught.learners[0].measures.names[0]
        rows = [
            each
            for column in columns
            for each in _lines(people.table, column, group_predictions(people, column, confidence=confidence))
        ]
        worse = "below 0" if measure == ACCURACY else "above 0"
        heads = (
            "column",
            "value",
            "people",
            f"{measure}, synthetic less real",
            "low",
            "high",
            f"{measure} after real rows",
        )
        title = f"Within groups: what predictions of {label} lose ({people.learner}; {worse}: the group pays)"
        roles = (*ROLES[:-1], Role.TEXT)
        if rows:
            name = "utility/groups/prediction"
            grids.append(table(name, title, heads, rows, kind=GridKind.GROUPS, roles=roles, detail=True))
    return Part(grids=tuple(grids))


def _lines(people: Table, column: str, found: Sequence[GroupGap]) -> list[tuple[Cell, ...]]:
    """A line per group, but those that must not be told: small ones, and enough others that nobody finds them by subtraction."""
    sizes = group_sizes(people, column)
    codes = list(sizes)
    hidden = {codes[place] for place in hidden_places(list(sizes.values()))}
    return [
        (column, _name(people.schema, column, each.code), each.people, *three(each.estimate), rounded(each.other))
        for each in found
        if each.code not in hidden
    ]


def _name(schema: Schema, column: str, code: int) -> str:
    """The value if the schema is public, else its place."""
    found = schema.column(column)
    if schema.origin is Origin.PUBLIC or code >= found.listed:
        return value_text(found, code)
    return f"value {code + 1} of {found.listed}"


GROUPS = UtilityMeasure("subgroups", groups_part)
