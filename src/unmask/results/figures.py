"""Numbers as they stand in a result, and shares as people read them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unmask.stats import Estimate


@dataclass(frozen=True)
class Figure:
    """A number with what is needed to judge it."""

    value: float
    low: float
    high: float
    confidence: float
    method: str
    n: int


def figure(estimate: Estimate) -> Figure:
    """A statistic as it stands in a result."""
    return Figure(
        float(estimate.value),
        float(estimate.low),
        float(estimate.high),
        estimate.confidence,
        estimate.method,
        estimate.n,
    )


def in_100(share: float) -> str:
    """A share as a natural frequency: `19 in 100`, or `less than 1 in 100`."""
    count = round(100 * share)
    if count == 0 and share > 0:
        return "less than 1 in 100"
    return f"{count} in 100"


def listed_above(listed: int, of: int, rate: float) -> Figure:
    """How many people are above tolerance, from a list of so many names with this false discovery rate.

    The lower end is what is expected to be right: a mean over audits, no confidence in this one.
    """
    right = math.floor((1 - rate) * listed + 1e-9)  # 0.7 x 90 is 63, whatever floats say
    return Figure(listed, right, listed, 1 - rate, f"expected, false discovery rate {rate:g}", of)
