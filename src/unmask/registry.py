"""Finds generators and attacks by name: from a list of places (`module:Class`), with parameters checked before use."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any

from unmask.errors import MissingExtraError, ParameterError


@dataclass(frozen=True)
class Entry:
    """A line for people to choose from: name, parameters with defaults, what it does, what it claims or needs."""

    name: str
    parameters: str
    summary: str
    claims: str


def load_class(place: str) -> type:
    """The class at `module:Class`."""
    module, _, attribute = place.partition(":")
    try:
        found: type = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as problem:
        raise MissingExtraError(f"'{place}' cannot be imported: {problem}. Is the package installed here?") from None
    except AttributeError:
        raise ParameterError(f"Module '{module}' has no '{attribute}'.") from None
    return found


def build(name: str, parameters: Mapping[str, Any], places: Mapping[str, str], *, what: str) -> Any:
    """The frozen dataclass of this name (or at `module:Class`) with these parameters."""
    if name not in places and ":" not in name:
        raise ParameterError(f"There is no {what} '{name}'. There are: {', '.join(places)}; or module:Class.")
    return construct(load_class(places.get(name, name)), f"{what} '{name}'", parameters)


def construct(kind: type, what: str, parameters: Mapping[str, Any]) -> Any:
    """An instance of a frozen dataclass; an error lists its parameters where one is unknown or absent."""
    known = [field for field in fields(kind) if field.init]
    have = ", ".join(field.name for field in known) or "none"
    if unknown := [name for name in parameters if name not in {field.name for field in known}]:
        raise ParameterError(f"The {what} has no parameter {', '.join(unknown)}. It has: {have}.")
    absent = [
        field.name
        for field in known
        if field.default is MISSING and field.default_factory is MISSING and field.name not in parameters
    ]
    if absent:
        raise ParameterError(f"The {what} needs a value for {', '.join(absent)}, such as {absent[0]}=1.")
    return kind(**parameters)


def settings_from(items: list[str], *, such_as: str = "epsilon=1") -> dict[str, Any]:
    """Parameters from texts such as `epsilon=1`: numbers, true/false and none are recognised."""
    settings = {}
    for item in items:
        name, sign, value = item.partition("=")
        if not sign or not name.strip().isidentifier():
            raise ParameterError(f"'{item}' is not a setting. Write it as name=value, such as {such_as}.")
        settings[name.strip()] = _value(value.strip())
    return settings


def _value(text: str) -> Any:
    special = {"true": True, "false": False, "none": None}
    if text.lower() in special:
        return special[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def describe(name: str, place: str) -> Entry:
    """The line of one entry; one that cannot be loaded says why."""
    try:
        kind = load_class(place)
    except (ParameterError, MissingExtraError) as problem:
        return Entry(name, "", f"cannot be loaded: {problem}", "")
    shown = [
        field.name if field.default is MISSING else f"{field.name}={field.default!r}"
        for field in fields(kind)
        if field.init
    ]
    summary = (kind.__doc__ or "").strip().splitlines()[0]
    return Entry(name, ", ".join(shown), summary, getattr(kind, "claims", "") or "nothing")
