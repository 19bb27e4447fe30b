"""Row-aligned releases, sanitised, perturbed or partly synthetic: how many records are linked to their own rows (ruiz2018)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unmask.audits.part import Part
from unmask.audits.release.case import REDO, Case, Check, Family, ReleasePart
from unmask.audits.release.tables import Release
from unmask.errors import ParameterError
from unmask.metrics.rank_linkage import Links, RankLinkage, rank_linkage
from unmask.results.figures import figure, in_100
from unmask.results.grid import Cell, Grid, Role, Section
from unmask.results.policy import Severity
from unmask.results.result import Finding
from unmask.stream import stream
from unmask.tables.distance import RankCriterion
from unmask.tables.table import Table

MOST_WORK = 4_000_000_000  # comparisons of ranks: some seconds
FEWEST = 200

FAMILY = Family("links of aligned rows", 0.01, lambda release: len(release.sets) if release.aligned else 0)

HEADS = (
    "linked by", "criterion", "set", "correct links", "by chance", "sd of chance", "p (Poisson)", "p (bound)",
    "share", "low", "high",
)  # fmt: skip
ROLES = (*[Role.TEXT] * 8, Role.ESTIMATE, Role.LOW, Role.HIGH)
KNOWS = "Someone who holds the real table and a release whose rows stem from it brings rows and people together by their ranks."


def aligned_part(case: Case) -> Part:
    """Correct links by every criterion; nothing where rows stem from nobody."""
    release, plan = case.release, case.plan
    if not release.aligned:
        return Part()
    sets = aligned_sets(release)
    work = len(release.schema.columns) * sum(map(len, sets)) * len(RankCriterion)
    most = max(FEWEST, MOST_WORK // work)
    rng = stream(plan.seed, "aligned")
    size = len(release.real)
    chosen = np.sort(rng.choice(size, most, replace=False)) if size > most else np.arange(size)
    ways: dict[str, list[str] | None] = {"all columns": None}
    if plan.synthesised:
        ways["synthesised columns"] = list(plan.synthesised)
    found = {
        (way, criterion): rank_linkage(
            release.real, sets, criterion=criterion, columns=columns, only=chosen, permutations=0,
            confidence=plan.confidence, workers=case.workers, rng=rng,
        )
        for way, columns in ways.items()
        for criterion in RankCriterion
    }  # fmt: skip
    rows = tuple(
        _row(way, criterion, place, links)
        for (way, criterion), linked in found.items()
        for place, links in enumerate(linked.releases, 1)
    )
    lead = found["all columns", RankCriterion.SUM]  # chosen before anything was seen
    grid = Grid(
        "aligned links", "Real records linked to their own rows", HEADS, rows, Section.ATTACKS, roles=ROLES, detail=True
    )
    findings = tuple(_finding(case, lead.releases, place) for place in range(len(sets)))
    return ReleasePart(
        findings=findings,
        grids=(grid,),
        notes=tuple(_notes(lead, len(chosen), size)),
        columns=tuple(_column(size, place, links) for place, links in enumerate(lead.releases, 1)),
        stands={finding.name: finding.severity for finding in findings},  # chance is all that it is compared with
    )


def aligned_sets(release: Release) -> list[Table]:
    """The sets with the rows of the real table as it is examined, in its order."""
    kept = release.rows
    found = []
    for place, table in enumerate(release.sets, 1):
        if kept is not None and len(table) > int(kept.max(initial=-1)):
            table = table.take(kept)
        if len(table) != len(release.real):
            raise ParameterError(
                f"--aligned: set {place} has {len(table):,} rows and the real table {len(release.real):,}, so its rows are not "
                "those of the real table in order. Leave out --aligned, or give the rows that stem from the real ones."
            )
        found.append(table)
    return found


def _row(way: str, criterion: RankCriterion, place: int, links: Links) -> tuple[Cell, ...]:
    rate = links.rate
    return (
        way, str(criterion), place, round(float(links.correct.sum()), 2), round(links.expected, 4), round(links.deviation, 4),
        float(f"{links.poisson:.3g}"), float(f"{links.chance:.3g}"), *(round(x, 4) for x in (rate.value, rate.low, rate.high)),
    )  # fmt: skip


def _finding(case: Case, releases: Sequence[Links], place: int) -> Finding:
    links = releases[place]
    shown = links.chance <= case.error(FAMILY)
    severity = case.plan.policy.severity(links.rate.low) if shown else Severity.NONE
    total, many = float(links.correct.sum()), len(links.rows)
    name = "linking of aligned rows" if len(releases) == 1 else f"linking of aligned rows, set {place + 1}"
    title = (
        f"{in_100(links.rate.value) if total else 'none in 100'} real records are linked to their own row by ranks alone: "
        f"{total:,.1f} of {many:,}, {links.expected:.2g} by chance"
    )
    advice = REDO if shown else "No more correct links than chance explains for certain."
    return Finding(name, title, KNOWS, "linking", severity, figure(links.rate), None, None, advice)


def _notes(lead: RankLinkage, linked: int, size: int) -> list[str]:
    notes = [
        f"Aligned rows, {place} set{'' if place == 1 else 's'}: a random pick among the links hits at least once for "
        f"{in_100(share.value)} records."
        for place, share in enumerate(lead.at_least_once, 1)
        if place in (1, len(lead.at_least_once))
    ]
    if linked < size:
        notes.append(f"Aligned rows: {linked:,} of {size:,} real records were linked, drawn at random.")
    return notes


def _column(size: int, place: int, links: Links) -> tuple[str, np.ndarray]:
    values = np.full(size, np.nan)
    values[links.rows] = links.correct
    return f"linked to its own row, set {place}", values


ALIGNED = Check("links of aligned rows", aligned_part, (FAMILY,))
