"""Runs that failed published nothing: their coins count, nothing is guessed about them, and they move no run between parts."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from unmask.attacks.everyone.scorer import RatioScorer
from unmask.audits.everyone.audit import EveryoneAudit
from unmask.audits.everyone.evidence import RunOrder, judge
from unmask.audits.everyone.people import judge_people
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.everyone.pooled import pooled_bound
from unmask.audits.runner import Runner
from unmask.errors import GeneratorError
from unmask.generators.claim import Claim
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table
from unmask.threats.coins import CoinGame
from unmask.threats.knowledge import Coins
from unmask.threats.pairs import table_of

PEOPLE = 60
GROUPS = ("all",)


def everybody() -> Table:
    """Everybody has a cell of their own."""
    schema = Schema((Column("cell", Kind.CATEGORICAL, values=tuple(range(PEOPLE))),))
    return table_of(schema, np.arange(PEOPLE)[:, None])


@dataclass(frozen=True)
class Refuses:
    """Publishes all training rows with a small chance, and else refuses: exactly (0, chance)-differentially private."""

    chance: float
    name: ClassVar[str] = "refuses"
    row_level: ClassVar[bool] = False

    @property
    def claim(self) -> Claim:
        return Claim(0.01, delta=self.chance)

    def fit(self, table: Table, rng: np.random.Generator) -> "Tells":
        if rng.random() >= self.chance:
            raise GeneratorError("Refused.")
        return Tells(table, self.claim)


@dataclass(frozen=True, eq=False)
class Tells:
    rows: Table
    claim: Claim

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        return self.rows.take(np.resize(np.arange(len(self.rows)), rows))


@pytest.mark.parametrize("seed", range(2))
def test_a_true_claim_with_a_delta_is_not_refuted_by_runs_that_failed(seed):
    """Refuted for both (and a third) when only the few runs that published something were counted."""
    plan = EveryonePlan(generator="refuses", runs=6000, synthetic_rows=PEOPLE, distances=False, seed=seed)
    result = EveryoneAudit(plan, Refuses(0.005), everybody()).run(Runner())
    (claim,) = (finding for finding in result.findings if finding.name == "everyone/claim")
    assert "is not refuted" in claim.title
    assert claim.estimate.n == 3000 * PEOPLE  # coins of the second half, failed or not
    assert any("published nothing" in note for note in result.notes)
    (people,) = (finding for finding in result.findings if finding.name == "everyone/people")
    assert people.estimate.value <= 0.005  # once in 200 fits somebody is given away: so much is gained, and no more


def published(members: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Features that give every coin away."""
    return [(inside[:, None].astype(np.uint16), np.zeros((len(inside), 0), np.float32)) for inside in members]


def thinned(members: np.ndarray, left: np.ndarray):
    """What is judged if only some of the planned runs publish something."""
    gone = np.setdiff1d(np.arange(len(members)), left)
    known = published(members[left])
    order = RunOrder(left, gone, members[gone])
    return judge(known.__getitem__, members[left], groups=GROUPS, scorer=RatioScorer(), planned=order)


def test_which_runs_teach_is_settled_before_any_fails(rng):
    members = rng.random((40, PEOPLE)) < 0.5
    left = np.array([0, 1, 2, 3, 4, 11, 12, 30])
    found = thinned(members, left)
    assert found.learnt == 7
    assert np.array_equal(found.early.members, members[[11, 12]])
    assert np.array_equal(found.late.members, members[[30]])
    assert np.array_equal(found.failed_late, members[[*range(20, 30), *range(31, 40)]])
    assert len(found.silent) + len(found.all.members) == 30


def test_coins_of_failed_runs_count_in_a_bound_with_a_delta_and_in_no_other(rng):
    members = rng.random((64, PEOPLE)) < 0.5
    game = CoinGame.of(Coins.INDEPENDENT, PEOPLE, rng)
    some = thinned(members, np.arange(0, 64, 4))
    alone = judge(published(members[::4]).__getitem__, members[::4], groups=GROUPS, scorer=RatioScorer())

    def bound(found, delta: float) -> float:
        return pooled_bound(found, game, game.coined, confidence=0.95, delta=delta).value

    assert bound(some, 0.0) == bound(alone, 0.0) > 0
    assert bound(some, 1e-3) < bound(alone, 1e-3)


def test_a_gain_about_a_person_is_a_gain_over_all_runs(rng):
    members = rng.random((64, PEOPLE)) < 0.5
    everybody = np.ones(PEOPLE, dtype=bool)
    all_runs, some = (
        judge_people(thinned(members, left), everybody, rate=0.1, confidence=0.95)
        for left in (np.arange(64), np.arange(0, 64, 4))
    )
    assert all_runs.advantage.min() > 0.5
    assert some.advantage.max() == 0.0


def test_too_few_runs_in_one_half_are_an_error_that_says_so(rng):
    members = rng.random((40, PEOPLE)) < 0.5
    with pytest.raises(GeneratorError, match=r"Of 40 runs 30 failed, and 0 of the first half"):
        thinned(members, np.arange(30, 40))
