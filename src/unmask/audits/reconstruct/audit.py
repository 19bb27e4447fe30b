"""Reconstruction of records: behind a provider's metrics (a generator is named), or from a release (synthetic tables)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from unmask import generators as generator_list
from unmask.attacks.reconstruction.asked_rows import EMPTY
from unmask.attacks.reconstruction.sample import locate
from unmask.audits.part import Part, together
from unmask.audits.plan import choices_of, takes
from unmask.audits.reconstruct.oracle_game import Block, attacked
from unmask.audits.reconstruct.oracle_mitigations import mitigations_grid
from unmask.audits.reconstruct.oracle_result import JudgedRecords, check_targets, oracle_part
from unmask.audits.reconstruct.oracle_rounds import Deployment, RoundsSetting, round_tasks, used
from unmask.audits.reconstruct.plan import Locator, ReconstructPlan, Wanted
from unmask.audits.reconstruct.release import ReleaseReconstruction
from unmask.audits.reconstruct.release_plan import ReleaseReconstructionPlan
from unmask.audits.release.audit import LATE
from unmask.audits.runner import Runner, Say, silent
from unmask.errors import InputError, ParameterError
from unmask.generators._generator import Generator
from unmask.metrics import filters as filter_list
from unmask.results.grid import Cell
from unmask.results.result import Input, NotTested, Records, Result, describe_input
from unmask.simulation.draws import failures_in_words
from unmask.simulation.executors import Executor, Progress, no_progress
from unmask.simulation.gather import gather
from unmask.stream import stream
from unmask.tables.read import read_table
from unmask.tables.regions import CodeScale, Region, smallest_clusters
from unmask.tables.table import Table
from unmask.tables.units import units
from unmask.threats.knowledge import ScoresShown
from unmask.threats.oracle import Rules

CUT = (
    "The real table was cut in halves, train and holdout: the metrics compare with people whom the generator never saw."
)
PIXELS = 64
FEWEST = 20  # rows of train and of holdout


@takes(ReconstructPlan)
def reconstruct(
    generator: str | Generator | None = None,
    real: Any = None,
    *,
    synthetic: Any = None,
    holdout: Any = None,
    schema: Any = None,
    out: str | Path | None = None,
    workers: int | Executor | None = None,
    time_budget: float | None = None,
    progress: Progress = no_progress,
    say: Say = silent,
    **choices: Any,
) -> Result:
    """Rebuild records of a real table from what a provider's privacy metrics answer (ReconSyn, ganev2023).

    The real table is cut in halves, unless a `holdout` is given; the generator is fitted to the train half and stands with IMS,
    DCR and NNDR behind an oracle. `choices` are the fields of `ReconstructPlan`, such as rounds, goal, search, distance, scores,
    decimals, calls, call_epsilon, filters, seed. With `out` the rounds are kept, and a killed run continues.

    With `synthetic` (one table or several sets, and no generator) records are completed and secrets solved for from the release
    alone; its choices are secrets, known, order, columns.
    """
    runner = Runner.of(workers, out=out, time_budget=time_budget, progress=progress, say=say)
    named = {"generator": generator_list.text_of(generator)} if generator is not None else {}
    plan = ReconstructPlan.of({**named, **choices})
    audit = audit_of(plan, generator, real=real, synthetic=synthetic, holdout=holdout, schema=schema)
    return audit.run(runner)


def audit_of(
    plan: ReconstructPlan, generator: str | Generator | None, *, real: Any, synthetic: Any, holdout: Any, schema: Any
) -> OracleAudit | ReleaseReconstruction:
    """The audit that was meant: of a release if there is one, else of a generator behind metrics."""
    if not (synthetic is None or (isinstance(synthetic, list | tuple) and not synthetic)):
        if plan.generator:
            raise ParameterError("A generator and a synthetic table are two different audits: give one of them.")
        _refuse(plan, generator_choices(), "a generator (--generator)", "a release (SYNTHETIC)")
        return ReleaseReconstruction.of(
            plan.of_a_release, real=real, synthetic=synthetic, holdout=holdout, schema=schema
        )
    if not plan.generator:
        raise ParameterError(
            "--generator is missing. Name the generator behind the metrics (`unmask generators` lists them), or give a release: "
            "unmask reconstruct real.csv synthetic.csv --holdout holdout.csv."
        )
    _refuse(plan, ("secrets", "known", "order"), "a release (SYNTHETIC)", "a generator (--generator)")
    train = read_table(real, schema)
    held = None if holdout is None else read_table(holdout, train.schema)
    if plan.columns:
        train, held = train.select(plan.columns), None if held is None else held.select(plan.columns)
    if plan.pictures and len(train.schema.columns) < PIXELS:
        raise ParameterError(f"--pictures shows the last {PIXELS} columns; the table has {len(train.schema.columns)}.")
    return OracleAudit(plan, plan.made(generator), train, held)


def _refuse(plan: ReconstructPlan, names: Sequence[str], theirs: str, here: str) -> None:
    """A choice that means nothing here is not passed over."""
    for choice in choices_of(ReconstructPlan):
        if choice.name in names and getattr(plan, choice.name) != choice.default:
            raise ParameterError(f"{choice.asked} is a choice for {theirs}; this run is about {here}. Leave it out.")


def generator_choices() -> tuple[str, ...]:
    """The choices that a release does not have."""
    shared = {choice.name for choice in choices_of(ReleaseReconstructionPlan)}
    return tuple(choice.name for choice in choices_of(ReconstructPlan) if choice.name not in shared)


class ReconstructAudit:
    """What the command line runs."""

    @classmethod
    def of(
        cls, plan: ReconstructPlan, *, real: Any, synthetic: Any = None, holdout: Any = None, schema: Any = None
    ) -> OracleAudit | ReleaseReconstruction:
        """Read what the plan is about."""
        return audit_of(plan, None, real=real, synthetic=synthetic, holdout=holdout, schema=schema)


@dataclass(frozen=True, eq=False)
class OracleAudit:
    """A plan, the generator that it names, the real table, and a holdout if there is one."""

    plan: ReconstructPlan
    generator: Generator
    real: Table
    held: Table | None = None

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        held = () if self.held is None else (describe_input("holdout", self.held),)
        return (describe_input("real", self.real), *held)

    def expected(self) -> Result:
        return self.plan.expected("reconstruct", self.inputs)

    @cached_property
    def halves(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Rows of the real table that train, and those that are held out (None: a table of their own)."""
        if self.held is not None:
            return np.arange(len(self.real)), None
        if len(self.real) < 2 * FEWEST:
            raise InputError(
                f"The real table has {len(self.real)} rows; half of them is too little to compare with. "
                f"Give at least {2 * FEWEST}, or a --holdout."
            )
        unit = units(self.real)
        chosen = np.zeros(unit.count, dtype=bool)
        chosen[stream(self.plan.seed, "halves").permutation(unit.count)[: unit.count // 2]] = True
        inside = chosen[unit.of_row]
        return np.flatnonzero(inside), np.flatnonzero(~inside)

    @cached_property
    def deployment(self) -> Deployment:
        rows, others = self.halves
        train = self.real.take(rows)
        holdout = self.real.take(others) if self.held is None and others is not None else self.held
        filters = tuple(filter_list.parse(each) for each in self.plan.filters)
        return Deployment(self.plan.seed, self.generator, train, holdout, filters)  # type: ignore[arg-type]

    @property
    def rules(self) -> Rules:
        plan = self.plan
        return Rules(ScoresShown(plan.scores), plan.decimals, plan.calls, plan.call_epsilon)

    def run(self, runner: Runner) -> Result:
        """Draw the rounds, ask the oracle about them, search, and hold what was found against the truth."""
        provider = self.deployment.provider(self.rules)  # what is wrong with train or holdout is said before the work
        wanted = wanted_records(self.plan, self.deployment)
        blocks, failed = self._rounds(runner, wanted.region)
        noticed = Part(notes=(*((CUT,) if self.held is None else ()), *self.real.notes))
        if not blocks:
            return together([noticed, failed]).told(self.expected(), None)
        total = len(self.deployment.train)
        try:
            outcome = attacked(
                self.plan,
                provider,
                blocks,
                wanted.region,
                watch=lambda found: runner.progress(min(found, total), total),
            )
        except InputError as problem:  # no distance can be read
            nothing = NotTested(
                "reconsyn", str(problem), "Give another --holdout, or cut the real table anew (--seed)."
            )
            return together([noticed, failed, Part(not_tested=(nothing,))]).told(self.expected(), None)
        judged = JudgedRecords(self.plan, self.deployment, outcome, wanted.targets, wanted.controls)
        parts = [noticed, failed, Part(notes=wanted.notes), oracle_part(judged)]
        if self.plan.mitigations and runner.is_late:
            parts.append(Part(not_tested=(NotTested("mitigations", *LATE),)))
        elif self.plan.mitigations:
            grid = mitigations_grid(self.plan, self.deployment, blocks, wanted.region, judged.share)
            parts.append(Part(grids=(grid,)))
        return together(parts).told(self.expected(), self._records(judged))

    def _rounds(self, runner: Runner, region: Region | None) -> tuple[list[Block], Part]:
        """The rows of all rounds, and what failed."""
        plan = self.plan
        setting = RoundsSetting(self.deployment, plan.rows_per_round or len(self.deployment.train), region)
        store = runner.store(plan, {"audit": "reconstruct", "inputs": [each.digest for each in self.inputs]})
        tasks = round_tasks(plan.rounds)
        runner.draw(setting, tasks, store)
        gathered = gather(tasks, store)
        words = (failures_in_words(gathered.failures, "parts of the rounds"),) if gathered.failures else ()
        blocks = [used(outcome, plan.rounds) for _, outcome in gathered.done]
        return blocks, Part(notes=words, failed_tasks=len(gathered.failures))

    def _records(self, judged: JudgedRecords) -> Records:
        """Everybody in the train table: wanted or not, rebuilt or not, when."""
        places, found, sampled = judged.places, judged.outcome.found, len(judged.outcome.sampled)
        rows: list[tuple[Cell, ...]] = []
        for row, place, wanted in zip(self.halves[0], places, judged.targets, strict=True):
            if place == EMPTY:
                rows.append((int(row), bool(wanted), "", None, None))
            else:
                way = "samples" if place < sampled else "search"
                round_ = int(found.rounds[place]) + 1 if place < sampled else None
                rows.append((int(row), bool(wanted), way, round_, int(found.read[place])))
        rows.sort(key=lambda each: (each[4] is None, each[4] or 0, each[0]))  # who was rebuilt first
        return Records(("row", "wanted", "rebuilt by", "round", "rows read by then"), tuple(rows))


@dataclass(frozen=True, eq=False)
class WantedRecords:
    """Who is wanted, where the attacker looks, and what is to be said about it."""

    region: Region | None  # None: everywhere
    targets: np.ndarray
    controls: np.ndarray
    notes: tuple[str, ...]


def wanted_records(plan: ReconstructPlan, deployment: Deployment) -> WantedRecords:
    """The wanted rows of train and holdout, and the region in which the attacker looks for them."""
    train, holdout = deployment.train, deployment.holdout
    if plan.goal == Wanted.ANY:
        return WantedRecords(None, np.ones(len(train), dtype=bool), np.ones(len(holdout), dtype=bool), ())
    seed = int(stream(plan.seed, "clusters").integers(2**31))
    most = max(1, round(plan.outlier_share * len(train)))
    defined = smallest_clusters(train, clusters=plan.clusters, rows=most, scale=CodeScale.ONE_HOT, seed=seed)
    targets, controls = defined.holds(train.codes), defined.holds(holdout.codes)
    check_targets(targets, controls)
    said = f"Wanted are {int(targets.sum()):,} outliers: the smallest of {plan.clusters} clusters of the train table."
    if plan.locator == Locator.SHARED:
        return WantedRecords(
            defined, targets, controls, (said, "The attacker was given the clusters that define them.")
        )
    if plan.locator == Locator.AFTERWARDS:
        return WantedRecords(
            None, targets, controls, (said, "The attacker rebuilds what can be rebuilt and looks for outliers in that.")
        )
    own = locate(
        deployment.provider(), len(train), int(targets.sum()),
        clusters=plan.clusters, scale=CodeScale.ONE_HOT, rng=stream(plan.seed, "locator"),
    )  # fmt: skip
    covered = float(own.holds(train.codes[targets]).mean())
    return WantedRecords(
        own, targets, controls,
        (said, f"The attacker's own clusters, of synthetic rows, hold {covered:.0%} of them; no others are looked for."),
    )  # fmt: skip
