"""What every statistic returns: a value with its interval, its level, its method and what that level rests on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unmask.errors import ParameterError


class Assumption(StrEnum):
    """What the confidence of a result rests on."""

    EXACT = "exact"  # holds for every n, whatever the mechanism or the distribution of scores
    MODEL_BASED = "model-based"  # holds under a declared model or a normal limit; `method` names it
    CREDIBLE = "credible"  # a posterior statement; says nothing about how often it is wrong


@dataclass(frozen=True)
class Estimate:
    """A measured number and the interval that covers the truth with probability `confidence`."""

    value: float
    interval: tuple[float, float]
    confidence: float
    method: str
    assumption: Assumption
    n: int

    def __post_init__(self) -> None:
        """Refuse an interval that is upside down: that is a defect of ours, and it must not reach a report."""
        low, high = self.interval
        if low > high:
            raise ParameterError(f"{self.method}: the interval ({low}, {high}) is upside down.")

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.interval[0]

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.interval[1]


@dataclass(frozen=True)
class Bound(Estimate):
    """A one-sided lower bound on epsilon at `delta`; its interval is (value, infinity).

    `largest_visible` is what a perfect attack would have shown with as many runs: a bound near it says that more
    runs are needed, a bound far below it says that the attack (or the mechanism) is the limit.
    """

    delta: float
    largest_visible: float

    def refutes(self, epsilon: float, delta: float = 0.0) -> bool:
        """Whether the claim "(epsilon, delta)-DP" is false at this bound's confidence.

        A claim at a smaller delta implies the same epsilon at a larger one, so a bound at `self.delta` may judge every
        claim with delta <= self.delta. A credible bound refutes nothing.
        """
        if delta > self.delta:
            raise ParameterError(
                f"This bound holds at delta = {self.delta:g} and cannot judge a claim with delta = {delta:g}. "
                f"Compute the bound with delta={delta:g}."
            )
        return self.assumption is not Assumption.CREDIBLE and self.value > epsilon

    def __str__(self) -> str:
        """The one way in which a bound is printed; an epsilon is never stated with an equals sign."""
        return (
            f"epsilon >= {self.value:.3g} ({100 * self.confidence:g} %, one-sided, {self.method}); "
            f"largest visible with this many runs: {self.largest_visible:.3g}"
        )


@dataclass(frozen=True)
class Refusal:
    """A method that would not answer, and why; reports list it under "not tested"."""

    method: str
    reason: str

    def refutes(self, epsilon: float, delta: float = 0.0) -> bool:
        """A method that gave no answer refutes nothing."""
        return False
