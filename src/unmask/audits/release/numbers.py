"""People's own numbers in the release: everybody is asked about, whatever the size of the tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.audits.part import Part, SomePeople
from unmask.audits.release.case import KNOWS_RELEASE, REDO, Case, Check, Family, ReleasePart, words
from unmask.audits.release.exposure import CONFOUNDED, of_counts
from unmask.audits.release.tables import Release
from unmask.metrics.published_numbers import PublishedNumbers, wide_columns
from unmask.results.figures import figure
from unmask.results.policy import Severity
from unmask.results.result import Finding
from unmask.stats import clopper_pearson, difference

ROUND = "Numbers that are rounded, or drawn anew and not taken over, give nobody away like this."
NOBODY = "Own numbers: no column holds numbers that only one person has."
OF_ANOTHER_YEAR = (
    "Confounded: numbers of real people stand among other real people too, more often than those of the holdout, as if they "
    "belonged to another year or place. Cut the holdout at random from the same people."
)


def _tested(release: Release) -> int:
    return len(wide_columns(release.schema)) if release.holdout is not None else 0


OWN_NUMBERS = Family("own numbers", 0.02, _tested)


def numbers_part(case: Case) -> Part:
    """For each column: people whose number nobody else has, and whether it stands in the release."""
    found = case.numbers
    findings = tuple(one for each in found if (one := _finding(case, each)) is not None)
    if not findings:
        return Part() if case.release.holdout is None else Part(notes=(NOBODY,))
    many = np.stack([each.published for each in found]).sum(axis=0, dtype=np.uint16)
    real = case.release.real
    column = many if real.persons is None else SomePeople(len(real), found[0].rows, many)
    return ReleasePart(findings, columns=(("own numbers in the release", column),))


def _finding(case: Case, found: PublishedNumbers) -> Finding | None:
    if found.excess is None or found.p_value is None:
        return None
    (hits, size), (control_hits, control_size) = found.asked.mine, found.asked.theirs
    severity, advice = _judged(case, found)
    exposure = of_counts(found.asked.mine, found.asked.theirs, case.plan.confidence)
    if advice == OF_ANOTHER_YEAR:
        exposure = replace(exposure, worst=None, above=None, undefined=CONFOUNDED)
    return Finding(
        f"own-number:{found.column}",
        f"{words(hits / size)} people whose {found.column} nobody else has find that very number in the release "
        f"({hits:,} of {size:,})",
        f"{KNOWS_RELEASE} looks for the number, in any row.",
        "membership",
        severity,
        figure(found.excess),
        None,
        figure(clopper_pearson(control_hits, control_size, confidence=case.plan.confidence)),
        advice,
        exposure,
    )


def _judged(case: Case, found: PublishedNumbers) -> tuple[Severity, str]:
    """By what is certain of the excess, less what sizes of numbers, and what the blind twin, explain of it."""
    if found.excess is None or found.p_value is None or found.p_value > case.error(OWN_NUMBERS):
        beyond = found.p_value is not None and found.p_value <= 1 - case.plan.confidence
        return Severity.NONE, case.untold(beyond)
    sure = difference(found.asked.mine, found.asked.theirs, confidence=case.strict(OWN_NUMBERS)).low
    sure -= max(0.0, found.excess.value - found.asked.excess)
    if found.explained and sure <= found.explained:
        return Severity.NONE, OF_ANOTHER_YEAR
    severity = case.plan.policy.severity(max(0.0, sure - found.explained))
    return max(Severity.LOW, severity, key=lambda one: one.rank), f"{REDO} {ROUND}"


NUMBERS = Check(
    "own numbers",
    numbers_part,
    (OWN_NUMBERS,),
    seconds=lambda case: 1e-7 * sum(case.sizes[:3]) * _tested(case.release),
)
