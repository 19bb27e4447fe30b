"""Membership: real people against the holdout, and who is named as at risk."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unmask.audits.part import Part, SomePeople
from unmask.audits.release.case import KNOWS_RELEASE, REDO, Case, Check, Family, ReleasePart, words
from unmask.audits.release.exposure import of_names
from unmask.audits.release.leading.crowd import FEWEST, LINKED, MOST_OTHERS, Crowd
from unmask.audits.release.leading.judging import LEARNT, LEARNT_NAME, LINKAGE, led
from unmask.audits.release.leading.naming import named
from unmask.audits.release.scoring import ATTACKS, judge_scores, left_out, rows_left_out
from unmask.audits.release.tables import Release
from unmask.audits.score_charts import roc_series, score_histograms
from unmask.metrics.legal import value_text
from unmask.results.figures import figure, in_100
from unmask.results.grid import Cell, Grid, GridKind, Role, Section, Series, SeriesKind
from unmask.results.result import Facts, Finding, NotTested
from unmask.results.small_groups import crowd_quantiles, hidden_places
from unmask.stats import clopper_pearson
from unmask.stats.multiplicity import Listing
from unmask.stats.outcomes import FPR_GRID, MembershipOutcome
from unmask.tables.schema import Origin
from unmask.tables.table import Table
from unmask.tables.units import units

OWN = Family("attackers' own attacks", 0.10, lambda release: len(ATTACKS))
HEADS = (
    "attack", "AUC", "low", "high", *(f"TPR at FPR {fpr:g}" for fpr in FPR_GRID), "advantage", "advantage low",
    "advantage high", "members", "others",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class JudgedAttack:
    """An attack with its finding, its rates and the scores behind them."""

    finding: Finding
    outcome: MembershipOutcome
    members: np.ndarray
    others: np.ndarray


def membership_part(case: Case) -> Part:
    """The learnt auditor and linkage weights first, then what attackers have of their own; and the people who stand out."""
    if case.release.holdout is None:
        return Part()
    judged = [*_leading(case), *_own(case)]
    rows = tuple(_row(one) for one in judged)
    series: list[Series] = []
    for one in judged:
        series.append(roc_series(one.finding.name, one.members, one.others))
        series += score_histograms(one.finding.name, {"in the data": one.members, "holdout": one.others})
    findings, naming = [one.finding for one in judged], None
    refused = left_out(case.plan.people, len(case.release.synthetic))
    if case.crowd is None:
        refused = (_too_few(case), *refused)
    else:
        listing = named(case.crowd, rate=case.plan.people_rate, seed=case.plan.seed)
        naming = _naming(case, case.crowd, listing)
        exposure = of_names(listing, case.plan.people_rate)
        findings = [replace(one, exposure=exposure) if one.name == LEARNT_NAME else one for one in findings]
    title = "Membership: real people against people whom the generator never saw"
    roles = (Role.TEXT, Role.AUC, Role.LOW, Role.HIGH, *[Role.TEXT] * (len(HEADS) - 4))
    grid = Grid("membership", title, HEADS, rows, Section.ATTACKS, roles=roles)
    notes = rows_left_out(len(case.release.synthetic))
    return ReleasePart(tuple(findings), (grid,), tuple(series), notes, not_tested=refused, naming=naming)


def _leading(case: Case) -> Iterator[JudgedAttack]:
    for one in led(case):
        yield JudgedAttack(one.finding(case), one.outcome, one.scores[one.members], one.scores[~one.members])


def _own(case: Case) -> Iterator[JudgedAttack]:
    """What attackers who learn nothing from members can do: thresholds from one half of the people, rates from the other."""
    plan = case.plan
    tests = (1 - plan.confidence) / (2 * case.error(OWN))  # as many equal shares of the error as give each one its own
    for scores in case.scores:
        outcome = judge_scores(scores, plan.seed, confidence=plan.confidence, tests=tests)
        if outcome is None:
            continue
        point = outcome.tpr_at[FPR_GRID.index(0.01)]
        severity = plan.policy.severity(max(0.0, outcome.adjusted_low), tpr_at_1_percent=outcome.certain_tpr)
        estimate = figure(outcome.advantage)
        finding = Finding(
            scores.name,
            f"{scores.name}: {words(point.tpr.value)} members are recognised at 1 in 100 false alarms "
            f"({words(outcome.tpr.value)} at {words(outcome.fpr.value)})",
            f"{KNOWS_RELEASE}, and other people of the population, and wants to know whether the person was in the data.",
            "membership",
            severity,
            estimate,
            None,
            figure(outcome.fpr),
            REDO if severity.rank else case.unproven(estimate),
        )
        yield JudgedAttack(finding, outcome, scores.members, scores.controls)


def _row(one: JudgedAttack) -> tuple[Cell, ...]:
    found = one.outcome
    rates = (point.tpr.value for point in found.tpr_at)
    gain = found.advantage
    cells = (found.auc.value, found.auc.low, found.auc.high, *rates, gain.value, gain.low, gain.high)
    return one.finding.name, *(round(float(cell), 4) for cell in cells), len(one.members), len(one.others)


def _too_few(case: Case) -> NotTested:
    people = units(case.release.real).count, 0 if case.release.holdout is None else units(case.release.holdout).count
    return NotTested(
        "the learnt auditor, and who is at risk",
        f"there are {people[0]:,} real people and {people[1]:,} in the holdout; {FEWEST} of each are needed",
        "give a larger holdout: hundreds of people, as many as the real table has if possible",
    )


def _naming(case: Case, crowd: Crowd, listing: Listing) -> Part:
    """People at risk, in words, in a strip, by group, and in records.csv."""
    release, plan = case.release, case.plan
    count, asked = int(listing.rejected.sum()), len(listing.rejected)
    looked = units(release.real).count
    note = (
        f"{count:,} people are named as at risk (records.csv); on average at most {in_100(plan.people_rate)} of them by mistake."
        if count
        else "Nobody is named as at risk."
    )
    if asked < looked:
        note += f" Of {looked:,} real people {asked:,}, drawn at random, were looked at one by one (--people {plan.people:,})"
        note += _unseen(case, crowd)
    risk = -np.log10(np.maximum(listing.adjusted, 1e-12))
    rows, person = _rows_of(release.real, crowd.member_rows)
    at_risk, exposure, size = listing.rejected[person], risk[person], len(release.real)
    columns = (("named at risk", SomePeople(size, rows, at_risk)), ("exposure", SomePeople(size, rows, exposure)))
    strip = Series(
        "risk/exposure", "Exposure of everybody", "share of the people", "exposure (-log10 of the adjusted p-value)",
        *crowd_quantiles(risk), SeriesKind.RISK, Section.RISK,
    )  # fmt: skip
    return Part(
        grids=_groups(release, rows, person, at_risk),
        series=(strip,) if strip.x else (),
        notes=(note,),
        facts=Facts(at_risk=(note,)),
        columns=columns,
    )


def _rows_of(real: Table, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All rows of the people of whom one row each was chosen, and the place of each of them among those people.

    What holds for a person holds for all of their rows.
    """
    if real.persons is None:
        return chosen, np.arange(len(chosen))
    everyone = units(real).of_row
    place = np.full(int(everyone.max()) + 1, -1, dtype=np.int64)
    place[everyone[chosen]] = np.arange(len(chosen))
    rows = np.flatnonzero(place[everyone] >= 0)
    return rows, place[everyone[rows]]


