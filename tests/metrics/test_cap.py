"""The CAP family against naive loops, contingency tables as synthpop writes them, and sdmetrics' values."""

import numpy as np
import pandas as pd
import pytest

from unmask import datasets
from unmask.errors import InputError, ParameterError, SchemaError
from unmask.metrics import _nearest_keys
from unmask.metrics._shares import difference_of_shares, mean_of_shares
from unmask.metrics.cap import NAMES, cap, matches
from unmask.stats import wilson
from unmask.tables.encode import Unlisted
from unmask.tables.matching import By
from unmask.tables.table import Table

KEYS, SECRETS = ["sex", "region", "age"], ["smoker"]


def coarse(rows, seed, *, missing=0.1):
    """A frame with many equal keys, missing values, quotes and markup."""
    rng = np.random.default_rng(seed)
    region = rng.choice(["north", "it's", '"q"', "</script>", None], rows, p=[0.4, 0.2, 0.2, 0.2 - missing, missing])
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], rows),
            "region": region,
            "age": rng.integers(20, 26, rows),
            "smoker": np.where(region == "north", rng.random(rows) < 0.2, rng.random(rows) < 0.6),
            "job": rng.choice(["a", "b", "c"], rows),
        }
    )


@pytest.fixture
def pair():
    real = Table.from_pandas(coarse(300, 1))
    return real, Table.from_pandas(coarse(250, 2), real.schema)


def naive(real, synthetic, keys, secrets):
    """Record by record over all synthetic rows: matches, correct ones, whether they agree, and the share at least distance."""
    rows, found = synthetic.to_pandas().fillna("missing"), []
    for _, record in real.to_pandas().fillna("missing").iterrows():
        gaps = sum((rows[key] != record[key]).to_numpy().astype(int) for key in keys)
        same = np.all([(rows[name] == record[name]).to_numpy() for name in secrets], axis=0)
        values = {tuple(row) for row in rows.loc[gaps == 0, secrets].to_numpy()}
        found.append(((gaps == 0).sum(), (same & (gaps == 0)).sum(), len(values) == 1, same[gaps == gaps.min()].mean()))
    return [np.array(column) for column in zip(*found, strict=True)]


@pytest.mark.parametrize("secrets", [["smoker"], ["job", "smoker"]])
def test_matches_equal_a_naive_loop(pair, secrets):
    real, synthetic = pair
    result = matches(real, synthetic, keys=KEYS, secrets=secrets, generalised=True)
    found, correct, agree, nearest = naive(real, synthetic, KEYS, secrets)
    np.testing.assert_array_equal(result.found, found)
    np.testing.assert_array_equal(result.correct, correct)
    np.testing.assert_array_equal(result.agree, agree)
    np.testing.assert_allclose(result.generalised, nearest, rtol=0, atol=1e-12)
    assert (found == 0).any()  # or GCAP was not tested


def test_cap_equals_a_group_by():
    table = datasets.adult()
    real, synthetic = table.take(range(4000)), table.take(range(4000, 8000))
    keys, secrets = (
        ["sex", "race", "education", "marital-status", "relationship", "workclass"],
        ["income", "occupation"],
    )
    result = cap(real, synthetic, keys=keys, secrets=secrets, generalised=False)
    people, rows = (part.to_pandas()[keys + secrets].astype(object).fillna("?") for part in (real, synthetic))
    by_key = rows.groupby(keys).size().rename("found").reset_index()
    by_both = rows.groupby(keys + secrets).size().rename("correct").reset_index()
    joined = people.merge(by_key, on=keys, how="left").merge(by_both, on=keys + secrets, how="left")
    share = (joined.correct.fillna(0) / joined.found).to_numpy()
    np.testing.assert_allclose(result.real.cap, share, rtol=0, atol=1e-12)
    assert result.measure("CAP").real.value == pytest.approx(np.nanmean(share), abs=1e-12)
    assert result.measure("0-CAP").real.value == pytest.approx(np.nansum(share) / len(real), abs=1e-12)


def test_equals_sdmetrics():
    """1 - CategoricalCAP, CategoricalZeroCAP and CategoricalGeneralizedCAP of sdmetrics 0.32 on the same tables."""
    data = datasets.planted(300, leaked=30, columns=6, levels=4, seed=3)
    result = cap(data.real, data.synthetic, keys=["c0", "c1", "c2", "c3"], secrets=["c4", "c5"])
    for name, value in (("CAP", 0.17631245120999217), ("0-CAP", 0.1434007936507936), ("GCAP", 0.1595849010038336)):
        assert result.measure(name).real.value == pytest.approx(value, abs=1e-12)


