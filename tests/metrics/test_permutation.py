"""Displacement and noise against a naive loop, and at both ends: nothing moved, everything moved."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata, spearmanr

from unmask.errors import ParameterError
from unmask.metrics.permutation import WITHIN, permutation
from unmask.metrics.reverse_mapping import reverse_mapping
from unmask.tables.table import Table


def pair(rows, seed, ties=False):
    rng = np.random.default_rng(seed)
    frames = []
    for noise in (0.0, 0.4):
        base = rng.normal(size=(rows, 1)) if noise else np.random.default_rng(seed + 1).normal(size=(rows, 1))
        values = base + rng.normal(size=(rows, 3)) * (0.5 + noise)
        frames.append(pd.DataFrame(values.round(1 if ties else 9), columns=["a", "b", "c"]))
    both = Table.from_pandas(pd.concat(frames, ignore_index=True))
    return both.take(range(rows)), both.take(range(rows, 2 * rows))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("aligned", [False, True])
def test_equals_a_naive_loop(ties, aligned, rng):
    rows = 40
    real, synthetic = pair(rows, 3, ties)
    mapping = reverse_mapping(real, synthetic, rng=rng)
    found = permutation(real, mapping, aligned=aligned, rng=rng)
    x, z = real.numbers, mapping.release.numbers
    own = np.column_stack([rankdata(column) for column in x.T])
    other = np.column_stack([rankdata(column) for column in z.T])
    apart, change, noise = np.empty((rows, 3)), np.empty((rows, 3)), np.empty((rows, 3))
    for i in range(rows):
        gaps = np.abs(own[i] - other).sum(axis=1)
        linked = np.array([i]) if aligned else np.flatnonzero(gaps == gaps.min())
        apart[i] = np.abs(own[i] - other[linked]).mean(axis=0) / rows
        change[i] = ((z[linked] - x[i]) ** 2).mean(axis=0)
        noise[i] = ((synthetic.numbers[linked] - z[linked]) ** 2).mean(axis=0)
    for j, one in enumerate(found.columns):
        assert one.displacement == pytest.approx(apart[:, j].mean())
        assert one.largest == pytest.approx(apart[:, j].max())
        assert one.within == pytest.approx([(apart[:, j] <= p / 100 + 1e-12).mean() for p in WITHIN])
        total = change[:, j].mean() + noise[:, j].mean()
        assert one.permutation == pytest.approx(change[:, j].mean() / total)
        assert one.noise == pytest.approx(noise[:, j].mean() / total)
        assert one.mean_noise == pytest.approx(np.abs(synthetic.numbers - z)[:, j].mean())
        changes = [abs(spearmanr(x[:, j], x[:, k])[0] - spearmanr(z[:, j], z[:, k])[0]) for k in range(3) if k != j]
        assert one.relation == pytest.approx(np.mean(changes))
        assert one.largest_relation == pytest.approx(max(changes))


def test_the_real_table_itself_has_moved_nowhere(people, rng):
    mapping = reverse_mapping(people, people, rng=rng)
    for aligned in (False, True):
        for one in permutation(people, mapping, aligned=aligned, rng=rng).columns:
            assert one.displacement == one.largest == one.mean_noise == one.relation == 0
            assert one.within == (1.0, 1.0, 1.0)
            assert np.isnan(one.permutation)  # nothing changed


def test_shuffled_rows_are_a_third_away_if_aligned_and_near_if_linked(rng):
    real, _ = pair(400, 5)
    mapping = reverse_mapping(real, real.take(rng.permutation(len(real))), rng=rng)
    by_row = permutation(real, mapping, aligned=True, rng=rng).columns[0]
    assert by_row.displacement == pytest.approx(1 / 3, abs=0.05)
    assert by_row.noise == 0
    linked = permutation(real, mapping, rng=rng).columns[0]
    assert linked.displacement == 0
    assert linked.shuffled > 0.02


def test_many_records_are_drawn_from(monkeypatch, rng):
    module = sys.modules["unmask.metrics.permutation"]  # the package has the function of this name
    monkeypatch.setattr(module, "MOST_RECORDS", 100)
    real, synthetic = pair(400, 6)
    mapping = reverse_mapping(real, synthetic, rng=rng)
    some = permutation(real, mapping, rng=rng)
    assert some.records == 100
    monkeypatch.setattr(module, "MOST_RECORDS", 400)
    whole = permutation(real, mapping, rng=rng)
    assert some.columns[0].displacement == pytest.approx(whole.columns[0].displacement, abs=0.05)


def test_aligned_needs_as_many_rows(people, rng):
    mapping = reverse_mapping(people, people.take(range(150)), rng=rng)
    with pytest.raises(ParameterError, match="another number of rows than the 200"):
        permutation(people, mapping, aligned=True, rng=rng)
