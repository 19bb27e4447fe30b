"""Reconstruction from a release: completion and linear, with one plan, one result and clear words for what cannot be done."""

import json

import numpy as np
import pytest

import unmask
from tests.audits.release.test_completion import people
from unmask.audits.reconstruct.release import ReleaseReconstruction, reconstruct_release
from unmask.audits.reconstruct.release_plan import ReleaseReconstructionPlan
from unmask.audits.runner import Runner
from unmask.errors import ParameterError, SchemaError
from unmask.results.policy import Severity
from unmask.results.state import State

KNOWN = ["age", "sex", "race", "marital-status", "fnlwgt"]


def test_the_real_table_gives_records_and_secrets_away(tmp_path):
    real, holdout = people(300), people(300, 300)
    result = reconstruct_release(
        real, [real, real], holdout=holdout, secrets=["income", "hours-per-week"], known=KNOWN, seed=1
    )
    assert (result.audit, result.state, result.severity) == ("reconstruct", State.LEAK, Severity.HIGH)
    assert [finding.criterion for finding in result.findings] == ["reconstruction"] * 4
    solved = {finding.name: finding for finding in result.findings}
    for secret, least in (
        ("income", 0.9),
        ("hours-per-week", 0.7),
    ):  # numbers of people with equal bins are not told apart
        one = solved[f"linear reconstruction of {secret}"]
        assert one.control.value + one.estimate.value > least
        assert one.severity is Severity.HIGH
        assert f"{secret} solved for" in result.records.columns
    assert "would have seen" in result.facts.visible[0]
    unmask.write(result, tmp_path)
    assert json.loads((tmp_path / "result.json").read_text())["audit"] == "reconstruct"
    again = reconstruct_release(
        real, [real, real], holdout=holdout, secrets=["income", "hours-per-week"], known=KNOWN, seed=1
    )
    assert again.to_plain() == result.to_plain()


def test_fresh_people_give_nothing_away():
    result = reconstruct_release(
        people(300), people(300, 600), holdout=people(300, 300), secrets=["income"], known=KNOWN
    )
    assert (result.state, result.severity) == (State.NONE, Severity.NONE)


def test_without_a_holdout_or_a_secret_what_can_be_done_is_done():
    result = reconstruct_release(people(100), people(100), known=KNOWN)
    assert result.state is State.INCONCLUSIVE
    assert len(result.findings) == 2
    assert {item.name for item in result.not_tested} == {"record completion against a control", "linear reconstruction"}


def test_a_holdout_that_differs_is_confounded():
    table = people(1200)
    order = np.argsort(table.numbers[:, 0], kind="stable")
    young, old = table.take(order[:600]), table.take(order[600:])
    result = reconstruct_release(
        young.take(np.arange(0, 600, 2)), young.take(np.arange(1, 600, 2)), holdout=old, known=["sex", "race"]
    )
    assert (result.state, result.severity) == (State.CONFOUNDED, Severity.NONE)


def test_wrong_input_and_lack_of_time_are_told():
    real = people(60)
    with pytest.raises(ParameterError, match="known and secret at once"):
        reconstruct_release(real, real, secrets=["age"], known=["age"])
    with pytest.raises(SchemaError, match="'wealth'"):
        reconstruct_release(real, real, secrets=["wealth"])
    one = real.take(np.flatnonzero(real.codes[:, real.schema.position("income")] == 0))
    result = reconstruct_release(one, one, secrets=["income"], known=KNOWN)
    linear = next(item for item in result.not_tested if item.name == "linear reconstruction of income")
    assert "same value of 'income'" in linear.reason
    ready = ReleaseReconstruction.of(ReleaseReconstructionPlan(secrets=("income",)), real=real, synthetic=real)
    late = ready.run(Runner.of(1, time_budget=1e-9))
    assert [item.name for item in late.not_tested] == ["record completion", "linear reconstruction of income"]
