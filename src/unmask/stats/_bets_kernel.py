"""The compiled loop behind `unmask.stats.bets`."""

from __future__ import annotations

import numpy as np

from unmask.compiled import njit
from unmask.stats._checks import FloatArray

TOGETHER = 16  # runs whose gains are multiplied before a log is taken: far from the limits of a float


@njit(nogil=True, cache=True)
def log_wealth(sure: FloatArray, right: np.ndarray, odds: float, share: float, most: float) -> FloatArray:
    """Log of the wealth of each person (columns) after all runs (rows); `odds` is e^epsilon.

    `sure` is how probable the likelier side is held, and `right` whether it was. `share` of Kelly's stake is bet, and never more
    than `most` of what may be. Arguments, since a compiled loop that is kept on disk would not notice a changed constant of
    another file.
    """
    wealth, gain = np.zeros(sure.shape[1]), np.ones(sure.shape[1])
    for run in range(sure.shape[0]):
        for person in range(sure.shape[1]):
            stake = max(min(share * (sure[run, person] - (1 - sure[run, person]) * odds), most) / odds, 0.0)
            gain[person] *= 1 + (stake if right[run, person] else -stake * odds)
        if run % TOGETHER == TOGETHER - 1 or run == sure.shape[0] - 1:
            wealth += np.log(gain)
            gain[:] = 1.0
    return wealth
