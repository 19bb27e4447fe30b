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
from unmask.attacks import _kernel_search
from unmask.attacks._density import Kernel
from unmask.attacks.gen_lra import GenLra
from unmask.datasets import adult
from unmask.errors import ParameterError
from unmask.stats.auc import auc
from unmask.tables.search import _grouped
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


@pytest.mark.parametrize("limits", [{}, {"AT_ONCE": 500}, {"FEWEST_ROWS": 1}, {"FEWEST_ROWS": 1, "MOST_MEASURED": 1.0}])
def test_rows_with_the_largest_kernels_are_those_of_all_pairs(limits, monkeypatch):
    """In one block, in several, and by groups of rows with equal categories."""
    for name, value in limits.items():
        monkeypatch.setattr(_kernel_search, name, value)
    monkeypatch.setattr(_grouped, "FEWEST_ROWS", 1)
    people = adult().select(["age", "sex", "race", "education", "hours-per-week", "income"])
    rows, points = people.take(np.arange(3000)), people.take(np.arange(3000, 3040))
    kernel = Kernel.fitted_to(rows, None, 0.1)
    found, all_pairs = _kernel_search.nearest_rows(kernel, rows, points, 20), kernel.log_kernels(rows, points)
    assert np.array_equal(np.sort(found.logs, axis=1), np.sort(all_pairs, axis=1)[:, -20:])
    assert np.array_equal(np.take_along_axis(all_pairs, found.rows, axis=1), found.logs)
    assert all(len(set(each)) == 20 for each in found.rows.tolist())
