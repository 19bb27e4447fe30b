"""Mechanisms that are compared: by name, with the folder of their draws."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from unmask import generators as generator_list
from unmask.audits.compare.plan import ComparePlan
from unmask.errors import ParameterError
from unmask.generators._generator import Generator
from unmask.threats.knowledge import Goal

Given = Mapping[str, str | Generator] | Sequence[str | Generator]


@dataclass(frozen=True, eq=False)
class Entrant:
    """A mechanism under the name by which people know it."""

    name: str
    generator: Generator  # with the domain that the plan asks for
    family: tuple[Any, ...] = ()  # all of its parameters but epsilon; empty: it has none
    epsilon: float | None = None

    @property
    def folder(self) -> str:
        """Where its draws are kept."""
        return folder_of(self.name)


def folder_of(text: str) -> str:
    """A folder for what people name: readable, and another one for another name."""
    plain = re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:40]
    return f"{plain}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def names_of(given: Given) -> tuple[str, ...]:
    """How a plan names mechanisms."""
    if isinstance(given, Mapping):
        return tuple(given)
    return tuple(generator_list.text_of(each) for each in given)


def entrants_of(plan: ComparePlan, given: Given | None = None) -> tuple[Entrant, ...]:
    """The mechanisms that were given, or those that the plan names."""
    made = (
        [(name, name) for name in plan.generators]
        if given is None
        else list(zip(names_of(given), given.values() if isinstance(given, Mapping) else given, strict=True))
    )
    if len(made) < 2:
        many = "one mechanism" if made else "no mechanism"
        raise ParameterError(
            f"There is {many} to compare; name at least two, such as --generators raw cart privbayes:epsilon=1.\n"
            "`unmask generators` lists them. For one alone there are `unmask attack`, `unmask everyone` and `unmask utility`."
        )
    return tuple(_entrant(plan, name, each) for name, each in made)


def _entrant(plan: ComparePlan, name: str, given: str | Generator) -> Entrant:
    bare = generator_list.parse(given) if isinstance(given, str) else given
    attack = plan.attack(Goal.MEMBERSHIP, name)
    family, epsilon = _family(bare)
    made = (
        bare if bare.row_level else attack.with_domain(bare)
    )  # what publishes rows of the table has no domain to learn
    return Entrant(name, made, family, epsilon)


def _family(generator: Generator) -> tuple[tuple[Any, ...], float | None]:
    """What a generator shares with those that differ from it in epsilon alone."""
    epsilon = getattr(generator, "epsilon", None)
    if not is_dataclass(generator) or isinstance(epsilon, bool) or not isinstance(epsilon, int | float):
        return (), None
    rest = [
        (field.name, repr(getattr(generator, field.name))) for field in fields(generator) if field.name != "epsilon"
    ]
    return (generator.name, *rest), float(epsilon)
