"""Frozen dataclasses to JSON-ready data and back, checked field by field."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import Any, Union, get_args, get_origin, get_type_hints

from unmask.errors import ParameterError, RunError

# JSON has no word for these; a text keeps the file readable by every parser.
LARGEST = 1e300
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def to_plain(value: Any) -> Any:
    """Dataclasses as objects, tuples as lists, enums as texts, NaN and infinities as texts."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in fields(value) if not f.metadata.get("local")}
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"{type(value).__name__} has no place in a result")


def from_plain(kind: Any, plain: Any, where: str) -> Any:
    """The value of this type that `to_plain` wrote; an error names the field that does not fit."""
    if is_dataclass(kind) and isinstance(kind, type):
        return _dataclass(kind, plain, where)
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _union(kind, plain, where)
    if origin is tuple:
        return _tuple(kind, plain, where)
    if origin is not None and issubclass(origin, Mapping):
        _check(isinstance(plain, dict), plain, "an object", where)
        return {key: from_plain(get_args(kind)[1], item, f"{where}: {key}") for key, item in plain.items()}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        _check(plain in list(kind), plain, f"one of {', '.join(kind)}", where)
        return kind(plain)
    if kind is Any:
        return plain
    if kind is float:
        _check(plain in _SPECIAL if isinstance(plain, str) else _is_number(plain), plain, "a number", where)
        return _SPECIAL[plain] if isinstance(plain, str) else float(plain)
    fits = _is_number(plain) and not isinstance(plain, float) if kind is int else isinstance(plain, kind)
    _check(fits, plain, f"of type {kind.__name__}", where)
    return plain


def _is_number(plain: Any) -> bool:
    """Whether reports can compute with it: JSON knows no largest number, and a sum of the largest floats is infinite."""
    return isinstance(plain, int | float) and not isinstance(plain, bool) and not LARGEST < abs(plain) < math.inf


def _dataclass(kind: type, plain: Any, where: str) -> Any:
    _check(isinstance(plain, dict), plain, "an object", where)
    hints = get_type_hints(kind)
    known = [f.name for f in fields(kind) if not f.metadata.get("local")]
    for name in known:
        if name not in plain:
            raise RunError(f"{where}: the field '{name}' is missing.")
    if unknown := [name for name in plain if name not in known]:
        raise RunError(f"{where}: unknown field {', '.join(unknown)}.")
    values = {name: from_plain(hints[name], plain[name], f"{where}: {name}") for name in known}
    try:
        return kind(**values)
    except ParameterError as problem:  # fields that fit one by one and not together
        raise RunError(f"{where}: {problem}") from None


def _tuple(kind: Any, plain: Any, where: str) -> tuple[Any, ...]:
    _check(isinstance(plain, list), plain, "a list", where)
    item = get_args(kind)[0]
    return tuple(from_plain(item, value, f"{where}[{place}]") for place, value in enumerate(plain))


def _union(kind: Any, plain: Any, where: str) -> Any:
    """The first alternative that fits. Texts stay texts, but those that stand for NaN and infinities are numbers."""
    options = [option for option in get_args(kind) if option is not type(None)]
    if plain is None and len(options) < len(get_args(kind)):
        return None
    if isinstance(plain, str) and str in options and not (float in options and plain in _SPECIAL):
        return plain
    if len(options) == 1:
        return from_plain(options[0], plain, where)
    if isinstance(plain, str):
        return from_plain(float, plain, where)
    fits = type(plain) in options and (isinstance(plain, str | bool) or _is_number(plain))
    _check(fits, plain, " or ".join(option.__name__ for option in options), where)
    return plain


def _check(fits: bool, plain: Any, wanted: str, where: str) -> None:
    if not fits:
        raise RunError(f"{where} is {str(plain)[:60]!r}; it should be {wanted}.")
