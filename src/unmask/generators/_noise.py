"""Discrete noise and private choices: repeatable for experiments, hardened (OpenDP) for real releases.

Counts get whole-number noise, which has no floating-point side channel of the kind Mironov (2012) describes. A scale of 0
(epsilon infinite) means no noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from unmask.errors import MissingExtraError, ParameterError

MAX_SCALE = 2.0**40  # sums over millions of noisy cells still fit 64 bits


class Noise(Protocol):
    """A source of noise."""

    def laplace(self, counts: np.ndarray, scale: float) -> np.ndarray:
        """Counts plus discrete Laplace noise: P(k) proportional to exp(-|k| / scale)."""
        ...

    def gaussian(self, counts: np.ndarray, sigma: float) -> np.ndarray:
        """Counts plus discrete Gaussian noise: P(k) proportional to exp(-k^2 / (2 sigma^2))."""
        ...

    def choose(self, scores: np.ndarray, epsilon: float, sensitivity: float) -> int:
        """The exponential mechanism: position i with weight exp(epsilon scores[i] / (2 sensitivity))."""
        ...

    def pick(self, count: int) -> int:
        """One of 0 .. count-1, all equally likely; costs no privacy."""
        ...


def noise_for(release: bool, rng: np.random.Generator | None) -> Noise:
    """Hardened noise for a release, which takes no rng, or repeatable noise from an rng."""
    if release and rng is not None:
        raise ParameterError(
            "release=True draws noise that nobody can repeat, so a seed has no meaning and would undo the privacy.\n"
            "Pass rng=None (leave out --seed), or set release=False for experiments."
        )
    if release:
        return Hardened()
    if rng is None:
        raise ParameterError("Fitting needs an rng unless release=True. Pass numpy.random.default_rng(seed).")
    return Seeded(rng)


@dataclass(frozen=True, eq=False)
class Seeded:
    """Noise from a numpy generator: exact distributions up to float64 rounding, and repeatable, so not for real releases."""

    rng: np.random.Generator

    def laplace(self, counts: np.ndarray, scale: float) -> np.ndarray:
        if check_scale(scale) == 0:
            return np.array(counts)
        return counts + self._laplace(counts.shape, scale)

    def gaussian(self, counts: np.ndarray, sigma: float) -> np.ndarray:
        if check_scale(sigma) == 0:
            return np.array(counts)
        return counts + self._gaussian(counts.size, sigma).reshape(counts.shape)

    def choose(self, scores: np.ndarray, epsilon: float, sensitivity: float) -> int:
        scale = gumbel_scale(epsilon, sensitivity)
        if scale == 0:
            return int(np.argmax(scores))
        return int(np.argmax(scores / scale + self.rng.gumbel(size=len(scores))))

    def pick(self, count: int) -> int:
        return int(self.rng.integers(count))

    def _laplace(self, shape: int | tuple[int, ...], scale: float) -> np.ndarray:
        """The difference of two geometric variables; floor(scale x exponential) is geometric with ratio exp(-1/scale)."""
        up = np.floor(self.rng.standard_exponential(shape) * scale)
        up -= np.floor(self.rng.standard_exponential(shape) * scale)
        return up.astype(np.int64)

    def _gaussian(self, size: int, sigma: float) -> np.ndarray:
        """Rejection from discrete Laplace (Canonne, Kamath and Steinke 2020, algorithm 3); more than half is accepted."""
        scale = math.floor(sigma) + 1
        kept, found = [np.empty(0, dtype=np.int64)], 0
        while found < size:
            tried = self._laplace(2 * (size - found) + 8, scale)
            log_accept = -((np.abs(tried) - sigma**2 / scale) ** 2) / (2 * sigma**2)
            good = tried[self.rng.random(len(tried)) < np.exp(log_accept)]
            kept.append(good)
            found += len(good)
        return np.concatenate(kept)[:size]


@dataclass(frozen=True)
class Hardened:
    """OpenDP's samplers: exact arithmetic and the operating system's randomness; cannot be seeded.

    Choices add Gumbel noise to the scores, which is the exponential mechanism. OpenDP offers that under zero-concentrated
    divergence (rho = epsilon^2 / 8 for a scale of 2 sensitivity / epsilon); under pure divergence it would permute and flip
    instead, which has other weights. Scores arrive as float64: their own rounding is part of the score.
    """

    def laplace(self, counts: np.ndarray, scale: float) -> np.ndarray:
        if check_scale(scale) == 0:
            return np.array(counts)
        dp = _opendp()
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        return _applied(dp.m.make_laplace(*space, scale=float(scale)), counts)

    def gaussian(self, counts: np.ndarray, sigma: float) -> np.ndarray:
        if check_scale(sigma) == 0:
            return np.array(counts)
        dp = _opendp()
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
        return _applied(dp.m.make_gaussian(*space, scale=float(sigma)), counts)

    def choose(self, scores: np.ndarray, epsilon: float, sensitivity: float) -> int:
        scale = gumbel_scale(epsilon, sensitivity)
        if scale == 0:
            return int(np.argmax(scores))
        dp = _opendp()
        space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
        measurement = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale)
        return int(measurement([float(score) for score in scores]))

    def pick(self, count: int) -> int:
        return self.choose(np.zeros(count), 1.0, 1.0)


def gumbel_scale(epsilon: float, sensitivity: float) -> float:
    """Scale of the Gumbel noise of an exponential mechanism; 0 if epsilon is infinite or the scores do not depend on people."""
    if not (epsilon > 0 and sensitivity >= 0):
        raise ParameterError(f"A private choice needs epsilon > 0 and sensitivity >= 0, not {epsilon}, {sensitivity}.")
    return 0.0 if math.isinf(epsilon) else check_scale(2 * sensitivity / epsilon)


def check_scale(scale: float) -> float:
    """Refuse noise so wide that it is not a number, or leaves 64 bits."""
    if not 0 <= scale <= MAX_SCALE:
        raise ParameterError(f"The noise scale is {scale:g}, above {MAX_SCALE:.2g}. Use a larger epsilon.")
    return float(scale)


def _applied(measurement: Any, counts: np.ndarray) -> np.ndarray:
    noisy = measurement(np.asarray(counts, dtype=np.int64).ravel().tolist())
    return np.array(noisy, dtype=np.int64).reshape(counts.shape)


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ModuleNotFoundError:
        raise MissingExtraError(
            "release=True needs OpenDP's hardened samplers. Install them: pip install 'unmask[opendp]'."
        ) from None
    dp.enable_features("contrib")
    return dp
