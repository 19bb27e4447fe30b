"""Forms: what a page needs to ask for any verb, with no code for it."""

import json
import subprocess
import sys
import tomllib
from dataclasses import asdict

import pytest

from unmask.audits.attack.plan import AttackPlan
from unmask.audits.form import WHOLE, fields_of, filled
from unmask.audits.plan import choices_of, read_plan, write_plan
from unmask.audits.release.plan import ReleasePlan
from unmask.cli import main
from unmask.cli.forms import forms

FORMS = forms()
NEEDED = {"generator": "cart", "generators": "raw\ncart"}


def test_every_verb_with_a_plan_has_a_form():
    assert list(FORMS) == [
        "demo", "audit", "check", "describe", "attack", "everyone", "pool attack", "utility", "compare", "epsilon", "reconstruct",
    ]  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_a_form_has_the_options_of_its_command(name):
    """Every field is an option of the same name and help, and every file that help tells of is asked for."""
    form = FORMS[name]
    command = main.app
    for word in name.split():
        command = command.get_command(None, word)
    options = {each.name: each for each in command.params}
    for field in form.fields:
        assert field.option in options[field.name].opts
        assert options[field.name].help.startswith(field.help)
        assert options[field.name].multiple == field.many
    for each in form.inputs:
        assert each.name in options
    assert form.title
    assert json.loads(json.dumps([asdict(field) for field in form.fields]))


@pytest.mark.parametrize("name", FORMS)
def test_an_empty_form_is_the_plan_of_all_defaults(name):
    form = FORMS[name]
    needed = {field.name: NEEDED[field.name] for field in form.fields if field.required}
    made = filled(form.plan, {field.name: "" for field in form.fields} | needed)
    assert made.errors == {}
    assert made.plan.to_plain() | dict.fromkeys(needed) == {
        field.name: field.default for field in form.fields if field.name in made.plan.to_plain()
    }


def test_what_is_filled_in_becomes_a_plan_file_that_the_command_reads(tmp_path):
    texts = {
        "secrets": "income\n\n pay ", "key_lengths": ["2", "3"], "attempts": "50", "aligned": ["no", "yes"], "utility": "no",
        "confidence": "0.9", "weights": "equal", "seed": "7",
    }  # fmt: skip
    made = filled(ReleasePlan, texts)
    plan = ReleasePlan(
        secrets=("income", "pay"),
        key_lengths=(2, 3),
        attempts=50,
        aligned=True,
        confidence=0.9,
        weights="equal",
        seed=7,
    )
    assert made.plan == plan
    write_plan(made.plan, tmp_path / "plan.toml", "unmask audit")
    assert tomllib.loads((tmp_path / "plan.toml").read_text())["secrets"] == ["income", "pay"]
    assert ReleasePlan.of(read_plan(ReleasePlan, tmp_path / "plan.toml")) == plan


@pytest.mark.parametrize(
    ("texts", "field", "told"),
    [
        ({"attempts": "many"}, "attempts", "it must be a whole number"),
        ({"attempts": "5"}, "attempts", "use a whole number from 10"),
        ({"attempts": "1e9"}, "attempts", "it must be a whole number"),
        ({"confidence": "2"}, "confidence", "share between 0 and 1"),
        ({"confidence": "nan"}, "confidence", "number"),
        ({"weights": "both"}, "weights", "use one of distance, equal"),
        ({"aligned": "perhaps"}, "aligned", "use yes or no"),
        ({"key_lengths": "1\n0"}, "key_lengths", "from 1"),
        ({"nonsense": "1"}, "nonsense", "no such field"),
        ({"policy": "/nowhere/policy.toml"}, "policy", "no such file"),
    ],
)
def test_each_field_says_what_is_wrong_with_it(texts, field, told):
    made = filled(ReleasePlan, texts | {"seed": "x"})
    assert made.plan is None
    assert told in made.errors[field]
    assert "whole number" in made.errors["seed"]


def test_what_is_missing_and_what_does_not_go_together_is_told():
    assert filled(AttackPlan, {}).errors["generator"].startswith("This is missing.")
    made = filled(AttackPlan, {"generator": "cart", "goal": "attribute"})
    assert (made.plan, list(made.errors)) == (None, [WHOLE])
    assert "secret" in made.errors[WHOLE]


def test_fields_tell_limits_choices_and_code():
    fields = {field.name: field for field in fields_of(AttackPlan)}
    assert (fields["tests"].kind, fields["tests"].least, fields["tests"].default) == ("integer", 2, 100)
    assert fields["goal"].choices == ("membership", "attribute")
    assert (fields["generator"].required, fields["generator"].may_be_code) == (True, True)
    assert (fields["attacks"].many, fields["attacks"].default) == (True, ["all"])
    assert fields["policy"].kind == "file"
    assert {choice.name for choice in choices_of(AttackPlan)} == set(fields)


def test_forms_load_no_arrays():
    code = """
import sys
from unmask.audits.form import filled
from unmask.cli.forms import forms
for form in forms().values():
    filled(form.plan, {field.name: "cart" for field in form.fields if field.required})
sys.exit(", ".join(sorted({"numpy", "pandas", "numba", "scipy", "sklearn"} & set(sys.modules))) or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
