"""The state of each verb, by its own rule: what it would have seen decides whether silence is an answer."""

from typing import ClassVar

import numpy as np
import pytest

import unmask
from unmask.audits.everyone.power import power_of, too_few_runs
from unmask.audits.release.audit import CHECKS, ReleaseAudit
from unmask.audits.release.leading.planted import PlantedLeak
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.release.soundness import NOTHING
from unmask.audits.runner import Runner
from unmask.datasets import planted
from unmask.results.state import NO_HOLDOUT, UNSEEN, State


@pytest.fixture(scope="module")
def clean():
    return planted(400, leaked=0, columns=12, seed=4)


def test_a_release_that_was_looked_at_and_one_that_could_not_be(clean):
    looked = unmask.audit(clean.real, clean.synthetic, holdout=clean.holdout, attempts=50)
    assert (looked.state, looked.facts.inconclusive) == (State.NONE, ())
    blind = unmask.audit(clean.real, clean.synthetic, attempts=50)
    assert (blind.state, blind.facts.inconclusive) == (State.INCONCLUSIVE, (NO_HOLDOUT,))
    for size, why in ((40, UNSEEN), (8, NOTHING)):
        few = [table.take(np.arange(size)) for table in (clean.real, clean.synthetic, clean.holdout)]
        small = unmask.audit(few[0], few[1], holdout=few[2], attempts=50)
        assert (small.state, small.facts.inconclusive) == (State.INCONCLUSIVE, (why,))


def test_people_with_twins_hide_what_is_published(clean):
    """Of four kinds of people, nobody is unique: neither copies nor names would be seen, and that is said."""
    rng = np.random.default_rng(1)
    tables = [unmask.read_table(_few_kinds(rng, 70)) for _ in range(3)]
    result = unmask.audit(tables[0], tables[1], holdout=tables[2], attempts=50)
    assert result.facts.inconclusive == (UNSEEN,)
    assert result.state is State.INCONCLUSIVE


def _few_kinds(rng, rows):
    import pandas as pd

    return pd.DataFrame({name: rng.choice(["x", "y"], rows) for name in ("a", "b")})


class _Late(Runner):
    """Time for the first parts only."""

    parts = 2
    asked: ClassVar[list[bool]] = []

    @property
    def is_late(self):
        self.asked.append(True)
        return len(self.asked) > self.parts


def test_a_part_that_would_have_seen_it_and_was_left_out(clean):
    _Late.asked.clear()
    audit = ReleaseAudit.of(ReleasePlan(attempts=50), real=clean.real, synthetic=clean.synthetic, holdout=clean.holdout)
    result = audit.run(_Late())
    assert len(result.not_tested) >= len(CHECKS) - 2
    assert result.state is State.INCONCLUSIVE
    assert "controls and instrument check" in result.facts.inconclusive[0]


@pytest.mark.parametrize(
    ("rates", "seen", "sees"),
    [((0.05, 0.1), (3, 15), True), ((0.05, 0.1), (3, 14), False), ((0.02,), (16,), True), ((0.2,), (20,), False)],
)
def test_a_planted_leak_is_seen_by_the_lower_end_of_its_trials(rates, seen, sees):
    assert PlantedLeak("x", rates, seen).sees(0.10) is sees


def test_few_releases_under_attack_are_no_answer():
    people = unmask.datasets.adult().take(np.arange(120))
    small = {"targets": "random:1", "attacks": ["closest-record"], "shadows": 4, "train_rows": 40, "seed": 1}
    few = unmask.attack("random", people, tests=16, **small)
    assert few.state is State.INCONCLUSIVE
    assert few.facts.inconclusive[0].startswith(
        "An attack that recognises 10 in 100 releases with a target would not have been"
    )
    many = unmask.attack("random", people, tests=400, **small)
    assert (many.state, many.facts.inconclusive) == (State.NONE, ())


def test_few_runs_of_everyone_are_no_answer():
    assert too_few_runs(6, 500, rate=0.1, more="More.")[0].endswith("More.")
    assert too_few_runs(32, 500, rate=0.1, more="More.") == ()
    assert power_of(32, 500, rate=0.1, company=50).sees_copies


def test_a_claim_that_no_run_could_refute_is_no_answer():
    few = unmask.audit_epsilon("histogram:epsilon=1", runs=2, controls=False)
    assert few.state is State.INCONCLUSIVE
    assert few.facts.inconclusive[0].startswith("The claim could not have been refuted: the most that 2 runs can show")
    enough = unmask.audit_epsilon("histogram:epsilon=1", runs=40, controls=False)
    assert (enough.state, enough.facts.inconclusive) == (State.NONE, ())


def test_a_description_has_no_state():
    assert unmask.describe(unmask.datasets.adult().take(np.arange(20))).state is None
