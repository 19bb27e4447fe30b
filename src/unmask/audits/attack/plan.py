"""The plan of an attack on a generator: every choice that changes a number, as plain data, to and from TOML."""

from __future__ import annotations

import json
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from unmask.errors import InputError, ParameterError
from unmask.files import write_atomically
from unmask.threats.game import Game, Placement, SecretValues
from unmask.threats.knowledge import Box, Data, Goal

# What may change between runs of one directory: no draw depends on it.
GROWING = ("shadows", "tests", "confidence", "tolerance")


@dataclass(frozen=True)
class AttackPlan:
    """What `unmask attack` does. Sizes may grow between runs of one directory; everything else is fixed."""

    generator: str
    settings: tuple[str, ...] = ()  # parameters of the generator, such as epsilon=1
    targets: str = "5"
    goal: str = "membership"
    knowledge: str = "auxiliary"
    access: str = "black-box"
    attacks: tuple[str, ...] = ("all",)
    secret: str | None = None
    secret_values: str = "true"
    tolerance: float | None = None  # numbers: how near counts as right; None = a quarter of the interquartile range
    shadows: int = 200
    tests: int = 100
    train_rows: int = 1000
    synthetic_rows: int | None = None  # None = train_rows
    prior: float = 0.5
    placement: str = "replace"
    isolate_targets: bool = False
    refit: bool = (
        True  # knowledge none: stand-ins from a generator refitted on a release, else from the generator itself
    )
    possible: tuple[str, ...] = ()  # uncertain-box: generators that the attacker holds possible
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "targets", str(self.targets))
        for name in ("attacks", "settings", "possible"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        for name in ("shadows", "tests", "train_rows", "seed"):
            if isinstance(getattr(self, name), bool) or not isinstance(getattr(self, name), int):
                raise ParameterError(f"{name} is {getattr(self, name)!r}; it must be a whole number.")
        if self.tests < 2:
            raise ParameterError(f"--tests is {self.tests}; at least 2 releases are needed to judge an attack.")
        if self.shadows < 0:
            raise ParameterError(f"--shadows is {self.shadows}; use 0 or more.")
        if not 0.5 <= self.confidence < 1:
            raise ParameterError(f"--confidence is {self.confidence}; use a share such as 0.95.")
        if self.tolerance is not None and self.tolerance <= 0:
            raise ParameterError(f"--tolerance is {self.tolerance}; it must be above 0.")
        if self.access == Box.UNCERTAIN and not self.possible:
            raise ParameterError(
                "An uncertain box needs what the attacker holds possible, such as --possible privbayes:epsilon=1."
            )
        _ = self.game

    @property
    def game(self) -> Game:
        """The game that this plan plays."""
        return Game(
            goal=choice(Goal, self.goal, "--goal"),
            data=choice(Data, self.knowledge, "--knowledge"),
            box=choice(Box, self.access, "--access"),
            rows=self.train_rows,
            synthetic_rows=self.synthetic_rows or self.train_rows,
            prior=self.prior,
            placement=choice(Placement, self.placement, "--placement"),
            secret=self.secret,
            secret_values=choice(SecretValues, self.secret_values, "--secret-values"),
            isolate_targets=self.isolate_targets,
        )

    def to_plain(self) -> dict[str, Any]:
        """The plan as it stands in result.json; the seed has a place of its own there."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items() if name != "seed"}


def choice(kind: Any, text: str, option: str) -> Any:
    """One of the words of an enumeration; an error names the option and the words."""
    try:
        return kind(text)
    except ValueError:
        raise ParameterError(f"{option} is '{text}'; use one of {', '.join(kind)}.") from None


def write_plan(plan: AttackPlan, path: Path) -> None:
    """Write a plan that a person can edit and `--plan` reads."""
    lines = ["# A plan for: unmask attack population.csv --plan plan.toml", ""]
    for name, value in asdict(plan).items():
        if value is None:
            lines.append(f"# {name} =")
        else:
            lines.append(f"{name} = {json.dumps(list(value) if isinstance(value, tuple) else value)}")
    write_atomically(path, "\n".join(lines) + "\n")


def read_plan(path: Path) -> dict[str, Any]:
    """The fields of a plan file; options on the command line may still change them."""
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file. Write one with --write-plan {path.name}") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: cannot be read ({problem}).") from None
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{path}: not valid TOML: {problem}.") from None
    known = {field.name for field in fields(AttackPlan)}
    if unknown := [name for name in plain if name not in known]:
        raise InputError(f"{path}: unknown field {', '.join(unknown)}. Known: {', '.join(sorted(known))}.")
    return {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
