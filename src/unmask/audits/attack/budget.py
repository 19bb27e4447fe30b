"""How many releases of an attack fit a time budget."""

from __future__ import annotations

from dataclasses import replace

from unmask.audits.attack.plan import AttackPlan
from unmask.audits.budget import draws_within, seconds_of_a_draw
from unmask.audits.runner import Runner
from unmask.errors import ParameterError
from unmask.simulation.store import Store
from unmask.simulation.target import TargetSetting
from unmask.simulation.task import tasks_for
from unmask.threats.knowledge import Access

LEAST_TESTS = 16  # releases that a budget may choose


def within_time(plan: AttackPlan, runner: Runner, setting: TargetSetting, store: Store) -> AttackPlan:
    """The plan with as many shadows and tests, in their proportion, as the time of the runner pays for."""
    targets = len(setting.ground.targets)
    shadows = plan.shadows if Access.SHADOWS in setting.game.allowed else 0
    tasks = tasks_for(shadows, plan.tests, targets, isolate=plan.isolate_targets)
    waiting = [task for task in tasks if not store.has(task)]
    each = seconds_of_a_draw(runner, setting, waiting, store)
    seconds = runner.seconds or 0.0
    raw = (
        len(tasks) * plan.tests / (shadows + plan.tests) if setting.analyst else 0.0
    )  # real tables that an analyst reads
    affordable = len(tasks) - len(waiting) + draws_within(seconds, each / runner.workers)  # what is drawn costs nothing
    share = min(1.0, affordable / (len(tasks) + raw))
    tests = max(round(share * plan.tests), 2) if share < 1 else plan.tests
    if tests < min(LEAST_TESTS, plan.tests):
        raise ParameterError(
            f"One release takes about {each:.1f} s, so {LEAST_TESTS} under attack, the fewest that show anything, do not fit "
            f"{seconds:g} s.\nAllow more --time-budget, or use fewer --train-rows."
        )
    if share < 1:
        plan = replace(plan, shadows=round(share * plan.shadows), tests=tests)
        runner.say(f"{seconds:g} s pay for {plan.shadows:,} shadow releases and {plan.tests:,} under attack.")
    return plan
