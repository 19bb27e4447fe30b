"""What to do about a finding."""

from __future__ import annotations

from unmask.results.policy import Severity


def advice_for(severity: Severity) -> str:
    """What to do about a finding."""
    return {
        Severity.HIGH: "Do not publish such releases as anonymous: use a differentially private generator, a smaller budget, "
        "or coarser columns.",
        Severity.MEDIUM: "Publish only after weighing this against the sensitivity of the data, or lower the budget.",
        Severity.LOW: "A small leak was shown. Run more tests to see how large it is.",
        Severity.NONE: "This attack showed no leak. Others may: more shadows and tests sharpen it.",
    }[severity]
