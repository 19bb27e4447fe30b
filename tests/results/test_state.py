"""Four states: a leak, a doubt, no answer, and silence that means something. Each from what a result holds."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.reports import examples
from tests.results.test_result import FINDING, full_result
from unmask.results.grid import Section, Series, SeriesKind
from unmask.results.policy import Severity
from unmask.results.result import Facts, Input, Result
from unmask.results.state import (
    DOUBT,
    NO_HOLDOUT,
    NOT_ATTACKED,
    NOT_MEASURED,
    UNSEEN,
    FailOn,
    State,
    is_seen,
    reasons_of,
)

QUIET = examples.quiet()
LEAKY = full_result()
HELD = replace(FINDING, name=DOUBT, title="Confounded: the tables differ", severity=Severity.NONE)
BLIND = replace(QUIET, facts=replace(QUIET.facts, inconclusive=("too little",)))
CONFOUNDED = replace(QUIET, findings=(*QUIET.findings, HELD))
DESCRIBED = replace(full_result(findings=()), audit="describe")


@pytest.mark.parametrize(
    ("result", "state"),
    [
        (LEAKY, State.LEAK),
        (QUIET, State.NONE),
        (BLIND, State.INCONCLUSIVE),
        (CONFOUNDED, State.CONFOUNDED),
        (DESCRIBED, None),
    ],
)
def test_states(result, state):
    assert result.state is state


def test_a_leak_comes_before_a_doubt_and_a_doubt_before_no_answer():
    both = replace(CONFOUNDED, facts=BLIND.facts)
    assert both.state is State.CONFOUNDED
    assert replace(both, findings=(*both.findings, FINDING)).state is State.LEAK


@pytest.mark.parametrize("severity", Severity)
def test_a_doubt_is_no_leak_whatever_its_severity(severity):
    """Older results call it low."""
    result = replace(QUIET, findings=(*QUIET.findings, replace(HELD, severity=severity)))
    assert (result.severity, result.leaks, result.state) == (Severity.NONE, (), State.CONFOUNDED)


def power(kind, *seen):
    at = tuple(rate for rate, _ in seen)
    return Series(
        f"power/{kind}", kind, "share", "seen", at, tuple(one for _, one in seen), SeriesKind.POWER, Section.SOUND
    )


def test_older_results_say_what_they_could_not_see():
    real = Input("real", 9, 9, 2, "public", "x")
    old = replace(QUIET, facts=Facts(visible=("Something.",)), inputs=(real, replace(real, role="holdout")))
    assert reasons_of(old) == ()
    assert reasons_of(replace(old, inputs=(real,))) == (NO_HOLDOUT,)
    assert reasons_of(replace(old, facts=Facts())) == (NOT_MEASURED,)
    assert reasons_of(replace(old, findings=())) == (NOT_ATTACKED,)
    few = "16 runs are too few to list anybody, however much leaks."
    assert reasons_of(replace(old, audit="everyone", facts=Facts(visible=(few,)))) == (few,)
    for share, blind in ((10, False), (11, True)):
        line = (
            f"An attack without false alarms that recognises {share} in 100 releases with a target would have been seen"
        )
        assert bool(reasons_of(replace(old, audit="attack", facts=Facts(visible=(line,))))) is blind
    lost, seen = (
        power("verbatim copies", (0.05, 0.1), (0.1, 0.7), (0.2, 1.0)),
        power("any leak that names people", (0.02, 0.8)),
    )
    assert reasons_of(replace(old, series=(lost,))) == (UNSEEN,)
    assert reasons_of(replace(old, series=(lost, seen))) == ()


def test_seen_means_more_often_than_not_by_the_lower_end():
    assert [is_seen(count, 20) for count in (14, 15)] == [False, True]
    assert is_seen(218, 400)
    assert not is_seen(200, 400), "one half of the trials is no lower end of one half"


@pytest.mark.parametrize(
    ("result", "codes"),
    [
        (LEAKY, {"none": 0, "high": 1, "medium": 1, "low": 1, "inconclusive": 1}),
        (QUIET, {"none": 0, "high": 0, "low": 0, "inconclusive": 0}),
        (BLIND, {"none": 0, "high": 0, "low": 0, "inconclusive": 5}),
        (CONFOUNDED, {"none": 0, "high": 0, "low": 0, "inconclusive": 5}),
        (replace(LEAKY, failed_tasks=1), {"none": 4, "high": 4, "inconclusive": 4}),
        (replace(BLIND, failed_tasks=1), {"none": 4, "inconclusive": 4}),
        (DESCRIBED, {"inconclusive": 0}),
    ],
)
def test_exit_codes(result, codes):
    assert {name: FailOn(name).exit_code(result) for name in codes} == codes


def test_a_low_leak_fails_the_strictest_rung_with_1():
    low = replace(BLIND, findings=(replace(FINDING, severity=Severity.LOW),))
    assert [FailOn(name).exit_code(low) for name in ("high", "low", "inconclusive")] == [0, 1, 1]


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[1] / "golden" / "format2" / "results").glob("release*.json"))
)
def test_no_old_release_without_a_holdout_turns_into_no_leak_found(path):
    result = Result.from_plain(json.loads(path.read_text())["result"] | {"versions": {}})
    held = any(item.role == "holdout" for item in result.inputs)
    assert (result.state is State.NONE) <= held
