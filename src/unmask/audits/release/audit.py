"""The audit of a release: a real table, one or more synthetic ones, perhaps a holdout, and no generator."""

from __future__ import annotations

import time
from collections import ChainMap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from unmask.audits.part import Part, RecordColumn, SomePeople, of_everybody, together
from unmask.audits.plan import takes
from unmask.audits.release.aligned import ALIGNED
from unmask.audits.release.case import HOW_TO_GET_A_HOLDOUT, Case, ReleasePart
from unmask.audits.release.completion import COMPLETION
from unmask.audits.release.copies import COPIES
from unmask.audits.release.criteria import CRITERIA
from unmask.audits.release.exposure import CONFOUNDED, UNTESTED, with_records
from unmask.audits.release.matching import MATCHING
from unmask.audits.release.maximum_knowledge import MAXIMUM_KNOWLEDGE
from unmask.audits.release.membership import MEMBERSHIP
from unmask.audits.release.numbers import NUMBERS
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.release.preflight.files import Preflight, looked_over
from unmask.audits.release.preflight.identifiers import IDENTIFYING
from unmask.audits.release.similarity import SIMILARITY
from unmask.audits.release.soundness import CONTROLS
from unmask.audits.release.tables import Release, file_name, read_release
from unmask.audits.release.timing import Clock
from unmask.audits.release.usefulness import USEFULNESS
from unmask.audits.runner import Runner
from unmask.memory import give_back
from unmask.results.grid import Cell
from unmask.results.policy import Policy, Severity
from unmask.results.result import Facts, Finding, Input, NotTested, Records, Result, describe_input
from unmask.results.state import DOUBT, NO_HOLDOUT
from unmask.simulation.executors import Executor, Progress, no_progress

CHECKS = (
    IDENTIFYING,
    COPIES,
    MEMBERSHIP,
    CRITERIA,
    NUMBERS,
    CONTROLS,
    ALIGNED,
    MATCHING,
    MAXIMUM_KNOWLEDGE,
    COMPLETION,
    SIMILARITY,
    USEFULNESS,
)  # the most telling first
MOST_RECORDS = 100_000  # rows of records.csv, the most exposed first
ROOMY = 5_000_000  # rows of all tables: up to them memory that is kept for the next part saves more than it costs
LONGER = "raise --time-budget, or leave it out"
LATE = ("the time budget was used up", LONGER)
TELLING = (
    COPIES.name,
    MEMBERSHIP.name,
    CONTROLS.name,
)  # without all of them nothing is known about a leak of 10 % of the people


@takes(ReleasePlan)
def audit(
    real: Any,
    synthetic: Any,
    *,
    holdout: Any = None,
    schema: Any = None,
    workers: int | Executor | None = None,
    time_budget: float | None = None,
    progress: Progress = no_progress,
    **choices: Any,
) -> Result:
    """Audit a release. `synthetic` is one table or a list of tables (M sets of one release).

    Tables are paths, frames (pandas, polars, pyarrow) or Tables. Without a holdout the audit measures, but cannot say how
    much of it the release adds to what the population teaches anyway. A part that would not end within `time_budget` seconds
    is cut to size or left out, and listed as not tested. Columns that not all tables have are left out, and said. `choices`
    are the fields of `ReleasePlan`: columns, secrets, keys, key_lengths, radii, weights, scaling, aligned, synthesised, attempts,
    confidence, people, utility, people_rate, policy, seed.
    """
    runner = Runner.of(workers, time_budget=time_budget, progress=progress)
    plan = ReleasePlan.of(choices)
    return ReleaseAudit.of(plan, real=real, synthetic=synthetic, holdout=holdout, schema=schema).run(runner)


