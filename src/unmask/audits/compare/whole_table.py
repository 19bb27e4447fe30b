"""The coin game about everybody: all mechanisms with the same people, coins and features (METHODS.md 2, `unmask everyone`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unmask.audits.compare.entrants import Entrant
from unmask.audits.compare.plan import ComparePlan
from unmask.audits.compare.target_games import in_folder
from unmask.audits.everyone.audit import digest_of, set_up
from unmask.audits.everyone.judging import judge_everybody, scorer_of
from unmask.audits.everyone.pooled import auc_over_runs
from unmask.audits.runner import Runner
from unmask.simulation.coin import CoinSetting
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.gather import gather
from unmask.simulation.store import Store
from unmask.simulation.task import Task
from unmask.stats import Estimate, jackknife
from unmask.stats.paired import paired_areas
from unmask.tables.table import Table
from unmask.threats.knowledge import FEWEST_RUNS


@dataclass(frozen=True, eq=False)
class TableRisk:
    """How well runs tell who is in, and how many people are listed; the AUC also without each judged run in turn."""

    area: float
    without: np.ndarray
    listed: int

    def estimate(self, confidence: float) -> Estimate:
        return jackknife(self.area, self.without, n=len(self.without), confidence=confidence)


@dataclass(frozen=True, eq=False)
class WholeTable:
    """Every mechanism in the coin game."""

    people: int
    rate: float  # expected share of wrong names on a list
    risks: Mapping[str, TableRisk]
    failures: tuple[str, ...]

    def between(self, one: str, other: str, confidence: float) -> Estimate:
        """AUC of the one less that of the other, over the same runs."""
        first, second = self.risks[one], self.risks[other]
        return paired_areas((first.area, first.without), (second.area, second.without), confidence=confidence)


def coin_settings(plan: ComparePlan, entrants: Sequence[Entrant], population: Table) -> dict[str, CoinSetting]:
    """The same game for all; features are computed once."""
    first = entrants[0]
    setting, _, _ = set_up(plan.everyone(first.name), first.generator, population)
    return {one.name: replace(setting, generator=one.generator) for one in entrants}


def coin_store(plan: ComparePlan, one: Entrant, setting: CoinSetting, runner: Runner, population: str) -> Store:
    """Where the runs of one mechanism are kept, as `unmask everyone` keeps them."""
    kept = {"audit": "everyone", "real": population, "features": digest_of(setting.features)}
    return in_folder(runner, one, "everyone").store(plan.everyone(one.name), kept)


def whole_table_of(
    plan: ComparePlan, settings: Mapping[str, CoinSetting], stores: Mapping[str, Store], tasks: Sequence[Task]
) -> WholeTable | None:
    """Judge the runs that all mechanisms published; None if those are too few."""
    found = {name: gather(tasks, store, ("members",)) for name, store in stores.items()}
    common = [task for task in tasks if all(task in set(each.tasks) for each in found.values())]
    failures = tuple(failure for each in found.values() for failure in each.failures)
    if len(common) < FEWEST_RUNS:
        return None
    risks = {}
    for name, store in stores.items():
        asked = plan.everyone(name)
        pool = CoinPool.gather(settings[name], common, store)
        judged, people = judge_everybody(pool, pool.members, scorer=scorer_of(asked), rate=asked.rate, confidence=None)
        risks[name] = TableRisk(*auc_over_runs(judged.late), int(people.listed.sum()))
    units = next(iter(settings.values())).game.units
    return WholeTable(units, plan.everyone("any").rate, risks, failures)


def short_of_runs(stores: Mapping[str, Store], tasks: Sequence[Task]) -> dict[str, int]:
    """Mechanisms that published in too few runs to be judged, with the number of those runs."""
    found = {name: len(gather(tasks, store, ("members",))) for name, store in stores.items()}
    return {name: runs for name, runs in found.items() if runs < FEWEST_RUNS}
