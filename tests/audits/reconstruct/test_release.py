"""Reconstruction from a release: completion and linear, with one plan, one result and clear words for what cannot be done."""

import json

import numpy as np
import pandas as pd
import pytest

import unmask
from tests.audits.release.test_completion import people
from unmask.audits.reconstruct.release import ReleaseReconstruction, reconstruct_release
from unmask.audits.reconstruct.release_linear import UNPLANTED
from unmask.audits.reconstruct.release_plan import ReleaseReconstructionPlan
from unmask.audits.runner import Runner
from unmask.errors import ParameterError, SchemaError
from unmask.results.policy import Severity
from unmask.results.state import State
from unmask.tables.infer import Hints

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


def test_persons_are_counted_and_not_their_rows():
    """60 persons of 10 rows a side, and a release of others: one row of each is judged."""
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        real, release, holdout = (visits(60, rng, first) for first in (0, 1000, 2000))
        result = reconstruct_release(
            real, release.drop(columns="person"), holdout=holdout, schema=Hints(person="person"), secrets=["s"],
            known=["k0", "k1", "k2", "k3", "k4"], seed=seed,
        )  # fmt: skip
        linear = next(one for one in result.findings if one.name == "linear reconstruction of s")
        assert linear.severity is Severity.NONE
        assert linear.exposure.attacked == 60
        assert "of the 60 real people solved for" in linear.title
        assert linear.estimate.n == 120


def test_too_few_people_of_the_holdout_are_no_answer():
    """Five values, so that the people of one town are solved for; the holdout has one of each town."""
    rng = np.random.default_rng(1)
    real, release, holdout = (towns(count, rng) for count in (3000, 3000, 20))
    holdout["town"] = [f"v{code}" for code in range(20)]
    result = reconstruct_release(real, release, holdout=holdout, secrets=["s"], known=["town", "k0", "k1"], seed=1)
    item = next(one for one in result.not_tested if one.name == "linear reconstruction of s against a control")
    assert "fewer than 4" in item.reason
    assert "larger holdout" in item.remedy
    linear = next(one for one in result.findings if one.name == "linear reconstruction of s")
    assert linear.control is None
    assert linear.advice == item.remedy
    assert result.state is State.INCONCLUSIVE
    assert any("not measured against a control" in reason for reason in result.facts.inconclusive)


def test_a_secret_that_is_missing_in_the_release_is_not_tested():
    rng = np.random.default_rng(2)
    real, release, holdout = (towns(100, rng) for _ in range(3))
    result = reconstruct_release(real, release.assign(s=None), holdout=holdout, secrets=["s"], known=["k0", "k1"])
    assert all(not one.name.startswith("linear") for one in result.findings)
    item = next(one for one in result.not_tested if one.name == "linear reconstruction of s")
    assert "missing in every row of the release" in item.reason


def test_guessing_is_without_the_release_and_no_power_is_claimed():
    real, holdout = people(200), people(200, 200)
    result = reconstruct_release(real, real, holdout=holdout, secrets=["income"], known=KNOWN, seed=1)
    linear = next(one for one in result.findings if one.name == "linear reconstruction of income")
    codes = real.codes[:, real.schema.position("income")]
    assert linear.baseline.value == pytest.approx(np.bincount(codes).max() / 200)
    grid = next(one for one in result.grids if one.name == linear.name)
    row = dict(zip(grid.columns, grid.rows[0], strict=True))
    assert row["most frequent value"] < row["rows with equal columns"]
    assert UNPLANTED in result.facts.visible


def visits(count, rng, first):
    """Persons of ten rows with equal keys and one secret."""
    whose = np.repeat(np.arange(count), 10)
    frame = pd.DataFrame({f"k{place}": rng.integers(0, 3, count).astype(str) for place in range(5)}).loc[whose]
    frame["visit"] = rng.integers(0, 4, len(whose)).astype(str)
    return frame.assign(s=(rng.random(count) < 0.5)[whose].astype(str), person=[f"P{first + each}" for each in whose])


def towns(count, rng):
    sizes = {"town": 20, "k0": 3, "k1": 3, "o0": 4, "o1": 4, "o2": 4, "s": 5}
    return pd.DataFrame({name: [f"v{code}" for code in rng.integers(0, size, count)] for name, size in sizes.items()})


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
