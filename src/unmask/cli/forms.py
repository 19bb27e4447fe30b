"""Every verb that runs an audit as a form: what it reads, and the fields of its plan. Plain data; it loads no arrays."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass

import click

from unmask.audits.form import FormField, fields_of
from unmask.audits.plan import Plan
from unmask.cli.main import VERBS
from unmask.cli.options import PATH, schema
from unmask.cli.verb import AuditVerb


@dataclass(frozen=True)
class FormInput:
    """A file, or a folder, that a verb reads."""

    name: str
    option: str  # "" where it is given by its place
    help: str
    many: bool
    required: bool


@dataclass(frozen=True)
class Form:
    """A verb as a person fills it in."""

    verb: str  # as it is typed behind `unmask`
    title: str
    about: str
    inputs: tuple[FormInput, ...]
    fields: tuple[FormField, ...]
    plan: type[Plan]


def forms() -> dict[str, Form]:
    """Every verb that takes a plan, by name, in the order of help."""
    return {name: _form(name, verb) for name, verb in _audits()}


def _audits() -> Iterator[tuple[str, AuditVerb]]:
    for name in VERBS:
        command = importlib.import_module(f"unmask.cli.{name.replace('-', '_')}").command
        below = command.commands if isinstance(command, click.Group) else {"": command}
        for more, each in below.items():
            if isinstance(found := getattr(each, "audit_verb", None), AuditVerb):
                yield f"{name} {more}".strip(), found


def _form(name: str, verb: AuditVerb) -> Form:
    title, _, about = (verb.doc or "").strip().partition("\n")
    inputs = [FormInput(each.name or "", "", each.told, each.nargs == -1, each.required) for each in verb.tables]
    options = [each for each in verb.more if each.type is PATH and each.name != "pool"]
    options += [] if "schema" in verb.without else [schema()]
    inputs += [FormInput(each.name or "", each.opts[0], each.help or "", each.multiple, False) for each in options]
    return Form(name, title, about.strip(), tuple(inputs), fields_of(verb.plan), verb.plan)
