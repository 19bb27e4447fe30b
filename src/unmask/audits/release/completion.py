"""Reconstruction: whole records of people of whom some columns are known, completed from the release."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.audits.part import Part, SomePeople
from unmask.audits.release.case import HOW_TO_GET_A_HOLDOUT, REDO, Case, Check, Family, words
from unmask.audits.release.exposure import of_attempts
from unmask.audits.release.leading.planted import RATES, SEEN, TRIALS, PlantedLeak
from unmask.audits.release.tables import Release
from unmask.errors import ParameterError
from unmask.metrics.completing.combined import COMBINED
from unmask.metrics.completing.completion import MOST_PAIRS, Completion, completion, likely_known, planted
from unmask.metrics.completing.scores import Weighed, near_p_value
from unmask.results.figures import figure
from unmask.results.grid import Cell, Grid, Role, Section, Series, SeriesKind
from unmask.results.policy import Severity
from unmask.results.result import Finding, NotTested
from unmask.stats import Estimate
from unmask.stats.labels import draws_for, fisher
from unmask.stream import stream
from unmask.tables.schema import quoted

FAMILY = Family("record completion", 0.03, lambda release: min(2, len(release.schema.columns) - 1))
COLUMNS, RECORDS = "completion", "completed records"  # the two findings
MOST_PEOPLE = 2_500  # on either side
PLANTED = "records that stand in the release"
FEWEST_HIDDEN = 3  # columns of a record that is rebuilt; with fewer it is a guess like any other
CERTAIN = 0.01  # of the real people rebuilt beyond the holdout, at least and for certain, before that is high
INDEPENDENT = "Exact if rows are independent people: households and repeated rows need a person column."

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
    records_p_value: float | None  # the same of whole records
    known: str  # in words

    @property
    def error(self) -> float:
        return self.case.error(self.family)

    @property
    def strict(self) -> float:
        return self.case.strict(self.family)

    def advice(self, severity: Severity, p_value: float | None) -> str:
        if p_value is None:
            return HOW_TO_GET_A_HOLDOUT
        return REDO if severity.rank else self.case.untold(p_value <= 1 - self.case.plan.confidence)


def completion_part(case: Case) -> Part:
    """Columns and whole records of real people, of holdout people, and without the release; known are the keys."""
    return completed(case, FAMILY)[0]


def completed(case: Case, family: Family, known: tuple[str, ...] = ()) -> tuple[Part, PlantedLeak | None]:
    """The part, and what it would have seen; None if that was not measured."""
    release, seed, crowd = case.release, case.plan.seed, case.crowd
    real, holdout = release.real, release.holdout
    if crowd is not None:  # of whom it is known who look alike without the release
        real, holdout = (crowd.people.take(np.flatnonzero(crowd.members == side)) for side in (True, False))
    asked = known or likely_known(release.schema, stream(seed, "known columns"))
    try:
        found = completion(
            real, release.synthetic, known=asked, holdout=holdout, attempts=MOST_PEOPLE, confidence=case.plan.confidence,
            rng=stream(seed, "completion"),
        )  # fmt: skip
    except ParameterError as problem:  # a table of one column, of keys alone, of constants
        return Part(not_tested=(NotTested("record completion", str(problem), "name other columns as known"),)), None
    strata = None
    if crowd is not None:
        strata = crowd.strata[np.concatenate([found.rows, len(crowd.member_rows) + found.control_rows])]
    p_value = found.p_value(stream(seed, "completion", "labels"), strata=strata, level=case.error(family))
    judged = _Judged(case, family, found, p_value, found.records_p_value(strata=strata), quoted(found.known))
    leak = planted_records(judged)
    part = Part(
        (_columns_finding(judged), *((_records_finding(judged),) if len(found.hidden) > 1 else ())),
        (_attacks(found), _columns(found)),
        () if leak is None else (_power(leak),),
        (
            _why(release, known).format(judged.known),
            *found.notes,
            *(() if leak is None else (in_a_sentence(leak),)),
        ),
        not_tested=(*_no_control(release), *_unreachable(judged)),
        columns=_per_record(case, found),
    )
    return part, leak


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
        strict = found.certain_memory(judged.strict)
        severity = case.plan.policy.severity(max(0.0, strict.low if strict else 0.0))
        severity = severity if severity.rank else Severity.LOW
    against = f", {words(control.value)} of that of people who are not in the data" if control else ""
    estimate = figure(memory or share)
    return Finding(
        COLUMNS,
        f"Completing records: {words(share.value)} of what is hidden of real people is right (numbers to their bin), rare values "
        f"counting more{against}",
        _threat(judged),
        "reconstruction",
        severity,
        estimate,
        figure(found.without_release()),
        figure(control) if control else None,
        judged.advice(severity, judged.p_value),
    )


def _records_finding(judged: _Judged) -> Finding:
    """The share of people whose whole record the release completes: high where at least 1 in 100 are, for certain."""
    case, found = judged.case, judged.found
    confidence = case.plan.confidence
    mine, theirs = found.records()
    rate = mine.rate(confidence)
    memory = None if theirs is None else mine.minus(theirs, confidence)
    severity, p_value = Severity.NONE, judged.records_p_value
    if theirs is not None and p_value is not None and p_value <= judged.error:
        low = mine.minus(theirs, judged.strict).low
        severity = case.plan.policy.severity(max(low, 1e-9))
        if len(found.hidden) >= FEWEST_HIDDEN and low >= CERTAIN:
            severity = Severity.HIGH
    against = (
        f", {words(theirs.rate(confidence).value)} of people who are not in the data" if theirs is not None else ""
    )
    estimate = figure(memory or rate)
    whole = found.baseline.whole[: len(found.rows)]
    return Finding(
        RECORDS,
        f"Whole records rebuilt{' that the population does not give' * (theirs is not None)} (all {len(found.hidden)} hidden "
        f"columns, numbers to their bin): {words(rate.value)} of real people{against}",
        _threat(judged),
        "reconstruction",
        severity,
        estimate,
        figure(type(mine)(whole).rate(confidence)),
        None if theirs is None else figure(theirs.rate(confidence)),
        judged.advice(severity, p_value),
        of_attempts(mine, theirs, confidence),
    )


def _threat(judged: _Judged) -> str:
    return (
        f"Someone who holds the release and knows {judged.known} of a person completes the other "
        f"{len(judged.found.hidden)} columns." + (f" {INDEPENDENT}" if judged.case.release.real.persons is None else "")
    )


def _attacks(found: Completion) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    for name in found.attacks:
        mine, theirs = (None if each is None else each.rate(found.confidence) for each in found.records(name))
        shares = found.share(name), found.control(name)
        rows.append((name, *map(_value, shares), *_interval(found.memory(name)), _value(mine), _value(theirs)))
    whole = float(found.baseline.whole[: len(found.rows)].mean())
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


def _per_record(case: Case, found: Completion) -> tuple[tuple[str, SomePeople], ...]:
    """For records.csv: by rarity the share of each person that is completed, and whether the whole record is."""
    one, members = found.attacks[COMBINED], slice(0, len(found.rows))
    weights = found.weights[members]
    rows = found.rows if case.crowd is None else case.crowd.member_rows[found.rows]
    shares = (one.right[members] * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-12)
    size = len(case.release.real)
    return (
        ("completed, by rarity", SomePeople(size, rows, shares)),
        ("record completed", SomePeople(size, rows, one.whole[members])),
    )


def _no_control(release: Release) -> tuple[NotTested, ...]:
    if release.holdout is not None:
        return ()
    reason = "there is no holdout, so memory cannot be told from what the population teaches"
    return (NotTested("record completion against a control", reason, HOW_TO_GET_A_HOLDOUT),)


def _unreachable(judged: _Judged) -> tuple[NotTested, ...]:
    if judged.p_value is None or 1 / (draws_for(judged.error) + 1) <= judged.error:
        return ()
    reason = f"no number of dealings that is bearable shows a p-value of {judged.error:.1g}"
    return (NotTested("record completion by columns", reason, "lower --confidence"),)


def planted_records(judged: _Judged) -> PlantedLeak | None:
    """How many records must stand in the release before it is seen.

    Rows of some holdout people are put into the release, and these people are attacked again. Everybody in a trial is drawn from
    them: those who are planted as they are completed with their row in the release, all others as they are without it.
    """
    found = judged.found
    if not len(found.control_rows):
        return None
    seed, size, members = judged.case.plan.seed, len(found.people), len(found.rows)
    chosen, after = planted(found, judged.case.release.synthetic, stream(seed, "planted", PLANTED))
    blind, weights = found.baseline.take(chosen), found.weights[chosen]
    both = [each.beyond(blind) for each in (found.attacks[COMBINED].take(chosen), after)]
    right = np.stack([(each.right * weights).sum(axis=1) for each in both])
    whole = np.stack([each.whole for each in both])
    rates, seen = [], []
    for rate in RATES:
        rng = stream(seed, "planted", PLANTED, f"{rate}")
        inside = (np.arange(size) < round(rate * members)).astype(np.int64)
        count = 0
        for _ in range(TRIALS):
            who = rng.integers(len(chosen), size=size)
            people, records = Weighed(right[inside, who], weights.sum(axis=1)[who]), whole[inside, who]
            mine, theirs = records[:members], records[members:]
            p_value = fisher((int(mine.sum()), len(mine)), (int(theirs.sum()), len(theirs)))
            count += min(p_value, near_p_value(people, members)) <= judged.error
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


def _seconds(case: Case) -> float:
    """Matches of people and of hidden rows, twice: as it is, and with planted rows."""
    real, published, held, width = case.sizes
    people = min(MOST_PEOPLE, real) + min(MOST_PEOPLE, held)
    return (
        4.0 + 2 * 0.1e-9 * width * published * (min(people, MOST_PAIRS / max(1, published)) + 2_000) + 3e-6 * published
    )


COMPLETION = Check("record completion", completion_part, (FAMILY,), cost=15, seconds=_seconds)
