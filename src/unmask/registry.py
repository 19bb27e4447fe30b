"""Finds generators and attacks by name: from a list of places (`module:Class`), with parameters checked before use."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import re
import sys
import threading
from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, fields
from importlib.abc import SourceLoader
from types import ModuleType
from typing import Any

from unmask.errors import MissingExtraError, ParameterError, UnmaskError

_LOADING = threading.RLock()  # a file may name another


@dataclass(frozen=True)
class Entry:
    """A line for people to choose from: name, parameters with defaults, what it does, what it claims or needs."""

    name: str
    parameters: str
    summary: str
    claims: str
    extra: str = ""  # the extra of unmask that must be installed, if any


def load_class(place: str, source: bytes | None = None) -> type:
    """The class at `module:Class`, or at `./file.py:Class`: a file is looked for only where its path says.

    With its `source`, the class of a file is the same on machines where there is no such file, or another one.
    """
    module, _, attribute = place.rpartition(":") if ".py:" in place else place.partition(":")
    if not module.strip() or not attribute.strip():
        raise ParameterError(f"'{place}' is no place of a class. Write it as package.module:Class or ./file.py:Class.")
    try:
        if module.endswith(".py"):
            with _LOADING:  # as Python does for its own: other threads would find half a module
                loaded = _module_of_file(module, source)
        else:
            loaded = importlib.import_module(module)
        found: type = getattr(loaded, attribute)
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            f"'{place}' cannot be imported: {problem}. Is the package installed here?\n"
            "A file of your own is named by its path, ./file.py:Class, or found with --python-path DIR."
        ) from None
    except AttributeError:
        raise ParameterError(f"Module '{module}' has no '{attribute}'.") from None
    except UnmaskError:
        raise
    except Exception as problem:
        if module.startswith("unmask."):
            raise  # a defect of ours
        raise ParameterError(f"'{place}' cannot be imported: {type(problem).__name__}: {problem}") from problem
    return found


def source_of(place: str) -> bytes | None:
    """What the file of a class holds now; None for a class of a module."""
    path = place.rpartition(":")[0]
    return _content(path) if path.endswith(".py") else None


def files_named(text: str) -> list[str]:
    """The files whose classes this names: `./file.py:Class`, also as the value of a setting."""
    return re.findall(r"(?:^|[=,])([^=,]*\.py):[^\W\d]", text)


def _content(path: str) -> bytes:
    if not os.path.isfile(path):
        raise ParameterError(f"{path}: there is no such file.")
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as problem:
        raise ParameterError(f"{path}: cannot be read ({problem.strerror}).") from None


@dataclass(frozen=True)
class _OfSource(SourceLoader):
    """Makes a module of a text, and keeps no bytecode: that of a file that was changed within a second is the old one."""

    path: str
    content: bytes

    def get_filename(self, fullname: str) -> str:
        return self.path

    def get_data(self, path: str | bytes | os.PathLike[str]) -> bytes:
        return self.content


def _module_of_file(path: str, source: bytes | None) -> ModuleType:
    """The module in a file, under a name that hides no other. Its folder is not searched for anything else.

    It goes to worker processes as it is: they could not import it by name. A file that was changed is another module: processes
    of a cluster live for longer than a version of it.
    """
    full = os.path.realpath(path)
    content = _content(path) if source is None else source
    name = f"unmask_file_{hashlib.sha256(os.fsencode(full) + bytes(1) + content).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_loader(name, _OfSource(full, content))
    if spec is None or spec.loader is None:
        raise ParameterError(f"{path}: this is not a Python file.")
    import cloudpickle

    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    cloudpickle.register_pickle_by_value(module)
    return module


def names_code(text: str, known: Collection[str]) -> bool:
    """Whether this names code outside what is installed under a name: `command: ...`, `module:Class` or `./file.py:Class`.

    A parameter may name a class too, as in `histogram:classifier=module:Class`.
    """
    name, sign, settings = text.partition(":")
    return bool(sign) and (name not in known or ":" in settings)


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
    return Entry(name, ", ".join(shown), summary, getattr(kind, "claims", "") or "nothing", getattr(kind, "extra", ""))
