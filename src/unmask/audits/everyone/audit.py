"""The audit of everyone: the risk of each person in the table, for the price of K fits.

A fair coin for every unit and run says who is in; the generator is fitted, and each release is held against everybody at
once. Later runs judge what earlier ones taught, so that nobody is listed by luck (`everyone_evidence`).
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unmask import generators as generator_list
from unmask.attacks.everyone.boosted import BoostedScorer
from unmask.attacks.everyone.copies import CopyScorer
from unmask.attacks.everyone.features import Features
from unmask.attacks.everyone.scorer import RatioScorer, Scorer
from unmask.attacks.everyone.secret_guess import SecretGuess
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.draws import DRAWS, open_draws
from unmask.audits.everyone.attribute.stage import attributes
from unmask.audits.everyone.audited import Audited
from unmask.audits.everyone.budget import before_the_start, runs_within
from unmask.audits.everyone.claim import hold_against_coins
from unmask.audits.everyone.confirm.stage import confirm
from unmask.audits.everyone.evidence import Judged, judge, of_other_runs
from unmask.audits.everyone.marks import group_columns
from unmask.audits.everyone.people import People, judge_people
from unmask.audits.everyone.plan import AUTO, GROWING, EveryonePlan
from unmask.audits.everyone.pooled import pooled_bound
from unmask.audits.everyone.power import power_of
from unmask.audits.everyone.result import build_result, shared
from unmask.results.result import Result
from unmask.files import write_atomically
from unmask.generators._generator import Generator, claim_for
from unmask.simulation.coin import CoinSetting, coin_tasks, draw_coins
from unmask.simulation.executors.local import Progress, no_progress, run_tasks
from unmask.stream import stream
from unmask.tables.read import read_table
from unmask.tables.table import Table
from unmask.tables.units import units
from unmask.threats.coins import CoinGame, Coins, coins_for

Say = Callable[[str], None]


def silent(text: str) -> None:
    """For callers who do not listen."""


def everyone(
    generator: str | Generator,
    real: Any,
    *,
    schema: Any = None,
    out: str | Path | None = None,
    pool: str | Path | None = None,
    workers: int = 1,
    progress: Progress = no_progress,
    **choices: Any,
) -> Result:
    """The risk of each person in a table that this generator is fitted to.

    `choices` are the fields of `EveryonePlan`, such as runs, synthetic_rows, coins, access, rate, secrets, confirm, seed. Draws
    are kept in `pool`, else in `out`, where other runs find them again; a larger number of runs keeps the old draws.
    """
    text = generator if isinstance(generator, str) else repr(generator)
    plan = EveryonePlan(generator=text, **choices)
    chosen = generator_list.parse(plan.generator, plan.settings) if isinstance(generator, str) else generator
    table = read_table(real, schema)
    return run(plan, chosen, table, pool=draws_in(pool, out), workers=workers, progress=progress)


def draws_in(pool: str | Path | None, out: str | Path | None) -> Path | None:
    """Where the draws live: in a pool of their own, else in the run directory, else in memory."""
    return Path(pool) if pool else Path(out) / DRAWS if out else None


def run(
    plan: EveryonePlan,
    generator: Generator,
    real: Table,
    *,
    pool: Path | None = None,
    workers: int = 1,
    progress: Progress = no_progress,
    say: Say = silent,
    seconds: float | None = None,
    scores: Path | None = None,
) -> Result:
    """Carry out a plan. With `seconds` the number of runs is what this time pays for; `say` is told what it will show."""
    check_columns(plan, real)
    setting, rows, coins = set_up(plan, generator, real)
    store = open_draws(pool, identity(plan, setting, real), option="--pool or --out")
    if seconds is not None:
        pools = 1 + len(plan.secrets) * plan.redraw_secrets
        plan = replace(plan, runs=runs_within(seconds, setting, store=store, workers=workers, pools=pools))
        say(f"{seconds:g} s pay for {plan.runs:,} runs.")
    say(before_the_start(plan.runs, int(setting.game.coined.sum()), rate=plan.rate))
    tasks = coin_tasks(plan.runs)
    run_tasks(setting, tasks, store, work=draw_coins, workers=workers, progress=progress)
    drawn = CoinPool.gather(setting, tasks, store)
    return judge_pool(
        plan,
        drawn,
        real=real,
        rows=rows,
        coins=coins,
        scores=scores,
        directory=pool,
        workers=workers,
        progress=progress,
    )


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
    features = Features.of(plan.features, candidates, unit, stream(plan.seed, "features"))
    wanted = plan.synthetic_rows or max(1, len(candidates) // 2)
    return CoinSetting(plan.seed, game, features, generator, wanted), taken, coins


def _taken(plan: EveryonePlan, real: Table) -> np.ndarray:
    """Rows of the units that take part."""
    unit = units(real)
    if plan.subsample is None or plan.subsample >= unit.count:
        return np.arange(len(real))
    chosen = stream(plan.seed, "subsample").choice(unit.count, plan.subsample, replace=False)
    return unit.rows(chosen)


def identity(plan: EveryonePlan, setting: CoinSetting, real: Table) -> dict[str, Any]:
    """All that changes a draw."""
    fixed = {name: value for name, value in plan.to_plain().items() if name not in GROWING}
    features = hashlib.sha256("\n".join(setting.features.names).encode()).hexdigest()
    return fixed | {"audit": "everyone", "seed": plan.seed, "real": real.digest(), "features": features}


def judge_pool(
    plan: EveryonePlan,
    pool: CoinPool,
    *,
    real: Table,
    rows: np.ndarray,
    coins: Coins,
    scores: Path | None = None,
    directory: Path | None = None,
    workers: int = 1,
    progress: Progress = no_progress,
) -> Result:
    """Everything after the draws.

    `scores` is a file for the evidence about everybody in every judged run; `directory` is where further draws are kept.
    """
    setting = pool.setting
    how: dict[str, Any] = {"scorer": scorer_of(plan), "rate": plan.rate, "confidence": shared(plan.confidence)}
    judged, people = judge_everybody(pool, pool.members, **how)
    if scores is not None:
        export_scores(scores, judged, rows[np.unique(setting.features.units.of_row, return_index=True)[1]])
    _, control = judge_everybody(pool, of_other_runs(pool.members, stream(plan.seed, "control")), **how)
    extra = attributes(plan, pool, directory=directory, workers=workers, progress=progress)
    extra += confirm(plan, pool, people, real, rows, store=pool.store, workers=workers, progress=progress)
    claim = claim_for(setting.generator.claim, real.schema)
    confidence, coined = plan.confidence, setting.game.coined
    audited = Audited(
        plan=plan,
        real=real,
        rows=rows,
        coins=coins,
        claim=claim,
        pool=pool,
        judged=judged,
        people=people,
        control=control,
        bound=pooled_bound(judged, setting.game, coined, confidence=confidence, delta=claim.delta if claim else 0.0),
        held=None
        if claim is None
        else hold_against_coins(claim, judged, setting=setting, coins=coins, confidence=confidence),
        power=power_of(len(pool), int(coined.sum()), rate=plan.rate),
        extra=extra,
    )
    return build_result(audited)


def judge_everybody(
    pool: CoinPool, members: np.ndarray, *, scorer: Scorer, rate: float, confidence: float
) -> tuple[Judged, People]:
    """Evidence from everything and from whole rows, and what it says about each person."""
    features = pool.setting.features
    judged = judge(pool.load, members, families=features.families, scorer=scorer)
    copies = judge(pool.load, members, families=features.families, scorer=CopyScorer())
    return judged, judge_people(judged, pool.setting.game.coined, copies=copies, rate=rate, confidence=confidence)


def export_scores(path: Path, judged: Judged, rows: np.ndarray) -> None:
    """Raw scores for other tools: log ratios and coins of all judged runs (runs x people), and the row of each person."""
    content = io.BytesIO()
    np.savez_compressed(
        content, log_ratios=judged.all.log_ratios, members=judged.all.members, rows=rows, late=len(judged.late.members)
    )
    write_atomically(path, content.getvalue())


def scorer_of(plan: EveryonePlan) -> Scorer:
    """The scorer that a plan names."""
    return BoostedScorer(seed=plan.seed) if plan.scorer == "boosted" else RatioScorer()
