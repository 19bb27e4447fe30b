"""The exact game at full size: what it plays, what it says, and that it agrees with leaks of known size."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from tests.audits.parts import equal
from unmask.attacks.everyone.features import FeaturePlan, Features
from unmask.attacks.everyone.pool_score import SCORE, PoolScore
from unmask.audits.everyone.audit import set_up
from unmask.audits.everyone.confirm.result import ordinal
from unmask.audits.everyone.confirm.stage import confirm, most_exposed, play_people
from unmask.audits.everyone.confirm.stage import set_up as set_up_confirm
from unmask.audits.everyone.confirm.wager import ADVANTAGES, Bet, PersonWager, graded_gain
from unmask.audits.everyone.drawn import CoinRuns
from unmask.audits.everyone.evidence import judge
from unmask.audits.everyone.judging import scorer_of
from unmask.audits.everyone.people import judge_people
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.part import Part
from unmask.audits.runner import Runner
from unmask.generators import parse
from unmask.generators.claim import Neighbours
from unmask.generators.independent import Independent
from unmask.generators.random import RandomModel
from unmask.results.policy import Severity
from unmask.simulation.coin import coin_tasks
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.executors.local import Local
from unmask.simulation.pair import coin_of
from unmask.simulation.person import Person, person_task
from unmask.simulation.store import FileStore, MemoryStore
from unmask.stats import log_e_value_of_bets, stakes
from unmask.tables.table import Table, concatenate
from unmask.tables.units import units

VIPS = 4


def town(rows: int = 120, seed: int = 1, vips: int = VIPS) -> Table:
    """People of whom the first few are marked; nobody looks like them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"c{j}": rng.integers(0, 6, rows).astype(str) for j in range(5)})
    frame["vip"] = np.where(np.arange(rows) < vips, "yes", "no")
    return Table.from_pandas(frame)


def drawn(plan: EveryonePlan, real: Table, generator: Any = None, store: Any = None):
    """The first stage: runs and people."""
    setting, rows, coins = set_up(plan, generator or parse(plan.generator, plan.settings), real)
    store, tasks = store or MemoryStore(), coin_tasks(plan.runs)
    Local().run(setting, tasks, store)
    pool = CoinPool.gather(setting, tasks, store)
    judged = judge(pool.load, pool.members, groups=setting.features.groups, scorer=scorer_of(plan))
    people = judge_people(judged, setting.game.coined, rate=plan.rate, confidence=plan.confidence)
    return CoinRuns(pool, real, rows, coins), people


def confirmed(plan: EveryonePlan, real: Table, generator: Any = None) -> Part:
    return confirm(plan, *drawn(plan, real, generator), Runner())


def grid(extra: Part):
    (found,) = extra.grids
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


COPIER = EveryonePlan(generator="copycat:p=0.5,where=vip=yes", runs=64, confirm=VIPS, confirm_runs=128, seed=3)


@pytest.fixture(scope="module")
def copied() -> Part:
    return confirmed(COPIER, town())


# What is said -----------------------------------------------------------------------------------------------------------


def test_planted_leaks_are_confirmed(copied):
    """Four people are copied with probability one half: both games find them, and nobody else is among the four."""
    rows = grid(copied)
    assert [row["who"] for row in rows] == ["1st", "2nd", "3rd", "4th"]
    assert [row["verdict"] for row in rows] == ["confirmed"] * VIPS
    columns = dict(copied.columns)
    assert [unit for unit, flag in enumerate(columns["confirmed"]) if flag is not None] == list(range(VIPS))
    assert all(columns["confirmed"][:VIPS])
    assert all(bound > 0.3 for bound in columns["epsilon >= at full size"][:VIPS])
    assert all(row["decided after"] <= 64 for row in rows)


def test_a_copier_is_never_said_to_give_away_more_than_it_copies(copied):
    """Its advantage is one half; the largest of the four bounds holds with 95 %, in a fixed draw."""
    (finding,) = copied.findings
    assert 0.1 <= finding.estimate.low <= 0.5
    assert finding.severity is Severity.HIGH
    assert finding.criterion == "membership"
    assert finding.exposure is None  # the list of everybody says how many people are above tolerance, not these few


