"""The three legal criteria: singling out, linking and inferring."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from unmask.audits.part import Part, SomePeople
from unmask.audits.release.case import HOW_TO_GET_A_HOLDOUT, REDO, Case, Check, Family, words
from unmask.audits.release.exposure import SHOWN, of_criterion
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.release.tables import Release
from unmask.metrics.inference import inferences
from unmask.metrics.legal import Criterion, Group, groups, persons
from unmask.metrics.linkability import linkability
from unmask.metrics.singling_out import MOST_ROWS, Mode, singling_out
from unmask.results.figures import figure
from unmask.results.grid import Cell, Grid, GridKind, Role, Section
from unmask.results.policy import Severity
from unmask.results.result import Finding
from unmask.results.small_groups import hidden_places
from unmask.stats import Estimate
from unmask.stats.intervals import difference_limits
from unmask.stream import stream
from unmask.tables.schema import Origin
from unmask.tables.search.groups import forget

FAMILIES = {
    "singling out": Family("singling out", 0.10, lambda release: len(Mode)),
    "linking": Family("linking", 0.05),
    "inferring": Family("inferring", 0.10, lambda release: len(release.guessed)),
}
MOST_PAIRS = 12_000_000_000  # of attempts to infer and published rows, for all secrets together: some seconds
FEWEST = 100  # attempts however large the release is
MOST_GROUPS = 100  # keeps the report small

_PURPOSE = {
    "singling out": "tries to describe a real person so that only that person fits",
    "linking": "holds two halves of a person's record and tries to bring them together",
    "inferring": "knows some columns of a person and guesses another",
}


def criteria_part(case: Case) -> Part:
    """Singling out, linking and inferring, each with a baseline and a control."""
    release, plan = case.release, case.plan
    common: dict[str, Any] = {"holdout": release.holdout, "attempts": plan.attempts, "confidence": plan.confidence}
    found: list[tuple[str, str, Criterion]] = []
    for mode in Mode:
        rng = stream(plan.seed, "singling out", mode)
        single = singling_out(release.real, release.synthetic, mode=mode, rng=rng, **common)
        found.append(("singling out", f"singling out, {mode}", single))
    if len(release.schema.columns) > 1:
        rng = stream(plan.seed, "linkability")
        linked = linkability(release.real, release.synthetic, workers=case.workers, rng=rng, **common)
        found.append(("linking", "linking", linked))
        fewer = _attempts(case)
        guessed = inferences(
            release.real, release.synthetic, secrets=release.guessed, workers=case.workers,
            rng=stream(plan.seed, "inference"), **common | {"attempts": fewer},
        )  # fmt: skip
        found += [("inferring", f"inferring {item.secret}", item) for item in guessed.criteria]
        forget(release.synthetic)  # no later part looks for near rows in it
    findings = tuple(_criterion_finding(case, *item) for item in found)
    rows = tuple(_criterion_row(name, criterion) for _, name, criterion in found)
    heads = ("criterion", "attack", "baseline", "control", "gain", "low", "high", "p", "excess risk")
    title = "Singling out, linking, inferring (shares of attempts that succeed)"
    grid = Grid(SHOWN, title, heads, rows, Section.ATTACKS)
    notes = tuple(f"{name}: {note}" for _, name, criterion in found for note in criterion.notes) + _fewer(case)
    size = len(
        release.real
    )  # for records.csv: whether the attack on a row succeeded; nothing where it was not attacked
    columns = tuple((name, SomePeople(size, criterion.rows, criterion.successes)) for _, name, criterion in found)
    return Part(findings, (grid, *_by_group(release, plan, found)), notes=notes, columns=columns)


def _attempts(case: Case) -> int:
    """Attempts on each secret: those asked for, or fewer where many secrets are looked for among many rows."""
    release, asked = case.release, case.plan.attempts
    pairs = 2 * len(release.guessed) * len(release.synthetic)  # an attempt each on real people and on others
    return min(asked, max(FEWEST, int(MOST_PAIRS / (pairs * max(1.0, case.sizes[3])))))


def _fewer(case: Case) -> tuple[str, ...]:
    asked, made = case.plan.attempts, _attempts(case)
    if made == asked or len(case.release.schema.columns) < 2:
        return ()
    release = case.release
    return (
        f"Inferring: {made:,} of {asked:,} attempts were made on each of {len(release.guessed)} columns, since there are "
        f"{len(release.synthetic):,} published rows of {len(release.schema.columns)} columns; intervals are "
        f"{(asked / made) ** 0.5:.1f} times as wide. Name the columns that matter with --secret.",
    )


def _by_group(release: Release, plan: ReleasePlan, found: list[tuple[str, str, Criterion]]) -> tuple[Grid, ...]:
    """Each criterion by value of each categorical key; small groups and values that are not public are not told."""
    if release.schema.origin is not Origin.PUBLIC:
        return ()
    rows: list[tuple[Cell, ...]] = []
    for key in release.schema.keys:
        if release.schema.column(key).is_numeric:
            continue
        for _, name, criterion in found:
            divided = groups(criterion, release.real, column=key, holdout=release.holdout, confidence=plan.confidence)
            sizes = _group_sizes(release, criterion, key)
            hidden = hidden_places([min(of_side for of_side in both if of_side > 0) for both in sizes])
            rows += [
                (name, key, group.value, *both, *_group_cells(group))
                for place, (group, both) in enumerate(zip(divided, sizes, strict=True))
                if place not in hidden and group.difference is not None
            ]
    heads = ("criterion", "column", "value", "people", "others", "success", "control", "gain", "low", "high")
    rows.sort(key=lambda row: -float(row[-2] or 0))  # the groups about which most was shown
    title = "Singling out, linking, inferring by group (intervals are for one group each)"
    if len(rows) > MOST_GROUPS:
        title = f"{title}: the first {MOST_GROUPS} of {len(rows):,}"
    if not rows:
        return ()
    roles = (Role.BY, Role.BY, Role.GROUP, Role.PEOPLE, *[Role.TEXT] * 6)
    shown = tuple(rows[:MOST_GROUPS])
    return (Grid("groups/criteria", title, heads, shown, Section.RISK, GridKind.GROUPS, roles, detail=True),)


def _group_sizes(release: Release, criterion: Criterion, key: str) -> list[tuple[int, int]]:
    """Attacked people and holdout people of each group, in the order of `groups`."""
    place = release.schema.position(key)
    sides = [(release.real, criterion.rows)]
    if release.holdout is not None:
        sides.append((release.holdout, criterion.control_rows))
    codes = [table.codes[rows, place] for table, rows in sides]
    people = [np.arange(len(rows)) if (of := persons(table, rows)) is None else of for table, rows in sides]
    counted = [
        [len(np.unique(who[at == code])) for who, at in zip(people, codes, strict=True)] for code in np.unique(codes[0])
    ]
    return [(sizes[0], sizes[1] if len(sizes) > 1 else 0) for sizes in counted]


def _group_cells(group: Group) -> tuple[Cell, ...]:
    gap, control = group.difference, group.control
    if gap is None or control is None:
        return ()
    return tuple(
        round(float(figure), 4) for figure in (group.attack.value, control.value, gap.value, gap.low, gap.high)
    )


def _criterion_row(name: str, criterion: Criterion) -> tuple[Cell, ...]:
    def of(estimate: Estimate | None) -> float:
        return round(estimate.value, 4) if estimate is not None else float("nan")

    gain = criterion.difference
    low, high = (round(gain.low, 4), round(gain.high, 4)) if gain is not None else (float("nan"), float("nan"))
    p = criterion.p_value if criterion.p_value is not None else float("nan")
    cells = (
        of(criterion.attack),
        of(criterion.baseline),
        of(criterion.control),
        of(gain),
        low,
        high,
        float(f"{p:.3g}"),
        of(criterion.risk),
    )
    return (name, *cells)


def _criterion_finding(case: Case, kind: str, name: str, found: Criterion) -> Finding:
    control = found.control.value if found.control else None
    against = f", {words(control)} on people who are not in the data" if control is not None else ""
    severity = Severity.NONE
    if found.difference is not None:
        family = FAMILIES[kind]
        shown = found.p_value is not None and found.p_value <= case.error(family)
        severity = case.plan.policy.severity(_lower(found, case.strict(family))) if shown else Severity.NONE
    estimate = figure(found.difference or found.attack)
    return Finding(
        name,
        f"{name}: the attack succeeds in {words(found.attack.value)} attempts{against}",
        f"Someone who holds the release {_PURPOSE[kind]}.",
        kind,
        severity,
        estimate,
        figure(found.baseline),
        figure(found.control) if found.control else None,
        REDO if severity.rank else (case.unproven(estimate) if found.difference else HOW_TO_GET_A_HOLDOUT),
        of_criterion(case.release, found, case.plan.confidence),
    )


def _lower(found: Criterion, confidence: float) -> float:
    """Lower bound of the gain at another confidence.

    The interval of a difference widens like its normal quantile, or faster where a rate is near 0; units that are not
    independent are in its width already. So the lower of two: the given interval stretched, and the exact one of the rates.
    """
    if found.difference is None or found.control is None:
        return 0.0
    gap = found.difference
    wider = float(ndtri(0.5 + confidence / 2) / ndtri(0.5 + gap.confidence / 2))
    attack, control = found.attack, found.control
    of_rates, _ = difference_limits(
        attack.value * attack.n, attack.n, c=control.value * control.n, n_c=control.n, confidence=confidence
    )
    return max(0.0, min(gap.value - wider * (gap.value - gap.low), float(of_rates)))


def _seconds(case: Case) -> float:
    _, published, _, width = case.sizes
    searched = 2 * len(case.release.guessed) * _attempts(case) + 4 * case.plan.attempts
    sorted_rows = min(published, MOST_ROWS)  # by singling out, twice
    return 0.5 + 0.35e-9 * width * searched * published + 6e-6 * width * sorted_rows


CRITERIA = Check("singling out, linking, inferring", criteria_part, tuple(FAMILIES.values()), cost=3, seconds=_seconds)
