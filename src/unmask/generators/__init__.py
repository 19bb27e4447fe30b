"""Generators of synthetic tables: built-in ones by name, others by `module:Class` or by command.

One file per generator, and those that begin with an underscore for what several share.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from unmask.generators.claim import Claim, Neighbours
from unmask.registry import Entry, build, construct, describe, load_class, names_code, settings_from

if TYPE_CHECKING:
    from unmask.generators._generator import Generator, Measurement, Model

__all__ = ["Claim", "Entry", "Generator", "Measurement", "Model", "Neighbours", "get", "listed", "names", "parse"]

# The built-ins: name -> where its class lives. Imported only when asked for.
BUILT_IN = {
    "raw": "unmask.generators.raw:Raw",
    "random": "unmask.generators.random:Random",
    "independent": "unmask.generators.independent:Independent",
    "bayesnet": "unmask.generators.bayesnet:BayesNet",
    "privbayes": "unmask.generators.privbayes:PrivBayes",
    "mst": "unmask.generators.mst:MST",
    "histogram": "unmask.generators.histogram:Histogram",
    "copycat": "unmask.generators.copycat:Copycat",
    "oblivious": "unmask.generators.oblivious:Oblivious",
    "sanitiser": "unmask.generators.sanitiser:Sanitiser",
    "sdv": "unmask.generators.adapters.sdv:Sdv",
    "cart": "unmask.generators.cart:Cart",
    "copula": "unmask.generators.copula:Copula",
    "mixture": "unmask.generators.mixture:Mixture",
    "ctgan": "unmask.generators.deep.ctgan:Ctgan",
    "tvae": "unmask.generators.deep.tvae:Tvae",
    "tabddpm": "unmask.generators.deep.tabddpm:TabDdpm",
    "dpgan": "unmask.generators.deep.dpgan:DPGAN",
    "pategan": "unmask.generators.deep.pategan:PATEGAN",
}


def __getattr__(name: str) -> Any:
    """The protocols, when they are asked for: plans need claims and names only, and `--help` is quick without tables."""
    if name in ("Generator", "Measurement", "Model"):
        from unmask.generators import _generator

        return getattr(_generator, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


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

        command = name.removeprefix("command:").strip()
        found: Generator = construct(Command, "generator 'command'", {"command": command, **parameters})
        return found
    if ":" in name and name not in _places():
        from unmask.generators.adapters.callable import from_class

        return from_class(load_class(name), name, parameters)
    built: Generator = build(name, parameters, _places(), what="generator")
    return built


def parse(text: str, settings: Sequence[str] = ()) -> Generator:
    """A generator from text such as `privbayes:epsilon=1,degree=2`; the same strings work everywhere.

    `settings`, such as `("epsilon=1",)`, come on top of those in the text.
    """
    name, _, own = text.partition(":")
    if name in _places():
        return get(name, **settings_from([*(own.split(",") if own else ()), *settings]))
    return get(text, **settings_from(list(settings)))


def is_code(text: str) -> bool:
    """Whether this generator is code that its user brings along: a command, a class or a file."""
    return names_code(text, _places())


def text_of(generator: str | Generator) -> str:
    """How a plan names a generator: by the text that was given, or by its class and parameters."""
    return generator if isinstance(generator, str) else repr(generator)


def in_one_text(name: str, settings: Sequence[str]) -> dict[str, Any]:
    """A generator and its settings in one text, as `privbayes:epsilon=1`, where `parse` can read that again."""
    known, _, own = name.partition(":")
    if not settings or known not in _places():
        return {"generator": name, "settings": tuple(settings)}
    return {"generator": f"{known}:{','.join([*([own] if own else []), *settings])}", "settings": ()}


def listed() -> tuple[Entry, ...]:
    """Every generator that can be had by name, for people to choose from."""
    return tuple(describe(name, place) for name, place in _places().items())
