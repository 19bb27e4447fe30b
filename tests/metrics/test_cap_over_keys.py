"""The CAP family over all keys of a length, against the family key by key."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from unmask.errors import ParameterError
from unmask.metrics.cap import NAMES, cap
from unmask.metrics.cap_over_keys import cap_over_keys
from unmask.tables.table import Table

KEYS = ["a", "b", "c", "d"]


def three(rows, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({key: rng.integers(0, 3, 3 * rows).astype(str) for key in KEYS})
    frame["secret"] = np.where(rng.random(3 * rows) < 0.6, frame["a"], rng.integers(0, 3, 3 * rows).astype(str))
    table = Table.from_pandas(frame)
    return [table.take(range(place * rows, (place + 1) * rows)) for place in range(3)]


@pytest.mark.parametrize("length", [1, 2, 4])
def test_means_and_deviations_over_keys(length, rng):
    real, synthetic, holdout = three(60, 1)
    found = cap_over_keys(real, synthetic, keys=KEYS, secret="secret", length=length, holdout=holdout, rng=rng)
    each = [cap(real, synthetic, keys=key, secrets=["secret"], holdout=holdout) for key in combinations(KEYS, length)]
    assert len(found.keys) == len(each)
    for one in found.measures:
        if all(single.measure(one.name).real is None for single in each):
            assert one.real is None
            continue
        for side, value in (("real", one.mean), ("original", one.original), ("holdout", one.holdout)):
            values = [getattr(single.measure(one.name), side) for single in each]
            defined = [every.value for every in values if every is not None]
            assert value == pytest.approx(np.mean(defined)) if defined else np.isnan(value)
        values = [single.measure(one.name).real for single in each]
        assert one.deviation == pytest.approx(np.std([every.value for every in values if every is not None]))
        people = np.array([single.real.scores(one.name) for single in each])
        defined = people[:, ~np.isnan(people).all(axis=0)]
        assert one.real.value == pytest.approx(np.nanmean(defined, axis=0).mean())
        if length == len(KEYS):
            assert one.excess == each[0].measure(one.name).excess
    assert [one.name for one in found.measures] == list(NAMES)


def test_some_records_for_gcap_and_it_is_said(rng):
    real, synthetic, holdout = three(400, 2)
    found = cap_over_keys(
        real, synthetic, keys=KEYS, secret="secret", length=4, holdout=holdout, most_generalised=100, rng=rng
    )
    whole = cap(real, synthetic, keys=KEYS, secrets=["secret"], holdout=holdout)
    measures = {one.name: one for one in found.measures}
    assert measures["GCAP"].real.n == 100
    assert measures["GCAP"].mean == pytest.approx(whole.measure("GCAP").real.value, abs=0.15)
    assert measures["DiSCO"].real == whole.measure("DiSCO").real
    assert any("GCAP is of 100 of 400" in note for note in found.notes)
    with pytest.raises(ParameterError, match="Pass rng"):
        cap(real, synthetic, keys=KEYS, secrets=["secret"], most_generalised=100)


def test_without_a_holdout(rng):
    real, synthetic, _ = three(50, 3)
    found = cap_over_keys(real, synthetic, keys=KEYS, secret="secret", length=2, rng=rng)
    assert all(one.excess is None for one in found.measures)
    assert all(np.isnan(one.holdout) for one in found.measures)
