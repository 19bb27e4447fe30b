"""The audit of everyone against known truths: who is listed, how often nobody should have been, and bounds on epsilon.

Limits of honesty are the 99.9 % (or stated) limits of a binomial; what was measured stands in docs/explanation/everyone.md.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.metrics import roc_auc_score

from unmask.attacks.everyone.scorer import RatioScorer
from unmask.audits.everyone.audit import EveryoneAudit, set_up
from unmask.audits.everyone.evidence import Evidence, Judged, judge, of_other_runs
from unmask.audits.everyone.judging import judge_everybody
from unmask.audits.everyone.people import People
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.everyone.pooled import judge_pooled, pooled_bound
from unmask.audits.runner import Runner
from unmask.generators.claim import Claim, Neighbours
from unmask.generators.copycat import Copycat
from unmask.generators.histogram import Histogram
from unmask.generators.oblivious import Oblivious
from unmask.simulation.coin import coin_tasks
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.executors.local import Local
from unmask.simulation.store import MemoryStore
from unmask.stream import stream
from unmask.tables.exact import significant
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table
from unmask.threats.pairs import table_of

pytestmark = pytest.mark.calibration

SEEDS = 20


def drawn(generator, table: Table, seed: int, **choices) -> CoinPool:
    """The pool of an audit, without the report."""
    plan = EveryonePlan(generator=generator.name, seed=seed, **{"runs": 128, "distances": False, **choices})
    setting, _, _ = set_up(plan, generator, table)
    tasks, store = coin_tasks(plan.runs), MemoryStore()
    Local().run(setting, tasks, store)
    return CoinPool.gather(setting, tasks, store)


def judged(pool: CoinPool, members: np.ndarray | None = None) -> Judged:
    return judge(
        pool.load,
        pool.members if members is None else members,
        groups=pool.setting.features.groups,
        scorer=RatioScorer(),
    )


def people_of(pool: CoinPool, members: np.ndarray | None = None) -> People:
    coins = pool.members if members is None else members
    return judge_everybody(pool, coins, scorer=RatioScorer(), rate=0.1, confidence=0.95)[1]


def bound_of(pool: CoinPool, found: Judged, delta: float = 0.0) -> float:
    game = pool.setting.game
    return pooled_bound(found, game, game.coined, confidence=0.95, delta=delta).value


def audited_bound(generator, table: Table, seed: int, **choices) -> float:
    pool = drawn(generator, table, seed, **choices)
    return bound_of(pool, judged(pool))


# People who are copied ---------------------------------------------------------------------------------------------------


def guests(seed: int, rows: int = 1000, important: int = 20, columns: int = 8, size: int = 8) -> Table:
    """Random rows, the first of which are marked; a made-up row is never like a real one."""
    rng = np.random.default_rng(seed)
    marked = Column("vip", Kind.CATEGORICAL, values=("no", "yes"))
    others = (Column(f"c{j}", Kind.CATEGORICAL, values=tuple(range(size))) for j in range(columns))
    return table_of(
        Schema((marked, *others)),
        np.column_stack([np.arange(rows) < important, rng.integers(0, size, (rows, columns))]),
    )


def test_who_is_copied_is_listed_and_nobody_else():
    """20 of 1,000 are copied into half of the releases: at least 396 of 400 are found over 20 seeds, all 20 in 18 of them.

    Measured on such tables: 400 of 400, all 20 in every seed, one wrong name.
    """
    found, shares = [], []
    for seed in range(SEEDS):
        pool = drawn(Copycat(0.5, where="vip=yes"), guests(seed), seed, distances=True)
        listed = people_of(pool).listed
        found.append(int(listed[:20].sum()))
        shares.append(listed[20:].sum() / max(listed.sum(), 1))
    assert np.mean(shares) <= 0.1
    assert sum(found) >= 396, found
    assert found.count(20) >= 18, found


@pytest.mark.parametrize("columns", [8, 4], ids=["rows never met by chance", "rows met by chance now and then"])
@pytest.mark.parametrize("copied", [1, 5])
def test_a_few_who_are_always_copied_are_found_among_a_thousand(copied, columns):
    """Counting copies of the whole row alone lists 9 of 10 of them, so all features together must list at least half."""
    found = 0
    for seed in range(6):
        table = guests(seed, important=copied, columns=columns, size=8 if columns == 8 else 6)
        pool = drawn(Copycat(1.0, where="vip=yes"), table, seed)
        found += int(people_of(pool).listed[:copied].sum())
    assert found >= 3 * copied


def test_nobody_is_listed_if_nobody_is_copied():
    """At level 10 % somebody in at most 7 of 20 seeds (99.9 % limit); measured: 0."""
    somebody = 0
    for seed in range(SEEDS):
        pool = drawn(Copycat(0.0, where="vip=yes"), guests(seed), seed)
        somebody += people_of(pool).listed.any()
    assert somebody <= binom.ppf(0.999, SEEDS, 0.1)


@pytest.mark.parametrize("runs", [16, 64])
def test_coins_of_other_runs_list_nobody_though_the_generator_leaks(runs):
    """Somebody in at most 13 of 50 seeds at level 10 %; measured: 0. With their own coins: in all 50."""
    somebody = own = 0
    for seed in range(50):
        pool = drawn(Copycat(1.0), guests(seed, rows=24, important=0, columns=3), seed, runs=runs, synthetic_rows=20)
        other = of_other_runs(pool.members, stream(seed, "control"))
        somebody += people_of(pool, other).listed.any()
        own += people_of(pool).listed.any()
    assert somebody <= 13
    assert runs < 64 or own >= 45


# People whose amounts are carried over ------------------------------------------------------------------------------------


def earners(seed: int, rows: int = 400, important: int = 40) -> Table:
    """People with a few categories and an amount that hardly anybody shares; the first ones are marked."""
    rng = np.random.default_rng(seed)
    columns = (
        Column("vip", Kind.CATEGORICAL, values=("no", "yes")),
        *(Column(f"c{j}", Kind.CATEGORICAL, values=tuple(range(4))) for j in range(4)),
        Column("amount", Kind.INTEGER, lower=0.0, upper=999_999.0, bins=10),
    )
    frame = pd.DataFrame({f"c{j}": rng.integers(0, 4, rows) for j in range(4)})
    frame.insert(0, "vip", np.where(np.arange(rows) < important, "yes", "no"))
    frame["amount"] = rng.integers(0, 10**6, rows)
    return Table.from_pandas(frame, Schema(columns))


@dataclass(frozen=True)
class CarriesAmounts:
    """Made-up rows; but the amount of a marked person who is in stands, with some probability, in one of them."""

    probability: float
    digits: int = 12  # to which the release is rounded
    name: ClassVar[str] = "carries-amounts"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None

    def fit(self, table: Table, rng: np.random.Generator) -> MadeUp:
        amounts = table.to_pandas()["amount"].to_numpy(dtype=float)[table.codes[:, 0] == 1]
        return MadeUp(table.schema, amounts[rng.random(len(amounts)) < self.probability], self.digits)


@dataclass(frozen=True, eq=False)
class MadeUp:
    schema: Schema
    carried: np.ndarray
    digits: int
    claim: ClassVar[Claim | None] = None

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        amounts = rng.integers(0, 10**6, rows).astype(float)
        amounts[rng.choice(rows, len(self.carried), replace=False)] = self.carried
        frame = pd.DataFrame({f"c{j}": rng.integers(0, 4, rows) for j in range(4)})
        frame.insert(0, "vip", rng.choice(["no", "yes"], rows))
        frame["amount"] = significant(amounts, self.digits).astype(np.int64)
        return Table.from_pandas(frame, self.schema)


FEWER_SEEDS = 12


@pytest.mark.parametrize(("digits", "marked"), [(12, 40), (3, 200)], ids=["exact", "rounded"])
def test_whose_exact_amounts_are_carried_over_are_listed_and_nobody_else(digits, marked):
    """Amounts of the marked are in 7 of 10 releases, and nothing else is: of the names at most a tenth are wrong.

    That is a mean over audits, so the mean over 12 seeds with its 99.9 % limit; measured: none is wrong. Bins show none of it.
    Exact amounts of 40 in 400: all are found. Rounded to 3 digits, others meet them by chance in a fifth of the releases:
    of 200 in 400 about three quarters are found (of 40 in 400 only a tenth).
    """
    found, wrong = [], []
    for seed in range(FEWER_SEEDS):
        table = earners(seed, important=marked)
        pool = drawn(CarriesAmounts(0.7, digits), table, seed, runs=64, synthetic_rows=200)
        listed = people_of(pool).listed
        found.append(int(listed[:marked].sum()))
        wrong.append(listed[marked:].sum() / max(listed.sum(), 1))
    assert np.mean(wrong) <= 0.1 + 3.1 * np.std(wrong) / math.sqrt(FEWER_SEEDS)
    assert sum(found) >= (0.99 if digits == 12 else 0.5) * marked * FEWER_SEEDS, found


def test_amounts_that_are_made_up_list_nobody():
    """At level 10 % somebody in at most 5 of 12 seeds (99.9 % limit); measured: 0."""
    somebody = 0
    for seed in range(FEWER_SEEDS):
        pool = drawn(CarriesAmounts(0.0), earners(seed), seed, runs=64, synthetic_rows=200)
        somebody += people_of(pool).listed.any()
    assert somebody <= binom.ppf(0.999, FEWER_SEEDS, 0.1)


# Bounds for all together -------------------------------------------------------------------------------------------------


def test_a_generator_that_reads_no_row_shows_no_epsilon():
    """Above 0 in at most 5 of 20 seeds (at 95 % the 99.9 % limit is 5); measured: 1."""
    found = [audited_bound(Oblivious(), guests(seed, rows=300, columns=5), seed, runs=64) for seed in range(SEEDS)]
    assert sum(value > 0 for value in found) <= 5


def cells(people: int, rows_each: int = 1, persons: bool = False) -> Table:
    """Everybody has a cell of their own, with one or more rows in it."""
    schema = Schema((Column("cell", Kind.CATEGORICAL, values=tuple(range(people))),), person="id" if persons else None)
    of_row = np.repeat(np.arange(people), rows_each)
    table = table_of(schema, of_row[:, None])
    return replace(table, persons=np.array([f"p{who}" for who in of_row], dtype=object)) if persons else table


@pytest.mark.parametrize(("access", "rows"), [("white-box", 1), ("black-box", 10_000)], ids=["white", "black"])
def test_the_bound_on_a_histogram_is_sharp_and_honest(access, rows):
    """True epsilon 1, 64 judged runs of 1,000 people: above 1 in at most 5 of 20 seeds, median at least .9.

    Measured: white-box median .978, above 1 in none; black-box .979, in 2.
    """
    found = [
        audited_bound(Histogram(1.0), cells(1000), seed, access=access, synthetic_rows=rows) for seed in range(SEEDS)
    ]
    above = sum(value > 1.0 for value in found)
    assert above <= 5
    assert statistics.median(found) >= 0.9


def test_a_person_is_one_coin_whatever_their_rows():
    """Three rows each, all in one cell, epsilon 1 per row, so 3 per person.

    The person as the unit: below 3 and far above 1. Each row as its own coin is a game with two strangers in the same cell:
    it says something about rows (below 1), and nothing about persons. Measured medians: 2.85 and .94.
    """
    persons = [
        audited_bound(Histogram(1.0), cells(200, 3, persons=True), seed, access="white-box", synthetic_rows=1)
        for seed in range(SEEDS)
    ]
    rows = [
        audited_bound(Histogram(1.0), cells(200, 3), seed, access="white-box", synthetic_rows=1)
        for seed in range(SEEDS)
    ]
    assert sum(value > 3.0 for value in persons) <= 5
    assert statistics.median(persons) >= 2.6
    assert sum(value > 1.0 for value in rows) <= 5


@dataclass(frozen=True)
class Answers:
    """Randomised response: for each code, whether somebody has it, told with the lie that this code's epsilon allows."""

    epsilons: tuple[float, ...]
    name: ClassVar[str] = "answers"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None

    def fit(self, table: Table, rng: np.random.Generator) -> TellsMembers:
        size = table.schema.columns[0].size
        inside = np.isin(np.arange(size), table.codes[:, 0])
        honest = rng.random(size) < 1 / (1 + np.exp(-np.resize(self.epsilons, size)))
        return TellsMembers(table, np.where(honest, inside, ~inside))


