"""What an audit of this size could have seen: without it "not refuted" says nothing."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit, gammaln, xlog1py, xlogy

from unmask.errors import ParameterError
from unmask.stats._checks import FloatArray, IntArray, check_delta, check_nonnegative, check_share
from unmask.stats._search import last_true
from unmask.stats.epsilon.anytime import Anytime
from unmask.stats.epsilon.clopper_pearson import log_ratio
from unmask.stats.epsilon.one_run import one_run_p_value
from unmask.stats.intervals import difference_limits, upper_limit

BEYOND = 9.0  # standard deviations; what lies further out has less than 1e-15 of the probability


def best_error(epsilon: float) -> float:
    """FPR and FNR of the best balanced attack on randomised response with this epsilon: 1/(1+e^eps)."""
    check_nonnegative("epsilon", epsilon)
    return float(expit(-epsilon))


def power_clopper_pearson(
    claim: float,
    *,
    fpr: float,
    fnr: float,
    n_in: int,
    n_out: int,
    confidence: float = 0.95,
    delta: float = 0.0,
) -> float:
    """Probability that the Clopper-Pearson bound refutes `claim` if the attack's true error rates are these.

    Summed exactly over both binomial counts. With fpr = fnr = best_error(y): "with n runs an epsilon of y would be seen with
    probability p", at best.
    """
    check_nonnegative("claim", claim)
    check_share("fpr", fpr, closed=True)
    check_share("fnr", fnr, closed=True)
    check_share("confidence", confidence)
    check_delta(delta)
    alarms, chance_alarms = _likely(n_out, fpr)
    misses, chance_misses = _likely(n_in, fnr)
    each = 0.5 + confidence / 2
    upper_fpr = upper_limit(alarms, n_out, confidence=each)
    upper_fnr = upper_limit(misses, n_in, confidence=each)
    refuted = log_ratio(upper_fpr[:, None], upper_fnr[None, :], delta) > claim
    return float(chance_alarms @ refuted @ chance_misses)


def power_one_run(
    claim: float,
    *,
    accuracy: float,
    guesses: int,
    coins: int,
    confidence: float = 0.95,
    delta: float = 0.0,
) -> float:
    """Probability that the one-run bound refutes `claim` if each guess is right with probability `accuracy`."""
    check_share("accuracy", accuracy, closed=True)
    right, chance = _likely(guesses, accuracy)
    level = 1 - confidence

    def stands(number: float) -> bool:
        return one_run_p_value(int(number), guesses, coins=coins, epsilon=claim, delta=delta) >= level

    low, high = 0, guesses  # the fewest right guesses that refute lie in (low, high]
    if stands(guesses):
        return 0.0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if stands(middle) else (low, middle)
    return float(chance[right >= high].sum())


def power_anytime(
    claim: float,
    *,
    tpr: float,
    fpr: float,
    pairs: int,
    confidence: float = 0.95,
    delta: float = 0.0,
    repeats: int = 400,
    rng: np.random.Generator,
) -> float:
    """Share of simulated audits that refute `claim` within `pairs` pairs, for an event with these probabilities (forward)."""
    check_share("tpr", tpr, closed=True)
    check_share("fpr", fpr, closed=True)
    refuted = 0
    for _ in range(repeats):
        state = Anytime.start([claim], delta=delta, confidence=confidence)
        refuted += bool(state.observe(rng.random(pairs) < tpr, rng.random(pairs) < fpr).refuted()[0])
    return refuted / repeats


def smallest_visible_epsilon(
    claim: float, *, runs: int, power: float = 0.8, confidence: float = 0.95, delta: float = 0.0
) -> float:
    """The smallest true epsilon that `runs` runs per side would refute with probability `power`, at best.

    At best: by Clopper-Pearson with the best balanced attack. Infinite if no epsilon would be seen.
    """
    check_share("power", power)

    def unseen(epsilon: float) -> bool:
        error = best_error(epsilon)
        found = power_clopper_pearson(
            claim, fpr=error, fnr=error, n_in=runs, n_out=runs, confidence=confidence, delta=delta
        )
        return found < power

    far = claim + 40.0
    return math.inf if unseen(far) else last_true(unseen, claim, far, within=1e-6)


def power_difference(
    attack_rate: float, control_rate: float, *, n_attack: int, n_control: int, confidence: float = 0.95
) -> float:
    """Probability that the interval of attack minus control lies above 0, for these true rates; summed exactly."""
    check_share("attack_rate", attack_rate, closed=True)
    check_share("control_rate", control_rate, closed=True)
    hits, chance_hits = _likely(n_attack, attack_rate)
    controls, chance_controls = _likely(n_control, control_rate)
    low, _ = difference_limits(hits[:, None], n_attack, c=controls[None, :], n_c=n_control, confidence=confidence)
    return float(chance_hits @ (low > 0) @ chance_controls)


def smallest_visible_leak(
    n_members: int,
    n_holdout: int,
    *,
    control_rate: float = 0.0,
    power: float = 0.8,
    confidence: float = 0.95,
) -> float:
    """The smallest share of members that must leak to be seen with probability `power`.

    A leaking member is always recognised, the others as often as the control: a = c + leak (1 - c). For sentences such as
    "a leak of 3 % of records would have been seen". Infinite if even a leak of everybody would be missed.
    """
    check_share("power", power)
    check_share("control_rate", control_rate, closed=True)

    def unseen(leak: float) -> bool:
        rate = control_rate + leak * (1 - control_rate)
        found = power_difference(rate, control_rate, n_attack=n_members, n_control=n_holdout, confidence=confidence)
        return found < power

    return math.inf if unseen(1.0) else last_true(unseen, 0.0, 1.0, within=1e-6)


def _likely(n: int, p: float) -> tuple[IntArray, FloatArray]:
    """The counts that Bin(n, p) can be expected to take, and their probabilities."""
    if n < 1:
        raise ParameterError(f"There are {n} cases. At least one is needed.")
    spread = BEYOND * math.sqrt(n * p * (1 - p)) + BEYOND * BEYOND
    k = np.arange(max(0, math.floor(n * p - spread)), min(n, math.ceil(n * p + spread)) + 1, dtype=np.int64)
    log_choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return k, np.asarray(np.exp(log_choose + xlogy(k, p) + xlog1py(n - k, -p)), dtype=np.float64)
