"""How much of a comparison fits a time budget: the same for all mechanisms, or they could not be compared within draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from unmask.audits.budget import FOR_DRAWS, TRIED, seconds_of_a_draw
from unmask.audits.compare.jobs import CompareJob
from unmask.audits.compare.plan import FEWEST_TESTS, ComparePlan
from unmask.audits.runner import Runner
from unmask.errors import ParameterError
from unmask.simulation.store import Store

FEWEST = {"shadows": 20, "tests": FEWEST_TESTS, "repeats": 5}


def within_time(
    plan: ComparePlan,
    runner: Runner,
    jobs: Callable[[ComparePlan], list[CompareJob]],
    stores: Mapping[tuple[str, str], Store],
) -> ComparePlan:
    """The plan with as much as the time of the runner pays for: first without the coin game, then with fewer releases of all."""
    seconds, each, waiting = runner.seconds or 0.0, {}, {}
    for job in jobs(plan):
        store, key = stores[job.part, job.name], (job.part, job.name)
        left = [task for task in job.tasks if not store.has(task)]
        each[key] = seconds_of_a_draw(runner, job.setting, left, store) / runner.workers
        waiting[key] = set(left[TRIED:])  # the first ones were drawn to be timed

    def cost(chosen: ComparePlan) -> float:
        keys = (((job.part, job.name), job.tasks) for job in jobs(chosen))
        return sum(each[key] * sum(task in waiting[key] for task in tasks) for key, tasks in keys)

    pays = FOR_DRAWS * seconds
    if cost(plan) <= pays:
        return plan
    plan = replace(plan, runs=0)
    if cost(_share(plan, 0.0)) > pays:
        raise ParameterError(
            f"The least that shows anything takes about {cost(_share(plan, 0.0)):.0f} s of draws, and does not "
            f"fit {seconds:g} s.\nAllow more --time-budget, name fewer --generators, or use fewer --train-rows."
        )
    low, high = 0.0, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if cost(_share(plan, middle)) <= pays else (low, middle)
    plan = plan if cost(plan) <= pays else _share(plan, low)
    runner.say(
        f"{seconds:g} s pay for {plan.shadows:,} shadow releases, {plan.tests:,} under attack and {plan.repeats:,} for utility "
        f"of each mechanism, and not for the coin game about everybody."
    )
    return plan


def _share(plan: ComparePlan, share: float) -> ComparePlan:
    """A share of all numbers of releases, but never fewer than show anything."""
    least = {name: min(getattr(plan, name), fewest) for name, fewest in FEWEST.items()}
    sizes = {name: max(few, int(share * getattr(plan, name))) for name, few in least.items()}
    return replace(plan, shadows=sizes["shadows"], tests=sizes["tests"], repeats=sizes["repeats"])
