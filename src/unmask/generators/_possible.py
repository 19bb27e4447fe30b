"""Generators that an attacker holds possible: several with weights, and parameters known up to a distribution."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unmask.errors import ParameterError
from unmask.generators import names, parse
from unmask.generators._generator import Generator
from unmask.generators.adapters.learnt_domain import LearntDomain

SPREADS = ("uniform", "loguniform", "integers")
_CALL = re.compile(r"([a-z]+)\(([^()]*)\)")
_WEIGHT = re.compile(r"@\s*([0-9.]+(?:e-?[0-9]+)?)\s*$", re.IGNORECASE)
_OUTSIDE = re.compile(r",(?![^()]*\))")  # commas that separate parameters


@dataclass(frozen=True)
class ParameterPrior:
    """A parameter that is known up to its distribution: uniform, uniform in the logarithm, or whole numbers, ends included."""

    kind: str
    low: float
    high: float

    @classmethod
    def of(cls, text: str) -> ParameterPrior | None:
        """From text such as loguniform(0.1,10); None for any other text."""
        if not (call := _CALL.fullmatch(text.strip())):
            return None
        try:
            kind, (low, high) = call[1], (float(end) for end in call[2].split(","))
        except ValueError:
            raise ParameterError(f"'{text}' needs two numbers, such as loguniform(0.1,10).") from None
        whole = kind != "integers" or (low.is_integer() and high.is_integer())
        if kind not in SPREADS or not (math.isfinite(low) and low < high < math.inf and whole):
            raise ParameterError(
                f"'{text}' is no distribution. Write {', '.join(f'{each}(1,10)' for each in SPREADS)}."
            )
        if kind == "loguniform" and low <= 0:
            raise ParameterError(f"'{text}': a logarithm needs ends above 0.")
        return cls(kind, low, high)

    @property
    def ends(self) -> tuple[float, float]:
        return (int(self.low), int(self.high)) if self.kind == "integers" else (self.low, self.high)

    def draw(self, rng: np.random.Generator) -> float:
        if self.kind == "integers":
            return int(rng.integers(int(self.low), int(self.high) + 1))
        if self.kind == "uniform":
            return float(rng.uniform(self.low, self.high))
        return float(np.exp(rng.uniform(math.log(self.low), math.log(self.high))))


@dataclass(frozen=True)
class Possible:
    """One generator that the attacker holds possible; `spreads` are drawn anew for each release."""

    generator: Generator
    spreads: tuple[tuple[str, ParameterPrior], ...] = ()
    weight: float | None = None

    @classmethod
    def of(cls, text: str) -> Possible:
        """From text such as `privbayes:epsilon=loguniform(0.1,10)` or `mst:epsilon=1@0.3`. Both ends must make a generator."""
        weight = float(found[1]) if (found := _WEIGHT.search(text)) else None
        bare = text[: found.start()] if found else text
        name, _, own = bare.partition(":")
        if name not in names():
            return cls(parse(bare), (), weight)
        fixed, spreads = [], []
        for setting in _OUTSIDE.split(own) if own else ():
            parameter, _, value = setting.partition("=")
            spread = ParameterPrior.of(value)
            fixed += [setting] if spread is None else []
            spreads += [] if spread is None else [(parameter.strip(), spread)]
        low, _ = (parse(name, [*fixed, *(f"{at}={spread.ends[end]}" for at, spread in spreads)]) for end in (0, 1))
        return cls(low, tuple(spreads), weight)

    def draw(self, rng: np.random.Generator) -> Generator:
        drawn: dict[str, Any] = {parameter: spread.draw(rng) for parameter, spread in self.spreads}
        made: Any = self.generator
        found: Generator = replace(made, **drawn) if drawn else made
        return found


@dataclass(frozen=True)
class Belief:
    """What the attacker holds possible, each with its probability; none where all are equally likely."""

    options: tuple[Possible, ...]
    chances: tuple[float, ...] = ()
    learnt_domain: bool = False

    @classmethod
    def of(cls, texts: Sequence[str], *, learnt_domain: bool = False) -> Belief | None:
        """From texts; those without a weight share what the others leave. None without any."""
        options = tuple(Possible.of(text) for text in texts)
        if learnt_domain:
            _ = [LearntDomain(option.generator) for option in options]  # whether they have a domain to learn
        given = [option.weight for option in options if option.weight is not None]
        free, rest = len(options) - len(given), 1 - sum(given)
        if not given:
            return cls(options, (), learnt_domain) if options else None
        if min(given) <= 0 or (rest <= 1e-9 if free else abs(rest) > 1e-9):
            left = "leave something for those without one" if free else "add up to 1"
            raise ParameterError(
                f"The weights of --possible are {', '.join(map(str, given))}; they must be above 0 and {left}."
            )
        chances = tuple(rest / free if option.weight is None else option.weight for option in options)
        return cls(options, chances, learnt_domain)

    def draw(self, rng: np.random.Generator) -> Generator:
        """One generator, for one release."""
        count = len(self.options)
        place = int(rng.choice(count, p=self.chances)) if self.chances else int(rng.integers(count))
        found = self.options[place].draw(rng)
        return LearntDomain(found) if self.learnt_domain else found
