"""People's own numbers in the release: everybody is asked about, whatever the size of the tables."""

from __future__ import annotations

import numpy as np

from unmask.audits.part import Part
from unmask.audits.release.case import KNOWS_RELEASE, REDO, Case, Check, Family, ReleasePart, words
from unmask.audits.release.exposure import of_attempts
from unmask.audits.release.tables import Release
from unmask.metrics.legal import Attempts
from unmask.metrics.published_numbers import PublishedNumbers, wide_columns
from unmask.results.figures import figure
from unmask.results.policy import Severity
from unmask.results.result import Finding
from unmask.stats import clopper_pearson, difference


def _tested(release: Release) -> int:
    return len(wide_columns(release.schema)) if release.holdout is not None else 0


OWN_NUMBERS = Family("own numbers", 0.02, _tested)


def numbers_part(case: Case) -> Part:
    """For each column: people whose number nobody else has, and whether it stands in the release."""
    found = case.numbers
    findings = tuple(one for each in found if (one := _finding(case, each)) is not None)
    if not findings:
        return Part()
    many = np.stack([each.published for each in found]).sum(axis=0, dtype=np.uint16)
    return ReleasePart(findings, columns=(("own numbers in the release", many),))


def _finding(case: Case, found: PublishedNumbers) -> Finding | None:
    if found.excess is None or found.p_value is None:
        return None
    plan, error = case.plan, case.error(OWN_NUMBERS)
    (hits, size), (control_hits, control_size) = found.mine, found.theirs
    severity = Severity.NONE
    if found.p_value <= error:
        sure = difference(found.mine, found.theirs, confidence=case.strict(OWN_NUMBERS)).low
        severity = max(Severity.LOW, plan.policy.severity(max(0.0, sure)), key=lambda one: one.rank)
    return Finding(
        f"own-number:{found.column}",
        f"{words(hits / size)} people whose {found.column} nobody else has find that very number in the release "
        f"({hits:,} of {size:,})",
        f"{KNOWS_RELEASE} looks for the number, in any row.",
        "membership",
        severity,
        figure(found.excess),
        None,
        figure(clopper_pearson(control_hits, control_size, confidence=plan.confidence)),
        f"{REDO} Numbers that are rounded, or drawn anew and not taken over, give nobody away like this."
        if severity.rank
        else case.untold(found.p_value <= 1 - plan.confidence),
        of_attempts(_first(hits, size), _first(control_hits, control_size), plan.confidence),
    )


def _first(hits: int, size: int) -> Attempts:
    return Attempts(np.arange(size) < hits)


NUMBERS = Check(
    "own numbers",
    numbers_part,
    (OWN_NUMBERS,),
    seconds=lambda case: 1e-7 * sum(case.sizes[:3]) * _tested(case.release),
)
