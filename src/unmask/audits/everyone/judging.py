"""Everything after the draws: who shows in the releases, how certain that is, and what else was asked."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from unmask.attacks.everyone.boosted import BoostedScorer
from unmask.attacks.everyone.copies import CopyScorer
from unmask.attacks.everyone.scorer import RatioScorer, Scorer
from unmask.attacks.everyone.usual import Load, SharedRuns
from unmask.audits.everyone.attribute.stage import attributes
from unmask.audits.everyone.audited import Audited
from unmask.audits.everyone.claim import hold_against_coins
from unmask.audits.everyone.confirm.stage import confirm
from unmask.audits.everyone.drawn import CoinRuns
from unmask.audits.everyone.evidence import Judged, RunOrder, judge, of_other_runs
from unmask.audits.everyone.people import People, judge_people
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.everyone.pooled import pooled_bound
from unmask.audits.everyone.power import power_of
from unmask.audits.everyone.result import part_of, shared
from unmask.audits.everyone.tables import records_of
from unmask.audits.part import Part, of_everybody
from unmask.audits.runner import Runner
from unmask.files import write_atomically
from unmask.generators._generator import claim_for
from unmask.results.result import Result
from unmask.simulation.coin_pool import CoinPool
from unmask.stream import stream


def judge_runs(
    plan: EveryonePlan, drawn: CoinRuns, expected: Result, runner: Runner, *, scores: Path | None = None
) -> Result:
    """The result of drawn runs. `scores` is a file for the evidence about everybody in every judged run."""
    pool, setting = drawn.pool, drawn.pool.setting
    judged, people, control = judge_with_control(plan, pool)
    if scores is not None:
        export_scores(scores, judged, drawn.rows[np.unique(setting.features.units.of_row, return_index=True)[1]])
    extra = attributes(plan, pool, runner)
    extra += confirm(plan, drawn, people, runner)
    claim = claim_for(setting.generator.claim, drawn.real.schema)
    confidence, coined = plan.confidence, setting.game.coined
    audited = Audited(
        plan=plan,
        drawn=drawn,
        claim=claim,
        judged=judged,
        people=people,
        control=control,
        bound=pooled_bound(judged, setting.game, coined, confidence=confidence, delta=claim.delta if claim else 0.0),
        held=None
        if claim is None
        else hold_against_coins(claim, judged, setting=setting, coins=drawn.coins, confidence=confidence),
        power=power_of(len(pool), int(coined.sum()), rate=plan.rate),
    )
    part = part_of(audited) + extra + Part(notes=plan.domain_notes)
    return part.told(expected, records_of(audited, [(name, of_everybody(column)) for name, column in part.columns]))


def judge_with_control(plan: EveryonePlan, pool: CoinPool) -> tuple[Judged, People, People]:
    """Evidence, what it says about each person, and what the same says with the coins of other runs."""
    how: dict[str, Any] = {"scorer": scorer_of(plan), "rate": plan.rate, "load": SharedRuns(pool.load)}
    judged, people = judge_everybody(pool, pool.members, confidence=shared(plan.confidence), **how)
    other = of_other_runs(pool.members, stream(plan.seed, "control"))
    return judged, people, judge_everybody(pool, other, confidence=None, **how)[1]


def judge_everybody(
    pool: CoinPool,
    members: np.ndarray,
    *,
    scorer: Scorer,
    rate: float,
    confidence: float | None,
    load: Load | None = None,
) -> tuple[Judged, People]:
    """Evidence from everything and from whole rows, and what it says about each person. `load` is that of the pool."""
    features, load = pool.setting.features, load or pool.load
    planned = RunOrder(np.array([task.index for task in pool.tasks]), pool.failed_places, pool.failed)
    judged = judge(load, members, groups=features.groups, scorer=scorer, planned=planned)
    copies = judge(load, members, groups=features.groups, scorer=CopyScorer(), planned=planned)
    return judged, judge_people(judged, pool.setting.game.coined, copies=copies, rate=rate, confidence=confidence)


def export_scores(path: Path, judged: Judged, rows: np.ndarray) -> None:
    """Raw scores for other tools: log ratios and coins of all judged runs (runs x people), and the row of each person."""
    content = io.BytesIO()
    np.savez_compressed(
        content, log_ratios=judged.all.log_ratios, members=judged.all.members, rows=rows, late=len(judged.late.members)
    )
    write_atomically(path, content.getvalue(), private=True)


def scorer_of(plan: EveryonePlan) -> Scorer:
    """The scorer that a plan names."""
    return BoostedScorer(seed=plan.seed) if plan.scorer == "boosted" else RatioScorer()
