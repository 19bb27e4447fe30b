"""Inference against a naive nearest neighbour, worked tolerances, own models, and releases whose leak is known."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unmask import datasets
from unmask.errors import InputError, ParameterError, SchemaError
from unmask.metrics._guesses import Guesses, _medians, features, of_neighbours
from unmask.metrics.inference import Tolerance, inference, inferences
from unmask.metrics.singling_out import evenly_drawn
from unmask.tables.distance import Gower, nearest
from unmask.tables.encode import Unlisted
from unmask.tables.schema import Column, Kind
from unmask.tables.table import Table


def test_one_neighbour_equals_a_naive_lookup(people):
    real, synthetic = people.take(range(60)), people.take(range(50, 200))
    keys = ("sex", "region", "age", "joined", "smoker")
    result = inference(real, synthetic, secret="income", keys=keys, rng=np.random.default_rng(1))
    rng = np.random.default_rng(1)
    evenly_drawn(real.schema, 60, rng)  # what the baseline draws first, there being no reference
    shuffled = synthetic.take(rng.permutation(150))
    rows = nearest(real, shuffled, metric=Gower(), columns=keys).rows[:, 0]
    guess, truth = shuffled.to_pandas()["income"].to_numpy()[rows], real.to_pandas()["income"].to_numpy()
    expected = [
        (np.isnan(g) and np.isnan(t)) or bool(abs(g - t) <= 0.05 * abs(t)) for g, t in zip(guess, truth, strict=True)
    ]
    np.testing.assert_array_equal(result.successes, expected)
    assert 10 <= sum(expected) < 60  # the ten people in both tables among them


def test_votes_and_medians():
    frame = pd.DataFrame(
        {"key": [0.0, 1.0, 2.0, 3.0, 10.0], "c": ["x", "y", "y", "x", "z"], "n": [1.0, None, 5.0, 9.0, None]}
    )
    release = Table.from_pandas(frame)
    person = release.take([0])
    asked = {"secret": "c", "keys": ["key"], "workers": 1}
    codes = [
        of_neighbours([person], release, np.arange(len(release)), k=k, **asked)[0].codes[0] for k in (1, 2, 3, 4, 5)
    ]
    values = release.schema.column("c").values
    assert [values[code] for code in codes] == ["x", "x", "y", "x", "x"]  # the nearest decides a tie
    medians = _medians(np.array([[1.0, 5.0, np.nan], [np.nan, np.nan, 1.0], [np.nan, 2.0, 2.0]]))
    np.testing.assert_array_equal(medians, [3.0, np.nan, 2.0])


NUMBER = Column("n", Kind.CONTINUOUS, lower=-1000, upper=1000, missing=("",))
DATE = Column("d", Kind.DATETIME, lower=18000, upper=19000, resolution="D")


@pytest.mark.parametrize(
    ("guess", "truth", "right"),
    [
        (105.0, 100.0, True),
        (105.1, 100.0, False),
        (-100.0, 100.0, False),
        (-100.0, -96.0, True),
        (-1.0, 1000.0, False),
        (0.0, 0.0, True),
        (0.1, 0.0, False),
        (np.nan, np.nan, True),
        (np.nan, 1.0, False),
        (1.0, np.nan, False),
    ],
)
def test_tolerance_of_numbers(guess, truth, right):
    one = np.zeros(1, dtype=np.int64)
    found = Tolerance().accepts(Guesses(one, np.array([guess])), Guesses(one, np.array([truth])), NUMBER)
    assert found.tolist() == [right]


def test_tolerance_of_dates_and_fixed_amounts():
    codes, truth = np.zeros(3, dtype=np.int64), np.array([18500.0, 18500.0, 18500.0])
    guess = Guesses(codes, np.array([18510.0, 18511.0, 18489.0]))
    assert Tolerance().accepts(guess, Guesses(codes, truth), DATE).tolist() == [True, False, False]
    near_zero = Guesses(codes, np.array([0.0, 1.5, -2.5])), Guesses(codes, np.zeros(3))
    assert Tolerance(absolute=2).accepts(*near_zero, NUMBER).tolist() == [True, True, False]
    with pytest.raises(ParameterError, match="negative"):
        Tolerance(relative=-0.1)


@pytest.mark.parametrize("secret", ["x3", "x1"])
def test_synthetic_equal_to_real(secret, rng):
    real, holdout = datasets.gaussian(3, 400, seed=1), datasets.gaussian(3, 400, seed=2)
    result = inference(real, real, secret=secret, holdout=holdout, rng=rng)
    assert result.attack.value == 1.0
    assert result.difference.low > 0.9


def test_planted_copies_are_seen(rng):
    made = datasets.planted(1000, leaked=300, columns=10, seed=4)
    keys = made.real.schema.names[:9]
    result = inference(made.real, made.synthetic, secret="c9", keys=keys, holdout=made.holdout, rng=rng)
    assert result.beats_control
    assert result.successes[made.leaked].mean() > 0.9


def test_noise_beats_no_control_over_all_columns(rng):
    table = datasets.adult()
    real, holdout = table.take(range(600)), table.take(range(600, 1200))
    open_schema = real.schema.with_columns(real.schema.columns, keys=(), secrets=())
    real, holdout = (Table(open_schema, part.codes, part.numbers) for part in (real, holdout))
    found = inferences(real, evenly_drawn(open_schema, 600, rng), holdout=holdout, rng=rng)
    assert [criterion.secret for criterion in found.criteria] == list(open_schema.names)
    assert found.criteria[0].keys == open_schema.names[1:]
    assert "every column" in found.notes[0]
    assert not found.listing.rejected.any()


def test_keys_and_secrets_come_from_the_schema(rng):
    made = datasets.planted(100, leaked=50)
    found = inferences(made.real, made.synthetic, holdout=made.holdout, rng=rng)
    assert [criterion.secret for criterion in found.criteria] == ["c9"]
    assert found.criteria[0].keys == made.real.schema.keys
    one = inference(made.real, made.synthetic, secret="c0", rng=rng)
    assert one.keys == ("c1", "c2", "c3", "c4")


def test_the_baseline_is_the_mode_or_the_median_of_the_reference(people, rng):
    real, holdout = people.take(range(100)), people.take(range(100, 200))
    frame, others = real.to_pandas(), holdout.to_pandas()
    for secret, hits in (
        ("sex", (frame.sex == others.sex.mode()[0]).sum()),
        ("age", (abs(frame.age - others.age.median()) <= 0.05 * frame.age).sum()),
    ):
        results = [inference(real, part, secret=secret, holdout=holdout, rng=rng) for part in (real, holdout)]
        assert [result.baseline.value for result in results] == [hits / 100] * 2


def test_a_function_as_model(people, rng):
    """It sees values, never the secrets of the people, and is aligned by position whatever index it returns."""
    seen = {}

    def model(known, secrets, asked):
        seen.update(columns=list(asked.columns), rows=len(asked), secrets=secrets)
        return pd.Series(np.where(asked["age"] > 50, "m", "f"), index=np.arange(len(asked))[::-1])

    real, holdout = people.take(range(120)), people.take(range(120, 200))
    result = inference(real, people, secret="sex", keys=["age", "region"], holdout=holdout, model=model, rng=rng)
    frame = real.to_pandas()
    np.testing.assert_array_equal(result.successes, (frame.sex == "m") == (frame.age > 50))
    assert seen["columns"] == ["age", "region"]
    assert seen["rows"] == 200
    with pytest.raises(ParameterError, match="one for each"):
        inference(real, people, secret="sex", model=lambda a, b, c: ["f"], rng=rng)
    unknown = inference(real, people, secret="sex", model=lambda a, b, c: ["no such value"] * len(c), rng=rng)
    assert unknown.attack.value == 0
    number = inference(real, people, secret="age", model=lambda a, b, c: np.full(len(c), 1e9), rng=rng)
    assert number.attack.value == 0


def test_an_estimator_as_model(rng):
    table = datasets.adult()
    real, holdout, synthetic = table.take(range(500)), table.take(range(500, 1000)), table.take(range(1000, 2000))
    keys = [name for name in table.schema.names if name != "sex"]
    forest = RandomForestClassifier(20)
    results = [
        inference(real, synthetic, secret="sex", keys=keys, holdout=holdout, model=forest, rng=np.random.default_rng(2))
        for _ in range(2)
    ]
    assert results[0].attack == results[1].attack  # its random state comes from rng
    assert forest.random_state is None
    assert results[0].attack.value > 0.75
    assert not results[0].beats_control
    line = make_pipeline(StandardScaler(), LinearRegression())
    result = inference(real, synthetic, secret="education-num", model=line, keys=["education"], rng=rng)
    taught = table.to_pandas()["education"].iloc[1000:2000].unique()
    np.testing.assert_array_equal(result.successes, real.to_pandas()["education"].isin(taught))


def test_features(people):
    matrix = features(people, ["sex", "age", "income"])
    sex, age, income = people.schema.column("sex"), people.schema.column("age"), people.schema.column("income")
    assert matrix.shape == (200, sex.code_count + 4)
    frame = people.to_pandas()
    np.testing.assert_allclose(matrix[:, sex.code_count], (frame.age - age.lower) / (age.upper - age.lower))
    np.testing.assert_array_equal(matrix[:, -1], frame.income.isna())
    assert (matrix[frame.income.isna(), -2] == 0.5).all()
    assert income.missing


def test_odd_tables_are_survived(rng):
    frame = pd.DataFrame(
        {"constant": ["k"] * 40, "empty": [None] * 40, "n": np.r_[np.arange(39.0), np.nan], "q": ["it's", '"'] * 20}
    )
    real = Table.from_pandas(frame)
    odd = Table.from_pandas(frame.assign(q="strange", n="no number"), real.schema, unlisted=Unlisted.NOTE)
    for release in (real, odd, real.take([0]), real.take([39])):
        found = inferences(real, release, holdout=real.take([1]), neighbours=3, rng=rng)
        by_name = {criterion.secret: criterion for criterion in found.criteria}
        assert by_name["constant"].attack.value == by_name["empty"].attack.value == 1.0
        assert by_name["empty"].risk is None  # the control succeeds always
        for model in (LinearRegression(), RandomForestClassifier(2)):
            inference(real, release, secret="q", model=model, rng=rng)
    strange = inference(real, odd, secret="q", rng=rng)
    assert strange.attack.value == 0.0  # a value outside the schema equals nothing


def test_wrong_arguments(people, rng):
    with pytest.raises(InputError, match="has no rows"):
        inference(people, people.take([]), secret="sex", rng=rng)
    with pytest.raises(SchemaError, match="no column 'height'"):
        inference(people, people, secret="height", rng=rng)
    with pytest.raises(ParameterError, match="key and the secret"):
        inference(people, people, secret="sex", keys=["sex", "age"], rng=rng)
    with pytest.raises(ParameterError, match="at least one key"):
        inference(people.select(["sex"]), people.select(["sex"]), secret="sex", rng=rng)
    with pytest.raises(ParameterError, match="list of names"):
        inferences(people, people, secrets="sex", rng=rng)
    with pytest.raises(ParameterError, match="fit and predict"):
        inference(people, people, secret="sex", model="forest", rng=rng)
