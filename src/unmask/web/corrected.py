"""The columns of a form: what was proposed, what a person made of them, and the corrections that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

KINDS = ("categorical", "integer", "continuous", "datetime")
ROLES = ("key", "secret", "identifier", "person")
FIELDS = ("role", "kind", "values", "range", "format")  # of one column, each followed by its number
PREFIXES = tuple(f"{name}-" for name in FIELDS)
PUBLIC = "public-domains"

Given = Mapping[str, Sequence[str]]


def shown_columns(proposed: Mapping[str, Any], found: Mapping[str, Any], given: Given) -> list[dict[str, Any]]:
    """Every column with what stands in its fields: what was typed, else what was found; numbered as they were proposed."""
    now = {each["name"]: each for each in found.get("columns", [])}
    shown = []
    for place, column in enumerate(proposed.get("columns", [])):
        current = now.get(column["name"], column)
        typed = {name: _typed(given, name, place) for name in FIELDS}
        shown.append(
            {
                **current,
                "place": place,
                "role": current["role"] if typed["role"] is None else typed["role"],
                "kind": current["kind"] if typed["kind"] is None else typed["kind"],
                **{name: typed[name] or "" for name in ("values", "range", "format")},
            }
        )
    return shown


def corrections_of(proposed: Mapping[str, Any], given: Given) -> dict[str, Any]:
    """What differs from the proposal, as `unmask schema --corrections` reads it; empty if nothing does."""
    columns = list(enumerate(proposed.get("columns", [])))
    roles = {each["name"]: _of(given, "role", place, each["role"], ("", *ROLES)) for place, each in columns}
    made: dict[str, Any] = {}
    if any(roles[each["name"]] != each["role"] for _, each in columns):
        named = {role: [name for name, theirs in roles.items() if theirs == role] for role in ROLES}
        made |= {"keys": named["key"], "secrets": named["secret"], "identifiers": named["identifier"]}
        made |= {"person": named["person"][0]} if named["person"] else {}
    kinds: dict[str, str] = {}
    for place, each in columns:
        name, kind = each["name"], _of(given, "kind", place, each["kind"], KINDS)
        apart = roles[name] in ("identifier", "person")
        freed = each["role"] in ("identifier", "person") and not apart
        if not apart and (kind != each["kind"] or freed):
            kinds[name] = kind or KINDS[0]
    details = {
        "values": {name: _lines(text) for name, text in _details(columns, roles, given, "values")},
        "ranges": {name: _limits(text) for name, text in _details(columns, roles, given, "range")},
        "formats": dict(_details(columns, roles, given, "format")),
    }
    made |= {"kinds": kinds} if kinds else {}
    made |= {name: told for name, told in details.items() if told}
    return made | ({"public": True} if given.get(PUBLIC) else {})


def columns_of_schema(schema: Mapping[str, Any], said: str) -> dict[str, Any]:
    """What `unmask schema` printed, in the words of `unmask check --found`."""
    roles = dict.fromkeys(schema["keys"], "key") | dict.fromkeys(schema["secrets"], "secret")
    columns = [
        {**_nothing(name, roles.get(name, "")), "kind": each["kind"], "examined": True, "size": _size(each)}
        for name, each in schema["columns"].items()
    ]
    columns += [_nothing(name, "identifier") for name in schema["identifiers"]]
    columns += [_nothing(schema["person"], "person")] if schema["person"] else []
    notes = [line.removeprefix("note: ") for line in said.splitlines() if line.startswith("note: ")]
    noticed = [{"sentence": note, "level": "note"} for note in notes]
    return {"files": [], "columns": columns, "noticed": noticed, "schema": schema["origin"]}


def _nothing(name: str, role: str) -> dict[str, Any]:
    why = "it tells people apart by itself" if role else ""
    return {"name": name, "kind": "", "role": role, "examined": False, "why": why, "size": None, "missing": None}


def _size(column: Mapping[str, Any]) -> int:
    if "values" in column:
        return len(column["values"])
    return len(column["cuts"]) + 1 if "cuts" in column else int(column.get("bins", 0))


def _typed(given: Given, name: str, place: int) -> str | None:
    texts = given.get(f"{name}-{place}")
    return None if not texts else texts[0].strip()


def _of(given: Given, name: str, place: int, usual: str, allowed: Sequence[str]) -> str:
    text = _typed(given, name, place)
    return text if text is not None and text in allowed else usual


def _details(
    columns: Sequence[tuple[int, Mapping[str, Any]]], roles: Mapping[str, str], given: Given, name: str
) -> list[tuple[str, str]]:
    found = [(each["name"], _typed(given, name, place)) for place, each in columns]
    return [(column, text) for column, text in found if text and roles[column] not in ("identifier", "person")]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _limits(text: str) -> list[str]:
    lower, _, upper = text.partition("..")
    return [lower.strip(), upper.strip()]
