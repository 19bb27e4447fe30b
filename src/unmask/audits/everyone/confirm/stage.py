"""The second stage of the audit of everyone: the exact game at full size for the most exposed people.

In each run of it a fair coin decides whether the generator is fitted to the whole table or to the table without this one person
(for paired coins: with a copy of the partner in its place), and attacks bet on the coin. The coins are new, so it does not
matter that the pool chose the people. Each of N people has 1/N of the error that the plan allows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unmask.attacks.everyone.scorer import RatioScorer
from unmask.simulation.coin_pool import CoinPool
from unmask.audits.everyone.audited import Extra
from unmask.audits.everyone.confirm.wager import PersonGame
from unmask.audits.everyone.confirm.result import Confirmed, tell
from unmask.simulation.person import COIN, ConfirmSetting, Person, coin_of, confirm_run, play
from unmask.audits.everyone.confirm.pool_score import Direction
from unmask.audits.everyone.people import People
from unmask.audits.everyone.plan import EveryonePlan
from unmask.simulation.executors.local import Progress, no_progress, run_tasks
from unmask.simulation.store import Failed, Store
from unmask.tables.table import Table
from unmask.threats.knowledge import Box

CONTROLS = ("control", "control 2", "control 3", "control 4")  # words of the streams of coins that decide nothing
FIRST_LOOK = 32  # runs; the next looks are after twice as many each


def confirm(
    plan: EveryonePlan,
    pool: CoinPool,
    people: People,
    real: Table,
    rows: np.ndarray,
    *,
    store: Store,
    workers: int = 1,
    progress: Progress = no_progress,
) -> Extra:
    """Play for the `plan.confirm` most exposed. `rows` are the rows of the real table of the candidates.

    Full size is the whole real table, also where the pool was a subsample. Runs are kept in the store under names of
    their own; more people or more runs keep the old ones.
    """
    if not plan.confirm:
        return Extra()
    played = play_people(plan, pool, most_exposed(plan, pool, people), real, rows, store, workers, progress)
    return tell(plan, pool, people, played)


def most_exposed(plan: EveryonePlan, pool: CoinPool, people: People) -> tuple[int, ...]:
    """Units in the order of their rank. One that found no partner has no coin and no rank."""
    coined = pool.setting.game.coined
    return tuple(int(unit) for unit in np.argsort(people.rank) if coined[unit])[: plan.confirm]


def play_people(
    plan: EveryonePlan,
    pool: CoinPool,
    units: Sequence[int],
    real: Table,
    rows: np.ndarray,
    store: Store,
    workers: int = 1,
    progress: Progress = no_progress,
) -> Confirmed:
    """All games side by side, so that workers are never idle; each ends by its own rule."""
    setting = set_up(plan, pool, units, real, rows)
    fitted = RatioScorer().fit(pool.load, range(len(pool)), pool.members, pool.setting.features.families)
    growth = setting.synthetic_rows / pool.setting.synthetic_rows
    confidence = 1 - (1 - plan.confidence) / len(units)

    def start(unit: int) -> PersonGame:
        direction = Direction.of(pool.setting.features, fitted, unit, growth=growth)
        pair = setting.people[unit].pair
        return PersonGame.start(pair, direction, white_box=setting.white_box, confidence=confidence)

    games = {unit: start(unit) for unit in units}
    look, total = 0, len(units) * plan.confirm_runs
    while waiting := [unit for unit in units if not _done(games[unit], plan.confirm_runs)]:
        look = min(max(FIRST_LOOK, 2 * look), plan.confirm_runs)
        tasks = [confirm_run(unit, index) for unit in waiting for index in range(games[unit].runs, look)]
        before = total - sum(plan.confirm_runs - games[unit].runs for unit in waiting)

        def count(done: int, of: int, before: int = before) -> None:
            progress(before + done, total)

        run_tasks(setting, tasks, store, work=play, workers=workers, progress=count)
        for unit in waiting:
            _judge(games[unit], unit, look, plan.seed, store)
    progress(total, total)
    control = []
    for unit in units:
        for toss in CONTROLS:
            control.append(start(unit))
            _judge(control[-1], unit, games[unit].runs, plan.seed, store, coins=toss)
    return Confirmed(tuple(units), tuple(games.values()), tuple(control))


def set_up(plan: EveryonePlan, pool: CoinPool, units: Sequence[int], real: Table, rows: np.ndarray) -> ConfirmSetting:
    """The two tables of each person."""
    features, partners = pool.setting.features, pool.setting.game.partners

    def rows_of(unit: int) -> np.ndarray:
        return np.asarray(rows[features.units.rows(np.array([unit]))])

    people = {
        unit: Person.of(features, real, rows_of(unit), None if partners is None else rows_of(int(partners[unit])))
        for unit in units
    }
    return ConfirmSetting(
        plan.seed, pool.setting.generator, plan.synthetic_rows or len(real), plan.access == Box.WHITE, people
    )


def _done(game: PersonGame, most: int) -> bool:
    """Once confirmed, as many runs again: at the moment of the decision the bound is hardly above 0."""
    decided = game.confirmed_after is not None and game.runs >= 2 * game.confirmed_after
    return decided or game.runs >= most


def _judge(game: PersonGame, unit: int, until: int, seed: int, store: Store, *, coins: str = COIN) -> None:
    """Runs in their order, so that the outcome depends on neither workers nor looks."""
    while game.runs < until:
        run = confirm_run(unit, game.runs)
        outcome = store.get(run)
        game.observe(coin_of(seed, run, coins), outcome if outcome is not None else Failed("its outcome was lost"))
