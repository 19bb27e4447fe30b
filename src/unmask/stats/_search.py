"""Bisection: where a condition that holds on the left stops to hold."""

from __future__ import annotations

from collections.abc import Callable

HALVINGS = 100  # more than the 53 bits of a float, so the answer is exact to the last digit


def last_true(holds: Callable[[float], bool], low: float, high: float, *, within: float = 0.0) -> float:
    """The largest x in [low, high] at which `holds`, given that it holds up to some point and not beyond.

    The left end of the final bracket is returned, so a lower bound is never rounded up. If it does not hold at `low`,
    the answer is `low`. With `within`, the search stops when the answer is known to that distance.
    """
    if holds(high):
        return high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high or high - low < within:
            break
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
