"""Everybody together: pooled AUC and rates over runs, and one bound on epsilon from all coins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.audits.everyone.evidence import Evidence, Judged
from unmask.stats import Bound, Estimate, epsilon_one_run, jackknife
from unmask.stats.auc import area
from unmask.stats.roc import roc_curve
from unmask.threats.coins import CoinGame

BINS = 4000
RATES = (0.01, 0.001)
SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)  # of all coins of a run, guessed "in" or "out"


@dataclass(frozen=True)
class Pooled:
    """Figures over all units and judged runs; intervals from the differences between runs, which share a release."""

    auc: Estimate
    tpr: Estimate  # guessing "in" where that is the likelier side
    fpr: Estimate
    advantage: Estimate
    tpr_at: tuple[Estimate, ...]  # at the rates of RATES


@dataclass(frozen=True, eq=False)
class PooledScores:
    """The figures before there is a confidence: as they are, and without each run in turn."""

    n: int
    auc: tuple[float, np.ndarray]
    tpr: tuple[float, np.ndarray]
    fpr: tuple[float, np.ndarray]
    tpr_at: tuple[tuple[float, np.ndarray], ...]

    @classmethod
    def of(cls, evidence: Evidence) -> PooledScores:
        """Pool all units and runs. Scores are likelihood ratios, so those of different units mean the same."""
        scores, members = evidence.log_ratios, evidence.members
        within, without = scores[members], scores[~members]
        inside, outside = _histograms(scores, members)
        guess = scores > 0
        hits, alarms = (guess & members).sum(axis=1), (guess & ~members).sum(axis=1)
        counts = np.stack([hits, members.sum(axis=1), alarms, (~members).sum(axis=1)])
        total, left = counts.sum(axis=1), counts.sum(axis=1)[:, None] - counts
        curve = roc_curve(within, without)
        points = tuple(
            (float(curve.tpr[np.searchsorted(curve.fpr, rate, side="right") - 1]), _tpr_without(inside, outside, rate))
            for rate in RATES
        )
        return cls(
            n=scores.size,
            auc=(area(within, without), _auc_without(inside, outside)),
            tpr=(total[0] / total[1], left[0] / left[1]),
            fpr=(total[2] / total[3], left[2] / left[3]),
            tpr_at=points,
        )

    def at(self, confidence: float) -> Pooled:
        """With intervals."""

        def estimate(found: tuple[float, np.ndarray], limits: tuple[float, float] = (0.0, 1.0)) -> Estimate:
            value, without = found
            return jackknife(value, without, n=self.n, confidence=confidence, limits=limits)

        return Pooled(
            auc=estimate(self.auc),
            tpr=estimate(self.tpr),
            fpr=estimate(self.fpr),
            advantage=estimate((self.tpr[0] - self.fpr[0], self.tpr[1] - self.fpr[1]), (-1.0, 1.0)),
            tpr_at=tuple(estimate(point) for point in self.tpr_at),
        )


def judge_pooled(evidence: Evidence, *, confidence: float) -> Pooled:
    """Figures of all units and runs together."""
    return PooledScores.of(evidence).at(confidence)


def _histograms(scores: np.ndarray, members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Runs x bins: scores of units that are in, and of those that are out, from the highest bin down."""
    bins = np.empty(scores.shape, dtype=np.int64)
    bins.ravel()[_falling(scores.ravel())] = np.arange(scores.size) * BINS // scores.size
    runs = np.arange(len(scores))[:, None] * BINS
    counts = [
        np.bincount((bins + runs)[chosen], minlength=len(scores) * BINS).reshape(len(scores), BINS)
        for chosen in (members, ~members)
    ]
    return counts[0], counts[1]


def _falling(scores: np.ndarray) -> np.ndarray:
    """Places from the highest score down, ties in order. Where there are none, a sort that minds no order is several times as
    fast."""
    falling = -scores
    order = np.argsort(falling)
    ordered = falling[order]
    return order if (ordered[1:] != ordered[:-1]).all() else np.argsort(falling, kind="stable")


def auc_over_runs(evidence: Evidence) -> tuple[float, np.ndarray]:
    """The pooled AUC, and what it is without each run in turn."""
    scores, members = evidence.log_ratios, evidence.members
    inside, outside = _histograms(scores, members)
    return area(scores[members], scores[~members]), _auc_without(inside, outside)


