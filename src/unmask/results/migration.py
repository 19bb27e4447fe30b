"""Results of formats 2 and 3 in the present one.

Format 3 did not say which columns were left out, nor whether a leak could have been seen. Format 2, of unmask 0.1, said by
names and by the texts of headers what a table or a line of a chart is. This is the only place that still knows them: readers go
by the types since format 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unmask.results.grid import GridKind, Role, Section, SeriesKind

OLDEST = 2  # format that is still read

_POLICY = {"high": 0.10, "medium": 0.03, "high_tpr": 0.10}  # the only one that 0.1 had

# Where tables stood, by the first word of their name; all others stood among the details.
_SECTIONS = {
    **dict.fromkeys(("attacks", "attributes", "criteria", "demo", "forest", "membership", "reconstruction"), Section.ATTACKS),
    **dict.fromkeys(("confirm", "groups", "people", "risk"), Section.RISK),
    **dict.fromkeys(("epsilon", "claim", "verdict", "support"), Section.EPSILON),
    **dict.fromkeys(("controls", "instrument", "power", "planted"), Section.SOUND),
    **dict.fromkeys(("tradeoff", "utility"), Section.UTILITY),
}  # fmt: skip

# What lines of charts were, by the first part of their name; all others were plain lines among the details.
_SERIES = {
    "roc": (SeriesKind.ROC, Section.DETAIL),
    "ecdf": (SeriesKind.ECDF, Section.DETAIL),
    "histogram": (SeriesKind.HISTOGRAM, Section.DETAIL),
    "risk": (SeriesKind.RISK, Section.RISK),
    "epsilon": (SeriesKind.WEALTH, Section.EPSILON),
    "wealth": (SeriesKind.WEALTH, Section.EPSILON),
    "power": (SeriesKind.POWER, Section.SOUND),
    "tradeoff": (SeriesKind.TRADEOFF, Section.UTILITY),
}

# Tables with intervals that were not drawn: the plot of all findings shows the first two, the last has no common scale.
_UNDRAWN = ("attacks", "criteria", "controls")

# Heads of columns, in small letters. Of several that say how many or name a group, the first word here counted.
_SINGLE = ("row", "row number", "record", "person", "unit")  # as first column: a line per person
_PEOPLE = ("people", "persons", "units", "records", "rows", "n", "size", "members")
_GROUP = ("group", "value", "category")
_BY = ("column", "by", "criterion")
_LABELS = 2  # names of more parts did not fit beside a plot


def upgraded(plain: Mapping[str, Any]) -> dict[str, Any]:
    """A result in the present format. What does not fit its format is left alone: reading the result names it."""
    if plain["format"] == OLDEST:
        plain = _third(plain)
    return _fourth(plain) if plain["format"] == 3 else dict(plain)


def _fourth(plain: Mapping[str, Any]) -> dict[str, Any]:
    facts = plain.get("facts")
    facts = {**facts, "left_out": [], "inconclusive": []} if isinstance(facts, dict) else facts
    return {**plain, **({"facts": facts} if "facts" in plain else {}), "format": 4}


def _third(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **plain,
        "plan": _plan(plain.get("plan"), plain.get("audit")),
        "grids": _each(plain.get("grids"), _grid),
        "series": _each(plain.get("series"), _series),
        "policy": _POLICY,
        "format": 3,
    }


def _plan(plan: Any, audit: Any) -> Any:
    """The attempts per legal criterion were called attacks."""
    if not isinstance(plan, dict) or audit not in ("release", "demo"):
        return plan
    return {"attempts" if name == "attacks" else name: value for name, value in plan.items()}


def _each(items: Any, upgrade: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    if not isinstance(items, list):
        return items
    return [upgrade(item) if isinstance(item, dict) and isinstance(item.get("name"), str) else item for item in items]


def _series(plain: dict[str, Any]) -> dict[str, Any]:
    kind, section = _SERIES.get(plain["name"].partition("/")[0], (SeriesKind.LINE, Section.DETAIL))
    return {**plain, "kind": kind, "section": section}


def _grid(plain: dict[str, Any]) -> dict[str, Any]:
    columns = plain.get("columns")
    heads = [str(column).lower() for column in columns] if isinstance(columns, list) else []
    first = plain["name"].partition("/")[0]
    kind = _kind(first, plain["name"], heads)
    roles = _roles(heads, groups=kind is GridKind.GROUPS, drawn=first not in _UNDRAWN)
    section = _SECTIONS.get(first.split(" ")[0], Section.DETAIL)
    return {**plain, "section": section, "kind": kind, "roles": [] if set(roles) == {Role.TEXT} else roles}


def _kind(first: str, name: str, heads: Sequence[str]) -> GridKind:
    if heads and heads[0] in _SINGLE:
        return GridKind.RECORDS
    if first == "groups":
        return GridKind.GROUPS
    return GridKind.HEAT if name.startswith("heat/") else GridKind.TABLE


def _roles(heads: Sequence[str], *, groups: bool, drawn: bool) -> list[Role]:
    roles = [Role.TEXT] * len(heads)
    if groups:
        roles = [Role.BY if head in _BY else Role.TEXT for head in heads]
        for role, names in ((Role.PEOPLE, _PEOPLE), (Role.GROUP, _GROUP)):
            if (place := _first(heads, names)) is not None:
                roles[place] = role
        if Role.GROUP not in roles and Role.TEXT in roles:
            roles[roles.index(Role.TEXT)] = Role.GROUP
    low, high, claim = (_first(heads, (name,)) for name in ("low", "high", "claim"))
    fits = roles.count(Role.BY) + roles.count(Role.GROUP) <= _LABELS
    if drawn and fits and low and high is not None and roles[low - 1] is Role.TEXT:
        roles[low - 1] = Role.AUC if "auc" in heads[low - 1] else Role.ESTIMATE
        roles[low], roles[high] = Role.LOW, Role.HIGH
        if claim is not None:
            roles[claim] = Role.CLAIM
    return roles


def _first(heads: Sequence[str], names: Sequence[str]) -> int | None:
    """The column with the first of these names that occurs."""
    return next((heads.index(name) for name in names if name in heads), None)
