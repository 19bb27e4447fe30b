"""Is the audit sound? The blind twin, and membership dealt anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.audits.release.crowd import Crowd
from unmask.stats import Estimate, auc
from unmask.stream import stream


def blind_auc(crowd: Crowd, *, confidence: float) -> Estimate:
    """How well real people are told from the holdout by learners that never see the release.

    Above one half the two tables differ by themselves. The halves teach each other, so the interval is widened by the square
    root of two.
    """
    found = auc(crowd.blind[crowd.members], crowd.blind[~crowd.members], confidence=confidence)
    reach = np.sqrt(2)
    low = max(0.0, found.value - reach * (found.value - found.low))
    high = min(1.0, found.value + reach * (found.high - found.value))
    return replace(found, interval=(low, high))


def permuted_auc(crowd: Crowd, seed: int, *, confidence: float) -> Estimate:
    """The AUC of linkage weights if membership is dealt anew among the same people: it must cover one half."""
    dealt = stream(seed, "permuted").permutation(crowd.members)
    return auc(crowd.linkage[dealt], crowd.linkage[~dealt], confidence=confidence)
