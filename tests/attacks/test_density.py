"""Densities and their ratio against naive sums, scikit-learn, scipy and the generator's own likelihood."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm
from sklearn.neighbors import KernelDensity

from tests.attacks.test_closest_record import (
    MIXED,
    PLAIN,
    assert_blind,
    assert_survives,
    crowd,
    masked,
    mixed,
    outsider,
    play,
    scores_of,
    view_of,
)
from unmask import attacks, generators
from unmask.attacks import _agreeing
from unmask.attacks._agreeing import agreeing
from unmask.attacks._density import FARTHEST, Kernel, MixtureShape, Network, filled, scaled
from unmask.attacks.density import Density
from unmask.attacks.density_ratio import DensityRatio
from unmask.errors import ParameterError
from unmask.generators.bayesnet import BayesNet
from unmask.stats.auc import auc

KINDS = ["kernel", "mixture", "bayesnet"]


def naive_kernel(kernel, row, point, row_numbers, point_numbers):
    """One row at one point, column by column."""
    product, place = 1.0, 0
    for position, column in enumerate(kernel.schema.columns):
        if not column.is_numeric:
            equal = row[position] == point[position]
            product *= 1 - kernel.spread if equal else kernel.spread / max(column.size - 1, 1)
            continue
        a, b = row_numbers[place], point_numbers[place]
        h = kernel.bandwidths[place]
        kept = 1 - kernel.spread if column.missing else 1.0
        if np.isnan(a) or np.isnan(b):
            product *= kept if np.isnan(a) and np.isnan(b) else kernel.spread
        else:
            product *= kept * norm.pdf(min(abs(a - b) / h, FARTHEST)) / h
        place += 1
    return product


@pytest.mark.parametrize("table", [crowd, mixed])
def test_kernel_density_is_the_mean_of_naive_kernels(table):
    rows, points = table(40, seed=1), table(6, seed=2)
    kernel = Kernel.fitted_to(rows, 0.7, 0.2)
    args = (rows.codes, points.codes, scaled(rows), scaled(points))
    naive = np.array(
        [
            [naive_kernel(kernel, args[0][r], args[1][p], args[2][r], args[3][p]) for r in range(len(rows))]
            for p in range(len(points))
        ]
    )
    np.testing.assert_allclose(kernel.log_density(rows, points), np.log(naive.mean(axis=1)), rtol=1e-12)
    np.testing.assert_allclose(kernel.log_kernels(rows, points), np.log(naive), rtol=1e-12)


def test_kernel_density_of_numbers_is_that_of_scikit_learn(rng):
    """Ours in units of the public range; scikit-learn's on numbers divided by the bandwidths, so log h apart."""
    rows, points = (crowd(n, seed=n).select(["age", "height"]) for n in (200, 20))
    kernel = Kernel.fitted_to(rows, None, 0.1)
    np.testing.assert_allclose(kernel.bandwidths, scaled(rows).std(axis=0) * 200 ** (-1 / 6))
    fit = KernelDensity(bandwidth=1.0).fit(scaled(rows) / kernel.bandwidths)
    theirs = fit.score_samples(scaled(points) / kernel.bandwidths) - np.log(kernel.bandwidths).sum()
    np.testing.assert_allclose(Density().score(view_of(rows), points, None, rng), theirs, rtol=1e-9)


def test_kernel_density_sums_to_one():
    """Over the values of two categories (one may be missing), and over the range of a number far from its ends."""
    rows = mixed(30, seed=1).select(["few", "one"])
    kernel = Kernel.fitted_to(rows, None, 0.3)
    hidden, secret = masked(rows.take([0]), "few")
    every = kernel.log_density(rows, filled(hidden, secret))
    assert np.exp(every).sum() == pytest.approx(1 - 0.3)  # 'one' has a single value, to which 1 - spread goes
    rows = crowd(30, seed=1).select(["height"])
    grid = replace(rows.take(np.zeros(4001, dtype=int)), numbers=np.linspace(-1, 2, 4001)[:, None])
    density = np.exp(Kernel.fitted_to(rows, None, 0.3).log_density(rows, grid))
    assert trapezoid(density, dx=3 / 4000) == pytest.approx(1, abs=1e-6)


