"""How much of a comparison fits a time budget: the same for all mechanisms, or they could not be compared within draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from unmask.audits.budget import FOR_DRAWS, seconds_of_a_draw
from unmask.audits.compare.jobs import Job
from unmask.audits.compare.plan import FEWEST_TESTS, ComparePlan
from unmask.audits.runner import Runner
from unmask.errors import ParameterError
from unmask.simulation.store import Store

FEWEST = {"shadows": 20, "tests": FEWEST_TESTS, "repeats": 5}


def within_time(
    plan: ComparePlan,
    runner: Runner,
    jobs: Callable[[ComparePlan], list[Job]],
    stores: Mapping[tuple[str, str], Store],
) -> ComparePlan:
    """The plan with as much as the time of the runner pays for: first without the coin game, then with fewer releases of all."""
    seconds, each = runner.seconds or 0.0, {}
    for job in jobs(plan):
        store = stores[job.part, job.name]
        waiting = [task for task in job.tasks if not store.has(task)]
        each[job.part, job.name] = seconds_of_a_draw(runner, job.setting, waiting, store) / runner.workers

    def cost(chosen: ComparePlan) -> float:
        left = ((job, stores[job.part, job.name]) for job in jobs(chosen))
        return sum(each[job.part, job.name] * sum(not store.has(task) for task in job.tasks) for job, store in left)

    pays = FOR_DRAWS * seconds
    if cost(plan) <= pays:
        return plan
    plan = replace(plan, runs=0)
    share = min(1.0, pays / max(cost(plan), 1e-9))
    if share < 1:
        sizes = {name: int(share * getattr(plan, name)) for name in FEWEST}
        if any(sizes[name] < min(least, getattr(plan, name)) for name, least in FEWEST.items()):
            raise ParameterError(
                f"All of it takes about {cost(plan):.0f} s, and a part that shows anything does not fit {seconds:g} s.\n"
                "Allow more --time-budget, name fewer --generators, or use fewer --train-rows."
            )
        plan = replace(plan, shadows=sizes["shadows"], tests=sizes["tests"], repeats=sizes["repeats"])
    runner.say(
        f"{seconds:g} s pay for {plan.shadows:,} shadow releases, {plan.tests:,} under attack and {plan.repeats:,} for utility "
        f"of each mechanism, and not for the coin game about everybody."
    )
    return plan
