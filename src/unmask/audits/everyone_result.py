"""From judged people to findings, tables, series and records."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from unmask.audits.coin_pool import CoinPool
from unmask.audits.everyone_evidence import Evidence, Judged
from unmask.audits.everyone_marks import group_columns, groups_grid, marks_grid, marks_of
from unmask.audits.everyone_people import PERSON_FPR, People
from unmask.audits.everyone_plan import EveryonePlan
from unmask.audits.everyone_pooled import RATES, Pooled, judge_pooled
from unmask.audits.everyone_power import Power, power_in_words
from unmask.audits.judge import Policy, figure, in_100
from unmask.audits.mechanism_words import advice_for
from unmask.audits.result import (
    Cell,
    Exposure,
    Facts,
    Figure,
    Finding,
    Grid,
    NotTested,
    Records,
    Result,
    Series,
    Severity,
    describe_input,
)
from unmask.audits.score_histogram import score_histograms
from unmask.generators.claim import Claim
from unmask.stats import LOG_GRID, Bound, clopper_pearson, largest_visible_of_bets, roc_curve, roc_on_grid
from unmask.tables.table import Table
from unmask.threats.coins import Coins

NAME = "everyone"
BETS = "e-value of bets"
THREAT = (
    "An attacker who has all records but knows of nobody whether they were in the training data, can fit the same "
    "generator many times, {model}, and asks for each person: were they in?"
)


@dataclass(frozen=True, eq=False)
class Audited:
    """Everything that was found out, before it is put into words."""

    plan: EveryonePlan
    real: Table  # the whole table, before any subsample
    rows: np.ndarray  # row of the real table of each candidate row
    coins: Coins
    claim: Claim | None
    pool: CoinPool
    judged: Judged
    people: People
    control: People  # the same with the coins of other runs
    bound: Bound | None
    claim_bound: Bound | None  # on the units that the claim is about
    power: Power
    extra: Extra = field(default_factory=lambda: Extra())


@dataclass(frozen=True)
class Extra:
    """What later stages add: confirmation, attributes."""

    findings: tuple[Finding, ...] = ()
    grids: tuple[Grid, ...] = ()
    series: tuple[Series, ...] = ()
    notes: tuple[str, ...] = ()
    not_tested: tuple[NotTested, ...] = ()
    columns: tuple[tuple[str, tuple[Cell, ...]], ...] = ()  # more columns of records.csv, one cell per unit
    failed_tasks: int = 0

    def __add__(self, other: Extra) -> Extra:
        return Extra(
            self.findings + other.findings,
            self.grids + other.grids,
            self.series + other.series,
            self.notes + other.notes,
            self.not_tested + other.not_tested,
            self.columns + other.columns,
            self.failed_tasks + other.failed_tasks,
        )


def build_result(audited: Audited) -> Result:
    """The result of the audit of everyone."""
    plan, people, extra = audited.plan, audited.people, audited.extra
    pooled = judge_pooled(_coined(audited, audited.judged.late), confidence=plan.confidence)
    findings = [_membership(audited, pooled), _list(audited), *_claim(audited), *extra.findings]
    marks = marks_of(audited.pool.setting.features)
    visible = power_in_words(audited.power, len(audited.pool))
    at_risk = _at_risk(audited)
    grids = (_attacks_grid(audited, pooled), _controls(audited), _people_grid(audited), marks_grid(marks, people),
             groups_grid(audited.pool.setting.features, people, group_columns(audited.real.schema, plan.groups)))  # fmt: skip
    claims = () if audited.claim is None else (f"The generator claims: {audited.claim}.",)
    return Result(
        audit=NAME,
        seed=plan.seed,
        plan=plan.to_plain(),
        inputs=(describe_input("real", audited.real),),
        findings=tuple(sorted(findings, key=lambda finding: -finding.severity.rank)),
        grids=(*(grid for grid in grids if grid is not None), *extra.grids),
        series=(*_series(audited), *extra.series),
        notes=(*_notes(audited), at_risk, visible, *claims, *extra.notes),
        facts=Facts(visible=(visible,), at_risk=(at_risk,), claims=claims),
        not_tested=(*_not_tested(audited), *extra.not_tested),
        failed_tasks=len(audited.pool.failures) + extra.failed_tasks,
        records=_records(audited, marks.values),
    )


def _coined(audited: Audited, evidence: Evidence) -> Evidence:
    return evidence.of(audited.pool.setting.game.judged)


def _threat(plan: EveryonePlan) -> str:
    sees = "sees the fitted model" if plan.access == "white-box" else "sees one synthetic table of each fit"
    return THREAT.format(model=sees)


def _membership(audited: Audited, pooled: Pooled) -> Finding:
    advantage, certain = pooled.advantage, pooled.tpr_at[0]
    severity = Policy().severity(max(0.0, advantage.low), tpr_at_1_percent=certain.low)
    return Finding(
        name=NAME,
        title=(
            f"Of people who are in the data {in_100(pooled.tpr.value)} are recognised, at {in_100(pooled.fpr.value)} false "
            f"alarms; at 1 false alarm in 100 it is {in_100(certain.value)}"
        ),
        threat=_threat(audited.plan),
        criterion="membership",
        severity=severity,
        estimate=figure(advantage),
        baseline=None,
        control=figure(pooled.fpr),
        advice=advice_for(severity),
    )


def _list(audited: Audited) -> Finding:
    """The worst person's bound holds for all units at once, so it may speak for the list."""
    people, plan = audited.people, audited.plan
    units = int(audited.pool.setting.game.judged.sum())
    listed = int(people.listed.sum())
    worst = float(people.certain.max(initial=0.0))
    gain = math.tanh(worst / 2)  # the advantage that an epsilon allows
    severity = Policy().severity(gain)
    if listed and severity is Severity.NONE:
        severity = Severity.LOW
    confidence = plan.confidence
    title = (
        f"The releases give away {listed:,} of {units:,} people beyond doubt (at most {in_100(plan.rate)} names are expected "
        f"to be wrong)" if listed else f"Nobody of {units:,} people could be listed as given away"
    )  # fmt: skip
    worst_gain = Figure(gain, gain, 1.0, confidence, f"{BETS}, all people at once", len(audited.judged.all.members))
    return Finding(
        name=f"{NAME}/people",
        title=title,
        threat=_threat(plan),
        criterion="singling out",
        severity=severity,
        estimate=worst_gain,
        baseline=None,
        control=figure(clopper_pearson(int(audited.control.listed.sum()), units, confidence=confidence)),
        advice=advice_for(severity),
        exposure=Exposure(
            attacked=units,
            hit=listed,
            worst=worst_gain,
            above=Figure(listed, math.floor((1 - plan.rate) * listed), units, 1 - plan.rate, "e-BH", units),
        ),
    )


