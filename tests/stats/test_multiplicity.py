import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stats.mechanisms import most_failures
from unmask.errors import ParameterError
from unmask.stats import benjamini_hochberg, conformal_p_values, e_bh, holm

p_lists = st.lists(st.sampled_from([0.0, 0.001, 0.004, 0.01, 0.02, 0.03, 0.05, 0.2, 1.0]), min_size=1, max_size=12)


def naive_step_up(p, rate):
    ordered = sorted(p)
    k = max((i + 1 for i, x in enumerate(ordered) if x <= rate * (i + 1) / len(p) + 1e-15), default=0)
    return [x <= ordered[k - 1] if k else False for x in p]


def naive_step_down(p, level):
    rejected = [False] * len(p)
    for i, index in enumerate(sorted(range(len(p)), key=lambda j: p[j])):
        if p[index] > level / (len(p) - i) + 1e-15:
            break
        rejected[index] = True
    return rejected


@given(p_lists)
def test_benjamini_hochberg_equals_its_definition(p):
    listing = benjamini_hochberg(p, rate=0.1)
    assert listing.rejected.tolist() == naive_step_up(p, 0.1)
    assert np.all(listing.adjusted >= p)


@given(p_lists)
def test_holm_equals_its_definition(p):
    rejected = holm(p, confidence=0.9).rejected.tolist()
    assert rejected == naive_step_down(p, 1 - 0.9)


@given(st.lists(st.sampled_from([-1.0, 0.0, 2.0, 2.3026, 2.5, 3.0, 4.0, 9.0]), min_size=1, max_size=12))
def test_e_bh_equals_its_definition(log_e):
    ordered, n = sorted(log_e, reverse=True), len(log_e)
    k = max((i + 1 for i, x in enumerate(ordered) if np.exp(x) >= n / (0.1 * (i + 1))), default=0)
    listing = e_bh(log_e, rate=0.1)
    assert listing.rejected.sum() == k
    assert listing.rejected.tolist() == [k > 0 and x >= ordered[k - 1] for x in log_e]
    assert np.isinf(listing.log_threshold) == (k == 0)


def test_adjusted_p_values_equal_scipys():
    from scipy.stats import false_discovery_control

    p = np.random.default_rng(0).random(50) ** 3
    assert benjamini_hochberg(p).adjusted == pytest.approx(false_discovery_control(p))


def test_holm_makes_no_error_at_all_at_its_level():
    """Ten true hypotheses: any rejection is false. At most the 99.9 % limit of 5 % of 400."""
    rng = np.random.default_rng(1)
    assert sum(holm(rng.random(10)).rejected.any() for _ in range(400)) <= most_failures(400)


def test_conformal_p_values_count_the_holdout_at_or_above():
    assert conformal_p_values([2.0, 0.0, 9.0], [1.0, 2.0, 3.0]).tolist() == [0.75, 1.0, 0.25]


@pytest.mark.parametrize("levels", [3, 10**6])
@pytest.mark.parametrize("randomised", [False, True])
def test_conformal_p_values_are_valid_with_and_without_ties(levels, randomised):
    """P(p <= t) <= t for a target like the holdout; exactly t if ties are broken at random."""
    rng = np.random.default_rng(levels)
    p = np.array(
        [
            conformal_p_values(
                rng.integers(0, levels, 1), rng.integers(0, levels, 19), rng=rng if randomised else None
            )[0]
            for _ in range(4000)
        ]
    )
    for t in (0.05, 0.25, 0.5):
        assert np.sum(p <= t + 1e-12) <= most_failures(4000, level=t)
        if randomised:
            assert np.sum(p <= t) >= 4000 - most_failures(4000, level=1 - t)


def test_people_copied_into_the_release_are_listed_and_others_are_not():
    """Conformal + BH: 50 of 500 targets score far above 2000 holdout records; false share at most .1 on average."""
    rng, false_share, found = np.random.default_rng(2), [], []
    for _ in range(100):
        scores = rng.normal(size=500)
        scores[:50] += 5
        listing = benjamini_hochberg(conformal_p_values(scores, rng.normal(size=2000)), rate=0.1)
        false_share.append(listing.rejected[50:].sum() / max(1, listing.rejected.sum()))
        found.append(listing.rejected[:50].mean())
    assert np.mean(false_share) < 0.1 + 3 * np.std(false_share) / 10
    assert np.mean(found) > 0.9


def test_p_values_outside_zero_to_one_are_refused():
    with pytest.raises(ParameterError):
        holm([0.5, 1.5])
    with pytest.raises(ParameterError):
        benjamini_hochberg([[0.5]])


def test_randomised_ties_are_a_share_of_those_at_the_score_and_of_the_target_itself():
    scores, holdout = np.array([2.0, 2.0, 0.0, 9.0]), np.array([1.0, 2.0, 2.0, 3.0])
    draws = np.random.default_rng(5).random(4)
    expected = (np.array([1, 1, 4, 0]) + draws * np.array([3, 3, 1, 1])) / 5
    assert conformal_p_values(scores, holdout, rng=np.random.default_rng(5)) == pytest.approx(expected)
