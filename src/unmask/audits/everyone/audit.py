"""The audit of everyone: the risk of each person in the table, for the price of K fits.

A fair coin for every unit and run says who is in; the generator is fitted, and each release is held against everybody at
once. Later runs judge what earlier ones taught, so that nobody is listed by luck (`evidence`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from unmask import generators as generator_list
from unmask.attacks.everyone.features import Features
from unmask.attacks.everyone.secret_guess import SecretGuess
from unmask.audits.everyone.budget import before_the_start, runs_within
from unmask.audits.everyone.drawn import CoinRuns
from unmask.audits.everyone.judging import judge_runs
from unmask.audits.everyone.marks import group_columns
from unmask.audits.everyone.plan import AUTO, EveryonePlan
from unmask.audits.plan import takes
from unmask.audits.runner import Runner, Say, silent
from unmask.generators._generator import Generator
from unmask.results.result import Input, Result, describe_input
from unmask.simulation.coin import CoinSetting, coin_tasks
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.draws import held_by
from unmask.simulation.executors import Executor, Progress, no_progress
from unmask.stream import stream
from unmask.tables.read import read_table
from unmask.tables.table import Table
from unmask.tables.units import units
from unmask.threats.coins import CoinGame, coins_for
from unmask.threats.knowledge import Coins


@takes(EveryonePlan)
def everyone(
    generator: str | Generator,
    real: Any,
    *,
    schema: Any = None,
    out: str | Path | None = None,
    pool: str | Path | None = None,
    scores: str | Path | None = None,
    workers: int | Executor | None = None,
    time_budget: float | None = None,
    progress: Progress = no_progress,
    say: Say = silent,
    **choices: Any,
) -> Result:
    """The risk of each person in a table that this generator is fitted to.

    `choices` are the fields of `EveryonePlan`, such as runs, synthetic_rows, coins, access, rate, secrets, confirm, seed. Draws
    are kept in `pool`, else in `out`, where other runs find them again; a larger number of runs keeps the old draws. With
    `time_budget` (seconds) the number of runs is what this time pays for. `scores` is a file for the evidence (.npz).
    """
    runner = Runner.of(workers, out=out, pool=pool, time_budget=time_budget, progress=progress, say=say)
    plan = EveryonePlan.of({"generator": generator_list.text_of(generator), **choices})
    kept = Path(scores) if scores else None
    return EveryoneAudit(plan, plan.made(generator), read_table(real, schema), kept).run(runner)


@dataclass(frozen=True, eq=False)
class EveryoneAudit:
    """A plan, the generator that it names, and the table of everyone."""

    plan: EveryonePlan
    generator: Generator
    real: Table
    scores: Path | None = None  # a file for the evidence about everybody in every judged run

    @classmethod
    def of(cls, plan: EveryonePlan, *, real: Any, schema: Any = None, scores: Path | None = None) -> EveryoneAudit:
        """Read what the plan is about."""
        return cls(plan, plan.made(), read_table(real, schema), scores)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        return (describe_input("real", self.real),)

    def expected(self) -> Result:
        return self.plan.expected("everyone", self.inputs)

    def run(self, runner: Runner) -> Result:
        """Draw all runs, then judge everybody by them. The runner is told what they will show."""
        check_columns(self.plan, self.real)
        plan = as_drawn(self.plan, self.real, runner)
        setting, rows, coins = set_up(plan, self.generator, self.real)
        store = runner.store(plan, self.identity(setting))
        if runner.seconds is not None:
            pools = 1 + len(plan.secrets) * plan.redraw_secrets
            plan = replace(plan, runs=runs_within(runner, setting, store, pools=pools))
            runner.say(f"{runner.seconds:g} s pay for {plan.runs:,} runs.")
        runner.say(before_the_start(plan.runs, int(setting.game.coined.sum()), rate=plan.rate))
        tasks = coin_tasks(plan.runs)
        runner.draw(setting, tasks, store)
        drawn = CoinRuns(CoinPool.gather(setting, tasks, store), self.real, rows, coins)
        expected = replace(self.expected(), plan=plan.to_plain())
        return judge_runs(plan, drawn, expected, runner, scores=self.scores)

    def identity(self, setting: CoinSetting) -> dict[str, str]:
        """What changes a draw, beside the plan."""
        (real,) = self.inputs
        return {"audit": "everyone", "real": real.digest, "features": digest_of(setting.features)}


def digest_of(features: Features) -> str:
    """Tells whether draws hold the same features."""
    return hashlib.sha256("\n".join(features.names).encode()).hexdigest()


def as_drawn(plan: EveryonePlan, real: Table, runner: Runner) -> EveryonePlan:
    """The plan without exact values where the directory holds draws that were taken down without them.

    Draws of older versions are continued as they were begun: all of them or none say what exact values say.
    """
    bare = replace(plan, exact_values=False)
    held = held_by(runner.draws, "features")
    return bare if held is not None and held == digest_of(features_of(bare, real.take(_taken(bare, real)))) else plan


def features_of(plan: EveryonePlan, candidates: Table) -> Features:
    """What is looked at."""
    return Features.of(plan.features, candidates, units(candidates), stream(plan.seed, "features"))


def check_columns(plan: EveryonePlan, real: Table) -> None:
    """Find out before the work that a column does not exist, or has nothing to guess."""
    group_columns(real.schema, plan.groups)
    for name in plan.secrets:
        SecretGuess.of(real, name)


def set_up(plan: EveryonePlan, generator: Generator, real: Table) -> tuple[CoinSetting, np.ndarray, Coins]:
    """The game, the rows of the real table that take part, and the kind of coins."""
    taken = _taken(plan, real)
    candidates = real.take(taken)
    unit = units(candidates)
    claim = generator.claim
    coins = coins_for(claim) if plan.coins == AUTO else Coins(plan.coins)
    game = CoinGame.of(coins, unit.count, stream(plan.seed, "pairs"))
    features = features_of(plan, candidates)
    wanted = plan.synthetic_rows or max(1, len(candidates) // 2)
    setting = CoinSetting(plan.seed, game, features, generator, wanted, plan.releases_per_fit)
    return setting, taken, coins


def _taken(plan: EveryonePlan, real: Table) -> np.ndarray:
    """Rows of the units that take part."""
    unit = units(real)
    if plan.subsample is None or plan.subsample >= unit.count:
        return np.arange(len(real))
    chosen = stream(plan.seed, "subsample").choice(unit.count, plan.subsample, replace=False)
    return unit.rows(chosen)
