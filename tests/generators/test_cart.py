"""Trees against scikit-learn and brute force; synthetic columns against the tables they were learnt from."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare
from sklearn.tree import DecisionTreeRegressor

from unmask.errors import ParameterError
from unmask.generators import get
from unmask.generators._tree import Predictors, grow
from unmask.generators.cart import Cart, _arrays, _visit
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table


def table_of(frame: pd.DataFrame, *columns: Column) -> Table:
    return Table.from_pandas(frame, Schema(columns))


def category(name: str, values: str, **more) -> Column:
    return Column(name, Kind.CATEGORICAL, values=tuple(values), **more)


def number(name: str, lower: float, upper: float, **more) -> Column:
    return Column(name, Kind.CONTINUOUS, lower=lower, upper=upper, **more)


def whole(name: str, lower: float, upper: float, **more) -> Column:
    return Column(name, Kind.INTEGER, lower=lower, upper=upper, **more)


def drawn(table: Table, rows: int = 2000, **parameters) -> pd.DataFrame:
    return Cart(**parameters).fit(table, np.random.default_rng(1)).sample(rows, np.random.default_rng(2)).to_pandas()


# The tree


@pytest.mark.parametrize("seed", range(15))
def test_regression_tree_has_the_leaves_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(20, 400), rng.integers(1, 6)
    values = rng.normal(size=(columns, rows))
    target = 1e6 + np.sin(3 * values[0]) + 0.3 * rng.normal(size=rows)  # far from 0: sums must not cancel
    tree = grow(Predictors.sort(values, np.zeros(columns, dtype=int)), target, 0, np.arange(rows), 5)
    ours = tree.leaves(values)
    theirs = DecisionTreeRegressor(min_samples_leaf=5, random_state=1).fit(values.T, target - 1e6).apply(values.T)
    assert len(set(zip(ours, theirs, strict=True))) == len(set(ours)) == len(set(theirs))


def impurity(target: np.ndarray, classes: int) -> float:
    """Rows times the Gini impurity, or the sum of squares around the mean, from the definition."""
    if not classes:
        return float(((target - target.mean()) ** 2).sum())
    shares = np.bincount(target.astype(int), minlength=classes) / len(target)
    return len(target) * (1 - (shares**2).sum())


def first_split(tree, values: np.ndarray) -> np.ndarray:
    """Which rows the root sends to its first child."""
    stump = np.flatnonzero(tree.predictor >= 0)[:1]
    assert list(stump) == [0]
    below = {1}
    for node in range(1, len(tree.predictor)):
        if node in below and tree.predictor[node] >= 0:
            below |= {tree.child[node], tree.child[node] + 1}
    return np.isin(tree.leaves(values), list(below))


@pytest.mark.parametrize("classes", [0, 2])
@pytest.mark.parametrize("seed", range(8))
def test_first_split_of_categories_is_the_best_of_all_subsets(seed, classes):
    """For numbers and two-valued targets the ordering by mean loses nothing (Breiman et al. 1984, theorem 4.5)."""
    rng = np.random.default_rng(seed)
    rows, kinds, least = 120, 7, 5
    codes = rng.integers(0, kinds, rows)
    effect = rng.random(kinds)
    target = (rng.random(rows) < effect[codes]) * 1.0 if classes else effect[codes] + rng.normal(size=rows)
    values = codes[None].astype(float)
    tree = grow(Predictors.sort(values, np.array([kinds])), target, classes, np.arange(rows), least)
    left = first_split(tree, values)
    best = min(
        impurity(target[side], classes) + impurity(target[~side], classes)
        for size in range(1, kinds)
        for subset in combinations(range(kinds), size)
        if least <= (side := np.isin(codes, subset)).sum() <= rows - least
    )
    assert impurity(target[left], classes) + impurity(target[~left], classes) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(8))
def test_first_split_of_numbers_is_the_best_of_all_thresholds_for_many_classes(seed):
    rng = np.random.default_rng(seed)
    rows, classes, least = 150, 6, 7
    values = rng.integers(0, 12, (3, rows)).astype(float)  # many ties
    values[1, rng.random(rows) < 0.2] = -np.inf  # missing
    target = (values[rng.integers(0, 3)] + rng.integers(0, 4, rows)).clip(0) % classes
    tree = grow(Predictors.sort(values, np.zeros(3, dtype=int)), target, classes, np.arange(rows), least)
    left = first_split(tree, values)
    best = min(
        impurity(target[side], classes) + impurity(target[~side], classes)
        for column in values
        for threshold in np.unique(column)
        if least <= (side := column <= threshold).sum() <= rows - least
    )
    assert impurity(target[left], classes) + impurity(target[~left], classes) == pytest.approx(best)


@pytest.mark.parametrize("min_leaf", [1, 5, 40])
def test_leaves_keep_min_leaf_rows_and_every_row_is_in_the_leaf_it_falls_into(people, min_leaf):
    model = Cart(min_leaf=min_leaf).fit(people, np.random.default_rng(0))
    values, targets, _ = _arrays(people, _visit(people.schema, None))
    trees = 0
    for at, step in enumerate(model.steps):
        for tree in (step.donors, step.missing):
            if tree is None:
                continue
            trees += 1
            ends = np.flatnonzero(tree.predictor < 0)
            assert tree.count[ends].min() >= min_leaf
            assert len(set(tree.donors)) == tree.count[ends].sum() == len(tree.donors)
            fell = tree.leaves(values[:at])
            for leaf in ends:
                assert (fell[tree.donors[tree.start[leaf] :][: tree.count[leaf]]] == leaf).all()
        if step.missing is not None:
            assert len(step.donors.donors) == (~np.isnan(targets[at])).sum()
    assert trees >= len(people.schema.columns) + 1  # income has missing values


def test_a_category_unseen_at_a_node_follows_the_larger_side():
    codes = np.repeat([0.0, 1.0, 2.0], [30, 20, 10])[None]
    target = np.where(codes[0] == 2, 1.0, 0.0)
    tree = grow(Predictors.sort(codes, np.array([5])), target, 2, np.arange(60), 5)
    assert tree.listed.tolist() == [2]  # the smaller side is listed
    assert tree.count.tolist() == [60, 10, 50]
    assert tree.leaves(np.array([[2.0, 0.0, 3.0, 4.0]])).tolist() == [1, 2, 2, 2]


def test_ordered_categories_are_cut_at_a_threshold_and_others_by_sets():
    codes = np.tile(np.arange(6.0), 50)
    target = np.isin(codes, [0, 5]) * 1.0
    sets = grow(Predictors.sort(codes[None], np.array([6])), target, 2, np.arange(300), 5)
    assert len(sets.count) == 3
    assert sorted(sets.listed) in ([0, 5], [1, 2, 3, 4])
    cuts = grow(Predictors.sort(codes[None], np.array([0])), target, 2, np.arange(300), 5)
    assert len(cuts.listed) == 0
    assert len(cuts.count) == 5  # two cuts
    schema = Schema((category("c", "abcdef", ordered=True, missing=("",)), category("d", "ab")))
    table = Table.from_pandas(pd.DataFrame({"c": ["a", "f", None], "d": ["a", "b", "b"]}), schema)
    values, _, categories = _arrays(table, (0, 1))
    assert values[0].tolist() == [0, 5, -np.inf]
    assert categories[0] == 0  # missing lies below the order


# The generator


def test_functions_of_earlier_columns_are_reproduced():
    """y and z are fixed by x; every synthetic row must obey them."""
    rng = np.random.default_rng(3)
    x = rng.choice(list("abcdefgh"), 1500)
    y_of = dict(zip("abcdefgh", [5, -3, 0.25, 8, 8, 1, -3, 2], strict=True))
    y = np.array([y_of[letter] for letter in x])
    z = np.where(y > 1.5, "high", np.where(y < 0, "low", "mid"))
    columns = (
        category("x", "abcdefgh"),
        number("y", -10, 10),
        Column("z", Kind.CATEGORICAL, values=("high", "low", "mid")),
    )
    synthetic = drawn(table_of(pd.DataFrame({"x": x, "y": y, "z": z}), *columns))
    assert (synthetic.y == synthetic.x.map(y_of)).all()
    assert (synthetic.z == np.where(synthetic.y > 1.5, "high", np.where(synthetic.y < 0, "low", "mid"))).all()
    assert set(synthetic.x) == set("abcdefgh")


def test_conditional_shares_are_those_of_the_groups_when_leaves_are_groups():
    """Groups of exactly min_leaf rows can only be split between groups."""
    rng = np.random.default_rng(4)
    x = np.repeat(list("abc"), 1000)
    chances = {"a": [0.7, 0.1, 0.2], "b": [0.2, 0.7, 0.1], "c": [0.1, 0.2, 0.7]}
    y = np.concatenate([rng.choice(list("uvw"), 1000, p=chances[group]) for group in "abc"])
    table = table_of(pd.DataFrame({"x": x, "y": y}), category("x", "abc"), category("y", "uvw"))
    synthetic = drawn(table, rows=9000, min_leaf=1000)
    for group in "abc":
        observed = synthetic.y[synthetic.x == group].value_counts().reindex(list("uvw"))
        naive = pd.Series(y[x == group]).value_counts(normalize=True).reindex(list("uvw"))
        assert chisquare(observed, naive * observed.sum()).pvalue > 1e-4
    first = synthetic.x.value_counts().reindex(list("abc"))
    assert chisquare(first).pvalue > 1e-4  # the first column is a bootstrap


def test_missing_numbers_depend_on_other_columns_and_predict_them():
    rng = np.random.default_rng(5)
    x = rng.choice(["a", "b"], 4000)
    y = np.where((x == "a") & (rng.random(4000) < 0.6), np.nan, rng.normal(size=4000).clip(-5, 5))
    z = np.where(np.isnan(y), "gone", "here")
    columns = (
        category("x", "ab"),
        number("y", -5, 5, missing=("",)),
        Column("z", Kind.CATEGORICAL, values=("gone", "here")),
    )
    synthetic = drawn(table_of(pd.DataFrame({"x": x, "y": y, "z": z}), *columns), rows=4000)
    assert (synthetic.z == np.where(synthetic.y.isna(), "gone", "here")).all()
    assert not synthetic.y[synthetic.x == "b"].isna().any()
    truth = np.isnan(y[x == "a"]).mean()
    shares = synthetic.y[synthetic.x == "a"].isna()
    assert abs(shares.mean() - truth) < 4 * np.sqrt(truth * (1 - truth) / len(shares))


def test_numbers_are_real_ones_unless_smoothed():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"x": rng.normal(size=800).clip(-4, 4), "n": rng.integers(0, 1000, 800)})
    table = table_of(frame, number("x", -4, 4), whole("n", 0, 1000))
    plain, smooth = drawn(table), drawn(table, smooth=True)
    assert Cart().emits_real_values
    assert not Cart(smooth=True).emits_real_values
    assert plain.x.isin(frame.x).all()
    assert plain.n.isin(frame.n).all()
    assert smooth.x.isin(frame.x).mean() < 0.01
    assert smooth.n.isin(frame.n).mean() < 0.7  # 55 % of the whole numbers occur, so some are met by chance
    assert (smooth.n == smooth.n.round()).all()
    assert smooth.n.between(0, 1000).all()
    assert smooth.x.between(-4, 4).all()
    assert abs(smooth.x.std() - frame.x.std()) < 0.12  # root = one leaf: bandwidth 1.06 n^-0.2 adds 3.8 %


def test_smoothing_keeps_what_half_of_a_leaf_shares():
    rng = np.random.default_rng(7)
    gains = np.where(rng.random(1000) < 0.8, 0.0, rng.lognormal(5, 1, 1000).clip(1, 5000))
    table = table_of(pd.DataFrame({"gain": gains}), number("gain", 0, 5000))
    synthetic = drawn(table, rows=5000, smooth=True).gain
    assert abs((synthetic == 0).mean() - (gains == 0).mean()) < 4 * np.sqrt(0.16 / 5000)
    assert not synthetic[synthetic > 0].isin(gains).any()


def test_columns_are_visited_in_the_order_asked_for(people):
    names = people.schema.names
    assert _visit(people.schema, None) == tuple(range(len(names)))
    assert _visit(people.schema, ("age", "sex")) == (names.index("age"), 0, 1, 3, 4, 5)
    assert Cart(order="schema") == Cart() == Cart(order=None)
    assert Cart(order="age, sex") == Cart(order=["age", "sex"]) == get("cart", order=("age", "sex"))
    model = Cart(order=("age", "sex")).fit(people, np.random.default_rng(0))
    assert [step.position for step in model.steps] == [2, 0, 1, 3, 4, 5]
    assert len(model.steps[0].donors.count) == 1  # the first one is a bootstrap
    assert model.sample(10, np.random.default_rng(0)).schema == people.schema


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_leaf": 0}, "min_leaf is 0"),
        ({"min_leaf": 2.5}, "min_leaf is 2.5"),
        ({"min_leaf": True}, "min_leaf is True"),
        ({"smooth": "yes"}, "smooth is 'yes'"),
        ({"order": 3}, "order is 3"),
        ({"order": ()}, "list column names"),
        ({"order": ("age", 3)}, "list column names"),
        ({"order": ("age", "age")}, "more than once"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        Cart(**parameters)


def test_unknown_columns_in_the_order_are_refused(people):
    with pytest.raises(ParameterError, match="'wage', not among the columns 'sex'"):
        Cart(order=("age", "wage")).fit(people, np.random.default_rng(0))


def test_same_seed_same_table_other_seed_other_table(people):
    for generator in (Cart(), Cart(smooth=True)):
        model = generator.fit(people, np.random.default_rng(0))
        first, again, other = (model.sample(50, np.random.default_rng(seed)).digest() for seed in (1, 1, 2))
        assert first == again != other


@pytest.mark.parametrize("smooth", [False, True])
def test_odd_tables_work(smooth):
    """One row, a constant column, a column that is always missing, thousands of categories."""
    many = Column("many", Kind.CATEGORICAL, values=tuple(range(3000)))
    columns = many, number("gone", 0, 1, missing=("",)), category("one", "a"), whole("n", 3, 3)
    rng = np.random.default_rng(8)
    for rows in (1, 7, 500):
        values = rng.integers(0, 3000, rows)
        frame = pd.DataFrame({"many": values, "gone": np.full(rows, np.nan), "one": "a", "n": 3})
        synthetic = drawn(table_of(frame, *columns), rows=20, smooth=smooth)
        assert synthetic.many.isin(values).all()
        assert synthetic.gone.isna().all()
        assert (synthetic.one == "a").all()
        assert (synthetic.n == 3).all()