def _claim(audited: Audited) -> Iterator[Finding]:
    claim, bound = audited.claim, audited.claim_bound
    if claim is None or bound is None or math.isinf(claim.epsilon):
        return
    refuted = bound.value > claim.epsilon
    severity = Severity.HIGH if refuted else Severity.NONE
    verdict = "is refuted" if refuted else "is not refuted"
    yield Finding(
        name=f"{NAME}/claim",
        title=f"The claim of epsilon {claim.epsilon:g} {verdict}: all coins together show epsilon >= {bound.value:.2f}",
        threat=_threat(audited.plan),
        criterion="dp claim",
        severity=severity,
        estimate=Figure(bound.value, bound.value, math.inf, bound.confidence, bound.method, bound.n),
        baseline=Figure(claim.epsilon, claim.epsilon, claim.epsilon, 1.0, "claimed", 0),
        control=None,
        advice=advice_for(severity),
    )


def _attacks_grid(audited: Audited, pooled: Pooled) -> Grid:
    """The scorer beside the raw distance that others report."""
    rows = [("everyone", *_cells(pooled))]
    late = _coined(audited, audited.judged.late)
    if (raw := _raw_distance(audited)) is not None:
        baseline = judge_pooled(Evidence(raw, late.members), confidence=audited.plan.confidence)
        rows.append(("distance to the closest record", *_cells(baseline)))
    heads = ("attack", "AUC", "low", "high", *(f"TPR at FPR {rate:g}" for rate in RATES))
    return Grid("attacks", "Everybody, all judged runs together", heads, tuple(rows))


