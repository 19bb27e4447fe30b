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


def frequency(share: float) -> str:
    """A share as people read it: `19 in 100`."""
    if not math.isfinite(share):
        return "unknown"
    count = round(100 * share)
    if count == 0 and share > 0:
        return "under 1 in 100"
    if count == 100 and share < 1:
        return "over 99 in 100"
    return f"{count} in 100"


def more_in_100(gain: float) -> str:
    """What an attack gains, as people read it: `5 more in 100`."""
    if not math.isfinite(gain):
        return "unknown"
    count = round(100 * gain)
    if count > 0:
        return f"{count} more in 100"
    return "under 1 more in 100" if gain > 0 else "none more in 100"


def in_words(figure: Figure) -> str:
    """A number with its interval, confidence and size."""
    low, high = rounded(figure.low), rounded(figure.high)
    sure = f"{percent(figure.confidence)}, n = {figure.n:,}"
    if math.isinf(figure.high):
        return (
            f"at least {low} ({sure})"
            if figure.value == figure.low
            else f"{rounded(figure.value)} (at least {low}, {sure})"
        )
    return f"{rounded(figure.value)} ({low} to {high}, {sure})"


def interval(figure: Figure) -> str:
    """A number with its interval alone."""
    return f"{rounded(figure.value)} ({rounded(figure.low)} to {rounded(figure.high)})"


def percent(share: float) -> str:
    """A confidence or a share as a percentage."""
    return f"{100 * share:.4g} %"


def number(value: float) -> str:
    """Three digits, and words for what is no number."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "unbounded" if value > 0 else "-unbounded"
    if value and abs(value) < 0.0005:
        return f"{value:.1e}"
    if abs(value) >= 100 or value in (0.0, 1.0):
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"


def rounded(value: float) -> str:
    """The same for people who do not read powers of ten."""
    return "0.000" if value and abs(value) < 0.0005 else number(value)


def short(value: float) -> str:
    """The same without zeros at its end: for ticks and thresholds."""
    text = number(value)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
