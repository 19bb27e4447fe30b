"""From one number per unit and run to odds: what that number means for everybody, and what it means for this unit.

Two readings. *Everybody's*: a logistic curve over all units and runs, with one slope below the middle and one above. It is
right where all leak alike. *The unit's own*: bell curves around its own means with and without it, shrunk towards everybody's. It
is right for the few who leak where others do not. For each unit the two are mixed as its own earlier runs advise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

COMMON = 0.75  # how far everybody's reading is trusted before a unit's own runs have spoken
SUREST = 8.0  # log odds: a curve that was learnt from few runs is trusted no further
PENALTY = 1.0  # on the slopes of the curve, as if by one example
STEPS = 12  # of Newton's method


@dataclass(frozen=True, eq=False)
class Odds:
    """Log odds of "in" for every unit."""

    curve: Curve
    shift: Shift
    common: np.ndarray  # units: the weight of everybody's reading
    known: np.ndarray  # units that were both in and out; nothing is said about others

    @classmethod
    def of(cls, scores: np.ndarray, members: np.ndarray, prior_runs: float) -> Odds:
        """`scores` and `members` are runs x units."""
        shift = Shift.of(scores, members, prior_runs)
        known = np.asarray(members.any(axis=0) & ~members.all(axis=0))
        curve = Curve.of(scores[:, known], members[:, known])
        own = Shift.without_each(scores, members, prior_runs).log_ratio(scores)
        speaks = _log_likelihood(curve.log_odds(scores), members) - _log_likelihood(_sane(own), members)
        return cls(curve, shift, _chance(np.log(COMMON / (1 - COMMON)) + speaks.sum(axis=0)), known)

    def log_ratio(self, scores: np.ndarray) -> np.ndarray:
        """Odds of fair coins are likelihood ratios."""
        common, own = _chance(self.curve.log_odds(scores)), _chance(_sane(self.shift.log_ratio(scores)))
        chance = self.common * common + (1 - self.common) * own
        return np.asarray(np.where(self.known, np.log(chance / (1 - chance)), 0.0))


@dataclass(frozen=True)
class Curve:
    """Everybody's reading: a logistic curve with a bend in the middle. It never falls."""

    centre: float
    scale: float
    level: float
    slopes: tuple[float, float]  # below the middle and above

    @classmethod
    def of(cls, scores: np.ndarray, members: np.ndarray) -> Curve:
        centre, scale = (float(scores.mean()), float(scores.std())) if scores.size else (0.0, 0.0)
        if scale < 1e-9:
            return cls(centre, 1.0, 0.0, (0.0, 0.0))
        z, inside = ((scores - centre) / scale).ravel(), members.ravel()
        found = _logistic(np.stack([np.ones(z.size), np.minimum(z, 0), np.maximum(z, 0)]), inside)
        if min(found[1:]) < 0:  # a straight line then, and a flat one if even that falls
            found = np.repeat(_logistic(np.stack([np.ones(z.size), z]), inside), (1, 2))
        below, above = np.maximum(found[1:], 0.0)
        return cls(centre, scale, float(found[0]), (float(below), float(above)))

    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        z = (scores - self.centre) / self.scale
        return _sane(self.level + self.slopes[0] * np.minimum(z, 0) + self.slopes[1] * np.maximum(z, 0))


