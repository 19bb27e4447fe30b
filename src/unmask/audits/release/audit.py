"""The audit of a release: a real table, one or more synthetic ones, perhaps a holdout, and no generator."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unmask.results.policy import Policy
from unmask.audits.release.closeness import matching_section, similarity_section
from unmask.audits.release.copies import copies_section
from unmask.audits.release.criteria import legal_section
from unmask.audits.release.exposure import CONFOUNDED, with_records
from unmask.audits.release.membership import membership_section
from unmask.audits.release.plan import HOW_TO_GET_A_HOLDOUT, ReleasePlan, Section
from unmask.audits.release.soundness import controls_section
from unmask.audits.release.tables import Release, read_release
from unmask.results.grid import Cell
from unmask.results.result import Facts, Finding, NotTested, Records, Result, describe_input
from unmask.results.policy import Severity

Progress = Callable[[int, int], None]

SECTIONS = {
    "copies": copies_section,
    "membership": membership_section,
    "singling out, linking, inferring": legal_section,
    "controls and instrument check": controls_section,
    "matching and maximum knowledge": matching_section,
    "similarity": similarity_section,
}


def audit(
    real: Any,
    synthetic: Any,
    *,
    holdout: Any = None,
    schema: Any = None,
    secrets: Sequence[str] = (),
    keys: Sequence[str] = (),
    attacks: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    workers: int = 1,
    time_budget: float | None = None,
    progress: Progress = lambda done, total: None,
) -> Result:
    """Audit a release. `synthetic` is one table or a list of tables (M sets of one release).

    Tables are paths, frames (pandas, polars, pyarrow) or Tables. Without a holdout the audit measures, but cannot say how
    much of it the release adds to what the population teaches anyway. After `time_budget` seconds no further part is begun;
    what was left out is listed as not tested.
    """
    plan = ReleasePlan(tuple(secrets), tuple(keys), attacks, confidence, seed=seed)
    release = read_release(real, synthetic, holdout, schema, secrets=plan.secrets, keys=plan.keys)
    return run(release, plan, workers=workers, time_budget=time_budget, progress=progress)


def run(
    release: Release,
    plan: ReleasePlan,
    *,
    workers: int = 1,
    time_budget: float | None = None,
    progress: Progress = lambda done, total: None,
) -> Result:
    """Carry out the audit part by part, the most telling first."""
    parts, skipped, start = [], [], time.monotonic()
    for place, (name, section) in enumerate(SECTIONS.items()):
        progress(place, len(SECTIONS))
        if time_budget is not None and time.monotonic() - start > time_budget:
            skipped.append(NotTested(name, "the time budget was used up", "raise --time-budget, or leave it out"))
            continue
        parts.append(section(release, plan, workers))
    progress(len(SECTIONS), len(SECTIONS))
    explained = max((part.explained for part in parts), default=0.0)
    if explained == 0:
        parts = [each for part in parts for each in (part, part.naming) if each is not None]
    findings = [_less_explained(finding, explained) for part in parts for finding in part.findings]
    facts = [part.facts for part in parts]
    return replace(
        expected(release, plan),
        findings=tuple(sorted(findings, key=_order)),
        grids=tuple(with_records(grid, findings) for part in parts for grid in part.grids),
        series=tuple(series for part in parts for series in part.series),
        notes=release.notes + tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        facts=Facts(
            visible=tuple(line for fact in facts for line in fact.visible),
            at_risk=tuple(line for fact in facts for line in fact.at_risk),
        ),
        not_tested=_without_holdout(release)
        + tuple(skipped)
        + tuple(item for part in parts for item in part.not_tested),
        records=_records(release, parts),
    )


def expected(release: Release, plan: ReleasePlan) -> Result:
    """What is known of the result before the work begins."""
    inputs = tuple(describe_input(role, table) for role, table in release.tables)
    return Result(audit="release", seed=plan.seed, plan=plan.to_plain(), inputs=inputs)


def _order(finding: Finding) -> tuple[int, bool, float]:
    """Worst first, then what throws doubt on the others, then the clearest."""
    return -finding.severity.rank, finding.name != "holdout", -finding.estimate.low


def _less_explained(finding: Finding, explained: float) -> Finding:
    """Where real and holdout differ by themselves, only what goes beyond that difference is evidence of a leak."""
    if explained and finding.exposure is not None:
        exposure = replace(finding.exposure, worst=None, above=None, undefined=CONFOUNDED)
        finding = replace(finding, exposure=exposure)
    if explained == 0 or finding.name in ("copies", "holdout") or finding.severity is Severity.NONE:
        return finding
    left = Policy().severity(max(0.0, finding.estimate.low - explained))
    if left.rank >= finding.severity.rank:
        return finding
    return replace(finding, severity=left, advice="Confounded: see the finding about the holdout.")


def _without_holdout(release: Release) -> tuple[NotTested, ...]:
    if release.holdout is not None:
        return ()
    reason = "there is no holdout, so what the release adds cannot be separated from what the population teaches"
    names = ("membership", "singling out, linking and inferring against a control", "instrument check")
    return tuple(NotTested(name, reason, HOW_TO_GET_A_HOLDOUT) for name in names)


def _records(release: Release, parts: list[Section]) -> Records:
    """Everybody in the real table, the most exposed first, by row number (and person id where one is declared)."""
    columns = [column for part in parts for column in part.columns]
    persons = [] if release.real.persons is None else [("person", release.real.persons)]
    everything = [*persons, *columns]
    order = np.arange(len(release.real))
    for _, values in reversed(columns):  # the first column decides, the next ones break its ties
        decisive = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=-1.0)
        order = order[np.argsort(-decisive[order], kind="stable")]
    lists = [values[order].tolist() for _, values in everything]
    rows = tuple((int(row), *(_cell(values[place]) for values in lists)) for place, row in enumerate(order))
    return Records(("row", *(name for name, _ in everything)), rows)


def _cell(value: Any) -> Cell:
    if isinstance(value, float):
        return None if np.isnan(value) else int(value) if value.is_integer() else round(value, 6)
    cell: Cell = value
    return cell
