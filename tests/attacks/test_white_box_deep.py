"""What only deep models show, on models that are made up: the denoising loss of a diffusion model, the critic of a GAN."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from tests.attacks.test_closest_record import crowd, outsider, play, scores_of, view_of
from unmask import attacks, generators
from unmask.attacks.denoising_loss import DenoisingLoss
from unmask.attacks.discriminator import Discriminator
from unmask.attacks.everyone.white_box import white_box
from unmask.audits.attack.audit import attack
from unmask.errors import NotAllowedError, ParameterError
from unmask.simulation.release import fitted_model
from unmask.stats.auc import auc
from unmask.tables.distance import kth_distances
from unmask.tables.metric import Gower
from unmask.tables.table import Table, concatenate
from unmask.threats.view import FittedModel

BOTH = ("denoising-loss", "discriminator")


@dataclass(frozen=True)
class Diffusing:
    """A generator that publishes nothing of anybody; its model's loss falls by `memory` beside a training row."""

    name: ClassVar[str] = "diffusing"
    row_level: ClassVar[bool] = False
    claim: ClassVar[None] = None

    memory: float = 1.0

    def fit(self, table, rng):
        inner = generators.get("oblivious").fit(table, rng)
        return DiffusingModel(inner, table, self.memory, float(rng.gamma(4)))


@dataclass(frozen=True, eq=False)
class DiffusingModel:
    inner: object
    real: Table
    memory: float
    level: float  # how well this model denoises anybody: it differs from fit to fit
    claim: ClassVar[None] = None
    diffusion_steps: ClassVar[int] = 50

    def sample(self, rows, rng):
        return self.inner.sample(rows, rng)

    def losses(self, table, steps, rng):
        known = kth_distances(table, self.real, ks=(1,), metric=Gower())[:, 0] == 0
        plain = 1 + np.abs(rng.normal(size=(len(table), len(steps)))) - 0.5 * self.memory * known[:, None]
        return self.level * plain * (1 + np.asarray(steps))

    def discriminator_score(self, table):
        return self.level * (self.memory * (kth_distances(table, self.real, ks=(1,), metric=Gower())[:, 0] == 0) - 3.0)


@pytest.mark.parametrize("name", BOTH)
def test_registered(name):
    assert attacks.get(name).name == name


def test_score_is_the_loss_in_deviations_below_reference_people(rng):
    """Mean over draws of noise, standardised at each step by reference people, mean over steps; without them minus the loss."""
    targets, reference = crowd(3, seed=5), crowd(40, seed=2)

    def losses(rows, steps, rng):  # without noise, so that the answer is known
        return rows.numbers[:, :1] * (1.0 + np.asarray(steps)) + np.asarray(steps)

    model = FittedModel(losses=losses, diffusion_steps=100)
    found = scores_of(DenoisingLoss(steps="0.1+0.5"), view_of(crowd(1), reference, model=model), targets, None, rng)
    known = reference.numbers[:, 0]
    np.testing.assert_allclose(found, (known.mean() - targets.numbers[:, 0]) / known.std())
    alone = scores_of(DenoisingLoss(steps="0.1+0.5"), view_of(crowd(1), model=model), targets, None, rng)
    np.testing.assert_allclose(alone, -(targets.numbers[:, 0] * (11 + 51) / 2 + 30))


def test_steps_are_shares_of_the_models_own(rng):
    asked = []

    def losses(rows, steps, rng):
        asked.append((list(steps), len(rows)))
        return rng.random((len(rows), len(steps)))

    model = FittedModel(losses=losses, diffusion_steps=200)
    scores_of(DenoisingLoss(draws=3), view_of(crowd(1), crowd(9), model=model), crowd(2), None, rng)
    assert asked == [([10, 20, 30, 40, 50, 60], 6), ([10, 20, 30, 40, 50, 60], 27)]