def _cells(pooled: Pooled) -> tuple[Cell, ...]:
    found = (pooled.auc.value, pooled.auc.low, pooled.auc.high, *(point.value for point in pooled.tpr_at))
    return tuple(round(float(value), 4) for value in found)


def _raw_distance(audited: Audited) -> np.ndarray | None:
    """Minus the Hamming distance to the nearest synthetic row, in the late runs."""
    pool = audited.pool
    names = pool.setting.features.names
    if "hamming:1" not in names:
        return None
    place = names.index("hamming:1") - len(pool.setting.features.subsets)
    runs = range(len(pool) - len(audited.judged.late.members), len(pool))
    distances = np.stack([pool.load(run)[1][:, place] for run in runs]).astype(np.float64)
    return -distances[:, pool.setting.game.judged]


def _controls(audited: Audited) -> Grid:
    """The same analysis with the coins of other runs, and the pooled bound beside the largest it could have been."""
    units = int(audited.pool.setting.game.judged.sum())
    rows: list[tuple[Cell, ...]] = [
        ("people listed", int(audited.people.listed.sum()), units),
        ("people listed with the coins of other runs (must be 0)", int(audited.control.listed.sum()), units),
    ]
    if audited.bound is not None:
        rows.append(("epsilon, everybody together, >=", round(audited.bound.value, 3), round(audited.bound.largest_visible, 3)))
    return Grid("controls", "Controls", ("what", "found", "at most"), tuple(rows))


def _people_grid(audited: Audited) -> Grid | None:
    """Quantiles over the listed people; nobody in particular, and nothing for fewer than ten."""
    people, listed = audited.people, audited.people.listed
    if listed.sum() < SMALLEST_GROUP:
        return None
    names = {"AUC over runs": people.auc, f"TPR at FPR {PERSON_FPR:g}": people.tpr, "epsilon >=": people.epsilon}
    rows: list[tuple[Cell, ...]] = [
        (name, *(round(float(q), 3) for q in np.nanquantile(values[listed], (0.1, 0.5, 0.9))))
        for name, values in names.items()
    ]
    heads = ("of the people on the list", "a tenth is below", "half is below", "a tenth is above")
    return Grid("people", f"The {int(listed.sum()):,} people on the list", heads, tuple(rows))


def _series(audited: Audited) -> Iterator[Series]:
    late = _coined(audited, audited.judged.late)
    inside, outside = late.log_ratios[late.members], late.log_ratios[~late.members]
    yield _roc("everyone", inside, outside)
    if (raw := _raw_distance(audited)) is not None:
        yield _roc("distance to the closest record", raw[late.members], raw[~late.members])
    yield from score_histograms(NAME, {"in": inside, "out": outside}, "people and runs")
    exposure = audited.people.log_e[audited.pool.setting.game.judged] / math.log(10)
    shares = np.linspace(0, 1, 101)
    yield Series(
        "risk/exposure", "Exposure of everybody", "share of the people", "log10 of the e-value: evidence that the releases tell",
        tuple(round(float(share), 2) for share in shares),
        tuple(round(float(value), 3) for value in np.quantile(exposure, shares)),
    )  # fmt: skip
    yield Series(
        "power/everyone", "How often the list would hold a person whose record is copied", "share of releases with a copy",
        "share of trials in which the person is listed", audited.power.chances,
        tuple(round(share, 3) for share in audited.power.seen),
    )  # fmt: skip


def _roc(name: str, inside: np.ndarray, outside: np.ndarray) -> Series:
    rates = roc_on_grid(roc_curve(inside, outside))
    return Series(
        f"roc/{name}", f"ROC of {name}", "false positive rate", "true positive rate",
        tuple(float(fpr) for fpr in LOG_GRID), tuple(round(float(rate), 6) for rate in rates),
    )  # fmt: skip


def _at_risk(audited: Audited) -> str:
    listed, units = int(audited.people.listed.sum()), int(audited.pool.setting.game.judged.sum())
    if not listed:
        return f"Nobody of {units:,} people is on the list of those at risk."
    return (
        f"{listed:,} of {units:,} people are at risk: their presence shows in the releases. records.csv lists them by row; "
        f"at most {in_100(audited.plan.rate)} are expected to be wrong (e-BH)."
    )