def test_equals_synthpop(pair):
    """The sums over tables of secret x key, d for real and s for synthetic, as in synthpop's `disclosure`."""
    real, synthetic = pair
    given = [part.to_pandas() for part in (real, synthetic)]
    frames = [frame.astype(str).where(frame.notna(), "Missing") for frame in given]
    tables = [pd.crosstab(frame["smoker"], frame[KEYS].agg(" | ".join, axis=1)) for frame in frames]
    rows, columns = tables[0].index.union(tables[1].index), tables[0].columns.union(tables[1].columns)
    d, s = (table.reindex(index=rows, columns=columns, fill_value=0).to_numpy() for table in tables)
    pd_, ps = (np.divide(t, t.sum(axis=0), out=np.zeros(t.shape), where=t.sum(axis=0) > 0) for t in (d, s))
    n = d.sum()
    result = cap(real, synthetic, keys=KEYS, secrets=["smoker"])
    assert result.measure("DCAP").real.value == pytest.approx((ps * d).sum() / n, abs=1e-12)
    assert result.measure("DCAP").original.value == pytest.approx((pd_ * d).sum() / n, abs=1e-12)  # CAPd
    assert result.measure("DiSCO").real.value == pytest.approx(d[ps == 1].sum() / n, abs=1e-12)
    assert result.measure("DiSCO").original.value == pytest.approx(d[pd_ == 1].sum() / n, abs=1e-12)  # Dorig
    assert result.measure("TCAP").real.value == pytest.approx(
        d[ps == 1].sum() / (d.sum(axis=0) * (ps == 1).any(axis=0)).sum(), abs=1e-12
    )
    assert result.marginal.value == pytest.approx(((d.sum(axis=1) / n) ** 2).sum(), abs=1e-12)  # baseCAPd
    assert result.mode.value == pytest.approx(d.sum(axis=1).max() / n, abs=1e-12)
    base = result.marginal.value
    assert result.measure("DCAP").scaled(base) == pytest.approx(((ps * d).sum() / n - base) / (1 - base), abs=1e-12)


def test_publishing_the_real_table_is_the_upper_bound(pair):
    real, _ = pair
    for measure in cap(real, real, keys=KEYS, secrets=SECRETS).measures:
        assert measure.real == measure.original


def test_copies_are_seen_and_fresh_rows_are_not():
    data = datasets.planted(1000, leaked=300, columns=8, levels=6, seed=1)
    keys, secrets = [f"c{i}" for i in range(6)], ["c7"]
    leaky = cap(data.real, data.synthetic, keys=keys, secrets=secrets, holdout=data.holdout)
    assert all(leaky.measure(name).excess.low > 0 for name in ("0-CAP", "DCAP", "DiSCO", "GCAP"))
    assert leaky.real.disclosed[data.leaked].mean() > 0.5
    fresh = datasets.planted(1000, leaked=0, columns=8, levels=6, seed=2)
    honest = cap(fresh.real, fresh.synthetic, keys=keys, secrets=secrets, holdout=fresh.holdout)
    assert all(measure.excess.low <= 0 <= measure.excess.high for measure in honest.measures)


def test_control_beats_attack_at_most_at_the_level():
    """Nothing leaks: either end of a 95 % interval is passed in 1 of 20 tables (99.9 % limit of 200: 21)."""
    alarms = dict.fromkeys(NAMES, 0)
    for seed in range(200):
        data = datasets.planted(150, leaked=0, columns=5, levels=4, seed=seed)
        result = cap(data.real, data.synthetic, keys=["c0", "c1", "c2"], secrets=["c4"], holdout=data.holdout)
        for measure in result.measures:
            alarms[measure.name] += measure.excess.low > 0 or measure.excess.high < 0
    assert max(alarms.values()) <= 21, alarms


def test_intervals_of_rates_are_those_of_the_statistics_package():
    zeros_and_ones, control = np.repeat([0.0, 1.0], [30, 12]), np.repeat([0.0, 1.0], [17, 3])
    assert mean_of_shares(zeros_and_ones).interval == pytest.approx(wilson(12, 42).interval, abs=1e-12)
    found, mine, theirs = (
        difference_of_shares(zeros_and_ones, control),
        wilson(12, 42),
        wilson(3, 20),
    )  # Newcombe, method 10
    assert found.low == pytest.approx(
        found.value - np.hypot(mine.value - mine.low, theirs.high - theirs.value), abs=1e-12
    )
    assert found.high == pytest.approx(
        found.value + np.hypot(mine.high - mine.value, theirs.value - theirs.low), abs=1e-12
    )
    for rate in (0.0, 1.0):
        assert mean_of_shares(np.full(9, rate)).interval == pytest.approx(wilson(int(9 * rate), 9).interval, abs=1e-12)


def test_equal_shares_are_not_certain_and_steady_ones_are_sharper():
    """Fifty equal shares still allow a rare 0 or 1: the limit of no success in fifty, scaled to what is left."""
    flat, rule = mean_of_shares(np.full(50, 0.3)), wilson(0, 50).high
    assert flat.interval == pytest.approx((0.3 - 0.3 * rule, 0.3 + 0.7 * rule), abs=1e-12)
    assert flat.high - flat.low < 0.4 * (wilson(15, 50).high - wilson(15, 50).low)
    one = mean_of_shares(np.array([0.5]))
    assert one.high - one.low > 0.5


