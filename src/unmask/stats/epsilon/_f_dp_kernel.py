"""The recursion of the f-DP one-run audit, compiled: up to 10^5 dependent steps for each candidate."""

from __future__ import annotations

import math

import numpy as np

from unmask.compiled import inner, njit

# Wichura (1988), algorithm AS 241: rational approximations of the normal quantile, exact to about 1e-16.
_CENTRE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
_MIDDLE = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip


@inner()
def _ratio(top: tuple[float, ...], bottom: tuple[float, ...], x: float) -> float:
    above, below = 0.0, 0.0
    for i in range(8):
        above = above * x + top[i]
        below = below * x + bottom[i]
    return above / below


@njit(cache=True)
def normal_quantile(p: float) -> float:
    """Inverse of the standard normal distribution function."""
    if p <= 0.0:
        return -np.inf
    if p >= 1.0:
        return np.inf
    q = p - 0.5
    if abs(q) <= 0.425:
        return q * _ratio(_CENTRE[0], _CENTRE[1], 0.180625 - q * q)
    r = math.sqrt(-math.log(min(p, 1.0 - p)))
    x = _ratio(_MIDDLE[0], _MIDDLE[1], r - 1.6) if r <= 5.0 else _ratio(_TAIL[0], _TAIL[1], r - 5.0)
    return -x if q < 0.0 else x


@inner()
def _least_mass(mass: float, parameter: float, delta: float, gaussian: bool) -> float:
    """The least probability under one neighbour of an event that has probability `mass` under the other."""
    if gaussian:
        return 0.5 * math.erfc((parameter - normal_quantile(mass)) / math.sqrt(2.0))
    low = (mass - delta) * math.exp(-parameter)
    return max(0.0, low, 1.0 - delta - (1.0 - mass) * math.exp(parameter))


@njit(cache=True)
def refuted(
    correct: int, guesses: int, coins: int, level: float, parameter: float, delta: float, gaussian: bool
) -> bool:
    """Whether `correct` of `guesses` out of `coins` contradicts the trade-off function at error `level`."""
    right = level * correct / coins
    wrong = level * (guesses - correct) / coins
    share = guesses / coins
    for i in range(correct - 1, -1, -1):
        more = max(wrong, _least_mass(right, parameter, delta, gaussian))
        if more == wrong:
            break
        right += i / (guesses - i) * (more - wrong)
        wrong = more
        if right + wrong > share:
            break
    return right + wrong > share
