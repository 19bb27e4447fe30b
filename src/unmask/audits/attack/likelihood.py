"""Advantage and privacy gain of secret numbers by likelihood, as Stadler et al. (2022) have them."""

from __future__ import annotations

import numpy as np

from unmask.attacks.linear import FLOOR
from unmask.audits.attack.judges import LIKELIHOOD, Played, Scored
from unmask.results.grid import Cell
from unmask.simulation.target_pool import Draws
from unmask.stats import Estimate
from unmask.stats.outcomes import judge_likelihood, likelihood_of, privacy_gain

HEADS = (
    "likelihood advantage", "likelihood low", "likelihood high", "likelihood on raw data",
    "likelihood privacy gain", "likelihood gain low", "likelihood gain high",
)  # fmt: skip


def likelihood_cells(played: Played, attack: Scored, positions: np.ndarray) -> tuple[Cell, ...]:
    """The advantage by likelihood over some targets with its interval, that on raw data, and the difference with its own."""
    found = _advantage(played, played.test, attack.test, positions, played.confidence)
    half = 0.5 + played.confidence / 2
    scores = played.published.scores.get(LIKELIHOOD)
    raw = None if scores is None else _advantage(played, played.published, scores, positions, half)
    sharper = _advantage(played, played.test, attack.test, positions, half)
    gain = None if raw is None or sharper is None else privacy_gain(raw, sharper)
    return (*_ends(found), _ends(raw)[0], *_ends(gain))


def _advantage(
    played: Played, draws: Draws, scores: np.ndarray, positions: np.ndarray, confidence: float
) -> Estimate | None:
    secret = played.setting.secret
    if scores.ndim != 3 or secret is None:  # an attack that gives no scale has no likelihood
        return None
    column = played.setting.ground.targets.schema.columns[secret.position]
    certain = FLOOR * ((column.upper - column.lower) or 1.0) * (1 + 1e-9)
    chances = likelihood_of(scores[..., 0], scores[..., 1], draws.secrets, certain=certain)
    active = draws.active[:, positions]
    return judge_likelihood(
        chances[:, positions][active],
        draws.members[:, positions][active],
        confidence=confidence,
        releases=draws.fits[np.nonzero(active)[0]],
        prior=played.setting.game.prior,
    )


def _ends(found: Estimate | None) -> tuple[float, float, float]:
    if found is None:
        return (float("nan"),) * 3
    value, low, high = (round(float(at), 4) for at in (found.value, found.low, found.high))
    return value, low, high