def _unseen(case: Case, crowd: Crowd) -> str:
    """What so many people can hardly show: if the k who look most like members all are, chance does that with share^k."""
    members, people = int(crowd.linked.members.sum()), len(crowd.linked)
    needed = math.ceil(math.log(case.error(LINKAGE)) / math.log(members / people))
    share = f"{100 * needed / members:.2g} % of the real people"
    return (
        f" and compared with {len(crowd.reference):,} people; linkage weights were taken of {members:,}. Fewer than {needed} "
        f"leaked people among them ({share}), if no verbatim copies, mostly look like chance, and so do some more; looking at "
        "more people shows smaller leaks."
    )


def _groups(release: Release, rows: np.ndarray, person: np.ndarray, at_risk: np.ndarray) -> tuple[Grid, ...]:
    """The share of named people by value of each key, of those whom attacks looked at: rows, whose they are, who is named.

    Small groups and values that are not public are not told.
    """
    if not at_risk.any() or release.schema.origin is not Origin.PUBLIC:
        return ()
    told = [row for key in release.schema.keys for row in _group_rows(release, key, rows, person, at_risk)]
    if not told:
        return ()
    heads = ("column", "value", "people", "named at risk", "low", "high")
    roles = (Role.BY, Role.GROUP, Role.PEOPLE, Role.ESTIMATE, Role.LOW, Role.HIGH)
    title = "Who is at risk, by group"
    return (Grid("groups", title, heads, tuple(told), Section.RISK, GridKind.GROUPS, roles, detail=True),)


def _group_rows(
    release: Release, key: str, rows: np.ndarray, person: np.ndarray, at_risk: np.ndarray
) -> Sequence[tuple[Cell, ...]]:
    position = release.schema.position(key)
    column = release.schema.columns[position]
    if column.is_numeric:
        return ()
    codes = release.real.codes[rows, position]
    people = {int(code): np.unique(person[codes == code], return_index=True)[1] for code in np.unique(codes)}
    hidden = hidden_places([len(first) for first in people.values()])
    told: list[tuple[Cell, ...]] = []
    for place, (code, first) in enumerate(people.items()):
        if place not in hidden:
            share = clopper_pearson(int(at_risk[codes == code][first].sum()), len(first))
            figures = (round(number, 4) for number in (share.value, share.low, share.high))
            told.append((key, value_text(column, code), len(first), *figures))
    return told


def _seconds(case: Case) -> float:
    """The crowd against release and crowd, linkage weights of others, and every attack of its own."""
    real, published, held, width = case.sizes
    if not held:
        return 0.0
    crowd = min(case.plan.people, real) + min(case.plan.people, held)
    own = 0.0
    for entry in ATTACKS.values():
        most = entry.most(case.plan.people, published)
        looked_at = min(entry.rows, published)
        own += entry.pair * width * (min(most, real) + min(most, held)) * (looked_at + held / 2)
    others = min(MOST_OTHERS, real) + min(MOST_OTHERS, held)
    linked = 4e-12 * width * (1 + LINKED) * crowd * (published + others)
    return 2.5 + 0.3e-9 * width * crowd * (published + 3 * crowd) + linked + own + 2e-6 * published


MEMBERSHIP = Check("membership", membership_part, (LEARNT, LINKAGE, OWN), cost=15, seconds=_seconds)
