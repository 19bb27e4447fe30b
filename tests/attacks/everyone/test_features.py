"""Features of everybody equal a loop over units, for units of one row and of several, and never hang on coins."""

import numpy as np
import pandas as pd
import pytest

from unmask.attacks.everyone.features import MATCH, METRICS, NEIGHBOURS, FeaturePlan, Features
from unmask.simulation.coin import take_down
from unmask.tables.distance import nearest
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table
from unmask.tables.units import units
from unmask.testing._tables import STYLES, plain
from unmask.threats.view import FittedModel

KINDS = (
    Column("sex", Kind.CATEGORICAL, values=("f", "m")),
    Column("region", Kind.CATEGORICAL, values=("n", "s", "e"), missing=("",)),
    Column("age", Kind.INTEGER, lower=0.0, upper=99.0, bins=5, missing=("",)),
)


def visits(rows: int = 40, persons: int = 15, seed: int = 0) -> Table:
    """People with one to several rows each, some of them alike, in mixed order, with missing values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "id": [f"p{number}" for number in rng.integers(0, persons, rows)],
            "sex": rng.choice(["f", "m"], rows),
            "region": rng.choice(["n", "s", "e", None], rows),
            "age": np.where(rng.random(rows) < 0.2, np.nan, rng.integers(0, 99, rows)),
        }
    )
    return Table.from_pandas(frame, Schema(KINDS, person="id"))


def release(rows: int = 25) -> Table:
    return visits(rows, seed=9)


def of(table: Table, **choices) -> Features:
    return Features.of(FeaturePlan(**choices), table, units(table), np.random.default_rng(4))


def by_hand(features: Features, synthetic: Table, unit: int) -> dict[str, float]:
    """All features of one unit, from its rows and the rows of others."""
    table = features.candidates
    own = np.flatnonzero(features.units.of_row == unit)
    found: dict[str, float] = {}
    ratios: dict[int, float] = {}
    for subset in features.subsets:
        name = "count:" + "+".join(table.schema.names[position] for position in subset)
        found[name] = 0
        for row in own:
            mine = table.codes[row, list(subset)]
            published = int((synthetic.codes[:, list(subset)] == mine).all(axis=1).sum())
            alike = (table.codes[:, list(subset)] == mine).all(axis=1) & (features.units.of_row != unit)
            found[name] += published
            weight = len(table) / (alike.sum() + 1)
            ratios[len(subset)] = ratios.get(len(subset), 0.0) + published * weight / len(synthetic)
    found |= {f"ratio:{size}": ratio for size, ratio in ratios.items()}
    for metric, how in METRICS.items():
        for k in NEIGHBOURS:
            last = min(k, len(synthetic))
            each = nearest(table.take(own), synthetic, k=last, metric=how).distances[:, last - 1]
            found[f"{metric}:{k}"] = float(each.min())
    return found | exact_by_hand(features, synthetic, own)


def exact_by_hand(features: Features, synthetic: Table, own: np.ndarray) -> dict[str, float]:
    """Exact values of one unit, one row and one column at a time."""
    table, found, best = features.candidates, {}, -np.inf
    mine, published, names = table.to_pandas(), synthetic.to_pandas(), list(table.schema.names)
    others = mine.drop(index=own)

    def rounded(name: str, value: object) -> object:
        numeric = table.schema.column(name).is_numeric and not pd.isna(value)
        return float(f"{value:.2e}") if numeric else value

    def same(one: object, other: object) -> bool:
        return not pd.isna(one) and not pd.isna(other) and one == other

    for name in features.exact.names:
        group, _, columns = name.partition(":")
        how = rounded if group == "digits" else lambda _, value: value
        found[name] = sum(
            all(same(how(c, mine[c][row]), how(c, other[c])) for c in columns.split("+"))
            for row in own
            for _, other in published.iterrows()
        )
    for row in own:
        sharing = {c: sum(same(mine[c][row], value) for value in others[c]) for c in names}
        weight = {c: -np.log((sharing[c] + 0.5) / (len(table) + 1)) for c in names}
        for _, other in published.iterrows():
            best = max(best, sum(weight[c] for c in names if same(mine[c][row], other[c])))
    return found | {MATCH: best}


@pytest.mark.parametrize("published", [25, 3], ids=["25 rows", "fewer rows than neighbours"])
@pytest.mark.parametrize("persons", [True, False], ids=["persons", "rows"])
def test_features_equal_a_loop_over_units(persons, published):
    table = visits() if persons else plain("all kinds of columns")
    synthetic = release(published) if persons else table.take(np.arange(5, 5 + published))
    features = of(table)
    counts, values = features.compute(synthetic)
    together = np.concatenate([counts, values], axis=1)
    assert together.shape == (features.units.count, len(features.names))
    for unit in range(features.units.count):
        expected = by_hand(features, synthetic, unit)
        assert set(expected) == set(features.names)
        assert together[unit] == pytest.approx([expected[name] for name in features.names], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("style", STYLES)
def test_names_groups_and_numbers_fit_each_other(style):
    features = of(plain(style), prediction_errors=True, white_box=True)
    counts, values = features.compute(plain(style).take(np.arange(30)))
    assert counts.shape[1] == len(features.groups)
    assert values.shape[1] == len(features.value_names)
    assert features.names[len(features.groups) :] == features.value_names
    assert len(set(features.names)) == len(features.names)
    assert features.names[len(features.groups) - 1] == "count:" + "+".join(plain(style).schema.names)
    assert np.isfinite(values).all()


def test_a_reference_leaves_out_all_rows_of_the_unit_itself():
    """A person with five rows of a kind nobody else has stands as alone as one with a single such row."""
    frame = pd.DataFrame({"id": ["a"] * 5 + ["b", "c", "d", "e"], "sex": ["f"] * 5 + ["m"] * 4})
    table = Table.from_pandas(frame, Schema(KINDS[:1], person="id"))
    features = of(table)
    assert np.array_equal(features.others[:, 0], [0] * 5 + [3] * 4)


def test_the_same_release_gives_the_same_features_whoever_was_in(rng):
    features, synthetic = of(visits()), release()
    some, others = rng.random((2, features.units.count)) < 0.5
    one, two = take_down(features, some, synthetic, None), take_down(features, others, synthetic, None)
    assert all(np.array_equal(one[name], two[name]) for name in ("counts", "values"))


def test_features_do_not_hang_on_the_order_of_the_release(rng):
    features, synthetic = of(visits(), prediction_errors=True), release()
    one, two = features.compute(synthetic), features.compute(synthetic.take(rng.permutation(len(synthetic))))
    assert np.array_equal(one[0], two[0])
    assert one[1] == pytest.approx(two[1], rel=1e-6)


def test_counts_above_two_bytes_do_not_wrap():
    frame = pd.DataFrame({"sex": ["f"] * 5 + ["m"]})
    table = Table.from_pandas(frame, Schema(KINDS[:1]))
    counts, _ = of(table, distances=False).compute(table.take(np.zeros(70_000, dtype=np.int64)))
    assert counts[0].tolist() == [70_000]
    assert counts[5].tolist() == [0]


def test_a_model_that_holds_a_row_impossible_says_a_finite_number():
    table = visits()
    logs = np.linspace(-9, -1, len(table))
    logs[3], logs[4] = -np.inf, np.nan
    features = of(table, white_box=True, distances=False)
    _, values = features.compute(release(), FittedModel(lambda rows: logs, ()))
    assert np.isfinite(values).all()


def test_subsets_and_weights_come_from_all_candidates_and_the_seed_alone():
    assert of(visits()).subsets == of(visits()).subsets
    assert np.array_equal(of(visits()).others, of(visits()).others)


def amounts(values, **how) -> Table:
    column = Column("amount", Kind.INTEGER, lower=0.0, upper=99_999.0, bins=4, missing=("",), **how)
    frame = pd.DataFrame({"amount": values, "sex": ["f", "m"] * (len(values) // 2)})
    return Table.from_pandas(frame, Schema((column, KINDS[0])))


def test_exact_amounts_are_told_from_their_bins_and_from_rounded_ones():
    people = amounts([12_345, 12_346, 20_000, None])
    features = of(people, distances=False)
    assert features.groups[:3] == ("exact", "digits", "exact pair")
    counts, _ = features.compute(amounts([12_345, 12_300, 12_345, None]))
    assert counts[:, 0].tolist() == [2, 0, 0, 0]  # nothing is known of a missing amount
    assert counts[:, 1].tolist() == [3, 3, 0, 0]
    assert counts[:, 2].tolist() == [2, 0, 0, 0]  # with the sex


def test_without_exact_values_features_are_those_of_older_versions():
    """Draws of older versions hold these; the names tell them apart."""
    features = of(visits(), exact=False)
    assert all(name.startswith(("count:", "ratio:", "hamming:", "gower:")) for name in features.names)


def test_the_weight_of_a_value_leaves_out_all_rows_of_the_unit():
    """A person with five rows of an amount that nobody else has is linked as surely as one with a single such row."""
    frame = pd.DataFrame({"id": list("aaaaabcdef"), "age": [7] * 5 + [8, 1, 2, 3, 4]})
    features = of(Table.from_pandas(frame, Schema(KINDS[2:], person="id")))
    _, values = features.compute(Table.from_pandas(frame.iloc[[0, 5]], Schema(KINDS[2:], person="id")))
    match = values[:, features.value_names.index(MATCH)]
    assert match[0] == match[1] == pytest.approx(-np.log(0.5 / 11), rel=1e-6)
