"""What the verbs of the command line ask for, as plain data: forms are made from it, and there is no code per verb.

The plans know it; reading them takes a process with the whole package, so that the server asks once (`python -m
unmask.web.forms`) and keeps the answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from typing import Any

LINES = 200  # of a list in a form


@dataclass(frozen=True)
class FileField:
    """A table, or another file, that a verb reads."""

    name: str
    told: str
    many: bool = False
    required: bool = False
    option: str = ""  # empty: an argument
    folder: bool = False


@dataclass(frozen=True)
class ChoiceField:
    """A choice of a plan."""

    name: str
    told: str
    kind: str  # int, float, bool or text
    many: bool
    default: Any
    required: bool
    choices: Sequence[str] = ()
    least: float | None = None
    most: float | None = None
    shown: str = ""
    generators: bool = False  # a generator may be named

    @property
    def label(self) -> str:
        return self.name.replace("_", " ").capitalize()

    def texts(self, given: Mapping[str, Sequence[str]]) -> list[str]:
        """What a form gave for it, without empty lines."""
        lines = [line.strip() for text in given.get(f"choice-{self.name}", ()) for line in text.splitlines()]
        return [line for line in lines if line][:LINES]

    def value(self, texts: Sequence[str]) -> Any:
        """What the plan file holds; None where the default stands. What is no number stays text: the plan says what is wrong."""
        if not texts:
            return None
        values = [self._one(text) for text in texts]
        value = values if self.many else values[-1]
        return None if value == self.default else value

    def _one(self, text: str) -> Any:
        if self.kind == "bool":
            return {"yes": True, "no": False}.get(text, text)
        for number in {"int": (int,), "float": (float,)}.get(self.kind, ()):
            try:
                return number(text)
            except ValueError:
                return text
        return text


@dataclass(frozen=True)
class VerbForm:
    """A verb that runs an audit."""

    name: str
    title: str
    doc: str
    files: Sequence[FileField]
    choices: Sequence[ChoiceField]
    flags: Sequence[Mapping[str, str]] = field(default=())
    time_budget: str = ""  # what it means; empty: there is none
    takes_trust: bool = False

    @property
    def tables(self) -> list[FileField]:
        return [each for each in self.files if not each.option]

    def plan_text(self, given: Mapping[str, Sequence[str]]) -> str:
        """A plan file of what was chosen; empty if everything is as usual."""
        values = {each.name: each.value(each.texts(given)) for each in self.choices}
        return "".join(f"{name} = {_toml(value)}\n" for name, value in values.items() if value is not None)


def _toml(value: Any) -> str:
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return repr(value)
    if isinstance(value, float):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    return json.dumps(value, ensure_ascii=True)


def forms_from(plain: Mapping[str, Any]) -> dict[str, VerbForm]:
    """The forms that the other process described."""
    return {
        each["name"]: VerbForm(
            **{
                **each,
                "files": [FileField(**one) for one in each["files"]],
                "choices": [ChoiceField(**one) for one in each["choices"]],
            }
        )
        for each in plain["verbs"]
    }


def described() -> dict[str, Any]:
    """Every verb that runs an audit, and the generators that can be named. Imports the whole package."""
    import importlib

    from unmask.cli.main import VERBS
    from unmask.generators import names

    verbs = []
    for name, title in VERBS.items():
        command = importlib.import_module(f"unmask.cli.{name.replace('-', '_')}").command
        if hasattr(command, "audit_verb"):
            verbs.append(_described(command.audit_verb, command, title))
    return {"verbs": verbs, "generators": [name for name in names() if name != "foreign"]}


def _described(verb: Any, command: Any, title: str) -> dict[str, Any]:
    import inspect

    from unmask.audits.plan import choices_of
    from unmask.cli.options import PATH

    known = {each.name: each for each in command.params}
    taken = inspect.signature(type(verb).run).parameters  # where draws are kept is not for a form to say
    files = [
        {"name": each.name, "told": each.told, "many": each.nargs == -1, "required": each.required}
        for each in verb.tables
    ]
    files += [
        {"name": each.name, "told": each.help, "option": each.opts[-1], "folder": each.metavar == "DIR"}
        for each in (*verb.more, *([known["schema"]] if "schema" in known else []))
        if each.type is PATH and each.name not in taken
    ]
    budget = known.get("time_budget")
    return {
        "name": verb.name,
        "title": title,
        "doc": (verb.doc or "").strip(),
        "files": files,
        "choices": [found for each in choices_of(verb.plan) if (found := _choice(each)) is not None],
        "flags": [
            {"name": each.name, "option": each.opts[-1], "told": each.help} for each in verb.more if each.is_flag
        ],
        "time_budget": budget.help.partition(" [default")[0] if budget else "",
        "takes_trust": "trust" in known,
    }


def _choice(choice: Any) -> dict[str, Any] | None:
    """A choice for a form; None for those that name a file, which a form does not."""
    told = choice.option
    if told.metavar == "FILE":
        return None
    kind = {int: "int", float: "float", bool: "bool"}.get(choice.kind, "text")
    default = None if choice.default is MISSING else choice.plain(choice.default)
    if isinstance(default, dict):
        default = None
    return {
        "name": choice.name,
        "told": told.help,
        "kind": kind,
        "many": choice.many,
        "default": default,
        "required": choice.default is MISSING,
        "choices": [str(each) for each in told.choices],
        "least": told.least,
        "most": told.most,
        "shown": told.shown,
        "generators": told.code is not None and "generator" in choice.name,
    }


if __name__ == "__main__":
    json.dump(described(), sys.stdout)