def test_rows_of_one_person_count_once(rng):
    """Every person in three equal rows: the same interval as one row each, not one of three times as many people."""
    shares = rng.beta(0.3, 2, 80)
    once = mean_of_shares(shares)
    thrice = mean_of_shares(np.repeat(shares, 3), np.repeat(np.arange(80), 3))
    assert thrice.interval == pytest.approx(once.interval, abs=1e-12)
    naive_interval = mean_of_shares(np.repeat(shares, 3)).interval
    assert naive_interval[1] - naive_interval[0] < 0.7 * (once.high - once.low)


def test_numbers_match_by_value_or_by_bin(people):
    other = people.take(np.arange(100, 200))
    by_value = matches(people, other, keys=["income"], secrets=["sex"])
    by_bin = matches(people, other, keys=["income"], secrets=["sex"], by=By.CODES)
    assert by_bin.found.sum() > by_value.found.sum()
    missing = np.isnan(people.numbers[:, people.schema.numeric.index(people.schema.position("income"))])
    assert (by_value.found[missing] == missing[100:].sum()).all()  # missing equals missing


def test_unlisted_values_match_nothing(pair):
    real, _ = pair
    frame = coarse(250, 2).astype(object)
    frame.loc[:99, "region"] = "elsewhere"
    frame.loc[:49, "smoker"] = "sometimes"
    strange = Table.from_pandas(frame, real.schema, unlisted=Unlisted.NOTE)
    whole = matches(real, strange, keys=KEYS, secrets=SECRETS, generalised=True)
    part = matches(real, strange.take(np.arange(100, 250)), keys=KEYS, secrets=SECRETS)
    np.testing.assert_array_equal(whole.found, part.found)
    assert np.isfinite(whole.generalised).all()
    assert any("outside the schema" in note for note in cap(real, strange, keys=KEYS, secrets=SECRETS).notes)


def test_generalised_cap_does_not_depend_on_parts_or_threads(pair, monkeypatch):
    real, synthetic = pair
    whole = matches(real, synthetic, keys=KEYS, secrets=SECRETS, generalised=True).generalised
    monkeypatch.setattr(_nearest_keys, "MOST_TIES", 1000)
    parts = matches(real, synthetic, keys=KEYS, secrets=SECRETS, generalised=True, workers=2).generalised
    np.testing.assert_array_equal(whole, parts)


def test_generalised_cap_of_many_distinct_numbers():
    """More distinct key values than fit a code: the values asked for are coded part by part."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": rng.random(600), "y": rng.integers(0, 4, 600), "t": rng.choice(["a", "b"], 600)})
    table = Table.from_pandas(frame)
    real, synthetic = table.take(range(300)), table.take(range(300, 600))
    result = matches(real, synthetic, keys=["x", "y"], secrets=["t"], generalised=True)
    np.testing.assert_allclose(result.generalised, naive(real, synthetic, ["x", "y"], ["t"])[3], atol=1e-12)


def test_odd_tables():
    frame = coarse(40, 3).assign(constant="c", empty=pd.Series([None] * 40, dtype=object))
    table = Table.from_pandas(frame)
    every = cap(table, table, keys=["constant", "empty"], secrets=["smoker"], holdout=table)
    assert every.measure("CAP").real.value == pytest.approx(every.marginal.value)
    assert every.measure("CAP").excess.value == 0
    certain = cap(table, table, keys=["sex"], secrets=["constant"])
    assert certain.measure("TCAP").real.value == 1
    assert certain.measure("TCAP").scaled(1.0) is None
    one = cap(table.take([0]), table.take([0]), keys=["sex"], secrets=["job"])
    assert one.measure("DiSCO").real.value == 1


def test_nothing_matches():
    frame = pd.DataFrame({"k": [1, 2, 3, 4], "t": ["a", "b", "a", "b"]})
    table = Table.from_pandas(frame)
    result = cap(table.take([0, 1]), table.take([2, 3]), keys=["k"], secrets=["t"])
    assert result.measure("CAP").real is None
    assert result.measure("TCAP").scaled(0.5) is None
    assert result.measure("0-CAP").real.value == 0
    assert result.measure("GCAP").real.value == 0.5
    assert np.isnan(result.real.cap).all()
    assert any("undefined" in note for note in result.notes)


def test_refusals(pair):
    real, synthetic = pair
    with pytest.raises(InputError, match="synthetic table has no rows"):
        cap(real, synthetic.take([]), keys=KEYS, secrets=SECRETS)
    with pytest.raises(ParameterError, match="key and a secret"):
        cap(real, synthetic, keys=["sex", "smoker"], secrets=["smoker"])
    with pytest.raises(ParameterError, match="give a list"):
        cap(real, synthetic, keys="sex", secrets=["smoker"])
    with pytest.raises(SchemaError, match="no column 'nothing'"):
        cap(real, synthetic, keys=["nothing"], secrets=["smoker"])
    with pytest.raises(ParameterError, match="no measure 'cap'"):
        cap(real, synthetic, keys=KEYS, secrets=SECRETS).measure("cap")
    with pytest.raises(ParameterError, match="generalised=True"):
        matches(real, synthetic, keys=KEYS, secrets=SECRETS).scores("GCAP")
