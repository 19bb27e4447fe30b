"""What the release is still good for, where that is asked for."""

from __future__ import annotations

from unmask.audits.part import Part
from unmask.audits.release.case import Case, Check
from unmask.audits.utility.case import UtilityCase
from unmask.audits.utility.parts import utility_part
from unmask.audits.utility.plan import UtilityPlan


def usefulness_part(case: Case) -> Part:
    """What `unmask utility` tells, with fewer pictures, predicting the first secret; nothing unless the plan asks for it."""
    plan = case.plan
    if not plan.utility:
        return Part()
    asked = UtilityPlan(confidence=plan.confidence, seed=plan.seed)
    return utility_part(UtilityCase(case.release, asked, in_full=False))


USEFULNESS = Check("utility", usefulness_part, seconds=lambda case: 20.0 if case.plan.utility else 0.0)
