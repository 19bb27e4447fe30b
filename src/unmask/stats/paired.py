"""Two mechanisms on the same draws: the difference of what they do, with the draw as what is independent.

Whatever both have in common, the people, the coins, the luck of the draw, falls out of a difference within draws. An interval for
it is not two intervals laid side by side, and most often far narrower.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.errors import ParameterError
from unmask.stats._checks import BoolArray, FloatArray
from unmask.stats.cases import Cases
from unmask.stats.jackknife import jackknife
from unmask.stats.results import Estimate

METHOD = "paired bets on releases"


def paired_gain(
    first: BoolArray, second: BoolArray, members: BoolArray, *, cases: Cases, confidence: float = 0.95
) -> Estimate:
    """The gain of one attack minus that of another on the same cases: positive = the first gains more.

    Half of (first - second + 1) lies between 0 and 1, and its gain is half of the difference, so the bets of `Cases.mean_gain`
    are exact for it, however the cases of one draw, or the two attacks, hang together.
    """
    if not first.shape == second.shape == members.shape:
        raise ParameterError(f"Paired cases must be alike: {first.shape}, {second.shape} and {members.shape} differ.")
    if members.all() or not members.any():
        raise ParameterError("A gain needs cases with the person and cases without.")
    apart = (first.astype(np.float64) - second.astype(np.float64) + 1) / 2
    half = cases.mean_gain(apart, members, confidence=confidence)
    ends = max(-2.0, 2 * half.low), min(2.0, 2 * half.high)
    return replace(half, value=2 * half.value, interval=ends, method=METHOD)


def paired_areas(
    first: tuple[float, FloatArray], second: tuple[float, FloatArray], *, confidence: float = 0.95
) -> Estimate:
    """The difference of two figures of the same runs, each with what it is without each run in turn: a jackknife over runs."""
    (one, without), (other, less) = first, second
    if without.shape != less.shape:
        raise ParameterError(f"Paired runs must be alike: {without.shape} and {less.shape} differ.")
    return jackknife(one - other, without - less, n=len(without), confidence=confidence, limits=(-1.0, 1.0))