def test_network_density_tends_to_the_likelihood_of_the_generator(rng):
    """Copies of the rows outweigh the imaginary row: the same families then give the generator's log-likelihood."""
    rows = crowd(150, seed=1)
    many = rows.take(np.tile(np.arange(150), 2000))
    model = BayesNet().fit(many, rng)
    network = Network(PLAIN, tuple((node.child, node.parents) for node in model.nodes))
    np.testing.assert_allclose(network.log_density(many, rows), model.log_likelihood(rows), atol=1e-3)


def test_network_density_is_the_product_of_smoothed_shares():
    rows, points = mixed(50, seed=1), mixed(5, seed=2)
    network = Network(MIXED, ((1, ()), (0, (1,)), (2, (0, 1))))
    naive = []
    for point in points.codes:
        same = rows.codes == point
        p = (same[:, 1].sum() + 1 / 301) / 51
        p *= (same[:, [0, 1]].all(axis=1).sum() + 1 / 4) / (same[:, 1].sum() + 1)
        naive.append(np.log(p * (same[:, :3].all(axis=1).sum() + 1) / (same[:, :2].all(axis=1).sum() + 1)))
    np.testing.assert_allclose(network.log_density(rows, points), naive)
    np.testing.assert_array_equal(agreeing(rows, points, [()]), np.full((5, 1), 50))


@pytest.mark.parametrize("most", [4_000_000, 3])
def test_grouped_counts_are_those_of_every_pair(most, monkeypatch):
    """Many points look their codes up among grouped rows: the counts of a plain comparison, also where keys are looked up."""
    monkeypatch.setattr(_agreeing, "MOST_KEYS", most)
    rows, points, sets = mixed(90, seed=1), mixed(40, seed=2), [(), (1,), (0, 2), (2, 1, 0)]
    naive = [
        [(rows.codes[:, list(each)] == point[list(each)]).all(axis=1).sum() for each in sets] for point in points.codes
    ]
    np.testing.assert_array_equal(agreeing(rows, points, sets), naive)
    np.testing.assert_array_equal(agreeing(rows, points.take([3]), sets), naive[3:4])


def test_mixture_of_one_component_is_a_gaussian(rng):
    rows, points = (crowd(n, seed=n).select(["age", "height"]) for n in (200, 20))
    variances = scaled(rows).var(axis=0) + 1e-3
    exact = multivariate_normal(scaled(rows).mean(axis=0), np.diag(variances)).logpdf(scaled(points))
    attack = Density("mixture", components=1)
    np.testing.assert_allclose(attack.score(view_of(rows), points, None, rng), exact, rtol=1e-9)
    assert MixtureShape.fitted_to(rows.take([]), 3, rng).log_density(rows.take([]), points).tolist() == [0.0] * 20


@pytest.mark.parametrize("kind", KINDS)
def test_ratio_is_the_difference_of_two_densities_of_one_shape(kind):
    targets, synthetic, reference = crowd(4, seed=1), crowd(90, seed=2), crowd(300, seed=3)
    attack = DensityRatio(kind, components=3)
    shape = attack.shape_of(reference, np.random.default_rng(0))
    expected = shape.log_density(synthetic, targets) - shape.log_density(reference, targets)
    prepared = attack.prepare(view_of(reference, reference), targets, None, np.random.default_rng(0))
    found = pickle.loads(pickle.dumps(prepared)).score(view_of(synthetic), targets, None, np.random.default_rng(1))
    np.testing.assert_allclose(found, expected)
    same = prepared.score(view_of(reference), targets, None, np.random.default_rng(1))
    np.testing.assert_allclose(same, 0, atol=0.05 if kind == "mixture" else 1e-12)


def test_reference_is_cut_to_size(rng):
    """The ratio of a release to a random part of itself is near 0, and not 0."""
    rows, targets = (crowd(n, seed=n).select(["age", "height"]) for n in (2000, 20))
    found = scores_of(DensityRatio(reference_rows=1000), view_of(rows, rows), targets, None, rng)
    assert 0 < np.abs(found).mean() < 0.3


