"""Any Python class that fits a pandas frame and samples one, as `module:Class`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass
from typing import Any, ClassVar

import numpy as np

from unmask.errors import ParameterError
from unmask.generators._generator import Generator, check_fits
from unmask.generators.adapters._frames import (
    blamed,
    empty,
    global_seed,
    seed_from,
    settings_text,
    table_from,
    without_persons,
)
from unmask.generators.claim import Claim
from unmask.registry import construct, load_class, source_of
from unmask.tables.schema import Schema
from unmask.tables.table import Table

SAMPLERS = ("sample", "generate")
COUNTS = ("num_rows", "n_rows", "rows", "n", "n_samples", "num_samples", "count", "size")
SEEDS = ("random_state", "seed")


def from_class(kind: Any, name: str, parameters: dict[str, Any]) -> Generator:
    """A generator from a class called `module:Class`: used as it is if it follows our protocol, else wrapped."""
    if not inspect.isclass(kind):
        raise ParameterError(f"'{name}' is not a class. Name a class that has fit and sample.")
    if not callable(fit := getattr(kind, "fit", None)):
        raise ParameterError(f"'{name}' has no method fit, so it is no generator.")
    if "rng" in _parameters(fit):
        return _own(kind, name, parameters)
    if not any(callable(getattr(kind, sampler, None)) for sampler in SAMPLERS):
        raise ParameterError(f"'{name}' has fit, but neither sample nor generate, so it is no generator.")
    generator = Wrapped(name, settings_text(parameters, name), source_of(name))
    _check_settings(kind, name, _with_seed(kind, parameters, 0)[0])
    return generator


def _own(kind: type, name: str, parameters: dict[str, Any]) -> Generator:
    """An instance of a class that takes `fit(table, rng)`, our protocol."""
    if is_dataclass(kind):
        generator: Any = construct(kind, f"generator '{name}'", parameters)
    else:
        _check_settings(kind, name, parameters)
        generator = kind(**parameters)
    if absent := [field for field in ("name", "row_level", "claim") if not hasattr(generator, field)]:
        raise ParameterError(
            f"'{name}' has fit(table, rng) but lacks {', '.join(absent)}.\n"
            "A generator of unmask has name, row_level and claim; unmask.testing.check_generator tests the rest."
        )
    return generator


@dataclass(frozen=True)
class Wrapped:
    """A foreign class: made anew for each fit, given a pandas frame, asked for rows.

    Global random state (random, numpy, torch) is seeded around each call and put back; a seed is also passed where the
    class has a parameter for one. A class that draws from elsewhere is not repeatable, and we cannot make it so.
    """

    name: ClassVar[str] = "class"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None

    place: str  # module:Class
    parameters: str = "{}"  # of its constructor, as JSON
    source: bytes | None = field(default=None, compare=False, repr=False)  # of its file, which others may not have

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", settings_text(self.parameters, self.place))

    def fit(self, table: Table, rng: np.random.Generator | None) -> WrappedModel:
        check_fits(table, self.place)
        seed, frame = seed_from(rng), without_persons(table).to_pandas()
        kind = load_class(self.place, self.source)
        settings, seeded = _with_seed(kind, json.loads(self.parameters), seed)
        with global_seed(seed):
            with blamed(self.place, "construction"):
                foreign = kind(**settings)
            with blamed(self.place, "fit"):
                returned = foreign.fit(frame)
        samples = any(hasattr(returned, sampler) for sampler in SAMPLERS)
        return WrappedModel(self.place, returned if samples else foreign, seeded, table.schema)


@dataclass(frozen=True, eq=False)
class WrappedModel:
    """A fitted object of a foreign class."""

    place: str
    fitted: Any
    seeded: str  # the constructor's parameter that took our seed, if any
    schema: Schema
    claim: ClassVar[Claim | None] = None

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        if rows == 0:
            return empty(self.schema)
        seed = seed_from(rng)
        method = next(getattr(self.fitted, name) for name in SAMPLERS if hasattr(self.fitted, name))
        with global_seed(seed), blamed(self.place, "sampling"):
            if hasattr(self.fitted, self.seeded):  # as in scikit-learn, where a fixed seed repeats every sample
                setattr(self.fitted, self.seeded, seed)
            frame = _call_for_rows(method, rows, seed)
        return table_from(frame, self.schema, rows, self.place)


def _call_for_rows(method: Callable[..., Any], rows: int, seed: int) -> Any:
    """Ask for rows by the name that the method has for their number, or by position."""
    known = _parameters(method)
    named = {name: seed for name in SEEDS if name in known}
    count = next((name for name in COUNTS if name in known), None)
    return method(rows, **named) if count is None else method(**{count: rows}, **named)


def _with_seed(kind: type, settings: dict[str, Any], seed: int) -> tuple[dict[str, Any], str]:
    """Settings with a seed, and the parameter that takes it ("" if there is none, or if the user set one)."""
    free = [name for name in SEEDS if name in _parameters(kind) and not set(SEEDS) & set(settings)]
    return ({**settings, free[0]: seed}, free[0]) if free else (settings, "")


def _check_settings(kind: type, name: str, settings: dict[str, Any]) -> None:
    """Refuse parameters that the constructor does not take before any work is done."""
    try:
        signature = inspect.signature(kind)
    except ValueError:
        return  # Python cannot tell for some compiled classes
    try:
        signature.bind(**settings)
    except TypeError as problem:
        raise ParameterError(f"'{name}': {problem}. It takes: {signature}.") from None


def _parameters(call: Any) -> tuple[str, ...]:
    """Names of the parameters of a function or constructor; none where Python cannot tell."""
    try:
        return tuple(inspect.signature(call).parameters)
    except (TypeError, ValueError):
        return ()
