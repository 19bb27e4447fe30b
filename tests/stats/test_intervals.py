import numpy as np
import pytest
from scipy.stats import binom, binomtest

from unmask.errors import ParameterError
from unmask.stats import (
    clopper_pearson,
    difference,
    excess_risk,
    wilson,
)
from unmask.stats.intervals import difference_limits, lower_limit, upper_limit, wilson_limits


@pytest.mark.parametrize(("k", "n"), [(0, 10), (3, 10), (10, 10), (50, 1000), (999, 1000)])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_both_intervals_equal_those_of_scipy(k, n, confidence):
    exact = binomtest(k, n).proportion_ci(confidence, method="exact")
    score = binomtest(k, n).proportion_ci(confidence, method="wilson")
    assert clopper_pearson(k, n, confidence=confidence).interval == pytest.approx(exact, abs=1e-12)
    assert wilson(k, n, confidence=confidence).interval == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("k", [0, 4, 20])
def test_one_sided_limits_equal_those_of_scipy(k):
    low = binomtest(k, 20, alternative="greater").proportion_ci(0.95).low
    high = binomtest(k, 20, alternative="less").proportion_ci(0.95).high
    assert clopper_pearson(k, 20, confidence=0.9).interval == pytest.approx((low, high))
    assert lower_limit(k, 20, confidence=0.95) == pytest.approx(low)
    assert upper_limit(k, 20, confidence=0.95) == pytest.approx(high)


@pytest.mark.parametrize("n", [1, 5, 30, 200])
def test_clopper_pearson_never_covers_less_than_it_says(n):
    """Coverage computed exactly, at every rate of a fine grid."""
    k = np.arange(n + 1)
    low, high = np.array([clopper_pearson(int(i), n).interval for i in k]).T
    for p in np.linspace(0.001, 0.999, 333):
        covered = binom.pmf(k, n, p)[(low <= p) & (p <= high)].sum()
        assert covered >= 0.95 - 1e-12


def test_wilson_covers_its_level_on_average_but_not_everywhere():
    """Why it is called model-based: the mean over rates is 95 %, the worst rate is not."""
    n, k = 50, np.arange(51)
    low, high = wilson_limits(k, n, confidence=0.95)
    coverage = [binom.pmf(k, n, p)[(low <= p) & (p <= high)].sum() for p in np.linspace(0.01, 0.99, 199)]
    assert np.mean(coverage) == pytest.approx(0.95, abs=0.01)
    assert min(coverage) < 0.95


def test_the_difference_combines_the_limits_of_both_rates():
    """MOVER by hand: 56/70 - 48/80 with Clopper-Pearson limits (.6873, .8861) and (.4844, .7080)."""
    low, high = difference((56, 70), (48, 80)).interval
    first, second = clopper_pearson(56, 70), clopper_pearson(48, 80)
    assert low == pytest.approx(0.2 - np.hypot(0.8 - first.low, second.high - 0.6))
    assert high == pytest.approx(0.2 + np.hypot(first.high - 0.8, 0.6 - second.low))
    assert difference((10, 10), (0, 20)).high == 1.0


@pytest.mark.parametrize(("n", "m"), [(100, 3000), (3000, 100), (200, 1000), (1000, 1000), (50, 50)])
@pytest.mark.parametrize("confidence", [0.95, 0.995, 0.9995])
def test_lower_ends_of_a_difference_are_honest_for_any_sizes(n, m, confidence):
    """Summed exactly: with Wilson limits 100 against 3,000 is too high in up to 33 times as many cases as it may be."""
    worst = 0.0
    for q in (0.0005, 0.002, 0.01, 0.1, 0.5, 0.99):
        for gap in (0.0, 0.01, 0.1, 0.3):
            if (p := q + gap) <= 1:
                a, c = _likely(n, p), _likely(m, q)
                low, _ = difference_limits(a[:, None], n, c=c[None, :], n_c=m, confidence=confidence)
                worst = max(worst, binom.pmf(a, n, p) @ (low > gap + 1e-12) @ binom.pmf(c, m, q))
    assert worst <= 1.15 * (1 - confidence) / 2


