"""Plans: every choice that changes a number, declared once.

A field carries its help, its limits, and whether it may grow between runs of one directory. Validation, JSON, TOML and the
options of the command line are made from it, so that a choice has one name and one default everywhere.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import numbers
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from unmask.errors import ParameterError
from unmask.files import read_toml, write_atomically
from unmask.results.policy import Policy
from unmask.threads import one_thread

if TYPE_CHECKING:
    from unmask.results.result import Input, Result

MOST = 10**9  # of anything that is counted


@dataclass(frozen=True)
class Option:
    """What a field of a plan means to people and to the command line."""

    help: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    share: bool = False  # above 0 and below 1
    grows: bool = False  # may differ between runs of one directory: no draw depends on it
    apart: bool = False  # has a place of its own in a result, outside its plan
    names: tuple[str, ...] = ()  # on the command line, beside that of the field
    off: str = ""  # of a switch: the option that turns it off
    shown: str = ""  # what help says of the default where the value would tell nothing
    metavar: str = ""
    code: Callable[[str], bool] | None = None  # whether a text names code that somebody brings along
    read: Callable[[Any], Any] | None = None  # from text or plain data to the value
    write: Callable[[Any], Any] | None = None  # and back


def option(default: Any = MISSING, **told: Any) -> Any:
    """A field of a plan."""
    return dataclasses.field(default=default, metadata={"option": Option(**told)})


@dataclass(frozen=True)
class Choice:
    """A field of a plan, ready to be checked, written and asked for."""

    name: str
    kind: type  # of the value, or of its items
    many: bool
    may_be_none: bool
    default: Any  # MISSING where one must be given
    option: Option

    @property
    def asked(self) -> str:
        """The option that error messages name: the one that people write."""
        return self.option.names[0] if self.option.names else f"--{self.name.replace('_', '-')}"

    @property
    def help(self) -> str:
        """What it is, and which words it takes."""
        listed = self.option.choices
        return f"{self.option.help} One of {', '.join(listed)}." if listed else self.option.help

    def value(self, given: Any) -> Any:
        """What was given, as the field holds it; an error names the option and what it takes."""
        if given is None and self.may_be_none:
            return None
        if self.option.read is not None:
            return self.option.read(given)
        if self.many:
            if not isinstance(given, str | list | tuple):
                raise self._wrong(given, "give a list")
            return tuple(self._one(item) for item in ((given,) if isinstance(given, str) else given))
        return self._one(given)

    def _one(self, given: Any) -> Any:
        if self.kind is str:
            given = str(given)
            if self.option.choices and given not in self.option.choices:
                raise self._wrong(given, f"use one of {', '.join(self.option.choices)}")
            return given
        if self.kind is bool:
            if not isinstance(given, bool):
                raise self._wrong(given, "use true or false")
            return given
        return self._number(given)

    def _number(self, given: Any) -> Any:
        whole = self.kind is int
        fits = isinstance(given, numbers.Integral if whole else numbers.Real) and not isinstance(given, bool)
        if not fits or (not whole and not abs(given) <= sys.float_info.max):
            raise self._wrong(given, "it must be a whole number" if whole else "it must be a number")
        given = self.kind(given)  # of numpy's numbers too
        if whole and not self.option.apart and abs(given) > MOST:
            raise self._wrong(given, f"nobody lives to see more than {MOST:,}")
        least, most = self.option.least, self.option.most
        if self.option.share and not 0 < given < 1:
            raise self._wrong(given, "use a share between 0 and 1")
        if (least is not None and given < least) or (most is not None and given > most):
            number = "a whole number" if whole else "a number"
            raise self._wrong(given, f"use {number} from {least:g}" + (f" to {most:g}" if most is not None else ""))
        return given

    def _wrong(self, given: Any, advice: str) -> ParameterError:
        text = repr(given)
        return ParameterError(f"{self.asked} is {text if len(text) <= 200 else text[:200] + '...'}; {advice}.")

    def plain(self, value: Any) -> Any:
        """The value as JSON and TOML hold it."""
        if value is not None and self.option.write is not None:
            return self.option.write(value)
        return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Every choice that changes a number of an audit."""

    without: ClassVar[tuple[str, ...]] = ()  # common choices that have no meaning in this plan

    seed: int = option(0, help="Seed of every random step.", least=0, apart=True)
    policy: Policy = option(
        Policy(), help="Thresholds of severity: a TOML file.", apart=True, grows=True, metavar="FILE",
        shown="high from .10, medium from .03", read=Policy.of, write=dataclasses.asdict,
    )  # fmt: skip

    def __post_init__(self) -> None:
        for choice in choices_of(type(self)):
            object.__setattr__(self, choice.name, choice.value(getattr(self, choice.name)))
        self.check()

    def check(self) -> None:
        """Whether the choices go together."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """A plan from choices by name; an error lists the names where one is unknown or absent."""
        known = {choice.name: choice for choice in choices_of(cls)}
        if unknown := [name for name in given if name not in known]:
            raise ParameterError(f"There is no choice {', '.join(unknown)}. There are: {', '.join(known)}.")
        for name, choice in known.items():
            if choice.default is MISSING and given.get(name) is None:
                raise ParameterError(f"{choice.asked} is missing. {choice.option.help}")
        return cls(**given)

    def to_plain(self) -> dict[str, Any]:
        """The plan as it stands in result.json; seed and policy have places of their own there."""
        return {
            each.name: each.plain(getattr(self, each.name)) for each in choices_of(type(self)) if not each.option.apart
        }

    def fixed(self) -> dict[str, Any]:
        """All that changes a draw: what must be the same in every run of one directory."""
        return {name: value for name, value in self.to_plain().items() if name not in self.growing()}

    def expected(self, audit: str, inputs: tuple[Input, ...], growing: tuple[str, ...] = ()) -> Result:
        """What is known of a result before the work begins; `growing` are more names that may differ between runs."""
        from unmask.results.result import Result

        grows = (*self.growing(), *growing)
        return Result(
            audit, self.seed, self.to_plain(), inputs, policy=self.policy, growing=grows, usual=self.defaults()
        )

    @classmethod
    def growing(cls) -> tuple[str, ...]:
        """Names of what may differ between runs of one directory."""
        return tuple(choice.name for choice in choices_of(cls) if choice.option.grows)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """What a plan of an older version stands for where it does not name a choice."""
        return {
            choice.name: choice.plain(choice.default) for choice in choices_of(cls) if choice.default is not MISSING
        }


@dataclass(frozen=True, kw_only=True)
class SeedPlan(Plan):
    """A plan of what judges nothing: but a seed."""

    without: ClassVar[tuple[str, ...]] = ("policy",)


def choices_of(plan: type[Plan]) -> tuple[Choice, ...]:
    """The fields of a kind of plan, its own before those that all plans have."""
    hints = get_type_hints(plan)
    common = {field.name for field in fields(Plan)} if plan is not Plan else set()
    asked = [field for field in fields(plan) if field.name not in plan.without]
    ordered = sorted(asked, key=lambda field: field.name in common)
    return tuple(_choice(field, hints[field.name]) for field in ordered)


def _choice(field: Any, hint: Any) -> Choice:
    none = type(None)
    given = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    kind = next(each for each in given if each is not none)
    many = get_origin(kind) is tuple
    kind = get_args(kind)[0] if many else kind
    return Choice(field.name, kind, many, none in given, field.default, field.metadata["option"])


def write_plan(plan: Plan, path: Path, command: str) -> None:
    """Write a plan that a person can edit and `--plan` reads."""
    lines = [f"# A plan for: {command} --plan {path.name}"]
    for choice in choices_of(type(plan)):
        value = choice.plain(getattr(plan, choice.name))
        lines += ["", f"# {choice.help}"]
        lines.append(f"# {choice.name} =" if value is None else f"{choice.name} = {_toml(value)}")
    write_atomically(path, "\n".join(lines) + "\n")


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{name} = {_toml(item)}" for name, item in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def read_plan(plan: type[Plan], path: Path) -> dict[str, Any]:
    """The choices in a plan file; options on the command line may still change them."""
    return read_toml(
        path, [choice.name for choice in choices_of(plan)], absent=f"Write one with --write-plan {path.name}"
    )


def code_in(plan: type[Plan], choices: Mapping[str, Any]) -> tuple[str, ...]:
    """What these choices would run of code that is not part of unmask or of an installed plug-in, in words."""
    found = []
    for choice in choices_of(plan):
        given = choices.get(choice.name)
        texts = given if isinstance(given, list | tuple) else (given,)
        is_code = choice.option.code
        if is_code is not None:
            found += [f"{choice.name} = {text}" for text in texts if isinstance(text, str) and is_code(text)]
    return tuple(found)


def files_of_code(plan: type[Plan], choices: Mapping[str, Any]) -> tuple[str, ...]:
    """The files whose classes these choices name, as they name them."""
    from unmask.registry import files_named

    return tuple(sorted({path for line in code_in(plan, choices) for path in files_named(line.partition(" = ")[2])}))


Verb = TypeVar("Verb", bound=Callable[..., Any])


def _with_one_thread(verb: Verb) -> Verb:
    """The same with libraries that use one thread: workers are our own."""

    @functools.wraps(verb)
    def within(*given: Any, **choices: Any) -> Any:
        with one_thread():
            return verb(*given, **choices)

    return cast(Verb, within)


def takes(plan: type[Plan]) -> Callable[[Verb], Verb]:
    """For a function that takes the choices of a plan as `**choices`: help() shows them with their defaults.

    Its numbers hang on no number of threads: libraries use one as long as it works.
    """

    def told(verb: Verb) -> Verb:
        signature = inspect.signature(verb)
        own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        names = {each.name for each in own}
        more = [
            inspect.Parameter(choice.name, inspect.Parameter.KEYWORD_ONLY, default=choice.default)
            for choice in choices_of(plan)
            if choice.name not in names and choice.default is not MISSING
        ]
        made = _with_one_thread(verb)
        made.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        return made

    return told