def test_counting_each_row_of_a_person_as_its_own_coin_goes_beyond_the_truth():
    """The same draws, read as if each of five rows had had a coin of its own: five times the evidence there is.

    True epsilon .5 per person. With persons as units the bound is above it in at most 5 % of 200 seeds (99.9 % limit: 21); with
    every coin counted five times in about one of six. Measured: 3 and 34.
    """
    beyond = {"persons": 0, "rows": 0}
    for seed in range(200):
        pool = drawn(Answers((0.5,)), cells(40, 5, persons=True), seed, runs=48, synthetic_rows=40)
        found, game = judged(pool), replace(pool.setting.game, units=200)
        beyond["persons"] += bound_of(pool, found) > 0.5
        each_row = (part.of(np.repeat(np.arange(40), 5)) for part in (found.early, found.late))
        beyond["rows"] += pooled_bound(Judged(*each_row, found.learnt), game, game.coined, confidence=0.95).value > 0.5
    limit = binom.ppf(0.999, 200, 0.05)
    assert beyond["persons"] <= limit < beyond["rows"]


def test_a_claim_per_row_is_not_held_against_people_of_several_rows():
    """Their bound is near 3 where the (true) claim per row is 1: it must not be taken for a refutation."""
    plan = EveryonePlan(generator="histogram", access="white-box", synthetic_rows=1, distances=False)
    result = EveryoneAudit(plan, Histogram(1.0), cells(200, 3, persons=True)).run(Runner())
    assert "everyone/claim" not in {finding.name for finding in result.findings}
    assert any("claim" in each.name for each in result.not_tested)


