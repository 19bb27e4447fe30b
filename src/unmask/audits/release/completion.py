"""Reconstruction: whole records of people of whom some columns are known, completed from the release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.audits.part import Part
from unmask.audits.release.case import HOW_TO_GET_A_HOLDOUT, REDO, Case, Check, Family, words
from unmask.audits.release.exposure import of_attempts
from unmask.audits.release.leading.planted import RATES, SEEN, TRIALS, PlantedLeak
from unmask.audits.release.tables import Release
from unmask.errors import ParameterError
from unmask.metrics.completion.combined import COMBINED
from unmask.metrics.completion.completion import Completion, completion, likely_known
from unmask.metrics.completion.scores import Weighed
from unmask.results.figures import figure
from unmask.results.grid import Cell, Grid, Role, Section, Series, SeriesKind
from unmask.results.policy import Severity
from unmask.results.result import Finding, NotTested
from unmask.stats import Estimate
from unmask.stats.labels import fisher
from unmask.stream import stream
from unmask.tables.schema import quoted

FAMILY = Family("record completion", 0.03, lambda release: 2 * (len(release.schema.columns) > 1))
COLUMNS, RECORDS = "completion", "completed records"  # the two findings
PLANTED = "records that stand in the release"
FEWEST_HIDDEN = 3  # columns of a record that is rebuilt; with fewer it is a guess like any other

ATTACK_HEADS = (
    "attack", "real people", "holdout", "memory", "low", "high", "records of real people", "records of the holdout",
)  # fmt: skip
COLUMN_HEADS = ("column", "real people", "holdout", "without the release", "memory", "low", "high")


@dataclass(frozen=True, eq=False)
class _Judged:
    """What was completed, and the error that a finding about it may have."""

    case: Case
    family: Family
    found: Completion
    p_value: float | None  # of "no better than people who are not in the data"
    known: str  # in words

    @property
    def error(self) -> float:
        return self.case.error(self.family)

    @property
    def strict(self) -> float:
        return self.case.strict(self.family)


def completion_part(case: Case) -> Part:
    """Columns and whole records of real people, of holdout people, and without the release; known are the keys."""
    return completed(case, FAMILY)[0]


def completed(case: Case, family: Family, known: tuple[str, ...] = ()) -> tuple[Part, PlantedLeak | None]:
    """The part, and what it would have seen; None if that was not measured."""
    release, seed = case.release, case.plan.seed
    asked = known or likely_known(release.schema, stream(seed, "known columns"))
    try:
        found = completion(
            release.real, release.synthetic, known=asked, holdout=release.holdout, confidence=case.plan.confidence,
            rng=stream(seed, "completion"),
        )  # fmt: skip
    except ParameterError as problem:  # a table of one column, of keys alone, of constants
        return Part(not_tested=(NotTested("record completion", str(problem), "name other columns as known"),)), None
    p_value = found.p_value(stream(seed, "completion", "labels"))
    judged = _Judged(case, family, found, p_value, quoted(found.known))
    planted = planted_records(judged)
    part = Part(
        (_columns_finding(judged), _records_finding(judged)),
        (_attacks(found), _columns(found)),
        () if planted is None else (_power(planted),),
        (
            _why(release, known).format(judged.known),
            *found.notes,
            *(() if planted is None else (in_a_sentence(planted),)),
        ),
        not_tested=_no_control(release),
        columns=_per_record(release, found),
    )
    return part, planted


def _why(release: Release, known: tuple[str, ...]) -> str:
    if known:
        return "Record completion: the attacker knows {}."
    if any(key not in release.schema.secrets for key in release.schema.keys):
        return "Record completion: the attacker knows the keys, {}."
    return (
        "Record completion: no keys are named, so the attacker knows a random half of the columns that are no secret: {}. "
        "Name what people may know with --key."
    )


def _columns_finding(judged: _Judged) -> Finding:
    """The share of what is hidden that is completed, by rarity."""
    case, found = judged.case, judged.found
    share, control, memory = found.share(), found.control(), found.memory()
    severity = Severity.NONE
    if judged.p_value is not None and judged.p_value <= judged.error:
        strict = found.memory(confidence=judged.strict)
        severity = case.plan.policy.severity(max(0.0, strict.low if strict else 0.0))
        severity = severity if severity.rank else Severity.LOW
    against = f", {words(control.value)} of that of people who are not in the data" if control else ""
    estimate = figure(memory or share)
    return Finding(
        COLUMNS,
        f"Completing records: {words(share.value)} of what is hidden of real people is right, rare values counting more{against}",
        _threat(judged),
        "reconstruction",
        severity,
        estimate,
        figure(found.without_release()),
        figure(control) if control else None,
        REDO if severity.rank else (case.unproven(estimate) if memory else HOW_TO_GET_A_HOLDOUT),
    )


def _records_finding(judged: _Judged) -> Finding:
    """The share of people whose whole record is completed: high where that is beyond chance."""
    case, found = judged.case, judged.found
    confidence = case.plan.confidence
    mine, theirs = found.records()
    rate = mine.rate(confidence)
    memory = None if theirs is None else mine.minus(theirs, confidence)
    severity, p_value = Severity.NONE, found.records_p_value
    if theirs is not None and p_value is not None and p_value <= judged.error:
        severity = Severity.HIGH
        if len(found.hidden) < FEWEST_HIDDEN:
            low = mine.minus(theirs, judged.strict).low
            severity = case.plan.policy.severity(max(low, 1e-9))
    against = (
        f", {words(theirs.rate(confidence).value)} of people who are not in the data" if theirs is not None else ""
    )
    estimate = figure(memory or rate)
    whole = found.baseline.whole
    return Finding(
        RECORDS,
        f"Whole records rebuilt (all {len(found.hidden)} hidden columns): {words(rate.value)} of real people{against}",
        _threat(judged),
        "reconstruction",
        severity,
        estimate,
        figure(type(mine)(whole).rate(confidence)),
        None if theirs is None else figure(theirs.rate(confidence)),
        REDO if severity.rank else (case.unproven(estimate) if memory else HOW_TO_GET_A_HOLDOUT),
        of_attempts(mine, theirs, confidence),
    )


def _threat(judged: _Judged) -> str:
    return (
        f"Someone who holds the release and knows {judged.known} of a person completes the other "
        f"{len(judged.found.hidden)} columns."
    )


def _attacks(found: Completion) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    for name in found.attacks:
        mine, theirs = (None if each is None else each.rate(found.confidence) for each in found.records(name))
        shares = found.share(name), found.control(name)
        rows.append((name, *map(_value, shares), *_interval(found.memory(name)), _value(mine), _value(theirs)))
    whole = float(found.baseline.whole.mean())
    rows.append(("without the release", _value(found.without_release()), None, None, None, None, round(whole, 4), None))
    title = "Completing records: shares of what is hidden, by rarity, and of whole records"
    return Grid("completion", title, ATTACK_HEADS, tuple(rows), Section.ATTACKS)


def _columns(found: Completion) -> Grid:
    rows = tuple(
        (
            column, _value(found.share(column=column)), _value(found.control(column=column)),
            _value(found.without_release(column=column)), *_interval(found.memory(column=column)),
        )
        for column in found.hidden
    )  # fmt: skip
    roles = (*[Role.TEXT] * 4, Role.ESTIMATE, Role.LOW, Role.HIGH) if len(found.control_rows) else ()
    title = "Columns completed, by rarity (intervals are for one column each)"
    return Grid("completed columns", title, COLUMN_HEADS, rows, roles=roles, detail=True)


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else round(estimate.value, 4)


def _interval(estimate: Estimate | None) -> tuple[float | None, ...]:
    if estimate is None:
        return (None,) * 3
    return round(estimate.value, 4), round(estimate.low, 4), round(estimate.high, 4)


def _per_record(release: Release, found: Completion) -> tuple[tuple[str, np.ndarray], ...]:
    """For records.csv: by rarity the share of each person that is completed, and whether the whole record is."""
    one, members = found.attacks[COMBINED], slice(0, len(found.rows))
    weights = found.weights[members]
    shares, whole = (np.full(len(release.real), np.nan) for _ in range(2))
    shares[found.rows] = (one.right[members] * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-12)
    whole[found.rows] = one.whole[members]
    return (("completed, by rarity", shares), ("record completed", whole))


def _no_control(release: Release) -> tuple[NotTested, ...]:
    if release.holdout is not None:
        return ()
    reason = "there is no holdout, so memory cannot be told from what the population teaches"
    return (NotTested("record completion against a control", reason, HOW_TO_GET_A_HOLDOUT),)


def planted_records(judged: _Judged) -> PlantedLeak | None:
    """How many real people must be completed for certain before it is seen: labels are dealt anew, and some are planted."""
    found = judged.found
    if not len(found.control_rows):
        return None
    one, size, members = found.attacks[COMBINED], len(found.weights), len(found.rows)
    weight, right = found.weights.sum(axis=1), (one.right * found.weights).sum(axis=1)
    rates, seen = [], []
    for rate in RATES:
        rng = stream(judged.case.plan.seed, "planted", PLANTED, f"{rate}")
        count = 0
        for _ in range(TRIALS):
            order = rng.permutation(size)
            planted = order[: round(rate * members)]
            gained, whole = right.copy(), one.whole.copy()
            gained[planted], whole[planted] = weight[planted], True
            people = Weighed(gained[order], weight[order])
            memory = people.take(slice(0, members)).minus(people.take(slice(members, None)), judged.strict)
            mine, theirs = (whole[order[side]] for side in (slice(0, members), slice(members, None)))
            p_value = fisher((int(mine.sum()), len(mine)), (int(theirs.sum()), len(theirs)))
            count += memory.low > 0 or p_value <= judged.error
        rates.append(rate)
        seen.append(count)
        if count >= SEEN:
            break
    return PlantedLeak(PLANTED, tuple(rates), tuple(seen))


def in_a_sentence(planted: PlantedLeak) -> str:
    """For the notes."""
    if not np.isfinite(planted.smallest):
        return "Record completion would not have seen records that stand in the release, however many they are."
    return (
        f"Record completion would have seen records that stand in the release from {100 * planted.smallest:g} % of the "
        f"real people on (in {SEEN} of {TRIALS} planted trials or more)."
    )


def _power(planted: PlantedLeak) -> Series:
    return Series(
        f"power/{planted.kind}", planted.kind.capitalize(), "share of the real people", "share of trials in which it was seen",
        planted.rates, tuple(count / TRIALS for count in planted.seen), SeriesKind.POWER, Section.SOUND,
    )  # fmt: skip


COMPLETION = Check("record completion", completion_part, (FAMILY,))
