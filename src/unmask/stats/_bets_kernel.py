"""The compiled loop behind `unmask.stats.bets`."""

from __future__ import annotations

import numpy as np
from numba import njit

from unmask.stats._checks import FloatArray


@njit(nogil=True, cache=True)
def log_wealth(evidence: FloatArray, inside: np.ndarray, odds: float, share: float, most: float) -> FloatArray:
    """Log of the wealth of each person (columns) after all runs (rows); `odds` is e^epsilon.

    `share` of Kelly's stake is bet, and never more than `most` of what may be. Arguments, since a compiled loop that is kept
    on disk would not notice a changed constant of another file.
    """
    wealth = np.zeros(evidence.shape[1])
    for run in range(evidence.shape[0]):
        for person in range(evidence.shape[1]):
            sure = 1 / (1 + np.exp(-abs(evidence[run, person])))
            stake = min(share * (sure - (1 - sure) * odds), most) / odds
            if stake > 0:
                right = (evidence[run, person] > 0) == inside[run, person]
                wealth[person] += np.log1p(stake if right else -stake * odds)
    return wealth