@dataclass(frozen=True, eq=False)
class ReleaseAudit:
    """A plan and the tables that it is about."""

    plan: ReleasePlan
    preflight: Preflight

    @classmethod
    def of(
        cls, plan: ReleasePlan, *, real: Any, synthetic: Any, holdout: Any = None, schema: Any = None
    ) -> ReleaseAudit:
        """Read the tables, each once, and look them over."""
        release = read_release(
            real, synthetic, holdout, schema, secrets=plan.secrets, keys=plan.keys, columns=plan.columns
        )
        for name in plan.synthesised:
            release.schema.position(name)
        release = replace(release, aligned=plan.aligned or bool(plan.synthesised))
        return cls(plan, looked_over(release, names=[file_name(each) for each in (real, synthetic, holdout)]))

    @property
    def release(self) -> Release:
        return self.preflight.release

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(describe_input(role, table) for role, table in self.release.tables)

    def expected(self) -> Result:
        return self.plan.expected("release", self.inputs)

    def run(self, runner: Runner) -> Result:
        """Part by part, the most telling first."""
        release = self.release
        families = tuple(family for check in CHECKS for family in check.families)
        case = Case(release, self.plan, families, runner.threads)
        parts: list[Part] = []
        skipped: list[NotTested] = []
        clock = Clock.started(runner)
        case = clock.fitted(case, tuple(check for check in CHECKS if check.name in TELLING))
        total = sum(check.cost for check in CHECKS)
        for place, check in enumerate(CHECKS):
            runner.stage(f"Part {place + 1} of {len(CHECKS)}: {check.name}")
            runner.progress(sum(before.cost for before in CHECKS[:place]), total)
            if reason := clock.refuses(case, check):
                skipped.append(NotTested(check.name, reason, LONGER))
                case.refused.add(check.name)
            else:
                began = time.monotonic()
                parts.append(check.run(case))
                if sum(case.sizes[:3]) > ROOMY:
                    give_back()  # so that the next part has room for large arrays
                clock.done(case, check, began)
        runner.progress(total, total)
        explained = _explained(parts)
        if explained == 0:
            parts = [each for part in parts for each in (part, *_naming(part))]
        elif explained is None and any(map(_naming, parts)):
            skipped.append(NotTested("people at risk", UNTESTED, LONGER))
        shared = [case.sharing] if release.holdout is not None else []
        if len(release.real) > MOST_RECORDS:
            shared.append(f"records.csv lists the {MOST_RECORDS:,} most exposed of {len(release.real):,} real rows.")
        whole = Part(
            notes=(*self.preflight.noticed, *release.notes, *shared, *clock.notes),
            facts=Facts(inconclusive=_inconclusive(release, skipped)),
            not_tested=(*_without_holdout(release), *skipped),
        ) + together(parts)
        if release.holdout is not None:
            stands = ChainMap(*(dict(part.stands) for part in parts if isinstance(part, ReleasePart)))
            findings = tuple(
                less_explained(one, explained, self.plan.policy, stands.get(one.name, Severity.NONE))
                for one in whole.findings
            )
            whole = replace(whole, findings=findings)
        whole = replace(whole, grids=tuple(with_records(grid, whole.findings) for grid in whole.grids))
        return whole.told(self.expected(), records_of(release, whole))


def _naming(part: Part) -> tuple[Part, ...]:
    """Who is named, right behind what names them."""
    return () if not isinstance(part, ReleasePart) or part.naming is None else (part.naming,)


def _explained(parts: Sequence[Part]) -> float | None:
    """What real and holdout differ by without the release; None if no part could measure it."""
    measured = [part.explained for part in parts if isinstance(part, ReleasePart) and part.explained is not None]
    return max(measured, default=None)


def less_explained(finding: Finding, explained: float | None, policy: Policy, stands: Severity) -> Finding:
    """Where real and holdout differ by themselves, only what goes beyond that difference is evidence of a leak.

    Where it was not measured whether they do, nothing is certain enough to be more than low. What needs no holdout `stands`.
    """
    if explained == 0:
        return finding
    if finding.exposure is not None:
        why = UNTESTED if explained is None else CONFOUNDED
        finding = replace(finding, exposure=replace(finding.exposure, worst=None, above=None, undefined=why))
    if finding.name == DOUBT or finding.severity is Severity.NONE:
        return finding
    if stands.rank >= finding.severity.rank:
        return finding
    if explained is None:
        said = f"Capped at low: it was not tested whether {CONFOUNDED}. Audit again with more time."
        return replace(finding, severity=max(Severity.LOW, stands, key=lambda one: one.rank), advice=said)
    left = policy.severity(max(0.0, finding.estimate.low - explained))
    left = max(left, stands, key=lambda one: one.rank)
    if left.rank >= finding.severity.rank:
        return finding
    return replace(finding, severity=left, advice="Confounded: see the finding about the holdout.")


