"""What the parts of a release audit share: the release, the plan, scores that several read, and the error they split."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from unmask.audits.part import Part
from unmask.audits.release.leading.crowd import Crowd
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.release.scoring import Scores, Sides, score_all, sides_of
from unmask.audits.release.tables import Release
from unmask.metrics.copies import Copies, copies
from unmask.metrics.published_numbers import PublishedNumbers, published_numbers
from unmask.results.figures import Figure, in_100
from unmask.results.policy import Severity
from unmask.stream import stream

KNOWS_RELEASE = "Someone who holds the release and knows a person's record"
REDO = "Drop or coarsen what makes these people stand out, generate anew, and audit again with the same seed."
HOW_TO_GET_A_HOLDOUT = (
    "Next time cut some people off before training, say one in five: the generator must never see them. "
    "Then give them with --holdout."
)


@dataclass(frozen=True)
class Family:
    """Comparisons that share a part of the error of the verdict (weighted Bonferroni): all families together have it all.

    The weights were set before any release was seen: most for what leads and for what the law asks about.
    """

    name: str
    weight: float
    count: Callable[[Release], int] = lambda release: 1  # comparisons in it, which share its part alike


@dataclass(frozen=True, eq=False)
class Case:
    """A release under audit."""

    release: Release
    plan: ReleasePlan
    families: tuple[Family, ...] = ()
    workers: int = 1
    refused: set[str] = field(default_factory=set)  # parts that were left out: what they would have seen is not claimed

    def error(self, family: Family) -> float:
        """The chance of a false finding that each comparison of a family may have."""
        return (1 - self.plan.confidence) * family.weight / max(1, family.count(self.release))

    def strict(self, family: Family) -> float:
        """The confidence of an interval whose lower end has that error."""
        return 1 - 2 * self.error(family)

    @property
    def comparisons(self) -> int:
        """How many comparisons share the error of the verdict."""
        return sum(family.count(self.release) for family in self.families)

    @property
    def sharing(self) -> str:
        """One line about it for the report."""
        counts = {family: count for family in self.families if (count := family.count(self.release))}
        shares = ", ".join(
            f"{family.name} {family.weight:.0%}" + (f" ({count} alike)" if count > 1 else "")
            for family, count in counts.items()
        )
        left = 1 - sum(family.weight for family in counts)
        kept = f"; {left:.0%} is kept back." if left >= 0.005 else "."
        error = f"{1 - self.plan.confidence:.0%} chance of a false finding"
        return f"{self.comparisons} comparisons share the {error}: {shares}{kept}"

    def unproven(self, figure: Figure) -> str:
        """What to say of a comparison that carries no finding."""
        return self.untold(figure.low > 0)

    def untold(self, beyond_chance: bool) -> str:
        """The same of one that is, or is not, beyond chance on its own."""
        if beyond_chance:
            return (
                "More often than chance explains on its own, but not for certain among "
                f"{self.comparisons} comparisons: no finding."
            )
        return "No more often than chance or people who are not in the data explain."

    @property
    def sizes(self) -> tuple[int, int, int, float]:
        """Rows of the real table, of the release and of the holdout, and the width in tables of 15 columns."""
        release = self.release
        held = 0 if release.holdout is None else len(release.holdout)
        return len(release.real), len(release.synthetic), held, len(release.schema.columns) / 15

    @cached_property
    def sides(self) -> Sides | None:
        """Who is scored; None without a holdout."""
        release = self.release
        return None if release.holdout is None else sides_of(release.real, release.holdout, self.plan.seed)

    @cached_property
    def scores(self) -> tuple[Scores, ...]:
        """Every membership attack, scored once."""
        if self.sides is None:
            return ()
        return tuple(score_all(self.sides, self.release.synthetic, self.plan.seed, people=self.plan.people))

    @cached_property
    def copies(self) -> Copies:
        """Who stands verbatim in the release."""
        release = self.release
        return copies(release.real, release.synthetic, holdout=release.holdout, confidence=self.plan.confidence)

    @cached_property
    def numbers(self) -> tuple[PublishedNumbers, ...]:
        """Whose own numbers stand in the release, column by column; none without a holdout."""
        release = self.release
        if release.holdout is None:
            return ()
        rng, confidence = stream(self.plan.seed, "own numbers"), self.plan.confidence
        return published_numbers(
            release.real, release.synthetic, holdout=release.holdout, confidence=confidence, rng=rng
        )

    @cached_property
    def crowd(self) -> Crowd | None:
        """Everybody side by side; None without a holdout, or with too few people."""
        return Crowd.of(self.release, self.plan.seed, self.plan.people)


@dataclass(frozen=True, eq=False)
class ReleasePart(Part):
    """What a part of a release audit contributes."""

    # By name, what a finding is at least, even if real table and holdout differ by themselves.
    stands: Mapping[str, Severity] = field(default_factory=dict)
    naming: Part | None = None  # who is named; only if real and holdout are alike
    explained: float | None = (
        None  # the most that a blind scorer may gain, real and holdout being what they are; None: not measured
    )


@dataclass(frozen=True)
class Check:
    """A part of the audit: its name, what it does, and which comparisons of it share the error of the verdict."""

    name: str
    run: Callable[[Case], Part]
    families: tuple[Family, ...] = ()
    cost: int = 1  # of about a hundred for the whole audit: by it the time that is left is told
    seconds: Callable[[Case], float] = lambda case: 0.0  # of CPU on a common machine, about, for what is compiled


def words(rate: float) -> str:
    """A rate as a natural frequency."""
    return in_100(rate) if rate > 0 else "none in 100"