@pytest.mark.parametrize("kind", KINDS)
def test_secret_is_the_level_that_fits_the_rest(kind, rng):
    """c0 = c1 in every row, and age grows with c1: filled in, both are found (the mixture merges some rare values)."""
    rows = crowd(400, seed=1)
    codes, numbers = rows.codes.copy(order="F"), rows.numbers.copy(order="F")
    codes[:, 0] = codes[:, 1]
    numbers[:, 0] = 10 * codes[:, 1] + 4.0
    codes[:, 4] = codes[:, 1]
    rows = replace(rows, codes=codes, numbers=numbers)
    attack, truth = Density(kind), rows.take(np.arange(40))
    hidden, secret = masked(truth, "c0")
    scores = attack.score(view_of(rows), hidden, secret, rng)
    assert scores.shape == (40, 8)
    assert np.mean(scores.argmax(axis=1) == truth.codes[:, 0]) >= (0.8 if kind == "mixture" else 1)
    hidden, secret = masked(truth, "age")
    guess = attack.score(view_of(rows), hidden, secret, rng)
    assert np.abs(guess.mean - truth.numbers[:, 0]).mean() < 3  # of 0, 10, 20, 30
    assert (guess.scale > 0).all()
    assert scores_of(DensityRatio(kind), view_of(rows, crowd(300)), *masked(truth, "c0"), rng).shape == (40, 8)


def test_filled_targets_hold_every_value_and_nothing_of_the_mask():
    truth = mixed(3, seed=1)
    hidden, secret = masked(truth, "few")
    every = filled(hidden, secret)
    assert every.codes[:, 0].tolist() == [0, 1, 2, 3] * 3
    np.testing.assert_array_equal(every.codes[:, 1:], np.repeat(truth.codes[:, 1:], 4, axis=0))
    hidden, secret = masked(truth, "age")  # 17 to 66 in bins of ten
    assert filled(hidden, secret).numbers[:5, 0].tolist() == [21.5, 31.5, 41.5, 51.5, 61.5]


def test_prediction_follows_the_conditional_density(rng):
    """Numbers from two bins, 3 to 1: the mean, and the spread with the width of the bins."""
    rows = crowd(400, seed=1).select(["c0", "height"])
    codes, numbers = rows.codes.copy(order="F"), rows.numbers.copy(order="F")
    codes[:, 0], codes[:, 1] = 1, np.where(np.arange(400) % 4, 2, 6)
    numbers[:, 0] = (codes[:, 1] + 0.5) / 8
    rows = replace(rows, codes=codes, numbers=numbers)
    hidden, secret = masked(rows.take([0]), "height")
    guess = Density("bayesnet").score(view_of(rows), hidden, secret, rng)
    shares = (np.bincount(codes[:, 1], minlength=8) + 1 / 8) / 401
    middles = (np.arange(8) + 0.5) / 8
    mean = shares @ middles
    assert guess.mean == pytest.approx(mean, rel=0.01)
    assert guess.scale**2 == pytest.approx(shares @ (middles - mean) ** 2 + 1 / 8**2 / 12, rel=0.05)


@pytest.mark.parametrize("attack", ["density", "density:kind=bayesnet", "density-ratio", "density-ratio:kind=bayesnet"])
def test_copied_outsider_is_seen(attack):
    """Nobody else is near, so the density there is the copy: AUC (1 + p) / 2 at p = .9, as good as closest-record."""
    scores, members = play(attack, generators.get("copycat", p=0.9), outsider(), 200, synthetic_rows=150)
    low, high = auc(scores[members], scores[~members], confidence=0.999).interval
    assert high >= 0.9
    assert low >= 0.75


@pytest.mark.parametrize("attack", ["density", "density-ratio"])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_see_when_nothing_leaks(attack, kind):
    assert_blind(attacks.get(attack, kind=kind, components=3), 60 if kind == "mixture" else 120)


@pytest.mark.parametrize("kind", KINDS)
def test_survives_awkward_releases(kind):
    assert_survives(Density(kind, components=3))
    assert_survives(DensityRatio(kind, components=3))


def test_sums_survive_kernels_below_the_smallest_double():
    rows, points = crowd(20, seed=1), outsider()
    kernel = Kernel.fitted_to(rows, 0.01, 1e-99)
    logs = kernel.log_kernels(rows, points)[0]
    assert (np.exp(logs) == 0).all()
    np.testing.assert_allclose(kernel.log_sums(rows, points), logsumexp(logs))


@pytest.mark.parametrize(
    "wrong", [{"kind": "forest"}, {"bandwidth": 0.0}, {"spread": 1.0}, {"components": 0}, {"reference_rows": 0}]
)
def test_parameters_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        DensityRatio(**wrong)
