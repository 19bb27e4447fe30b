"""What to do next, for every verdict and verb, with a command that can be run as it stands."""

import shlex
from dataclasses import replace

import pytest

from tests.reports import examples
from tests.results.test_result import FINDING, full_result
from tests.results.test_state import BLIND, CONFOUNDED, DESCRIBED, QUIET
from unmask.results.figures import Figure
from unmask.results.next_steps import columns_of, groups_of, next_steps
from unmask.results.policy import Severity
from unmask.results.result import Facts
from unmask.results.sharing import for_sharing
from unmask.results.state import NO_HOLDOUT

LEAKY = for_sharing(examples.release())


def commands(result, *words):
    run = {"command": ["unmask", *words]} if words else None
    return [step.command for step in next_steps(result, run) if step.command]


def told(result) -> str:
    return " ".join(step.text for step in next_steps(result))


@pytest.mark.parametrize("audit", ["release", "demo", "attack", "everyone", "epsilon", "describe"])
@pytest.mark.parametrize("result", [LEAKY, QUIET, BLIND, CONFOUNDED, replace(BLIND, findings=())])
def test_every_verdict_of_every_verb_has_a_next_step_with_a_command(audit, result):
    steps = next_steps(replace(result, audit=audit))
    assert all(step.text for step in steps)
    found = [shlex.split(step.command) for step in steps if step.command]
    assert found
    assert all(words[0] == "unmask" for words in found)


def test_worst_columns_and_groups_come_first():
    high = replace(
        FINDING, name="inferring zip code", criterion="inferring", estimate=Figure(0.5, 0.4, 0.6, 0.95, "x", 9)
    )
    result = replace(LEAKY, findings=(*LEAKY.findings, high))
    assert columns_of(result) == ["zip code", "income"]
    assert groups_of(result) == ["sex Male", "race A", "sex Female", "race B"]
    assert "tiny" not in " ".join(groups_of(result)), "a small group is never named"
    assert next_steps(result)[0].text.startswith("Begin with the columns zip code, income; the groups sex Male, ")
    hidden = replace(result, inputs=tuple(replace(item, schema="inferred from real data") for item in result.inputs))
    assert groups_of(hidden) == []


def test_the_command_is_that_of_the_run_elsewhere():
    again, beside = commands(LEAKY, "audit", "a b.csv", "s.csv", "--out", "run/", "--seed", "1")
    assert again == "unmask audit 'a b.csv' s.csv --seed 1 --out run-2"
    assert beside == "unmask report run/ run-2"
    assert commands(LEAKY, "audit", "r.csv", "s.csv", "--out=x-9")[0].endswith("--out x-10")
    assert commands(LEAKY, "audit", "r.csv", "s.csv") == ["unmask audit r.csv s.csv --out after"], "there is no before"
    for broken in ({"command": "rm -rf /"}, {"command": ["unmask", 3]}, {"command": None}):
        assert next_steps(LEAKY, broken)[-1].command.endswith("--out before-2")


def test_what_an_audit_needs_that_could_not_see_enough():
    bare = replace(BLIND, facts=Facts(inconclusive=(NO_HOLDOUT,)))
    assert commands(bare, "audit", "r.csv", "s.csv", "--out", "x")[0] == (
        "unmask audit r.csv s.csv --out x-2 --holdout holdout.csv"
    )
    late = replace(BLIND, facts=Facts(inconclusive=("The time budget ended before parts: membership.",)))
    assert commands(late, "audit", "r.csv", "s.csv", "--time-budget", "3s", "--out", "x") == [
        "unmask audit r.csv s.csv --out x-2"
    ]
    for audit, option in (("attack", "--tests"), ("everyone", "--runs"), ("epsilon", "--runs")):
        small = replace(BLIND, audit=audit, plan={option[2:]: 16})
        assert commands(small, audit, "r.csv", option, "16", "--out", "x") == [
            f"unmask {audit} r.csv --out x {option} 64"
        ]
    assert "larger holdout" in told(BLIND)


def test_doubts_failures_and_columns_left_out_have_their_own_step():
    assert told(CONFOUNDED).startswith(CONFOUNDED.findings[-1].advice)
    assert told(full_result(failed_tasks=2)).startswith("Some tasks failed")
    left = replace(QUIET, facts=replace(QUIET.facts, left_out=("note: the release holds a passage of 3",)))
    assert told(left).startswith("The release has columns that identify people")
    gone = replace(QUIET, facts=replace(QUIET.facts, left_out=("note: the release has no such column.",)))
    assert not told(gone).startswith("The release has columns")
    assert commands(DESCRIBED)[0].startswith("unmask audit real.csv")


def test_a_refuted_claim_is_told_where_to_look():
    assert told(examples.epsilon()).startswith(examples.epsilon().findings[0].advice)
    assert Severity.HIGH in {one.severity for one in examples.epsilon().findings}
