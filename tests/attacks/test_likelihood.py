"""The fitted model's likelihood: worked answers, floors, a sure win, models that have none."""

from dataclasses import replace

import numpy as np
import pytest

from tests.attacks.test_closest_record import (
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
from unmask import generators
from unmask.attacks.likelihood import Likelihood, independent_log_likelihood
from unmask.errors import NotAllowedError, ParameterError
from unmask.stats.auc import auc
from unmask.threats.view import FittedModel


def seen(model):
    return FittedModel(model.log_likelihood)


def test_score_is_the_log_likelihood(rng):
    """Independent columns: the product of shares; minus that of the reference if relative."""
    real, targets, reference = crowd(80, seed=1), crowd(80, seed=1).take([0, 1, 2]), crowd(100, seed=2)
    view = view_of(crowd(1), reference, model=seen(generators.get("independent").fit(real, rng)))
    logs = np.log((real.codes[None] == targets.codes[:, None]).mean(axis=1)).sum(axis=1)
    np.testing.assert_allclose(scores_of(Likelihood(), view, targets, None, rng), logs)
    sizes = real.schema.sizes
    known = ((reference.codes[None] == targets.codes[:, None]).sum(axis=1) + 1 / sizes) / 101
    np.testing.assert_allclose(independent_log_likelihood(targets, reference), np.log(known).sum(axis=1))
    attack = Likelihood(relative=True)
    np.testing.assert_allclose(scores_of(attack, view, targets, None, rng), logs - np.log(known).sum(axis=1))
    prepared = attack.prepare(view_of(crowd(1), reference), targets, None, rng)
    np.testing.assert_allclose(prepared.score(view, targets, None, rng), logs - np.log(known).sum(axis=1))
    assert prepared.attack == attack


def test_impossible_rows_get_the_floor(rng):
    view = view_of(crowd(1), model=seen(generators.get("bayesnet").fit(crowd(50), rng)))
    assert scores_of(Likelihood(), view, outsider(), None, rng) == -10_000
    assert scores_of(Likelihood(floor=-99.0), view, outsider(), None, rng) == -99


def test_levels_are_filled_in(rng):
    """Independent columns: the shares of the secret's own column, whatever the rest; numbers: their mean by bin."""
    real = crowd(200, seed=1)
    view = view_of(crowd(1), model=seen(generators.get("independent").fit(real, rng)))
    hidden, secret = masked(real.take([3, 4]), "c0")
    scores = scores_of(Likelihood(), view, hidden, secret, rng)
    shares = np.bincount(real.codes[:, 0], minlength=8) / 200
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(weights / weights.sum(axis=1, keepdims=True), [shares, shares], atol=1e-12)
    hidden, secret = masked(real.take([3, 4]), "age")  # 0 to 99 in bins of ten
    guess = scores_of(Likelihood(), view, hidden, secret, rng)
    middles = np.arange(10) * 10 + 4.5
    by_bin = np.bincount(real.codes[:, 4], minlength=10) / 200
    np.testing.assert_allclose(guess.mean, by_bin @ middles)
    np.testing.assert_allclose(guess.scale**2, by_bin @ (middles - by_bin @ middles) ** 2 + 100 / 12)


def test_outsider_is_always_recognised():
    """Without noise the model can draw the outsider's values if and only if it was fitted to them: AUC 1."""
    scores, members = play("likelihood", generators.get("bayesnet"), outsider(), 100)
    assert scores[members].min() > scores[~members].max() == -10_000


def test_noise_hides_the_outsider_as_claimed():
    """An AUC above e^2eps / (1 + e^2eps) would break the claim (one row is replaced, so 2 epsilon)."""
    scores, members = play("likelihood", generators.get("independent", epsilon=0.1), outsider(), 150)
    low, _ = auc(scores[members], scores[~members], confidence=0.999).interval
    assert low <= np.exp(0.2) / (1 + np.exp(0.2))


@pytest.mark.parametrize("attack", ["likelihood", "likelihood:relative=true"])
def test_nothing_to_see_when_nothing_leaks(attack):
    assert_blind(attack)


def test_survives_awkward_targets(rng):
    for generator in ("bayesnet", "independent", "mst:epsilon=1"):
        model = generators.parse(generator).fit(mixed(60, seed=1), rng)
        assert_survives(Likelihood(), model=seen(model))
        assert_survives(Likelihood(relative=True), model=seen(model))


def test_model_without_likelihood_and_view_without_model(rng):
    with pytest.raises(ParameterError, match="no likelihoods"):
        scores_of(Likelihood(), view_of(crowd(1), model=FittedModel(None)), crowd(2), None, rng)
    with pytest.raises(NotAllowedError, match="fitted model"):
        scores_of(Likelihood(), view_of(crowd(1)), crowd(2), None, rng)


@pytest.mark.parametrize("wrong", [{"relative": 1}, {"floor": -np.inf}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        replace(Likelihood(), **wrong)
