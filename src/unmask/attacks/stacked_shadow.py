"""Many weak signs of nearness, stacked by a learner that the attacker's own releases teach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from unmask.attacks._attack import FeatureSet
from unmask.attacks.features.neighbourhood import BANDWIDTHS, NEIGHBOURS, NeighbourhoodFeatures
from unmask.errors import ParameterError
from unmask.threats.knowledge import Access, Goal
from unmask.threats.pool import Pool

# Ridge penalties, chosen on releases of cart, copula and bayesnet (Adult, n = 300, 16 to 200 shadows, 1 or 8 targets): three
# times as much or as little changes the AUC by about .01 at most.
EACH_PENALTY = 333.0  # of the weight of a single sign, in its standard deviations
MEAN_PENALTY, MEAN_WEIGHT = 5.0, 0.5  # of the mean of all signs, pulled towards this weight and not to 0
PRIOR_FITS = 4.0  # fits that a target's own spread is mixed with: those of all targets together
FARTHEST = 10.0  # standard deviations: what lies further counts as this far
TINY = 1e-9


@dataclass(frozen=True)
class StackedShadow:
    """Probability that the target was in, from distances to many neighbours, NNDR, densities and relative scores together.

    Against deep generators single attacks are weak; the teams of the MIDST challenge stacked them. Each sign of nearness
    (`NeighbourhoodFeatures`) is put in standard deviations above what releases without the target show, which makes a density
    ratio of a density. Beside it stands its relative membership score: log p(sign | in) - log p(sign | out), both normal around
    the means of the attacker's own releases; how far the two lie apart is learnt target by target and pulled towards what all
    targets have in common, the more the fewer fits there are.

    A ridge-logistic learner, one for all targets, weighs the signs. Its ridge pulls towards their plain mean, which is what is
    left where there are too few releases to learn from. It is taught by cross-fitting: what it sees of a release was
    standardised by other fits, so that relative scores that only know their own releases get no weight. Releases of one fit
    stay together, since they share its members.

    Membership only.
    """

    name: ClassVar[str] = "stacked-shadow"
    goals: ClassVar[frozenset[Goal]] = frozenset({Goal.MEMBERSHIP})
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC, Access.SHADOWS})

    folds: int = 5

    def __post_init__(self) -> None:
        if isinstance(self.folds, bool) or not isinstance(self.folds, int) or self.folds < 2:
            raise ParameterError(f"folds is {self.folds!r}; use a whole number from 2.")

    @property
    def features(self) -> tuple[FeatureSet, ...]:
        return (NeighbourhoodFeatures(),)

    def fit(self, pool: Pool, rng: np.random.Generator) -> FittedStack:
        """Learn what is typical for each target, and from releases that were left out how much each sign weighs."""
        known = OwnReleases.of(pool, self.features[0].key)
        fits = np.unique(known.fits)
        part_of_fit = rng.permutation(np.arange(len(fits)) % min(self.folds, len(fits)))
        part = part_of_fit[np.searchsorted(fits, known.fits)]
        shown, labels = [], []
        for each in np.unique(part):
            mine = known.about & (part == each)[:, None]
            typical = Typical.of(known, part != each)
            shown.append(typical.signs(known.values)[mine])
            labels.append(known.members[mine])
        weights = SignWeights.learnt(np.concatenate(shown), np.concatenate(labels))
        return FittedStack(self.features[0].key, Typical.of(known, np.ones(len(pool), dtype=bool)), weights)


@dataclass(frozen=True, eq=False)
class OwnReleases:
    """The attacker's own releases."""

    values: np.ndarray  # releases x targets x signs
    members: np.ndarray  # releases x targets
    about: np.ndarray  # releases x targets: whether a release tells about the target
    fits: np.ndarray  # releases

    @classmethod
    def of(cls, pool: Pool, key: str) -> OwnReleases:
        return cls(_values(pool, key), pool.members, _about(pool), pool.fits)


def _values(pool: Pool, key: str) -> np.ndarray:
    return np.stack([pool.features(key, target) for target in range(len(pool.targets))], axis=1)


def _about(pool: Pool) -> np.ndarray:
    return np.stack([pool.about(target) for target in range(len(pool.targets))], axis=1)