def _auc_without(inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """The AUC without each run in turn."""
    own, other = inside.sum(axis=0) - inside, outside.sum(axis=0) - outside
    above = np.cumsum(own, axis=1) - own / 2
    return np.asarray((above * other).sum(axis=1) / (own.sum(axis=1) * other.sum(axis=1)))


def _tpr_without(inside: np.ndarray, outside: np.ndarray, rate: float) -> np.ndarray:
    """The true positive rate at a false positive rate, without each run in turn."""
    own, other = inside.sum(axis=0) - inside, outside.sum(axis=0) - outside
    fpr = np.cumsum(other, axis=1) / other.sum(axis=1, keepdims=True)
    tpr = np.cumsum(own, axis=1) / own.sum(axis=1, keepdims=True)
    return np.array([np.interp(rate, x, y) for x, y in zip(fpr, tpr, strict=True)])


@dataclass(frozen=True)
class GuessCounts:
    """How many coins of each run are guessed: the highest evidence "in", the lowest "out"."""

    top: int
    bottom: int


def pooled_bound(judged: Judged, game: CoinGame, chosen: np.ndarray, *, confidence: float, delta: float = 0.0) -> Bound:
    """One bound on the epsilon of all units in `chosen` (bool), from the coins of the late runs.

    K runs with independent coins are one mechanism that is DP in each of its coins, so the one-run theorem holds. How many coins
    of a run are guessed is fixed beforehand: on the early runs, else a tenth on either side. Nothing is guessed about a run that
    failed, but its coins count: a generator that publishes everything once in 200 fits and else refuses is (0, .005)-DP.
    """
    late = _Ranked.of(per_coin(judged.late, game, chosen))
    guesses = GuessCounts(max(1, late.coins // 10), late.coins // 10)
    if judged.early is not None:
        early = _Ranked.of(per_coin(judged.early, game, chosen))
        guesses = max(_candidates(late.coins), key=lambda g: early.promise(g, late.runs))
    return epsilon_one_run(
        late.right(guesses),
        (guesses.top + guesses.bottom) * late.runs,
        coins=late.coins * (late.runs + (0 if judged.failed_late is None else len(judged.failed_late))),
        confidence=confidence,
        delta=delta,
    )


def per_coin(evidence: Evidence, game: CoinGame, chosen: np.ndarray) -> Evidence:
    """Evidence about coins: about a pair, what speaks for the one and against the other."""
    firsts = game.firsts
    if game.partners is None:
        return evidence.of(firsts[chosen[firsts]])
    firsts = firsts[chosen[firsts] & chosen[game.partners[firsts]]]
    second = evidence.log_ratios[:, game.partners[firsts]]
    return Evidence(evidence.log_ratios[:, firsts] - second, evidence.members[:, firsts])


def _candidates(coins: int) -> list[GuessCounts]:
    sizes = sorted({max(1, round(share * coins)) for share in SHARES})
    pairs = [GuessCounts(size, bottom) for size in sizes for bottom in (0, size)]
    return [pair for pair in pairs if pair.top + pair.bottom <= coins]


@dataclass(frozen=True, eq=False)
class _Ranked:
    """How many of the coins with the highest evidence are "in", all runs together.

    Ties keep the order of the coins, which knows nothing of how they fell.
    """

    inside: np.ndarray  # place j: of the j coins with the highest evidence of each run
    coins: int
    runs: int

    @classmethod
    def of(cls, evidence: Evidence) -> _Ranked:
        pairs = zip(evidence.log_ratios, evidence.members, strict=True)
        ranked = np.sum([members[_falling(scores)] for scores, members in pairs], axis=0)
        return cls(np.concatenate([[0], np.cumsum(ranked)]), *reversed(evidence.members.shape))

    def right(self, guesses: GuessCounts) -> int:
        out = guesses.bottom * self.runs - (self.inside[-1] - self.inside[self.coins - guesses.bottom])
        return int(self.inside[guesses.top] + out)

    def promise(self, guesses: GuessCounts, later: int) -> float:
        """The accuracy to be expected in `later` runs, less the error of choosing and of judging."""
        made = (guesses.top + guesses.bottom) * self.runs
        share = (self.right(guesses) + 1) / (made + 2)
        error = share * (1 - share) * (1 / made + self.runs / (made * later))
        return float(share - 1.645 * np.sqrt(error))
