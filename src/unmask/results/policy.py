"""From lower bounds to severity. The policy that judged stands in every result, so that a report prints its thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is; `docs/reference/severity.md` has the thresholds."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


@dataclass(frozen=True)
class Policy:
    """Thresholds on the lower bound of what an attack gains over its control."""

    high: float = 0.10
    medium: float = 0.03
    high_tpr: float = 0.10  # recognised at 1 false alarm in 100

    def severity(self, excess: float, *, tpr_at_1_percent: float = 0.0) -> Severity:
        """Severity from lower bounds; both are 0 where nothing was shown."""
        if excess >= self.high or tpr_at_1_percent >= self.high_tpr:
            return Severity.HIGH
        if excess >= self.medium:
            return Severity.MEDIUM
        return Severity.LOW if excess > 0 else Severity.NONE

    @classmethod
    def of(cls, given: Policy | None) -> Policy:
        """A policy as callers give it."""
        return cls() if given is None else given
