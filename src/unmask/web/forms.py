"""The verbs as forms of the page, from the command line's own description of them: there is no code per verb."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click

from unmask.audits.form import WHOLE, FormField, filled
from unmask.audits.plan import Plan, choices_of, write_plan
from unmask.cli.forms import FormInput, forms
from unmask.errors import ParameterError
from unmask.generators import names

LOOKED_OVER = "check"  # every page of files does this by itself
ELSEWHERE = "foreign"  # a generator that runs nowhere here
CHOICE = "choice-"  # before the name of a field

Given = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class VerbForm:
    """A verb that runs an audit."""

    name: str
    title: str
    about: str
    files: tuple[FormInput, ...]
    folders: frozenset[str]  # of the files: those that are folders
    fields: tuple[FormField, ...]
    flags: tuple[tuple[str, str, str], ...]  # name, option, help
    time_budget: str  # what it means; empty: there is none
    takes_trust: bool
    plan: type[Plan]

    @property
    def tables(self) -> list[FormInput]:
        return [each for each in self.files if not each.option]

    def write(self, given: Given, path: Path) -> bool:
        """Write the plan that was chosen; whether there is one that is not as usual. An error names every wrong field."""
        texts = {each.name: list(given.get(CHOICE + each.name, ())) for each in self.fields}
        made = filled(self.plan, texts)
        if made.plan is None:
            lines = [f"{'' if name == WHOLE else label_of(name) + ': '}{told}" for name, told in made.errors.items()]
            raise ParameterError("\n".join(lines))
        choices = {each.name: each for each in choices_of(self.plan)}
        if all(getattr(made.plan, name) == each.default for name, each in choices.items()):
            return False
        write_plan(made.plan, path, f"unmask {self.name}")
        return True


def label_of(name: str) -> str:
    """A role or a choice as a heading."""
    return name.replace("_", " ").capitalize()


@cache
def verb_forms() -> dict[str, VerbForm]:
    """Every audit that a page can run, by name."""
    described = {name: each for name, each in forms().items() if " " not in name and name != LOOKED_OVER}
    made = {}
    for name, form in described.items():
        command: click.Command = importlib.import_module(f"unmask.cli.{name.replace('-', '_')}").command
        known = {each.name: each for each in command.params if isinstance(each, click.Option)}
        more = getattr(command, "audit_verb").more  # noqa: B009 - click knows nothing of it
        budget = known.get("time_budget")
        made[name] = VerbForm(
            name,
            form.title,
            form.about,
            form.inputs,
            frozenset(each.name for each in form.inputs if each.option and known[each.name].metavar == "DIR"),
            tuple(each for each in form.fields if each.kind != "file"),
            tuple((each.name or "", each.opts[-1], each.help or "") for each in more if each.is_flag),
            (budget.help or "").partition(" [default")[0] if budget else "",
            "trust" in known,
            form.plan,
        )
    return made


def generator_names() -> list[str]:
    """The generators that can be named."""
    return [name for name in names() if name != ELSEWHERE]
