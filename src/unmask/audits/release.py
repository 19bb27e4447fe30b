"""The audit of a release: a real table, one or more synthetic ones, perhaps a holdout, and no generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unmask.audits.judge import Policy
from unmask.audits.release_tables import Release, read_release
from unmask.audits.result import Cell, Finding, Grid, NotTested, Records, Result, Series, Severity, describe_input

Progress = Callable[[int, int], None]

HOW_TO_GET_A_HOLDOUT = (
    "Next time cut some people off before training, say one in five: the generator must never see them. "
    "Then give them with --holdout."
)


@dataclass(frozen=True, eq=False)
class Section:
    """What one part of the audit contributes."""

    findings: tuple[Finding, ...] = ()
    grids: tuple[Grid, ...] = ()
    series: tuple[Series, ...] = ()
    notes: tuple[str, ...] = ()
    not_tested: tuple[NotTested, ...] = ()
    columns: tuple[tuple[str, np.ndarray], ...] = ()  # one value per real row, for records.csv
    naming: Section | None = None  # who is named; only if real and holdout are alike
    explained: float = 0.0  # what real and holdout differ by without the release: the most a blind scorer may gain


@dataclass(frozen=True)
class ReleasePlan:
    """Every choice that changes a number of a release audit."""

    secrets: tuple[str, ...] = ()  # () = those of the schema, or every column
    keys: tuple[str, ...] = ()  # () = those of the schema, or all other columns
    attacks: int = 1000  # of each criterion
    confidence: float = 0.95
    people_rate: float = 0.10  # false discoveries among the people who are named
    seed: int = 0

    def to_plain(self) -> dict[str, Any]:
        return {
            "secrets": list(self.secrets), "keys": list(self.keys), "attacks": self.attacks,
            "confidence": self.confidence, "people_rate": self.people_rate,
        }  # fmt: skip


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
    progress: Progress = lambda done, total: None,
) -> Result:
    """Audit a release. `synthetic` is one table or a list of tables (M sets of one release).

    Tables are paths, frames (pandas, polars, pyarrow) or Tables. Without a holdout the audit measures, but cannot say how
    much of it the release adds to what the population teaches anyway.
    """
    plan = ReleasePlan(tuple(secrets), tuple(keys), attacks, confidence, seed=seed)
    release = read_release(real, synthetic, holdout, schema, secrets=plan.secrets, keys=plan.keys)
    return run(release, plan, workers=workers, progress=progress)


def run(
    release: Release, plan: ReleasePlan, *, workers: int = 1, progress: Progress = lambda done, total: None
) -> Result:
    """Carry out the audit part by part."""
    from unmask.audits.release_sections import SECTIONS

    parts = []
    for place, section in enumerate(SECTIONS):
        progress(place, len(SECTIONS))
        parts.append(section(release, plan, workers))
    progress(len(SECTIONS), len(SECTIONS))
    explained = max(part.explained for part in parts)
    if explained == 0:
        parts += [part.naming for part in parts if part.naming is not None]
    findings = [_less_explained(finding, explained) for part in parts for finding in part.findings]
    return Result(
        audit="release",
        seed=plan.seed,
        plan=plan.to_plain(),
        inputs=tuple(describe_input(role, table) for role, table in release.tables),
        findings=tuple(sorted(findings, key=lambda finding: (-finding.severity.rank, -finding.estimate.low))),
        grids=tuple(grid for part in parts for grid in part.grids),
        series=tuple(series for part in parts for series in part.series),
        notes=release.notes + tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        not_tested=_without_holdout(release) + tuple(item for part in parts for item in part.not_tested),
        records=_records(release, parts),
    )


def _less_explained(finding: Finding, explained: float) -> Finding:
    """Where real and holdout differ by themselves, only what goes beyond that difference is evidence of a leak."""
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
        order = order[np.argsort(-np.asarray(values, dtype=np.float64)[order], kind="stable")]
    lists = [values[order].tolist() for _, values in everything]
    rows = tuple((int(row), *(_cell(values[place]) for values in lists)) for place, row in enumerate(order))
    return Records(("row", *(name for name, _ in everything)), rows)


def _cell(value: Any) -> Cell:
    return round(value, 6) if isinstance(value, float) else value