def _notes(audited: Audited) -> Iterator[str]:
    plan, pool = audited.plan, audited.pool
    setting = pool.setting
    yield from audited.real.notes
    units, rows = setting.features.units, len(setting.candidates)
    fitted = units.count / 2
    yield (
        f"{len(pool):,} runs of the coin game: in each, every {'pair' if audited.coins is Coins.PAIRED else 'unit'} has a fair "
        f"coin, the generator is fitted to about {fitted:,.0f} of {units.count:,} units and publishes "
        f"{setting.synthetic_rows:,} rows. The first {audited.judged.learnt} runs teach the scorer, later ones are judged."
    )
    settled = "" if plan.confirm else "; only the exact game at full size settles it for single people"
    yield f"Each run learns from half of the people. That overstates what a fit to all of them gives away{settled}."
    if setting.generator.row_level:
        yield "This generator publishes changed real rows: their number varies with the coins, and counts as a leak here."
    if plan.subsample is not None and rows < len(audited.real):
        yield (
            f"Only {units.count:,} units, drawn at random, took part (--subsample). A generator that learns from fewer people "
            "gives more away about each of them: the figures are for tables of this size, and nothing is said about the others."
        )
    yield (
        "With the coins of other runs, which say nothing about these releases, the same analysis lists "
        f"{int(audited.control.listed.sum())} people."
    )
    if audited.bound is not None:
        kind = "one of a pair replaced by the other" if audited.coins is Coins.PAIRED else "one unit added or removed"
        yield f"All judged coins together ({kind}): {audited.bound}."
    if audited.people.listed.any():
        most = largest_visible_of_bets(
            len(audited.judged.all.members), people=int(setting.game.judged.sum()), rate=plan.rate,
            listed=int(audited.people.listed.sum()),
        )  # fmt: skip
        yield f"Bounds on the epsilon of single people are for pure differential privacy; the largest visible is {most:.2f}."
    if pool.failures:
        kinds = ", ".join(sorted({failure.partition(":")[0] for failure in pool.failures}))
        yield f"{len(pool.failures)} runs failed and are part of no number ({kinds})."


def _not_tested(audited: Audited) -> Iterator[NotTested]:
    claim = audited.claim
    if claim is not None and audited.claim_bound is None:
        if claim.unit == "row":
            yield NotTested("the claim per row", "no person has a single row, and a claim per row promises less for several",
                            "audit a table with one row per person")  # fmt: skip
        else:
            yield NotTested("the claim", "its neighbours differ from the coins of this run", "use --coins auto")
    if not audited.plan.confirm:
        yield NotTested("the exact game at full size", "it was not asked for", "use --confirm 5")
    if not audited.plan.secrets:
        yield NotTested("attributes", "no secret was named", "use --secret COLUMN")


def _records(audited: Audited, marks: dict[str, np.ndarray]) -> Records:
    """Every unit by the number of its first row, most exposed first."""
    people, features = audited.people, audited.pool.setting.features
    coined = audited.pool.setting.game.judged
    _, first = np.unique(features.units.of_row, return_index=True)
    columns: list[tuple[str, list[Cell]]] = [
        ("row", [int(row) for row in audited.rows[first]]),
        ("rank", [int(rank) for rank in people.rank]),
        ("listed", [bool(flag) for flag in people.listed]),
        ("log10 e-value", _numbers(people.log_e / math.log(10))),
        ("AUC", _numbers(people.auc)),
        (f"TPR at FPR {PERSON_FPR:g}", _numbers(people.tpr)),
        ("epsilon >=", _numbers(people.epsilon)),
        *((name, _numbers(values)) for name, values in marks.items()),
        *((name, list(cells)) for name, cells in audited.extra.columns),
    ]
    order = [int(unit) for unit in np.argsort(people.rank) if coined[unit]]
    return Records(
        tuple(name for name, _ in columns), tuple(tuple(cells[unit] for _, cells in columns) for unit in order)
    )


def _numbers(values: np.ndarray) -> list[Cell]:
    return [None if math.isnan(value) else float(f"{value:.4g}") + 0.0 for value in values.astype(float).tolist()]