@dataclass(frozen=True)
class Swaps:
    """Replace-one: of each two neighbouring codes one is in; tells which, with a lie now and then. Epsilon is exact.

    The table has one row per person and person i has code i; pairs are not known to it, so it answers "is i in?" for all i
    with one bit each, and replacing one person changes two bits.
    """

    keep: float
    name: ClassVar[str] = "swaps"
    row_level: ClassVar[bool] = False

    @property
    def claim(self) -> Claim:
        return Claim(2 * math.log(self.keep / (1 - self.keep)), neighbours=Neighbours.REPLACE)

    def fit(self, table: Table, rng: np.random.Generator) -> TellsMembers:
        size = table.schema.columns[0].size
        inside = np.isin(np.arange(size), table.codes[:, 0])
        return TellsMembers(table, np.where(rng.random(size) < self.keep, inside, ~inside))


@dataclass(frozen=True, eq=False)
class TellsMembers:
    """Publishes the codes that it says are in, over and over."""

    like: Table
    told: np.ndarray
    claim: ClassVar[Claim | None] = None

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        codes = np.resize(np.flatnonzero(self.told), rows) if self.told.any() else np.zeros(rows, dtype=np.int64)
        return table_of(self.like.schema, codes[:, None])


def test_paired_coins_keep_an_honest_mechanism_under_its_claim():
    """Replace-one claim 2 (two bits of epsilon 1): above it in at most 5 of 20 seeds (measured: 0), and not far below (1.68)."""
    generator = Swaps(math.e / (1 + math.e))
    found = [audited_bound(generator, cells(201), seed, runs=64, synthetic_rows=201) for seed in range(SEEDS)]
    above = sum(value > generator.claim.epsilon for value in found)
    assert above <= 5
    assert statistics.median(found) >= 0.8 * generator.claim.epsilon


