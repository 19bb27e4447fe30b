"""Unique real people who stand verbatim in the release."""

from __future__ import annotations

import numpy as np

from unmask.audits.part import Part
from unmask.audits.release.case import KNOWS_RELEASE, REDO, Case, Check, Family, ReleasePart, words
from unmask.audits.release.exposure import of_counts
from unmask.results.figures import figure
from unmask.results.policy import Severity
from unmask.results.result import Finding
from unmask.stats import Estimate, clopper_pearson
from unmask.threats.targets import independent_log_likelihood

COPYING = Family("copies", 0.15)


def copies_part(case: Case) -> Part:
    """Unique real people who stand verbatim in the release."""
    plan, found = case.plan, case.copies
    findings, stands = [], Severity.NONE
    if found.unique is not None:
        excess = found.excess or found.unique
        stands = _unrepeatable(case, found.published)  # whatever the holdout is: records that nobody draws by chance
        severity = stands
        if found.p_value is not None:
            severity = Severity.HIGH if found.p_value <= case.error(COPYING) else Severity.NONE
        findings.append(
            Finding(
                "copies",
                f"{words(found.unique.value)} unique real people stand verbatim in the release "
                f"({found.mine[0]:,} of {found.mine[1]:,})",
                f"{KNOWS_RELEASE} looks for it.",
                "singling out",
                severity,
                figure(excess),
                None,
                figure(_plus(found.unique, found.excess)) if found.excess else None,
                f"{REDO} Deleting the copies alone leaves holes, which tell as much."
                if severity.rank
                else case.unproven(figure(excess)),
                of_counts(found.mine, found.theirs if found.excess else None, plan.confidence),
            )
        )
    columns = (("verbatim in the release", found.published.astype(np.uint8)),)
    return ReleasePart(tuple(findings), notes=found.notes, columns=columns, stands={"copies": stands})


def _unrepeatable(case: Case, published: np.ndarray) -> Severity:
    """Severity from the share published of records so odd that chance would hardly ever draw one of them.

    Chance: independent columns with the frequencies of the real table, as many draws as the release has rows.
    """
    release, policy = case.release, case.plan.policy
    expected = len(release.synthetic) * np.exp(independent_log_likelihood(release.real))
    odd = expected < 1e-3
    if not odd.any():
        return Severity.NONE
    low = clopper_pearson(int(published[odd].sum()), int(odd.sum()), confidence=case.strict(COPYING)).low
    return policy.severity(low) if low >= policy.medium else Severity.NONE


def _plus(unique: Estimate, excess: Estimate) -> Estimate:
    """The control behind an excess, as an estimate without an interval of its own."""
    value = unique.value - excess.value
    return Estimate(
        value, (value, value), excess.confidence, "share of unique holdout rows", excess.assumption, excess.n
    )


COPIES = Check("copies", copies_part, (COPYING,), seconds=lambda case: 4e-7 * sum(case.sizes[:3]) * case.sizes[3])
