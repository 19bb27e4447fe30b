"""A plan as a form: its fields as plain data, and texts that people filled in as a plan. It loads no arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass
from typing import Any, Generic, TypeVar

from unmask.audits.plan import Choice, Plan, choices_of
from unmask.errors import ParameterError, UnmaskError

AnyPlan = TypeVar("AnyPlan", bound=Plan)

SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
WHOLE = ""  # where errors stand that are about no field alone


@dataclass(frozen=True)
class FormField:
    """A field of a plan: all that a form needs to ask for it."""

    name: str  # as in plan.toml
    option: str  # as on the command line
    help: str
    kind: str  # text, choice, integer, number, switch, or file
    many: bool  # a list of them
    required: bool
    default: Any  # as plan.toml has it; None: none
    usual: str  # the default in words, where the value tells nothing
    choices: tuple[str, ...]
    least: float | None
    most: float | None
    share: bool  # above 0 and below 1
    grows: bool  # may differ between runs of one directory
    may_be_code: bool  # its text may name code, which needs --trust in a plan file


@dataclass(frozen=True)
class FilledForm(Generic[AnyPlan]):
    """What came of texts: a plan, or what is wrong with each field."""

    plan: AnyPlan | None
    errors: Mapping[str, str]  # by field; "" for what is wrong with several together


def fields_of(plan: type[Plan]) -> tuple[FormField, ...]:
    """The fields of a kind of plan, in the order of its help."""
    return tuple(_field(choice) for choice in choices_of(plan))


def _field(choice: Choice) -> FormField:
    told, required = choice.option, choice.default is MISSING
    kinds = {str: "choice" if told.choices else "text", int: "integer", float: "number", bool: "switch"}
    return FormField(
        choice.name,
        choice.asked,
        told.help,
        kinds.get(choice.kind, "file"),
        choice.many,
        required,
        None if required else choice.plain(choice.default),
        told.shown,
        tuple(map(str, told.choices)),
        told.least,
        told.most,
        told.share,
        told.grows,
        told.code is not None,
    )


def filled(plan: type[AnyPlan], texts: Mapping[str, str | Sequence[str]]) -> FilledForm[AnyPlan]:
    """The plan that texts of a form make; an empty text, or none, leaves the default.

    A list is several texts, or one text with a line for each item. `write_plan` writes what came of it, `--plan` reads it.
    """
    known = {choice.name: choice for choice in choices_of(plan)}
    errors = {name: "There is no such field." for name in texts if name not in known}
    values: dict[str, Any] = {}
    for name, choice in known.items():
        given = _items(choice, texts.get(name, ""))
        if not given:
            if choice.default is MISSING:
                errors[name] = f"This is missing. {choice.option.help}"
            continue
        try:
            read = [_value(choice, text) for text in given]
            values[name] = choice.value(read if choice.many else read[0])
        except UnmaskError as problem:
            errors[name] = str(problem)
    if errors:
        return FilledForm(None, errors)
    try:
        return FilledForm(plan.of(values), {})
    except UnmaskError as problem:
        return FilledForm(None, {WHOLE: str(problem)})


def _items(choice: Choice, given: str | Sequence[str]) -> list[str]:
    texts = [given] if isinstance(given, str) else list(given)
    if not choice.many and len(texts) > 1:
        texts = texts[-1:]  # as forms send a switch: no, and yes behind it if it is on
    lines = [line for text in texts for line in text.splitlines()] if choice.many else texts
    return [line.strip() for line in lines if line.strip()]


def _value(choice: Choice, text: str) -> Any:
    """A text as the type of its field; whether it fits is asked by the field itself."""
    if choice.kind is bool:
        if text.lower() not in SWITCHES:
            raise ParameterError(f"{choice.asked} is '{text[:60]}'; use yes or no.")
        return SWITCHES[text.lower()]
    if choice.kind in (int, float):
        try:
            return choice.kind(text)
        except ValueError:
            number = "a whole number" if choice.kind is int else "a number"
            raise ParameterError(f"{choice.asked} is '{text[:60]}'; it must be {number}.") from None
    return text