@dataclass(frozen=True, eq=False)
class Typical:
    """What each sign of each target is in releases without it, how much it varies, and how far membership moves it."""

    centre: np.ndarray  # targets x signs
    spread: np.ndarray
    gap: np.ndarray  # in units of the spread

    @classmethod
    def of(cls, known: OwnReleases, chosen: np.ndarray) -> Typical:
        """From the chosen releases; a target without releases of one kind takes the mean of the other kind for both."""
        inside = known.about & known.members & chosen[:, None]
        outside = known.about & ~known.members & chosen[:, None]
        mean_in, mean_out = _means(known.values, inside), _means(known.values, outside)
        fits_in, fits_out = _fits(known.fits, inside), _fits(known.fits, outside)
        mean_out = np.where(fits_out[:, None] > 0, mean_out, mean_in)
        both = (fits_in > 0) & (fits_out > 0)
        variance = _variance(known.values, inside, mean_in) + _variance(known.values, outside, mean_out)
        free = np.maximum(inside.sum(axis=0) + outside.sum(axis=0) - 2.0, 0.0)[:, None]
        common = variance.sum(axis=0) / max(float(free.sum()), 1.0)
        spread = np.sqrt((variance + PRIOR_FITS * common) / (free + PRIOR_FITS)) + TINY
        noise = 1 / np.maximum(fits_in, 1) + 1 / np.maximum(fits_out, 1)
        return cls(mean_out, spread, _pulled((mean_in - mean_out) / spread, noise[:, None], both))

    def signs(self, values: np.ndarray) -> np.ndarray:
        """Releases x targets x (signs in standard deviations, then their relative membership scores)."""
        far = np.clip((values - self.centre) / self.spread, -FARTHEST, FARTHEST)
        return np.concatenate([far, self.gap * (far - self.gap / 2)], axis=2)


def _means(values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Targets x signs: means over the chosen releases, 0 where there are none."""
    return np.asarray(np.einsum("kt,ktf->tf", chosen, values) / np.maximum(chosen.sum(axis=0), 1)[:, None])


def _variance(values: np.ndarray, chosen: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Targets x signs: summed squares around the means."""
    return np.asarray(np.einsum("kt,ktf->tf", chosen, (values - means) ** 2))


def _fits(fits: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """How many fits the chosen releases of each target come from."""
    return np.array([len(np.unique(fits[mine])) for mine in chosen.T], dtype=np.float64)


def _pulled(gaps: np.ndarray, noise: np.ndarray, both: np.ndarray) -> np.ndarray:
    """Gaps pulled towards their mean by as much as noise explains of their differences (empirical Bayes).

    A target without releases of both kinds has the mean of the others, or 0 if there are none.
    """
    if not both.any():
        return np.zeros_like(gaps)
    mean = gaps[both].mean(axis=0)
    true = np.maximum(((gaps[both] - mean) ** 2).mean(axis=0) - noise[both].mean(), 0.0)
    pulled = mean + (gaps - mean) * true / (true + noise)
    return np.clip(np.where(both[:, None], pulled, mean), -FARTHEST, FARTHEST)


@dataclass(frozen=True, eq=False)
class SignWeights:
    """Log-odds of membership, linear in the signs."""

    centre: np.ndarray
    scale: np.ndarray
    each: np.ndarray
    mean: float
    constant: float

    @classmethod
    def learnt(cls, signs: np.ndarray, labels: np.ndarray) -> SignWeights:
        """Penalised maximum likelihood; all but the prior weights is at 0 where labels are all alike."""
        centre, scale = signs.mean(axis=0), signs.std(axis=0) + TINY
        columns = np.column_stack([(signs - centre) / scale, mean_sign(signs), np.ones(len(signs))])
        sign = np.where(labels, 1.0, -1.0)
        start = np.zeros(columns.shape[1])
        start[-2] = MEAN_WEIGHT
        if labels.all() or not labels.any():
            return cls(centre, scale, start[:-2], MEAN_WEIGHT, 0.0)
        penalty = np.full(len(start), EACH_PENALTY)
        penalty[-2:] = MEAN_PENALTY, 0.0

        def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
            odds, apart = sign * (columns @ weights), weights - start
            slope = penalty * apart - (sign * expit(-odds)) @ columns
            return float(0.5 * penalty @ apart**2 - log_expit(odds).sum()), slope

        found = minimize(loss, start, jac=True, method="L-BFGS-B").x
        return cls(centre, scale, found[:-2], float(found[-2]), float(found[-1]))

    def log_odds(self, signs: np.ndarray) -> np.ndarray:
        """One number for the last axis of signs."""
        single = ((signs - self.centre) / self.scale) @ self.each
        return np.asarray(single + self.mean * mean_sign(signs) + self.constant)


def mean_sign(signs: np.ndarray) -> np.ndarray:
    """The mean, in equal parts, of the nearest distance, of all distances and of densities, all in standard deviations."""
    count = len(NEIGHBOURS)
    distances, densities = signs[..., :count], signs[..., count + 1 : count + 1 + len(BANDWIDTHS)]
    return np.asarray((distances[..., 0] + distances.mean(axis=-1) + densities.mean(axis=-1)) / 3)


@dataclass(frozen=True, eq=False)
class FittedStack:
    """The attack with what is typical for each target, and the weights of the signs."""

    key: str
    typical: Typical
    weights: SignWeights

    def score(self, pool: Pool) -> np.ndarray:
        """Releases x targets: probabilities; 0 where a release is not about the target."""
        signs = self.typical.signs(_values(pool, self.key))
        return np.where(_about(pool), expit(self.weights.log_odds(signs)), 0.0)
