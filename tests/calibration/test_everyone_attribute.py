"""Attributes in the coin game, over many seeds: no gain where nothing leaks, and intervals that hold a known gain."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from unmask import generators
from unmask.attacks.everyone.secret_guess import SecretGuess
from unmask.audits.everyone.attribute.judge import gain_of, judge_attribute
from unmask.audits.everyone.attribute.play import guess_all, redraw
from unmask.audits.everyone.attribute.stage import attributes
from unmask.audits.everyone.audit import set_up
from unmask.audits.everyone.evidence import of_other_runs
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.runner import Runner
from unmask.generators.copycat import Copycat
from unmask.generators.oblivious import Oblivious
from unmask.simulation.coin import coin_tasks
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.executors.local import Local
from unmask.simulation.store import MemoryStore
from unmask.tables.table import Table

MOST_OF_40, MOST_OF_50 = 7, 8  # 99.9 % limits at 5 %
MOST_LISTED_OF_40, MOST_LISTED_OF_50 = 11, 13  # 99.9 % limits at 10 %


def crowd(rows, seed, *, keys=5, levels=4):
    """People whose secret depends on their first key, as in life, and a number that does not."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"key{j}": rng.integers(0, 6, rows).astype(str) for j in range(keys)})
    told = rng.random(rows) < 0.5
    frame["illness"] = np.where(told, frame["key0"].astype(int) % levels, rng.integers(0, levels, rows)).astype(str)
    frame["wage"] = rng.integers(0, 100, rows)
    return Table.from_pandas(frame)


def play(generator, table, seed, *, runs):
    plan = EveryonePlan(
        generator=repr(generator),
        runs=runs,
        distances=False,
        secrets=("illness", "wage"),
        coins="independent",
        seed=seed,
    )
    setting, _, _ = set_up(plan, generator, table)
    tasks, store = coin_tasks(runs), MemoryStore()
    Local().run(setting, tasks, store)
    return plan, CoinPool.gather(setting, tasks, store)


@pytest.mark.calibration
def test_an_oblivious_generator_gains_nothing_and_nobody_is_listed():
    """In 50 seeds 0 lies outside the 95 % interval at most 8 times for each secret, and somebody is listed at most 13 times."""
    outside, listed = np.zeros(2), np.zeros(2)
    for seed in range(50):
        plan, pool = play(Oblivious(), crowd(100, seed), seed, runs=40)
        (grid,) = attributes(plan, pool, Runner()).grids
        for place, (_, _, _, _, low, high, people, *_) in enumerate(grid.rows):
            outside[place] += not low <= 0 <= high
            listed[place] += people > 0
    assert outside.max() <= MOST_OF_50
    assert listed.max() <= MOST_LISTED_OF_50


@pytest.mark.calibration
def test_the_coins_of_other_runs_gain_nothing_whatever_the_generator_does():
    """`cart` learns, so the guesses are far above chance; coins that it never saw make no difference, in 40 seeds."""
    outside, listed = np.zeros(2), np.zeros(2)
    for seed in range(40):
        plan, pool = play(generators.parse("cart"), crowd(100, seed), seed, runs=40)
        guesses = guess_all(pool, [SecretGuess.of(pool.setting.candidates, name) for name in plan.secrets])
        for place, each in enumerate(guesses):
            other = replace(each, members=of_other_runs(each.members, np.random.default_rng(seed)))
            found = judge_attribute(plan, other, tests=1)
            outside[place] += not found.gain.difference.low <= 0 <= found.gain.difference.high
            listed[place] += found.people.listed.any()
    assert outside.max() <= MOST_OF_40
    assert listed.max() <= MOST_LISTED_OF_40


@pytest.mark.calibration
def test_intervals_hold_the_gain_of_a_copier():
    """With ten keys nobody is taken for another: the gain is p (1 - success without), outside of at most 7 of 40 intervals."""
    missed = np.zeros(2)
    for seed in range(40):
        plan, pool = play(Copycat(0.4), crowd(150, seed, keys=10), seed, runs=40)
        guesses = guess_all(pool, [SecretGuess.of(pool.setting.candidates, name) for name in plan.secrets])
        for place, each in enumerate(guesses):
            gain = gain_of(each, 0.95)
            missed[place] += not gain.difference.low <= 0.4 * (1 - gain.outside.value) <= gain.difference.high
    assert missed.max() <= MOST_OF_40


@pytest.mark.calibration
@pytest.mark.parametrize("name", ["cart", "bayesnet", "raw"])
def test_redrawn_secrets_of_those_out_are_guessed_at_chance(name):
    """Whatever the generator: 1 / levels, outside of at most 7 of 40 intervals. Those in are never guessed worse."""
    missed = worse = 0
    for seed in range(40):
        plan, pool = play(generators.parse(name), crowd(100, seed), seed, runs=24)
        found = redraw(plan, pool, SecretGuess.of(pool.setting.candidates, "illness"), Runner())
        gain = gain_of(found, 0.95)
        missed += not gain.outside.low <= 1 / 4 <= gain.outside.high
        worse += gain.difference.high < 0
    assert missed <= MOST_OF_40
    assert worse == 0
