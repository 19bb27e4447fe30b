"""What the release is still good for, where that is asked for."""

from __future__ import annotations

from unmask.audits.part import Part
from unmask.audits.release.case import Case, Check
from unmask.audits.utility.case import UtilityCase
from unmask.audits.utility.parts import utility_part
from unmask.audits.utility.plan import UtilityPlan


def usefulness_part(case: Case) -> Part:
    """All of `unmask utility`, predicting the first secret; nothing unless the plan asks for it."""
    plan = case.plan
    if not plan.utility:
        return Part()
    return utility_part(UtilityCase(case.release, UtilityPlan(confidence=plan.confidence, seed=plan.seed)))


USEFULNESS = Check("utility", usefulness_part)
