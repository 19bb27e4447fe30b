"""Mechanisms whose epsilon is known, as pairs of scores: what every bound is held against."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from unmask.stats import gaussian_mu

EPSILONS = (0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class RandomisedResponse:
    epsilon: float
    delta: float = 0.0

    threshold = 0.5

    def draw(self, n, rng):
        keep = 1 / (1 + math.exp(-self.epsilon))
        return (rng.random(n) < keep).astype(float), (rng.random(n) < 1 - keep).astype(float)


@dataclass(frozen=True)
class Laplace:
    epsilon: float
    delta: float = 0.0

    threshold = 1.0  # beyond the shifted centre the likelihood ratio is exactly e^epsilon

    def draw(self, n, rng):
        return 1 + rng.laplace(0, 1 / self.epsilon, n), rng.laplace(0, 1 / self.epsilon, n)


@dataclass(frozen=True)
class Gaussian:
    """A delta that is not tiny, so that the bound comes near the truth and a dishonest one would pass it."""

    epsilon: float
    delta: float = 0.05

    @property
    def mu(self):
        return gaussian_mu(self.epsilon, self.delta)

    @property
    def threshold(self):
        return self.mu / 2 + self.epsilon / self.mu  # TPR - e^epsilon FPR = delta exactly here

    def draw(self, n, rng):
        return self.mu + rng.normal(size=n), rng.normal(size=n)


MECHANISMS = [kind(epsilon) for kind in (RandomisedResponse, Laplace, Gaussian) for epsilon in EPSILONS]


def most_failures(repetitions, *, level=0.05):
    """How often a method of this level may fail before we call it dishonest: the 99.9 % binomial limit."""
    return int(binom.ppf(0.999, repetitions, level))


def coin_game(mechanism, coins, rng):
    """Fair coins, one draw of the mechanism per coin: the coins and the scores."""
    inside, outside = mechanism.draw(coins, rng)
    flips = rng.random(coins) < 0.5
    return flips, np.where(flips, inside, outside)