def _without_holdout(release: Release) -> tuple[NotTested, ...]:
    if release.holdout is not None:
        return ()
    reason = "there is no holdout, so what the release adds cannot be separated from what the population teaches"
    names = ("membership", "singling out, linking and inferring against a control", "own numbers", "instrument check")
    return tuple(NotTested(name, reason, HOW_TO_GET_A_HOLDOUT) for name in names)


def _inconclusive(release: Release, skipped: Sequence[NotTested]) -> tuple[str, ...]:
    """Why nothing can be concluded, as far as it is not the data: the check of the instrument says that."""
    if release.holdout is None:
        return (NO_HOLDOUT,)
    missing = [item.name for item in skipped if item.name in TELLING]
    if not missing:
        return ()
    return (f"The time budget ended before parts that would have seen such a leak: {', '.join(missing)}.",)


def records_of(release: Release, whole: Part) -> Records:
    """Everybody in the real table, the most exposed first, by row number (and person id where one is declared)."""
    order = _most_exposed(whole.columns, len(release.real), MOST_RECORDS)
    numbers = order if release.rows is None else release.rows[order]  # of the real table as it was given
    everything = [(name, of_everybody(column)[order]) for name, column in whole.columns]
    if release.real.persons is not None:
        everything = [("person", release.real.persons[order]), *everything]
    cells = [_cells(values) for _, values in everything]
    return Records(("row", *(name for name, _ in everything)), tuple(zip(numbers.tolist(), *cells, strict=True)))


def _most_exposed(columns: Sequence[tuple[str, RecordColumn]], rows: int, most: int) -> np.ndarray:
    """The first so many rows in an order in which the first column decides, and the next ones break its ties; then row numbers.

    Sorted are only those who are among them: of a column at a time all are kept who are above the last that has room, and those
    who are equal to it go on to the next.
    """
    left = np.arange(rows, dtype=np.int32 if rows < np.iinfo(np.int32).max else np.int64)
    certain: list[np.ndarray] = []
    for _, column in columns:
        if len(left) <= most:
            break
        if (values := _decisive(column)) is not None:
            values = values[left]
            last = np.partition(values, len(values) - most)[len(values) - most]
            certain.append(left[values > last])
            most -= len(certain[-1])
            left = left[values == last]
    found = np.sort(np.concatenate([*certain, left[:most]])).astype(np.int64)
    for _, column in reversed(columns):
        if (values := _decisive(column)) is not None:
            # Numbers of one or two bytes are sorted by counting.
            rising = values[found].astype(np.int16 if values.dtype.itemsize == 1 else np.float64)
            found = found[np.argsort(np.negative(rising), kind="stable")]
    return found


def _decisive(column: RecordColumn) -> np.ndarray | None:
    """Numbers, -1 where there is none; None of texts, which order nobody."""
    if isinstance(column, SomePeople) and column.values.dtype.kind == "b":
        found = np.full(column.size, -1, dtype=np.int8)
        found[column.rows] = column.values
        return found
    values = of_everybody(column)
    if values.dtype.kind not in "biuf":
        return None
    return np.where(np.isnan(values), -1.0, values) if values.dtype.kind == "f" else values


def _cells(values: np.ndarray) -> list[Cell]:
    """Cells of records.csv: whole numbers as such, others to six places, nothing where there is none."""
    if values.dtype.kind != "f":
        return [_cell(value) for value in values.tolist()] if values.dtype.kind == "O" else values.tolist()
    cells = np.full(len(values), None, dtype=object)
    whole = np.isfinite(values) & (np.floor(values) == values)
    cells[whole] = [int(value) for value in values[whole].tolist()]
    broken = ~whole & ~np.isnan(values)
    cells[broken] = [round(value, 6) for value in values[broken].tolist()]
    found: list[Cell] = cells.tolist()
    return found


def _cell(value: Any) -> Cell:
    return _cells(np.array([value]))[0] if isinstance(value, float) else value
