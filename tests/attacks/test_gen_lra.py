"""Gen-LRA against a density that is refitted with the target, and against a planted leak."""

import numpy as np
import pytest

from tests.attacks.test_closest_record import (
    assert_blind,
    assert_survives,
    crowd,
    mixed,
    outsider,
    play,
    scores_of,
    view_of,
)
from unmask import generators
from unmask.attacks._density import Kernel
from unmask.attacks.gen_lra import GenLra
from unmask.errors import ParameterError
from unmask.stats.auc import auc
from unmask.tables.table import concatenate
from unmask.threats.knowledge import Goal


@pytest.mark.parametrize("table", [crowd, mixed])
def test_score_equals_a_refit_with_the_target(table, rng):
    """The density of the reference with the target among its rows, at the k nearest synthetic rows; same bandwidths."""
    targets, synthetic, reference = table(4, seed=1), table(60, seed=2), table(100, seed=3)
    kernel = Kernel.fitted_to(reference, None, 0.1)
    naive = []
    for t in range(len(targets)):
        target = targets.take([t])
        near = np.argsort(-kernel.log_density(target, synthetic), kind="stable")[:7]
        rows = synthetic.take(near)
        refitted = kernel.log_density(concatenate([reference, target]), rows)
        naive.append((refitted - kernel.log_density(reference, rows)).sum())
    np.testing.assert_allclose(
        scores_of(GenLra(k=7), view_of(synthetic, reference), targets, None, rng), naive, atol=1e-9
    )


def test_reference_is_cut_to_size_and_prepared_once(rng):
    reference, targets = crowd(500), crowd(3, seed=1)
    attack = GenLra(reference_rows=50)
    prepared = attack.prepare(view_of(reference, reference), targets, None, rng)
    assert len(prepared.reference) == 50
    assert prepared.score(view_of(crowd(30, seed=2)), targets, None, rng).shape == (3,)


def test_published_outsider_is_always_seen():
    """Nobody else's row is explained by the outsider, its own row by nobody else."""
    scores, members = play("gen-lra", generators.get("raw"), outsider(), 60)
    assert scores[members].min() > 0 > scores[~members].max()


def test_copied_outsider_is_seen():
    """Weaker than the closest record: uniform rows that happen to lie beyond the reference speak for the outsider too."""
    scores, members = play("gen-lra", generators.get("copycat", p=0.9), outsider(), 200)
    assert auc(scores[members], scores[~members], confidence=0.999).interval[0] > 0.55


def test_nothing_to_see_when_nothing_leaks():
    assert_blind("gen-lra")


def test_survives_awkward_releases():
    assert_survives(GenLra(), goals=(Goal.MEMBERSHIP,))
    assert_survives(GenLra(k=3), goals=(Goal.MEMBERSHIP,))


@pytest.mark.parametrize("wrong", [{"k": 0}, {"bandwidth": -1.0}, {"spread": 0.0}, {"reference_rows": 1.5}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        GenLra(**wrong)