def _likely(n, p):
    return np.arange(int(binom.ppf(1e-12, n, p)), int(binom.ppf(1 - 1e-12, n, p)) + 1)


@pytest.mark.parametrize(("p", "q", "n", "m"), [(0.1, 0.1, 100, 100), (0.02, 0.02, 500, 250), (0.5, 0.3, 60, 40)])
def test_the_difference_covers_its_level(p, q, n, m):
    """Coverage summed exactly over both binomials: within two points of 95 %."""
    a, c = np.arange(n + 1), np.arange(m + 1)
    low, high = difference_limits(a[:, None], n, c=c[None, :], n_c=m, confidence=0.95)
    covered = binom.pmf(a, n, p) @ ((low <= p - q) & (p - q <= high)) @ binom.pmf(c, m, q)
    assert 0.93 <= covered <= 0.98


def test_the_risk_is_the_share_of_what_the_control_misses():
    risk = excess_risk((55, 100), (10, 100))
    assert risk.value == pytest.approx(0.5)
    assert risk.low < 0.5 < risk.high
    # Wide of the formula with plain standard errors by no more than the Wilson correction.
    plain = 1.96 * np.hypot(np.sqrt(0.55 * 0.45 / 100) / 0.9, 0.45 * np.sqrt(0.1 * 0.9 / 100) / 0.81)
    assert (risk.high - risk.low) / 2 == pytest.approx(plain, rel=0.1)


@pytest.mark.parametrize(("a", "c"), [(55, 10), (90, 40), (3, 1)])
def test_the_spread_of_the_risk_is_its_slopes_times_those_of_the_rates(a, c):
    """R = (a - c)/(1 - c) at the middles of the Wilson intervals: slopes by small steps, half-widths as errors."""
    (a_low, a_high), (c_low, c_high) = (wilson(k, 100).interval for k in (a, c))
    x, y = (a_low + a_high) / 2, (c_low + c_high) / 2
    risk = lambda x, y: (x - y) / (1 - y)  # noqa: E731
    slopes = [(risk(x + 1e-6, y) - risk(x - 1e-6, y)) / 2e-6, (risk(x, y + 1e-6) - risk(x, y - 1e-6)) / 2e-6]
    spread = np.hypot(slopes[0] * (a_high - a_low) / 2, slopes[1] * (c_high - c_low) / 2)
    found = excess_risk((a, 100), (c, 100))
    assert found.low == pytest.approx(risk(x, y) - spread, abs=1e-7)
    assert found.high == pytest.approx(min(1, risk(x, y) + spread), abs=1e-7)


def test_the_risk_covers_its_level():
    rng = np.random.default_rng(0)
    a, c = rng.binomial(200, 0.3, 2000), rng.binomial(200, 0.1, 2000)
    intervals = [excess_risk((int(x), 200), (int(y), 200)).interval for x, y in zip(a, c, strict=True)]
    covered = np.mean([low <= 0.2 / 0.9 <= high for low, high in intervals])
    assert 0.93 <= covered <= 0.98


def test_the_risk_is_undefined_when_the_control_always_succeeds():
    with pytest.raises(ParameterError, match="the control already succeeds always"):
        excess_risk((100, 100), (100, 100))


def test_no_interval_is_a_point_at_the_ends():
    for estimate in (
        wilson(0, 20),
        clopper_pearson(20, 20),
        difference((20, 20), (0, 20)),
        excess_risk((0, 9), (0, 9)),
    ):
        assert estimate.low < estimate.high


@pytest.mark.parametrize(("k", "n"), [(-1, 10), (11, 10), (0, 0)])
def test_impossible_counts_are_refused(k, n):
    with pytest.raises(ParameterError):
        clopper_pearson(k, n)


def test_a_confidence_that_is_no_share_is_refused():
    with pytest.raises(ParameterError, match="confidence = 95"):
        wilson(1, 10, confidence=95)


def test_upper_limits_work_on_arrays_and_at_the_end():
    assert upper_limit([0, 10], 10, confidence=0.95) == pytest.approx([1 - 0.05**0.1, 1.0])
