"""JSON Schemas of a result, of progress.json and of decision.json, made from their types.

`python -m unmask.results.json_schema [result|progress|decision]` prints one. They are kept as docs/reference/*.schema.json, for
those who read or write these files without this package.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import Any, Union, get_args, get_origin, get_type_hints

from unmask.results import decision, progress
from unmask.results.decision import Decision
from unmask.results.progress import RunProgress
from unmask.results.result import FORMAT, Result

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN = {str: "string", int: "integer", bool: "boolean", type(None): "null"}
_NUMBER = {
    "description": "JSON has no word for what is no number or not finite: texts stand for them.",
    "anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}],
}
_COMMENTED = re.compile(r"^    (\w+)\b.*?  # (.+)$", re.MULTILINE)  # a field or a member, and what stands behind it


def json_schema(name: str = "result") -> dict[str, Any]:
    """The schema of what `Result.to_plain` gives, or of the file of this name beside it."""
    kind, title, counted, number = {
        "result": (Result, "A result of unmask", "format", FORMAT),
        "progress": (RunProgress, "How far a run of unmask is", "version", progress.VERSION),
        "decision": (Decision, "What was decided about a result of unmask", "version", decision.VERSION),
    }[name]
    known: dict[str, Any] = {"Number": _NUMBER}
    _schema(kind, known)
    whole = known.pop(kind.__name__)
    whole["properties"][counted] = {"const": number}
    return {"$schema": DRAFT, "title": f"{title}, {counted} {number}", **whole, "$defs": dict(sorted(known.items()))}


def _schema(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; named types go to `known` and are pointed at."""
    origin = get_origin(kind)
    if kind is Any:
        return {}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if origin in (Union, types.UnionType):
        return _union(get_args(kind), known)
    if origin is tuple:
        return {"type": "array", "items": _schema(get_args(kind)[0], known)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(get_args(kind)[1], known)}
    name = "Number" if kind is float else kind.__name__
    if name not in known:
        known[name] = _enumeration(kind) if issubclass(kind, StrEnum) else _object(kind, known)
    return {"$ref": f"#/$defs/{name}"}


def _union(options: tuple[Any, ...], known: dict[str, Any]) -> dict[str, Any]:
    """Plain types beside one another; where texts are allowed, those for odd numbers are too."""
    if str in options:
        return {"type": ["number" if option is float else _PLAIN[option] for option in options if option is not int]}
    return {"anyOf": [_schema(option, known) for option in options]}


def _enumeration(kind: type[StrEnum]) -> dict[str, Any]:
    comments = _comments(kind)
    told = "; ".join(f"{member}: {comments[member.name]}" for member in kind if member.name in comments)
    return {"description": _first_line(kind) + (f" {told}." if told else ""), "enum": [str(member) for member in kind]}


def _object(kind: type, known: dict[str, Any]) -> dict[str, Any]:
    if not is_dataclass(kind):
        raise TypeError(f"{kind.__name__} has no place in a result")
    hints, comments = get_type_hints(kind), _comments(kind)
    properties = {}
    for field in fields(kind):
        if not field.metadata.get("local"):
            told = {"description": comments[field.name]} if field.name in comments else {}
            properties[field.name] = {**told, **_schema(hints[field.name], known)}
    return {
        "description": _first_line(kind), "type": "object", "properties": properties, "required": list(properties),
        "additionalProperties": False,
    }  # fmt: skip


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").partition("\n")[0]


def _comments(kind: type) -> dict[str, str]:
    """What the source says behind each field: descriptions stand where fields are defined."""
    return dict(_COMMENTED.findall(inspect.getsource(kind)))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(json_schema(*sys.argv[1:]), indent=1, ensure_ascii=False) + "\n")