def test_noise_is_the_same_for_every_release(rng):
    """So that what differs between releases is the model."""
    prepared = DenoisingLoss().prepare(view_of(crowd(1), crowd(9)), crowd(2), None, rng)
    model = FittedModel(losses=lambda rows, steps, rng: rng.random((len(rows), len(steps))), diffusion_steps=10)
    one, two = (
        prepared.score(view_of(crowd(5), crowd(9), model=model), crowd(2), None, np.random.default_rng(seed))
        for seed in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_critic_in_deviations_above_reference_people(rng):
    targets, reference = crowd(3, seed=5), crowd(40, seed=2)
    model = FittedModel(discriminator_score=lambda rows: 7 * rows.numbers[:, 1] - 4)
    found = scores_of(Discriminator(), view_of(crowd(1), reference, model=model), targets, None, rng)
    known = reference.numbers[:, 1]
    np.testing.assert_allclose(found, (targets.numbers[:, 1] - known.mean()) / known.std())
    alone = scores_of(Discriminator(), view_of(crowd(1), model=model), targets, None, rng)
    np.testing.assert_allclose(alone, 7 * targets.numbers[:, 1] - 4)


@pytest.mark.parametrize("name", BOTH)
def test_a_model_that_remembers_is_recognised(name):
    """Training rows lose half their loss, or gain a unit of the critic's; levels of models differ widely and say nothing."""
    targets = concatenate([outsider(), crowd(3, seed=5)])
    scores, members = play(name, Diffusing(), targets, 40)
    for target in range(4):
        assert auc(scores[members[:, target], target], scores[~members[:, target], target]).value > 0.95


@pytest.mark.parametrize("name", BOTH)
def test_nothing_to_see_where_nothing_is_remembered(name):
    targets = concatenate([outsider(), crowd(2, seed=5)])
    scores, members = play(name, Diffusing(memory=0.0), targets, 120, seed=3)
    for target in range(3):
        found = auc(scores[members[:, target], target], scores[~members[:, target], target], confidence=0.999)
        assert found.interval[0] <= 0.5 <= found.interval[1]


@pytest.mark.parametrize("name", BOTH)
def test_models_without_it_are_not_tested_and_cost_nobody_else(name, rng):
    with pytest.raises(ParameterError, match="cannot be run"):
        scores_of(attacks.get(name), view_of(crowd(1), model=FittedModel()), crowd(2), None, rng)
    with pytest.raises(NotAllowedError, match="fitted model"):
        scores_of(attacks.get(name), view_of(crowd(1)), crowd(2), None, rng)
    result = attack(
        "independent", crowd(200), attacks=(name, "closest-record"), access="white-box", targets="1",
        shadows=4, tests=8, train_rows=30,
    )  # fmt: skip
    assert "cannot be run" in next(each.reason for each in result.not_tested if each.name == name)
    assert any(finding.name.startswith("closest-record") for finding in result.findings)


def test_a_loss_of_the_wrong_shape_is_said(rng):
    model = FittedModel(losses=lambda rows, steps, rng: np.zeros(3), diffusion_steps=10)
    with pytest.raises(ParameterError, match="one loss per row and step"):
        scores_of(DenoisingLoss(), view_of(crowd(1), model=model), crowd(2), None, rng)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [(DenoisingLoss, {"steps": "early"}), (DenoisingLoss, {"steps": "1.0"}), (DenoisingLoss, {"draws": 0}),
     (DenoisingLoss, {"reference_rows": 0}), (Discriminator, {"reference_rows": -1})],
)  # fmt: skip
def test_parameters_are_checked(kind, wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        replace(kind(), **wrong)


def test_everyone_reads_losses_and_critics_where_there_are_no_likelihoods(rng):
    """A likelihood comes first, then losses, then the critic; who remembers shows it, and each run asks with the same noise."""
    rows = crowd(60, seed=4)
    model = Diffusing().fit(rows.take(np.arange(30)), rng)
    shown = white_box(fitted_model(model), rows)
    assert auc(shown[:30, 0], shown[30:, 0]).value > 0.9
    np.testing.assert_array_equal(shown, white_box(fitted_model(model), rows))
    critic = white_box(FittedModel(discriminator_score=model.discriminator_score), rows)
    np.testing.assert_array_equal(critic[:, 0], model.discriminator_score(rows))
    both = white_box(FittedModel(lambda table: np.arange(len(table)), losses=model.losses, diffusion_steps=50), rows)
    np.testing.assert_array_equal(both[:, 0], np.arange(60))
