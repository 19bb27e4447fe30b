"""What the parts of a release audit share: the release, the plan, scores that several read, and the error they split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from unmask.audits.part import Part
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.release.scoring import Scores, Sides, score_all, sides_of
from unmask.audits.release.tables import Release
from unmask.results.figures import in_100

KNOWS_RELEASE = "Someone who holds the release and knows a person's record"
REDO = "Drop or coarsen what makes these people stand out, generate anew, and audit again with the same seed."
HOW_TO_GET_A_HOLDOUT = (
    "Next time cut some people off before training, say one in five: the generator must never see them. "
    "Then give them with --holdout."
)


@dataclass(frozen=True, eq=False)
class Case:
    """A release under audit. `headlines` findings share the error of the verdict."""

    release: Release
    plan: ReleasePlan
    headlines: int
    workers: int = 1

    @property
    def strict(self) -> float:
        """The confidence of each finding at which all of them together have that of the plan (Bonferroni)."""
        return 1 - (1 - self.plan.confidence) / self.headlines

    @cached_property
    def sides(self) -> Sides | None:
        """Who is scored; None without a holdout."""
        release = self.release
        return None if release.holdout is None else sides_of(release.real, release.holdout, self.plan.seed)

    @cached_property
    def scores(self) -> tuple[Scores, ...]:
        """Every membership attack, scored once."""
        return () if self.sides is None else tuple(score_all(self.sides, self.release.synthetic, self.plan.seed))


@dataclass(frozen=True, eq=False)
class ReleasePart(Part):
    """What a part of a release audit contributes."""

    naming: Part | None = None  # who is named; only if real and holdout are alike
    explained: float | None = (
        None  # the most that a blind scorer may gain, real and holdout being what they are; None: not measured
    )


@dataclass(frozen=True)
class Check:
    """A part of the audit: its name, what it does, and how many of its findings share the error of the verdict."""

    name: str
    run: Callable[[Case], Part]
    headlines: Callable[[Release], int] = lambda release: 0


def words(rate: float) -> str:
    """A rate as a natural frequency."""
    return in_100(rate) if rate > 0 else "none in 100"