@dataclass(frozen=True, eq=False)
class Shift:
    """For each unit: where its score lies on average, by how much "in" shifts it, and its variance within."""

    centre: np.ndarray
    shift: np.ndarray
    variance: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, members: np.ndarray, prior_runs: float) -> Shift:
        """From all runs."""
        middle = scores.mean(axis=0)
        inside, outside = (_Side.of(scores - middle, chosen) for chosen in (members, ~members))
        return cls._shrunk(middle, inside, outside, prior_runs)

    @classmethod
    def without_each(cls, scores: np.ndarray, members: np.ndarray, prior_runs: float) -> Shift:
        """The same for each run in turn, without that run (runs x units): to be tried on it."""
        middle = scores.mean(axis=0)
        inside, outside = (
            _Side.of(scores - middle, chosen).without_each(scores - middle, chosen) for chosen in (members, ~members)
        )
        return cls._shrunk(middle, inside, outside, prior_runs)

    @classmethod
    def _shrunk(cls, middle: np.ndarray, inside: _Side, outside: _Side, prior_runs: float) -> Shift:
        """Shifts are shrunk towards their mean over units; none is below 0."""
        known = (inside.runs > 0) & (outside.runs > 0)
        n_in, n_out = np.maximum(inside.runs, 1), np.maximum(outside.runs, 1)
        runs, within = inside.runs + outside.runs, inside.scatter + outside.scatter
        freedom = np.maximum(_total(n_in + n_out - 2, known), 1)
        typical = np.where(known.any(axis=-1, keepdims=True), _total(within, known) / freedom, 1.0)
        variance = np.maximum((within + prior_runs * typical) / (runs + prior_runs), 1e-12)
        raw = inside.mean - outside.mean
        noise = variance * (1 / n_in + 1 / n_out)
        units = np.maximum(_total(np.ones(raw.shape), known), 1)
        usual = _total(raw, known) / units
        # Shifts differ as far as their noise does not explain it: among all units, or for one that stands out by itself.
        differ = np.maximum((_total((raw - usual) ** 2, known) - _total(noise, known)) / units, 0.0)
        differ = np.maximum(differ, (raw - usual) ** 2 - noise)
        shrunk = (raw * differ + usual * noise) / (differ + noise)
        centre = middle + (inside.total + outside.total) / np.maximum(runs, 1)
        return cls(centre, np.where(known, np.maximum(shrunk, 0.0), 0.0), variance)

    def log_ratio(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(self.shift * (scores - self.centre) / self.variance)


@dataclass(frozen=True, eq=False)
class _Side:
    """Scores of the runs with a unit, or of those without: how many, their sum, and their sum of squares."""

    runs: np.ndarray
    total: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, chosen: np.ndarray) -> _Side:
        kept = np.where(chosen, scores, 0.0)
        return cls(chosen.sum(axis=0), kept.sum(axis=0), (kept**2).sum(axis=0))

    def without_each(self, scores: np.ndarray, chosen: np.ndarray) -> _Side:
        kept = np.where(chosen, scores, 0.0)
        return _Side(self.runs - chosen, self.total - kept, self.squares - kept**2)

    @property
    def mean(self) -> np.ndarray:
        return np.asarray(self.total / np.maximum(self.runs, 1))

    @property
    def scatter(self) -> np.ndarray:
        return np.asarray(np.maximum(self.squares - self.runs * self.mean**2, 0.0))


def _total(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Over units, of those who were both in and out."""
    return np.asarray(np.where(known, values, 0.0).sum(axis=-1, keepdims=True))


def _logistic(inputs: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Coefficients of a logistic regression (inputs x examples), by Newton's method; the first input is constant."""
    penalty = np.where(np.arange(len(inputs)) > 0, PENALTY, 1e-6)
    found = np.zeros(len(inputs))
    for _ in range(STEPS):
        chance = _chance(found @ inputs)
        slope = inputs @ (inside - chance) - penalty * found
        curvature = (inputs * (chance * (1 - chance))) @ inputs.T + np.diag(penalty)
        better = found + np.linalg.solve(curvature, slope)
        if np.array_equal(better, found):  # it would stay there
            break
        found = better
    return found


def _sane(log_odds: np.ndarray) -> np.ndarray:
    return np.asarray(np.clip(log_odds, -SUREST, SUREST))


def _chance(log_odds: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -30, 30))))


def _log_likelihood(log_odds: np.ndarray, members: np.ndarray) -> np.ndarray:
    return np.asarray(-np.logaddexp(0, np.where(members, -log_odds, log_odds)))
