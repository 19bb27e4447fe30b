"""Bounds at the planned number of runs: sharper than the anytime one, and valid only if nobody stopped early."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from unmask.attacks.claim._attack import History, guesses_of, record
from unmask.attacks.claim.learnt import LinearScore, growth
from unmask.attacks.claim.outputs import is_readable
from unmask.generators.claim import Claim
from unmask.stats import (
    Bound,
    Given,
    HalfLines,
    Refusal,
    best_half_lines,
    epsilon_clopper_pearson,
    epsilon_gaussian,
    epsilon_one_run,
)
from unmask.stats.epsilon.clopper_pearson import log_ratio
from unmask.stats.thresholds import choose

LEARN = 0.2  # share of the runs, the first ones, on which statistic and threshold are chosen
FEWEST = 100  # runs below which no such bound is worth its name
RATIO = "likelihood ratio"


@dataclass(frozen=True)
class Fixed:
    """A bound at the planned number of runs: by which attack, or why there is none."""

    attack: str
    bound: Bound | Refusal


def fixed_bounds(
    past: History, claim: Claim, *, white_box: bool, confidence: float, gaussian: bool, rng: np.random.Generator
) -> list[Fixed]:
    """Clopper-Pearson and one-run bounds; with declared Gaussian noise also the Gaussian one.

    The likelihood ratio is used where there is one: then only the threshold is chosen on the first runs. Else the statistic is
    chosen on them too, among all and their learnt score. What is chosen is judged on the other runs only.
    """
    if len(past.coins) < FEWEST:
        return []
    cut = round(LEARN * len(past.coins))
    early = np.arange(len(past.coins)) < cut
    if len(set(past.coins[early])) < 2:
        return []
    name, scores = _score(past, early, claim, white_box)
    learn, judge = (scores[early], past.coins[early]), (scores[~early], past.coins[~early])
    found = [
        Fixed(name, _clopper_pearson(learn, judge, claim, confidence)),
        Fixed(name, _one_run(learn, judge, claim, confidence)),
    ]
    if gaussian and RATIO in past.names:
        ratio = past.values[:, past.names.index(RATIO)]
        bound = epsilon_gaussian(
            ratio[past.coins],
            ratio[~past.coins],
            delta=max(claim.delta, 1e-12),
            declared=True,
            confidence=confidence,
            rng=rng,
        )
        found.append(Fixed(RATIO, bound))
    return found


def _score(past: History, early: np.ndarray, claim: Claim, white_box: bool) -> tuple[str, np.ndarray]:
    """The score to judge, chosen on the early runs."""
    if white_box and RATIO in past.names:
        return RATIO, past.values[:, past.names.index(RATIO)]
    names = tuple(n for n in past.names if is_readable(n, white_box=white_box))
    values = past.values[:, [past.names.index(name) for name in names]]
    candidates: list[tuple[str, np.ndarray]] = [(name, values[:, place]) for place, name in enumerate(names)]
    candidates += [(f"minus {name}", -column) for name, column in candidates]
    model = LinearScore.fit(names, values[early], past.coins[early])
    candidates.append(("a learnt score of all statistics", model.score(values)))
    promise = [_promise(scores[early], past.coins[early], claim.epsilon / 2) for _, scores in candidates]
    return candidates[int(np.argmax(promise))]


def _promise(scores: np.ndarray, coins: np.ndarray, epsilon: float) -> float:
    """Growth of the best half-line for "in" alone, chosen on one half and seen on the other: no luck of many statistics."""
    total = 0.0
    for fold in (0, 1):
        here = np.arange(len(coins)) % 2 == fold
        lines = best_half_lines(scores[~here], coins[~here], epsilon=epsilon)
        total += growth(scores[here], coins[here], HalfLines(-np.inf, lines.in_above), epsilon)
    return total


Scored = tuple[np.ndarray, np.ndarray]


def _clopper_pearson(learn: Scored, judge: Scored, claim: Claim, confidence: float) -> Bound:
    """The threshold promises the highest bound, its standard error counted; either direction of the inequality may win."""

    def measure(fpr: np.ndarray, fnr: np.ndarray) -> np.ndarray:
        return log_ratio(fpr, fnr, claim.delta)

    scores, coins = judge
    threshold = choose(
        learn[0][learn[1]],
        learn[0][~learn[1]],
        judged=(int(coins.sum()), int((~coins).sum())),
        measure=measure,
        confidence=confidence,
    )
    return epsilon_clopper_pearson(
        scores[coins], scores[~coins], threshold=Given(threshold), confidence=confidence, delta=claim.delta
    )


def _one_run(learn: Scored, judge: Scored, claim: Claim, confidence: float) -> Bound:
    """Guesses in both tails, about one coin per run."""
    scores, coins = judge
    candidates = [best_half_lines(*learn, epsilon=share * claim.epsilon) for share in (0.5, 0.25, 0.1, 0.0)]
    lines = max(candidates, key=lambda lines: _accuracy(lines, learn, len(coins)))
    right, bets = record(guesses_of(lines, scores), coins)
    return epsilon_one_run(sum(right), sum(bets), coins=len(coins), confidence=confidence, delta=claim.delta)


def _accuracy(lines: HalfLines, learn: Scored, judged: int) -> float:
    """The accuracy that half-lines promise on `judged` further runs, less the standard error of choosing and judging."""
    right, bets = record(guesses_of(lines, learn[0]), learn[1])
    made = sum(bets)
    if not made:
        return 0.0
    share = (sum(right) + 1) / (made + 2)
    error = share * (1 - share) * (1 / made + len(learn[1]) / (made * judged))
    return share - 1.645 * math.sqrt(error)
