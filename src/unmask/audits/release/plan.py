"""What the parts of a release audit share: the plan, what a part contributes, and the error they split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unmask.results.figures import in_100
from unmask.audits.release.scoring import ATTACKS
from unmask.audits.release.tables import Release
from unmask.results.result import Facts, Finding, NotTested
from unmask.results.grid import Grid, Series

KNOWS_RELEASE = "Someone who holds the release and knows a person's record"
REDO = "Drop or coarsen what makes these people stand out, generate anew, and audit again with the same seed."
HOW_TO_GET_A_HOLDOUT = (
    "Next time cut some people off before training, say one in five: the generator must never see them. "
    "Then give them with --holdout."
)


@dataclass(frozen=True, eq=False)
class Section:
    """What one part of the audit contributes."""

    findings: tuple[Finding, ...] = ()
    grids: tuple[Grid, ...] = ()
    series: tuple[Series, ...] = ()
    notes: tuple[str, ...] = ()
    facts: Facts = Facts()
    not_tested: tuple[NotTested, ...] = ()
    columns: tuple[tuple[str, np.ndarray], ...] = ()  # one value per real row, for records.csv
    naming: Section | None = None  # who is named; only if real and holdout are alike
    explained: float = 0.0  # what real and holdout differ by without the release: the most a blind scorer may gain


@dataclass(frozen=True)
class ReleasePlan:
    """Every choice that changes a number of a release audit."""

    secrets: tuple[str, ...] = ()  # () = those of the schema, or every column
    keys: tuple[str, ...] = ()  # () = those of the schema, or all other columns
    attacks: int = 1000  # of each criterion
    confidence: float = 0.95
    people_rate: float = 0.10  # false discoveries among the people who are named
    seed: int = 0

    def to_plain(self) -> dict[str, Any]:
        return {
            "secrets": list(self.secrets), "keys": list(self.keys), "attacks": self.attacks,
            "confidence": self.confidence, "people_rate": self.people_rate,
        }  # fmt: skip


def secrets_of(release: Release) -> tuple[str, ...]:
    """The columns that are guessed: the secrets, or every column if none is named."""
    return release.schema.secrets or release.schema.names


def headline_tests(release: Release) -> int:
    """How many findings share the error of the verdict."""
    return len(ATTACKS) + 1 + 1 + 2 + 1 + len(secrets_of(release))


def adjusted(release: Release, plan: ReleasePlan) -> float:
    """The confidence of each finding at which all of them together have that of the plan (Bonferroni)."""
    return 1 - (1 - plan.confidence) / headline_tests(release)


def words(rate: float) -> str:
    """A rate as a natural frequency."""
    return in_100(rate) if rate > 0 else "none in 100"