def test_a_confirmed_game_goes_on_for_as_many_runs_again(copied):
    for row in grid(copied):
        assert row["runs"] >= 2 * row["decided after"] or row["runs"] == COPIER.confirm_runs
        assert row["epsilon >= at full size"] <= row["largest visible"]


def test_the_result_says_what_half_size_training_does(copied):
    assert any("Training on half of the people overstates" in note for note in copied.notes)
    assert any("tossed again" in note for note in copied.notes)
    assert copied.failed_tasks == 0


def test_nobody_is_confirmed_where_nothing_leaks():
    plan = EveryonePlan(generator="oblivious", runs=32, confirm=3, confirm_runs=64, seed=5)
    extra = confirmed(plan, town())
    assert [row["verdict"] for row in grid(extra)] == ["not decided in 64 runs"] * 3
    assert extra.findings[0].severity is Severity.NONE
    assert dict(extra.columns)["confirmed"].count(False) == 3


def test_nothing_is_played_unless_asked():
    plan = replace(COPIER, confirm=0)
    assert equal(confirm(plan, None, None, Runner()), Part())  # type: ignore[arg-type]


def test_ranks_are_written_in_words():
    assert [ordinal(k) for k in (1, 2, 3, 4, 11, 12, 13, 20, 21, 22, 101, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "20th", "21st", "22nd", "101st", "111th",
    ]  # fmt: skip


# What is played ---------------------------------------------------------------------------------------------------------


def rows_of(table: Table) -> list[tuple[int, ...]]:
    return sorted(map(tuple, table.codes.tolist()))


@pytest.mark.parametrize("coins", ["independent", "paired"])
def test_the_tables_differ_in_one_person_only(coins):
    real = town(40)
    plan = EveryonePlan(generator="independent", runs=8, coins=coins, confirm=3, confirm_runs=20)
    runs, people = drawn(plan, real)
    chosen = most_exposed(plan, runs.pool, people)
    setting = set_up_confirm(plan, runs, chosen)
    assert setting.synthetic_rows == 40  # a constant, with and without the person
    for unit in chosen:
        pair = setting.people[unit].pair
        left = rows_of(pair.inside)
        left.remove(tuple(real.codes[unit].tolist()))
        if coins == "paired":
            left.append(tuple(real.codes[runs.pool.setting.game.partners[unit]].tolist()))
        assert rows_of(pair.inside) == rows_of(real)
        assert rows_of(pair.outside) == sorted(left)


def test_all_rows_of_a_person_come_and_go_together():
    real = town(12)
    real = replace(real, schema=replace(real.schema, person="who"), persons=np.array([f"p{i // 3}" for i in range(12)]))
    features = Features.of(FeaturePlan(), real, units(real), np.random.default_rng(0))
    own, other = np.array([3, 4, 5]), np.array([6, 7, 8])
    person = Person.of(features, real, own, other)
    assert len(person.pair.outside) == 12
    # The copy of the other person bears the first one's name: as many people, of as many rows, as before.
    assert sorted(person.pair.outside.persons) == sorted(real.persons)
    assert len(Person.of(features, real, own, None).pair.outside) == 9


def test_the_features_of_one_person_are_those_of_the_pool():
    """The same release, taken down for everybody and for one unit alone (whose rows and references are the same)."""
    real = town(60)
    features = Features.of(FeaturePlan(), real, units(real), np.random.default_rng(0))
    synthetic = Independent().fit(real, np.random.default_rng(1)).sample(60, np.random.default_rng(2))
    counts, values = features.compute(synthetic)
    for unit in (0, 17, 59):
        one = Person.of(features, real, np.array([unit]), None).features
        own_counts, own_values = one.compute(synthetic)
        assert np.array_equal(own_counts[0], counts[unit])
        assert own_values[0] == pytest.approx(values[unit], rel=1e-5)


def test_full_size_is_the_whole_table_where_the_pool_was_a_part():
    real = town(80)
    plan = EveryonePlan(generator="independent", runs=8, subsample=30, confirm=2, confirm_runs=20)
    runs, people = drawn(plan, real)
    chosen = most_exposed(plan, runs.pool, people)
    setting = set_up_confirm(plan, runs, chosen)
    for unit in chosen:
        pair = setting.people[unit].pair
        assert pair.sizes == (80, 79)
        assert np.array_equal(pair.target.codes[0], real.codes[runs.rows[unit]])


def test_the_coin_says_which_table_is_fitted():
    seen = []

    @dataclass(frozen=True)
    class Watcher:
        name: ClassVar[str] = "watcher"
        row_level: ClassVar[bool] = False
        claim: ClassVar[None] = None

        def fit(self, table, rng):
            seen.append(len(table))
            return RandomModel(table.schema)

    real = town(30)
    plan = EveryonePlan(generator="watcher", runs=8, confirm=1, confirm_runs=20, seed=2)
    runs, people = drawn(plan, real, Watcher())
    (unit,) = most_exposed(plan, runs.pool, people)
    setting = set_up_confirm(plan, runs, (unit,))
    seen.clear()
    tasks = [person_task(unit, index) for index in range(30)]
    for task in tasks:
        setting.play(task)
    coins = [coin_of(plan.seed, task) for task in tasks]
    assert seen == [30 if coin else 29 for coin in coins]
    assert 5 < sum(coins) < 25


def test_runs_are_kept_and_neither_workers_nor_an_interruption_change_anything(tmp_path, copied):
    plan = replace(COPIER, confirm=2, confirm_runs=32)
    real = town()
    runs, people = drawn(plan, real)

    def kept_in(store):
        return replace(runs, pool=replace(runs.pool, store=store))

    alone = confirm(plan, kept_in(MemoryStore()), people, Runner())
    store = FileStore(tmp_path)
    together = confirm(plan, kept_in(store), people, Runner(Local(2)))
    files = sorted(path.name for path in tmp_path.iterdir())
    assert len(files) == 64
    (tmp_path / files[10]).unlink()
    told = []
    again = confirm(plan, kept_in(store), people, Runner(progress=lambda done, total: told.append((done, total))))
    assert equal(alone, together)
    assert equal(alone, again)
    assert sorted(path.name for path in tmp_path.iterdir()) == files
    assert told[-1] == (64, 64)


def test_white_box_measurements_are_read():
    """The histogram publishes noisy counts of cells: with them a person at epsilon 3 is confirmed."""
    real = town(60).select(["c0", "vip"])
    plan = EveryonePlan(
        generator="histogram:epsilon=3", runs=16, access="white-box", confirm=1, confirm_runs=256, seed=4
    )
    (row,) = grid(confirmed(plan, real))
    assert row["verdict"] == "confirmed"
    assert 0 < row["epsilon >= at full size"] <= 3


@dataclass(frozen=True)
class Touchy:
    """Fails where too many rows are missing, and sometimes otherwise."""

    name: ClassVar[str] = "touchy"
    row_level: ClassVar[bool] = False
    claim: ClassVar[None] = None
    share: float = 0.3

    def fit(self, table, rng):
        if rng.random() < self.share and len(table) >= 39:
            raise ValueError("the value 'secret' of a row was not liked")
        return RandomModel(table.schema)


def test_failed_runs_are_counted_and_their_words_kept_out():
    plan = EveryonePlan(generator="touchy", runs=16, confirm=2, confirm_runs=40)
    extra = confirmed(plan, town(40), Touchy())
    assert 5 <= extra.failed_tasks <= 45
    assert any("failed" in note and "ValueError" in note for note in extra.notes)
    assert "secret" not in repr(extra)
    assert not extra.not_tested


def test_who_could_never_be_played_was_not_tested():
    plan = EveryonePlan(generator="touchy", runs=16, confirm=2, confirm_runs=20)
    extra = confirmed(plan, town(40), Touchy(share=1.0))
    assert extra.failed_tasks == 40
    assert extra.not_tested[0].reason == "every run of the exact game failed"
    assert extra.findings[0].severity is Severity.NONE


# How it is judged -------------------------------------------------------------------------------------------------------


def test_graded_bets_are_those_of_the_coin_game(rng):
    evidence, coins = rng.normal(0, 2, 40), rng.random(40) < 0.5
    grid = np.array([0.0, 0.3, 1.0, 2.5])
    total = sum(graded_gain(float(e), bool(c), grid) for e, c in zip(evidence, coins, strict=True))
    known = [log_e_value_of_bets(evidence[:, None], coins[:, None], epsilon=float(eps))[0] for eps in grid]
    assert total == pytest.approx(known)


def test_no_evidence_no_bet():
    for coin in (True, False):
        assert not graded_gain(0.0, coin, np.array([0.0, 1.0])).any()


def test_the_scorer_finds_its_own_centre_and_scale():
    """Scores far from where the pool saw them, shifted by one standard deviation: evidence as if all were known."""
    rng = np.random.default_rng(8)
    scorer = PoolScore(shift=0.3)
    truth, said = [], []
    for run in range(300):
        coin = bool(rng.integers(2))
        score = 500 + 7 * (rng.normal() + coin)
        guess = scorer.guess({SCORE: score}, ("", ""))
        assert (guess == -1) == (scorer.evidence == 0)
        if run >= 100:
            truth.append((score - 503.5) / 7)
            said.append(scorer.evidence)
        scorer.watch(("", ""), coin)
    assert np.abs(np.array(truth) - np.array(said)).mean() < 0.25


def test_the_bound_on_the_advantage_is_its_definition(rng):
    """Against a plain loop over runs, attacks and regions."""
    history = [
        Bet(np.array([[3, 3 + run // 2], [0, 0]]), np.array([[3, 3 + run // 2], [0, 0]]), np.array([run % 2, -1]), bool(run % 2))
        for run in range(40)
    ]  # fmt: skip
    wager = PersonWager.__new__(PersonWager)
    wager.history, wager.shares = history, np.log([0.5, 1.5])

    class Known:
        betting = type("B", (), {"confidence": 0.99})

    wager.wager = Known()  # type: ignore[assignment]
    best = -1.0
    for most in ADVANTAGES:
        wealth, peak = np.array([0.5, 1.5]), 0.0
        for run, bet in enumerate(history):
            for attack in (0, 1):
                gain = 1.0
                for side in (0, 1):
                    kelly = stakes(bet.right[attack, side], bet.bets[attack, side], epsilons=np.zeros(1))[0]
                    visited = min((bet.bets[attack, side] + 1) / (run + 2), 1.0)
                    stake = min(max(kelly - most / (2 * visited), 0), 0.98 / (1 + most))
                    pays = 0 if bet.guesses[attack] != side else 1 if bool(side) == bet.coin else -1
                    gain += stake * (pays - most / 2)
                wealth[attack] *= gain
            peak = max(peak, wealth.mean())
        if peak < 100:
            break
        best = most
    assert wager.advantage() == pytest.approx(best)
    assert 0.3 < best < 1


def test_the_people_are_played_at_a_share_of_the_error_each():
    plan = EveryonePlan(generator="random", runs=8, confirm=4, confirm_runs=20, confidence=0.9)
    real = town(30)
    runs, people = drawn(plan, real)
    played = play_people(plan, runs, most_exposed(plan, runs.pool, people), Runner())
    assert [wager.log_threshold for wager in played.wagers] == pytest.approx([np.log(4 / 0.1)] * 4)


def test_neighbours_are_those_of_the_coins():
    """A claim about replacement is played with paired coins, and so is the exact game: the number of rows is constant."""
    plan = EveryonePlan(generator="privbayes:epsilon=1", runs=8, confirm=1, confirm_runs=20)
    assert parse(plan.generator, plan.settings).claim.neighbours is Neighbours.REPLACE
    real = concatenate([town(31)])
    runs, people = drawn(plan, real)
    (unit,) = most_exposed(plan, runs.pool, people)
    setting = set_up_confirm(plan, runs, (unit,))
    assert setting.people[unit].pair.sizes == (31, 31)
