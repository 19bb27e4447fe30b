"""Cases of a game by the draws that they come from: rates, differences and thresholds with the draw as what is independent."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unmask.errors import ParameterError
from unmask.stats._checks import BoolArray, FloatArray, IntArray, check_share
from unmask.stats.auc import auc, placements
from unmask.stats.epsilon.clopper_pearson import epsilon_clopper_pearson, log_ratio
from unmask.stats.intervals import clopper_pearson, difference, lower_limit
from unmask.stats.jackknife import jackknife
from unmask.stats.results import Assumption, Bound, Estimate
from unmask.stats.roc import OperatingPoint, precision, precision_interval, tpr_at_fpr
from unmask.stats.thresholds import Given
from unmask.stats.wealth import HALVINGS, exceeds, log_wealth, lower_rate

METHOD = "bets on releases"
GAMES = 200  # that are simulated to tell what would have been seen


@dataclass(frozen=True, eq=False)
class Cases:
    """Which case comes from which independent draw, and the probability with which coins made each a member.

    A draw is a release with all of its targets; where several releases come from one fit, it is the fit. Where every draw has one
    case, cases are independent and the exact binomial limits are used; else bets on draws (`unmask.stats.wealth`).
    """

    draw: IntArray  # number of the draw of each case, from 0
    prior: float = 0.5
    mostly: bool = False  # whether it may be that nearly all cases are right, as well as nearly none

    def __post_init__(self) -> None:
        check_share("prior", self.prior)
        if not self.draw.size:
            raise ParameterError("There are no cases to judge.")

    @classmethod
    def of(cls, releases: np.ndarray | None, count: int, prior: float = 0.5) -> Cases:
        """Cases by the name of their draw; without names each is a draw of its own."""
        if releases is None:
            return cls(np.arange(count), prior)
        return cls(np.asarray(np.unique(releases, return_inverse=True)[1], dtype=np.int64).ravel(), prior)

    @cached_property
    def alone(self) -> bool:
        """Whether every draw has one case."""
        return bool(self.size == 1)

    @cached_property
    def size(self) -> int:
        """The most cases that a draw has."""
        return int(np.bincount(self.draw).max())

    @cached_property
    def draws(self) -> int:
        return int(self.draw.max()) + 1

    def per_draw(self, weights: np.ndarray) -> FloatArray:
        """Sums over the cases of each draw."""
        return np.asarray(np.bincount(self.draw, weights=weights.astype(np.float64)), dtype=np.float64)

    def lower(self, right: BoolArray, among: BoolArray, confidence: float) -> float:
        """One-sided lower limit of the share of `right` among some cases."""
        if self.alone:
            return float(lower_limit(int((right & among).sum()), int(among.sum()), confidence=confidence))
        return lower_rate(self.per_draw(right & among), self.per_draw(among), size=self.size, confidence=confidence)

    def surely_above(self, right: BoolArray, among: BoolArray, *, rate: float, confidence: float) -> bool:
        """Whether the share of `right` among some cases is above `rate` at this confidence."""
        if self.alone:
            return self.lower(right, among, confidence) > rate
        hits, chances = self.per_draw(right & among), self.per_draw(among)
        return exceeds(hits, chances, size=self.size, rate=rate, confidence=confidence)

    def rate(self, right: BoolArray, among: BoolArray, *, confidence: float) -> Estimate:
        """The share of `right` among some cases; either end is a one-sided limit at (1 + confidence)/2."""
        if self.alone:
            return clopper_pearson(int((right & among).sum()), int(among.sum()), confidence=confidence)
        value, each = float(right[among].mean()), 0.5 + confidence / 2
        interval = (self.lower(right, among, each), 1 - self.lower(~right, among, each))
        return Estimate(value, interval, confidence, METHOD, Assumption.EXACT, self.draws)

    def gain(self, right: BoolArray, members: BoolArray, *, confidence: float) -> Estimate:
        """The share of `right` among members minus that among the others, from the coins that made them members."""
        counts = ((int(part.sum()), part.size) for part in (right[members], right[~members]))
        found = difference(*counts, confidence=confidence)
        if self.alone:
            return found
        each = 0.5 + confidence / 2
        low = self._least_gain(right, members, each)
        high = -replace(self, prior=1 - self.prior)._least_gain(right, ~members, each)
        interval = (min(found.value, low), max(found.value, high))
        return Estimate(found.value, interval, confidence, METHOD, Assumption.EXACT, self.draws)

    def mean_gain(self, values: FloatArray, members: BoolArray, *, confidence: float) -> Estimate:
        """The mean of values from 0 to 1 among members minus that among the others; by bets, also where draws have one case."""
        value, each = float(values[members].mean() - values[~members].mean()), 0.5 + confidence / 2
        low = self._least_gain(values, members, each)
        high = -replace(self, prior=1 - self.prior)._least_gain(values, ~members, each)
        interval = (min(value, low), max(value, high))
        return Estimate(value, interval, confidence, METHOD, Assumption.EXACT, self.draws)

    def _least_gain(self, right: BoolArray | FloatArray, members: BoolArray, confidence: float) -> float:
        low, high = -1.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            surely = self._log_wealth_of_gain(right, members, middle) >= -math.log1p(-confidence)
            low, high = (middle, high) if surely else (low, middle)
        return low

    def _log_wealth_of_gain(self, right: BoolArray | FloatArray, members: BoolArray, gain: float) -> FloatArray:
        """Log e-value against "the gain is at most this"; rows of several games, if any, along the first axis.

        With coins of probability p, (right - o)(member/p - other/(1-p)) has the gain as its mean, whatever the number o. Half
        of the stakes are on o = 0, which is quiet where hardly anybody is right, half on o = 1-p: the accuracy, for fair coins.
        Where nearly all may be right, a third each, the last on o = 1, which is quiet then.
        """
        p = self.prior
        coin: FloatArray = np.where(members, 1 / p, -1 / (1 - p))
        every = []
        for offset in (0.0, 1 - p, 1.0) if self.mostly else (0.0, 1 - p):
            worth = (right.astype(np.float64) - offset) * coin
            ends = [(x - offset) * y for x in (0, 1) for y in (1 / p, -1 / (1 - p))]
            width, least = max(ends) - min(ends), min(ends)
            rate = max((gain - least) / width, 1e-12)
            hits = self._sums((worth - least) / width)
            every.append(log_wealth(hits, self.per_draw(np.ones(members.size)), size=self.size, rate=rate))
        return np.asarray(np.logaddexp.reduce(every) - math.log(len(every)), dtype=np.float64)

    def _sums(self, values: FloatArray) -> FloatArray:
        """Sums over the cases of each draw, along the last axis."""
        return self.per_draw(values) if values.ndim == 1 else np.stack([self.per_draw(row) for row in values])

    def precision(self, flagged: BoolArray, members: BoolArray, *, prior: float, confidence: float) -> Estimate:
        """Precision at a prior, from the corners of a box of two rates with half of the error each."""
        if self.alone:
            hits, alarms = ((int(part.sum()), part.size) for part in (flagged[members], flagged[~members]))
            return precision_interval(hits, alarms, prior=prior, confidence=confidence)
        each = 0.5 + confidence / 2
        tpr = self.rate(flagged, members, confidence=each)
        fpr = self.rate(flagged, ~members, confidence=each)
        value = precision(tpr.value, fpr.value, prior=prior)
        ends = [(tpr.low, fpr.high), (tpr.high, fpr.low)]
        low, high = (
            precision(t, f, prior=prior) if t or f else edge for (t, f), edge in zip(ends, (0.0, 1.0), strict=True)
        )
        interval = (min(low, value), max(high, value))
        return Estimate(value, interval, confidence, f"{METHOD}, box at prior {prior:g}", Assumption.EXACT, self.draws)

    def epsilon(self, flagged: BoolArray, members: BoolArray, *, confidence: float, delta: float = 0.0) -> Bound:
        """Lower bound on epsilon from FPR and FNR: the rates average over the coins of the others, so the claim limits them."""
        if self.alone:
            sides = flagged[members].astype(np.float64), flagged[~members].astype(np.float64)
            return epsilon_clopper_pearson(*sides, threshold=Given(0.5), confidence=confidence, delta=delta)
        each = 0.5 + confidence / 2

        def bound(hits: BoolArray, quiet: BoolArray) -> float:
            fnr, fpr = 1 - self.lower(hits, members, each), 1 - self.lower(quiet, ~members, each)
            return max(0.0, float(log_ratio(fpr, fnr, delta)))

        value, every = bound(flagged, ~flagged), np.ones(flagged.size, dtype=np.bool_)
        largest = bound(every, every)
        return Bound(value, (value, np.inf), confidence, METHOD, Assumption.EXACT, self.draws, delta, largest)

    def strict_threshold(self, scores: FloatArray, among: BoolArray, *, fpr: float, confidence: float) -> float:
        """The lowest threshold that surely lets at most a share `fpr` of some cases pass; infinite if none does.

        Surely: with probability `confidence` it is not below the lowest one that truly does. Any lower one was
        refused at that very threshold, since the evidence only grows with the threshold.
        """
        values = np.unique(scores[among])
        low, high = -1, len(values)  # values[low] is too low, values[high] will do
        while high - low > 1:
            middle = (low + high) // 2
            quiet = scores <= values[middle]
            fine = self.surely_above(quiet, among, rate=1 - fpr, confidence=confidence)
            low, high = (low, middle) if fine else (middle, high)
        return float(np.nextafter(values[high], np.inf)) if high < len(values) else math.inf

    def loose_threshold(self, scores: FloatArray, among: BoolArray, *, fpr: float, confidence: float) -> float:
        """The highest threshold that surely lets more than a share `fpr` of some cases pass; minus infinity if none does."""
        values = np.unique(scores[among])
        low, high = -1, len(values)  # values[low] passes too many, values[high] does not surely
        while high - low > 1:
            middle = (low + high) // 2
            fine = self.surely_above(scores >= values[middle], among, rate=fpr, confidence=confidence)
            low, high = (middle, high) if fine else (low, middle)
        return float(values[low]) if low >= 0 else -math.inf

    def certain_tpr(self, scores: FloatArray, members: BoolArray, *, fpr: float, confidence: float) -> float:
        """Lower limit of the TPR at a threshold whose true FPR is at most `fpr`; 0 where too few draws resolve that.

        The threshold has the error 1 - confidence, the limit half of it: both as in `tpr_at_fpr(guarantee=True)`.
        """
        if self.alone:
            point = tpr_at_fpr(scores[members], scores[~members], fpr=fpr, confidence=confidence, guarantee=True)
            return point.tpr.low if np.isfinite(point.threshold) else 0.0
        threshold = self.strict_threshold(scores, ~members, fpr=fpr, confidence=confidence)
        return self.lower(scores >= threshold, members, 0.5 + confidence / 2)

    def tpr_at_fpr(self, scores: FloatArray, members: BoolArray, *, fpr: float, confidence: float) -> OperatingPoint:
        """TPR where at most a share `fpr` of the others passes, with an interval for the threshold that truly does so.

        The value is that of these scores, on which the threshold was chosen. The interval runs from the lower limit at a
        threshold that is surely strict enough to the upper limit at one that is surely too loose; four errors, each a quarter
        of what is allowed. The upper end of the FPR is `fpr` where the threshold of the value is surely strict enough, else 1.
        """
        point = tpr_at_fpr(scores[members], scores[~members], fpr=fpr, confidence=confidence)
        each = 0.75 + confidence / 4
        strict = self.strict_threshold(scores, ~members, fpr=fpr, confidence=each)
        loose = self.loose_threshold(scores, ~members, fpr=fpr, confidence=each)
        low = self.lower(scores >= strict, members, each)
        high = 1 - self.lower(scores < loose, members, each) if np.isfinite(loose) else 1.0
        value, method = point.tpr.value, "exact" if self.alone else METHOD
        tpr = Estimate(value, (min(low, value), max(high, value)), confidence, method, Assumption.EXACT, self.draws)
        most = fpr if strict <= point.threshold else 1.0
        found = point.fpr.value
        fprs = Estimate(found, (0.0, max(most, found)), confidence, method, Assumption.EXACT, self.draws)
        return OperatingPoint(tpr, fprs, point.threshold, fpr)

    def visible_leak(self, members: BoolArray, *, power: float, confidence: float, rng: np.random.Generator) -> float:
        """The smallest share of draws that must give all of their members away to be seen with this probability.

        Without false alarms. Infinite if not even all of them would be seen. Simulated: that the members of a draw are
        given away together is the case that is hardest to see.
        """
        luck = rng.random((GAMES, self.draws))

        def seen(share: float) -> bool:
            told = (luck < share)[:, self.draw] & members
            wealth = self._log_wealth_of_gain(told, members, 0.0)
            return bool(np.mean(wealth >= -math.log((1 - confidence) / 2)) >= power)

        if not seen(1.0):
            return math.inf
        low, high = 0.0, 1.0
        while high - low > 1e-3:
            middle = (low + high) / 2
            low, high = (low, middle) if seen(middle) else (middle, high)
        return high


def auc_over_draws(scores: FloatArray, members: BoolArray, cases: Cases, *, confidence: float) -> Estimate:
    """AUC of all cases, with a jackknife over draws; where every draw has one case, that of DeLong.

    Leaving out a draw takes away the comparisons of its members with all others, and of all members with its others. No
    interval reaches further than disjoint pairs of draws allow that were all ordered in one way (see `auc`).
    """
    found = auc(scores[members], scores[~members], confidence=confidence)
    if cases.alone:
        return found
    of_in, of_out = placements(scores[members], scores[~members])
    inside, outside = cases.per_draw(members), cases.per_draw(~members)
    won, lost = np.zeros(scores.size), np.zeros(scores.size)
    won[members], lost[~members] = of_in * outside.sum(), of_out * inside.sum()
    own = np.zeros(cases.draws)
    order = np.argsort(cases.draw, kind="stable")
    for place, part in enumerate(np.split(order, np.cumsum(np.bincount(cases.draw))[:-1])):
        mine, others = scores[part][members[part]], scores[part][~members[part]]
        own[place] = (np.sign(mine[:, None] - others[None, :]).sum() + mine.size * others.size) / 2
    wins = won.sum() - cases.per_draw(won) - cases.per_draw(lost) + own
    pairs = (inside.sum() - inside) * (outside.sum() - outside)
    kept = pairs > 0
    sides = min(int(np.count_nonzero(inside)), int(np.count_nonzero(outside)), cases.draws // 2)
    if kept.sum() < 2 or sides < 1:
        return replace(found, interval=(0.0, 1.0))
    spread = jackknife(found.value, wins[kept] / pairs[kept], n=cases.draws, confidence=confidence)
    reach = ((1 - confidence) / 2) ** (1 / sides)
    if scores.min() == scores.max():
        return replace(spread, interval=(0.5 * reach, 1 - 0.5 * reach))
    interval = (min(spread.low, reach, found.low), max(spread.high, 1 - reach, found.high))
    return replace(spread, interval=interval)