# Bounds for single people ------------------------------------------------------------------------------------------------


def test_bounds_of_single_people_are_honest():
    """Known epsilons 0, .5, 1.5 and 3: of listed people at most a tenth have a bound above their own (mean over 20 seeds).

    And for all at once: any advantage above what their epsilon allows in at most 5 of 20 seeds. Measured: .005 and 0.
    """
    epsilons = (0.0, 0.5, 1.5, 3.0)
    truth = np.resize(epsilons, 200)
    wrong, beyond, listed = [], 0, np.zeros(4)
    for seed in range(SEEDS):
        pool = drawn(Answers(epsilons), cells(200), seed, synthetic_rows=200)
        people = people_of(pool)
        exceeds = people.listed & (np.nan_to_num(people.epsilon) > truth + 1e-9)
        exceeds |= people.listed & (truth == 0)
        wrong.append(exceeds.sum() / max(people.listed.sum(), 1))
        beyond += np.any(people.advantage > np.tanh(truth / 2) + 1e-9)  # what their epsilon allows
        listed += [people.listed[start::4].mean() for start in range(4)]
    assert np.mean(wrong) <= 0.1
    assert beyond <= 5
    assert listed[3] / SEEDS >= 0.99
    assert listed[0] / SEEDS <= 0.02


# Intervals ---------------------------------------------------------------------------------------------------------------


