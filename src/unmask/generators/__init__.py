"""Generators of synthetic tables: built-in ones by name, others by `module:Class` or by command."""

from __future__ import annotations

import importlib
from dataclasses import MISSING, dataclass, fields
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from unmask.errors import MissingExtraError, ParameterError
from unmask.generators._generator import Generator, Measurement, Model
from unmask.generators.claim import Claim, Neighbours

__all__ = ["Claim", "Generator", "Measurement", "Model", "Neighbours", "get", "listed", "names", "parse"]

# The built-ins: name -> where its class lives. Imported only when asked for.
BUILT_IN = {
    "raw": "unmask.generators.raw:Raw",
    "random": "unmask.generators.random:Random",
}


@dataclass(frozen=True)
class Entry:
    """A generator in the list: its name, its parameters with defaults, what it does, what it claims."""

    name: str
    parameters: str
    summary: str
    claim: str


@cache
def _places() -> dict[str, str]:
    """Built-ins and what other packages offer under the entry point `unmask.generators`; built-ins win."""
    return {point.name: point.value for point in entry_points(group="unmask.generators")} | BUILT_IN


def names() -> tuple[str, ...]:
    """The names that `get` knows."""
    return tuple(_places())


def get(name: str, **parameters: Any) -> Generator:
    """A generator by name, such as `get("privbayes", epsilon=1)`, by `module:Class`, or by `command: ...`."""
    if name.startswith("command:"):
        from unmask.generators.adapters.command import Command

        return _build(Command, "command", {"command": name.removeprefix("command:").strip(), **parameters})
    if name in _places():
        return _build(_load(_places()[name]), name, parameters)
    if ":" in name:
        from unmask.generators.adapters.callable import from_class

        return from_class(_load(name), name, parameters)
    raise ParameterError(
        f"There is no generator '{name}'. There are: {', '.join(names())}; or module:Class; or 'command: ...'."
    )


def parse(text: str) -> Generator:
    """A generator from text such as `privbayes:epsilon=1,degree=2`; the same strings work everywhere."""
    name, _, settings = text.partition(":")
    if name not in _places() or not settings:
        return get(text)
    return get(name, **settings_from(settings.split(",")))


def settings_from(items: list[str]) -> dict[str, Any]:
    """Parameters from texts such as `epsilon=1`: numbers, true/false and none are recognised."""
    settings = {}
    for item in items:
        name, sign, value = item.partition("=")
        if not sign or not name.strip().isidentifier():
            raise ParameterError(f"'{item}' is not a setting. Write it as name=value, such as epsilon=1.")
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


def listed() -> tuple[Entry, ...]:
    """Every generator that can be had by name, for people to choose from."""
    return tuple(_entry(name, place) for name, place in _places().items())


def _entry(name: str, place: str) -> Entry:
    try:
        kind = _load(place)
    except (ParameterError, MissingExtraError) as problem:
        return Entry(name, "", f"cannot be loaded: {problem}", "")
    shown = [
        field.name if field.default is MISSING else f"{field.name}={field.default!r}"
        for field in fields(kind)
        if field.init
    ]
    summary = (kind.__doc__ or "").strip().splitlines()[0]
    return Entry(name, ", ".join(shown), summary, getattr(kind, "claims", "") or "nothing")


def _load(place: str) -> type:
    module, _, attribute = place.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as problem:
        raise MissingExtraError(f"'{place}' cannot be imported: {problem}. Is the package installed here?") from None
    except AttributeError:
        raise ParameterError(f"Module '{module}' has no '{attribute}'.") from None
    return found


def _build(kind: type, name: str, parameters: dict[str, Any]) -> Generator:
    known = [field.name for field in fields(kind) if field.init]
    if unknown := [parameter for parameter in parameters if parameter not in known]:
        have = f"It has: {', '.join(known)}." if known else "It has none."
        raise ParameterError(f"Generator '{name}' has no parameter {', '.join(unknown)}. {have}")
    absent = [
        field.name
        for field in fields(kind)
        if field.init and field.default is MISSING and field.default_factory is MISSING and field.name not in parameters
    ]
    if absent:
        raise ParameterError(f"Generator '{name}' needs a value for {', '.join(absent)}, such as {absent[0]}=1.")
    return kind(**parameters)
