"""An interval from leaving out one run at a time, for figures whose examples share a run."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from unmask.errors import ParameterError
from unmask.stats._checks import check_share
from unmask.stats.results import Assumption, Estimate

METHOD = "jackknife over runs"


def jackknife(
    value: float, without: ArrayLike, *, n: int, confidence: float = 0.95, limits: tuple[float, float] = (0.0, 1.0)
) -> Estimate:
    """The interval of a figure from what it is without each run in turn.

    Examples of one run depend on each other, runs do not: the spread over runs is the honest one. Student's t, since runs
    may be few. `limits` is what the figure can be at all.
    """
    check_share("confidence", confidence)
    values = np.asarray(without, dtype=np.float64)
    if values.ndim != 1 or values.size < 2:
        raise ParameterError(f"A jackknife needs at least 2 runs, not {values.size}.")
    spread = float(np.sqrt((values.size - 1) / values.size * ((values - values.mean()) ** 2).sum()))
    reach = float(stdtrit(values.size - 1, 0.5 + confidence / 2)) * spread
    interval = max(limits[0], float(value) - reach), min(limits[1], float(value) + reach)
    return Estimate(float(value), interval, confidence, METHOD, Assumption.MODEL_BASED, n)
