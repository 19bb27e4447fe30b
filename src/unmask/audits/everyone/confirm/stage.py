"""The second stage of the audit of everyone: the exact game at full size for the most exposed people.

In each run of it a fair coin decides whether the generator is fitted to the whole table or to the table without this one person
(for paired coins: with a copy of the partner in its place), and attacks bet on the coin. The coins are new, so it does not
matter that the pool chose the people. Each of N people has 1/N of the error that the plan allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.attacks.everyone.pool_score import PoolLesson
from unmask.attacks.everyone.scorer import RatioScorer
from unmask.audits.everyone.confirm.result import Confirmed, part_of
from unmask.audits.everyone.confirm.wager import PersonWager
from unmask.audits.everyone.drawn import CoinRuns
from unmask.audits.everyone.people import People
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.part import Part
from unmask.audits.runner import Runner
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.gather import outcomes
from unmask.simulation.pair import COIN, coin_of
from unmask.simulation.person import Person, PersonSetting, person_task
from unmask.simulation.store import Store
from unmask.threats.knowledge import Box

CONTROLS = ("control", "control 2", "control 3", "control 4")  # words of the streams of coins that decide nothing
FIRST_LOOK = 32  # runs; the next looks are after twice as many each


def confirm(plan: EveryonePlan, drawn: CoinRuns, people: People, runner: Runner) -> Part:
    """Play for the `plan.confirm` most exposed.

    Full size is the whole real table, also where the pool was a subsample. Runs are kept in the store of the pool under names
    of their own; more people or more runs keep the old ones.
    """
    if not plan.confirm:
        return Part()
    played = play_people(plan, drawn, most_exposed(plan, drawn.pool, people), runner)
    return part_of(plan, drawn.pool, people, played)


def most_exposed(plan: EveryonePlan, pool: CoinPool, people: People) -> tuple[int, ...]:
    """Units in the order of their rank. One that found no partner has no coin and no rank."""
    coined = pool.setting.game.coined
    return tuple(int(unit) for unit in np.argsort(people.rank) if coined[unit])[: plan.confirm]


def play_people(plan: EveryonePlan, drawn: CoinRuns, units: Sequence[int], runner: Runner) -> Confirmed:
    """All wagers side by side, so that workers are never idle; each ends by its own rule."""
    table = Tables.of(plan, drawn, units)
    wagers = {unit: table.start(unit) for unit in units}
    store = drawn.pool.store
    look, total = 0, len(units) * plan.confirm_runs
    while waiting := [unit for unit in units if not _done(wagers[unit], plan.confirm_runs)]:
        look = min(max(FIRST_LOOK, 2 * look), plan.confirm_runs)
        tasks = [person_task(unit, index) for unit in waiting for index in range(wagers[unit].runs, look)]
        before = total - sum(plan.confirm_runs - wagers[unit].runs for unit in waiting)
        runner.showing(before, total).draw(table.setting, tasks, store)
        for unit in waiting:
            _judge(wagers[unit], unit, look, plan.seed, store)
    runner.progress(total, total)
    control = []
    for unit in units:
        for toss in CONTROLS:
            control.append(table.start(unit))
            _judge(control[-1], unit, wagers[unit].runs, plan.seed, store, coins=toss)
    return Confirmed(tuple(units), tuple(wagers.values()), tuple(control))


@dataclass(frozen=True, eq=False)
class Tables:
    """The two tables of each person, and what the pool taught about each."""

    setting: PersonSetting
    directions: dict[int, PoolLesson]
    confidence: float  # of each person, so that all hold together

    @classmethod
    def of(cls, plan: EveryonePlan, drawn: CoinRuns, units: Sequence[int]) -> Tables:
        pool, features = drawn.pool, drawn.pool.setting.features
        setting = set_up(plan, drawn, units)
        fitted = RatioScorer().fit(pool.load, range(len(pool)), pool.members, features.groups)
        growth = setting.synthetic_rows / pool.setting.synthetic_rows
        directions = {unit: PoolLesson.of(features, fitted, unit, growth=growth) for unit in units}
        return cls(setting, directions, 1 - (1 - plan.confidence) / len(units))

    def start(self, unit: int) -> PersonWager:
        pair, direction = self.setting.people[unit].pair, self.directions[unit]
        return PersonWager.start(pair, direction, white_box=self.setting.white_box, confidence=self.confidence)


def set_up(plan: EveryonePlan, drawn: CoinRuns, units: Sequence[int]) -> PersonSetting:
    """The game about each of these units."""
    features, partners = drawn.pool.setting.features, drawn.pool.setting.game.partners

    def rows_of(unit: int) -> np.ndarray:
        return np.asarray(drawn.rows[features.units.rows(np.array([unit]))])

    people = {
        unit: Person.of(features, drawn.real, rows_of(unit), None if partners is None else rows_of(int(partners[unit])))
        for unit in units
    }
    rows, sees_model = plan.synthetic_rows or len(drawn.real), plan.access == Box.WHITE
    return PersonSetting(plan.seed, drawn.pool.setting.generator, rows, sees_model, people)


def _done(wager: PersonWager, most: int) -> bool:
    """Once confirmed, as many runs again: at the moment of the decision the bound is hardly above 0."""
    decided = wager.confirmed_after is not None and wager.runs >= 2 * wager.confirmed_after
    return decided or wager.runs >= most


def _judge(wager: PersonWager, unit: int, until: int, seed: int, store: Store, *, coins: str = COIN) -> None:
    """Runs in their order, so that the outcome depends on neither workers nor looks."""
    tasks = [person_task(unit, index) for index in range(wager.runs, until)]
    for task, outcome in outcomes(tasks, store):
        wager.observe(coin_of(seed, task, coins), outcome)
