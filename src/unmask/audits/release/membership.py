"""Membership: real people against the holdout, and who is named as at risk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.audits.part import Part
from unmask.audits.release.case import KNOWS_RELEASE, REDO, Case, Check, ReleasePart, words
from unmask.audits.release.exposure import of_names
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.release.scoring import ATTACKS, LEADING, Scores, judge_scores
from unmask.audits.release.tables import Release
from unmask.audits.score_charts import roc_series, score_histograms
from unmask.metrics.legal import value_text
from unmask.results.figures import figure, in_100
from unmask.results.grid import Cell, Grid, GridKind, Role, Section, Series, SeriesKind
from unmask.results.result import Facts, Finding
from unmask.results.small_groups import crowd_quantiles, hidden_places
from unmask.stats import (
    Listing,
    benjamini_hochberg,
    clopper_pearson,
    conformal_p_values,
    smallest_visible_leak,
)
from unmask.stats.outcomes import FPR_GRID
from unmask.tables.schema import Origin
from unmask.tables.units import units


def membership_part(case: Case) -> Part:
    """Real people against the half of the holdout that the attacker does not hold, and the people who stand out."""
    release, plan, sides = case.release, case.plan, case.sides
    if sides is None:
        return Part()
    findings, series = [], []
    rows: list[tuple[Cell, ...]] = []
    leading: Scores | None = None
    for scores in case.scores:
        outcome = judge_scores(scores, plan.seed, confidence=plan.confidence, tests=case.headlines)
        if outcome is None:
            continue
        point = outcome.tpr_at[FPR_GRID.index(0.01)]
        severity = plan.policy.severity(max(0.0, outcome.adjusted_low), tpr_at_1_percent=outcome.certain_tpr)
        findings.append(
            Finding(
                scores.name,
                f"{scores.name}: {words(point.tpr.value)} members are recognised at 1 in 100 false alarms "
                f"({words(outcome.tpr.value)} at {words(outcome.fpr.value)})",
                f"{KNOWS_RELEASE}, and other people of the population, and wants to know whether the person was in the data.",
                "membership",
                severity,
                figure(outcome.advantage),
                None,
                figure(outcome.fpr),
                REDO if severity.rank else "This attack told members from others no better than chance.",
            )
        )
        a = outcome.auc
        rates = (p.tpr.value for p in outcome.tpr_at)
        cells = (a.value, a.low, a.high, *rates, outcome.advantage.value, outcome.advantage.low, outcome.advantage.high)
        rows.append(
            (scores.name, *(round(float(cell), 4) for cell in cells), len(scores.members), len(scores.controls))
        )
        series.append(roc_series(scores.name, scores.members, scores.controls))
        series += score_histograms(scores.name, {"in the data": scores.members, "holdout": scores.controls})
        if scores.name == LEADING:
            leading = scores
    heads = ("attack", "AUC", "low", "high", *(f"TPR at FPR {fpr:g}" for fpr in FPR_GRID), "advantage", "advantage low",
             "advantage high", "members", "others")  # fmt: skip
    naming = None
    if leading is not None:
        listing, naming = _named(release, plan, leading)
        exposure = of_names(listing, plan.people_rate)
        findings = [replace(one, exposure=exposure) if one.name == LEADING else one for one in findings]
    title = "Membership: real people against people whom the generator never saw"
    roles = (Role.TEXT, Role.AUC, Role.LOW, Role.HIGH, *[Role.TEXT] * (len(heads) - 4))
    grid = Grid("membership", title, heads, tuple(rows), Section.ATTACKS, roles=roles)
    judged = len(sides.members) // 2, len(sides.controls) // 2  # the other halves set the thresholds
    visible = smallest_visible_leak(*judged, confidence=case.strict) if min(judged) > 0 else np.inf
    notes = (
        f"At best, with this holdout: a leak of {visible:.1%} of the members would be seen in 8 of 10 audits."
        if np.isfinite(visible)
        else "This holdout is too small to show any leak by membership.",
    )
    return ReleasePart(tuple(findings), (grid,), tuple(series), notes, facts=Facts(visible=notes), naming=naming)


def _named(release: Release, plan: ReleasePlan, scores: Scores) -> tuple[Listing, Part]:
    """People at risk: conformal p-values against the holdout scores of one attack fixed beforehand, then BH."""
    p = conformal_p_values(scores.members, scores.controls)
    listing = benjamini_hochberg(p, rate=plan.people_rate)
    count = int(listing.rejected.sum())
    least = 1 / (len(scores.controls) + 1)
    needed = int(np.ceil(least * len(p) / plan.people_rate))
    note = (
        f"{count:,} people are named as at risk (records.csv); on average at most {in_100(plan.people_rate)} of them by mistake."
        if count
        else f"Nobody is named as at risk. With this holdout a list must hold at least {needed:,} people to be sure of them."
    )
    everyone = units(release.real).of_row  # what holds for a person holds for all of their rows
    place = np.empty(everyone.max() + 1, dtype=np.int64)
    place[everyone[scores.member_rows]] = np.arange(len(p))
    named, exposure = listing.rejected[place[everyone]], -np.log10(p)[place[everyone]]
    columns = (("named at risk", named.astype(np.int64)), ("exposure", exposure))
    strip = Series(
        "risk/exposure", "Exposure of everybody", "share of the people", "exposure (-log10 of the p-value against the holdout)",
        *crowd_quantiles(-np.log10(p)), SeriesKind.RISK, Section.RISK,
    )  # fmt: skip
    facts = Facts(at_risk=(note,))
    return listing, Part(
        grids=_groups(release, named), series=(strip,) if strip.x else (), notes=(note,), facts=facts, columns=columns
    )


def _groups(release: Release, named: np.ndarray) -> tuple[Grid, ...]:
    """The share of named people by value of each key; small groups and values that are not public are not told."""
    if not named.any() or release.schema.origin is not Origin.PUBLIC:
        return ()
    everyone = units(release.real).of_row
    rows: list[tuple[Cell, ...]] = []
    for key in release.schema.keys:
        position = release.schema.position(key)
        column = release.schema.columns[position]
        if column.is_numeric:
            continue
        codes = release.real.codes[:, position]
        people = {int(code): np.unique(everyone[codes == code], return_index=True)[1] for code in np.unique(codes)}
        hidden = hidden_places([len(first) for first in people.values()])
        for place, (code, first) in enumerate(people.items()):
            if place not in hidden:
                share = clopper_pearson(int(named[codes == code][first].sum()), len(first))
                figures = (round(figure, 4) for figure in (share.value, share.low, share.high))
                rows.append((key, value_text(column, code), len(first), *figures))
    if not rows:
        return ()
    heads = ("column", "value", "people", "named at risk", "low", "high")
    roles = (Role.BY, Role.GROUP, Role.PEOPLE, Role.ESTIMATE, Role.LOW, Role.HIGH)
    title = "Who is at risk, by group"
    return (Grid("groups", title, heads, tuple(rows), Section.RISK, GridKind.GROUPS, roles, detail=True),)


MEMBERSHIP = Check("membership", membership_part, headlines=lambda release: len(ATTACKS))
