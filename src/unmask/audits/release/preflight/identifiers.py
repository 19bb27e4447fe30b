"""Columns that are left out: named in the verdict, and looked through for the very texts of real people."""

from __future__ import annotations

from unmask.audits.part import IDENTIFIER, Part
from unmask.audits.release.case import HOW_TO_GET_A_HOLDOUT, KNOWS_RELEASE, Case, Check, Family, ReleasePart, words
from unmask.audits.release.preflight.columns import LeftOut
from unmask.audits.release.tables import Release
from unmask.metrics.verbatim import Verbatim, verbatim
from unmask.results.figures import Figure, figure
from unmask.results.policy import Severity
from unmask.results.result import Exposure, Facts, Finding, NotTested
from unmask.stats import clopper_pearson
from unmask.stats.intervals import difference
from unmask.stats.labels import fisher

UNLIKELY = 1e-4
SEEN_HOLDOUT = (
    "the release holds texts of the holdout more often than of real people. Were the two swapped, or has the generator seen the "
    "holdout?"
)
REMOVE = "Remove this column from the release, or fill it with texts made up without the real ones, and audit again."


def tested(release: Release) -> tuple[LeftOut, ...]:
    """The columns that are looked through."""
    return tuple(each for each in release.left_out if each.identifies and each.can_be_tested)


IDENTIFIERS = Family("identifiers", 0.10, lambda release: len(tested(release)))


def identifiers_part(case: Case) -> Part:
    """Each column that identifies people: do real people's own texts stand in the release, and more than chance explains?"""
    whole = Part()
    stands: dict[str, Severity] = {}
    for column in case.release.left_out:
        if column.real is None or not (column.identifies and column.can_be_tested):
            whole += _said(_untested(column))
            continue
        found = verbatim(column.real, column.published, column.holdout)
        whole += _said(f"{column.name}: {column.why}; {_counted(found)}.")
        if found.theirs is not None and found.theirs[1] and fisher(found.theirs, found.mine) <= UNLIKELY:
            whole += Part(notes=(f"{column.name}: {SEEN_HOLDOUT}",))
        severity, least = _judged(case, found)
        if severity is None:
            refused = _unjudged(column, found)
            unknown = f"Whether the texts of column '{column.name}' are a leak could not be judged: {refused.reason}."
            whole += Part(not_tested=(refused,), facts=Facts(inconclusive=(unknown,)))
        elif found.mine[1]:
            finding = _finding(case, column, found, severity)
            stands[finding.name] = least
            whole += Part((finding,))
    return ReleasePart(whole.findings, notes=whole.notes, facts=whole.facts, not_tested=whole.not_tested, stands=stands)


def _judged(case: Case, found: Verbatim) -> tuple[Severity | None, Severity]:
    """Severity (None: it cannot be judged), and what of it stands whatever the holdout is."""
    if found.p_value is None:
        return None, Severity.NONE
    if found.p_value > case.error(IDENTIFIERS):
        return Severity.NONE, Severity.NONE
    return Severity.HIGH, Severity.HIGH if found.p_again is not None else Severity.NONE


def _said(line: str) -> Part:
    return Part(notes=(line,), facts=Facts(left_out=(line,)))


def _counted(found: Verbatim) -> str:
    if not found.mine[1]:
        return "each of its texts belongs to several people, so it names nobody"
    what = "a passage of" if found.prose else "the text of"
    held = "" if found.theirs is None else f", and of {found.theirs[0]:,} of {found.theirs[1]:,} people of the holdout"
    chance = "" if found.by_chance is None else f"; chance explains {found.by_chance:,.0f} for texts of this form"
    return f"the release holds {what} {found.mine[0]:,} of {found.mine[1]:,} real people{held}{chance}"


def _untested(column: LeftOut) -> str:
    if not column.identifies:
        return f"{column.name}: {column.why}."
    missing = "the release has no such column" if column.real is not None else "its texts were not given"
    return f"{column.name}: {column.why}; not looked for, since {missing}."


def _unjudged(column: LeftOut, found: Verbatim) -> NotTested:
    return NotTested(
        f"texts of column '{column.name}'",
        f"{_counted(found)}; without a holdout that has the column it cannot be said how many of them chance explains",
        HOW_TO_GET_A_HOLDOUT,
    )


def _finding(case: Case, column: LeftOut, found: Verbatim, severity: Severity) -> Finding:
    mine, theirs, sure = found.mine, found.theirs, case.plan.confidence
    share, control = clopper_pearson(*mine, confidence=sure), None
    estimate = figure(share)
    if theirs is not None and theirs[1]:
        estimate = figure(difference(mine, theirs, confidence=sure))
        rate = theirs[0] / theirs[1]
        control = Figure(rate, rate, rate, sure, "share of holdout people", theirs[1])
    what = "a passage of their own" if found.prose else "their own"
    return Finding(
        f"{IDENTIFIER}{column.name}",
        f"{words(share.value)} real people have {what} '{column.name}' in the release ({mine[0]:,} of {mine[1]:,})",
        f"{KNOWS_RELEASE}, or just reads it: a text that belongs to one person names that person.",
        "singling out",
        severity,
        estimate,
        None,
        control,
        REMOVE if severity.rank else case.unproven(estimate),
        Exposure(mine[1], mine[0], undefined="texts are there or not"),
    )


IDENTIFYING = Check("columns left out", identifiers_part, (IDENTIFIERS,))