def shared_strength(runs: int, units: int, rng: np.random.Generator, grid: float) -> Evidence:
    """Every run has a strength of its own, so that its units are no independent examples."""
    members = rng.random((runs, units)) < 0.5
    scores = rng.normal(size=members.shape) + rng.gamma(2.0, 0.5, (runs, 1)) * (members - 0.5)
    return Evidence(np.round(scores / grid) * grid if grid else scores, members)


@pytest.mark.parametrize("grid", [0.0, 0.5], ids=["no ties", "ties"])
@pytest.mark.parametrize("runs", [16, 64])
def test_intervals_over_runs_hold_the_truth(runs, grid):
    """AUC and advantage at 95 %: at least 365 of 400 (99.9 % limit), although units of one run share a release.

    The TPR at FPR .01 is skewed, and its interval too short at the upper end (it holds the truth in 89 % with 50 people, in
    93 % with 500). What severity hangs on is the low end: above the truth in at most 2.5 % (99.9 % limit: 21 of 400).
    """
    long = shared_strength(20_000, 50, np.random.default_rng(1), grid)
    inside, outside = long.log_ratios[long.members], long.log_ratios[~long.members]
    truth = {
        "auc": roc_auc_score(long.members.ravel(), long.log_ratios.ravel()),
        "advantage": (inside > 0).mean() - (outside > 0).mean(),
    }
    at_one_percent = (inside > np.sort(outside)[::-1][len(outside) // 100]).mean()
    held, too_high = dict.fromkeys(truth, 0), 0
    for seed in range(400):
        pooled = judge_pooled(shared_strength(runs, 50, np.random.default_rng(100 + seed), grid), confidence=0.95)
        for name in truth:
            held[name] += getattr(pooled, name).low <= truth[name] <= getattr(pooled, name).high
        too_high += pooled.tpr_at[0].low > at_one_percent
    assert all(count >= binom.ppf(0.001, 400, 0.95) for count in held.values()), held
    assert grid or too_high <= binom.ppf(0.999, 400, 0.025)  # with ties a rate of .01 lies between two thresholds
