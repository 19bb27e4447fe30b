import numpy as np
import pandas as pd
import pytest

from unmask.errors import ParameterError
from unmask.tables.read import read_table
from unmask.threats.targets import achilles, choose, independent_log_likelihood


@pytest.fixture(scope="module")
def population():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "a": rng.choice(["x", "y"], 500),
            "b": rng.choice(["p", "q", "r"], 500, p=[0.6, 0.399, 0.001]),
            "n": rng.normal(size=500),
        }
    )
    frame.loc[77] = ["y", "r", 9.0]
    return read_table(frame)


@pytest.mark.parametrize("choice", ["isolated", "unlikely", "achilles"])
def test_a_planted_outlier_comes_first(population, rng, choice):
    assert choose(f"{choice}:3", population, rng).rows[0] == 77


def test_rare_targets_have_a_rare_value(population, rng):
    frame = population.to_pandas()
    limit = frame["n"].quantile(0.949)
    rows = choose("rare:20", population, rng).rows
    assert rows[0] == 77, "the rarest comes first"
    assert all(frame.loc[row, "n"] > limit or frame.loc[row, "b"] == "r" for row in rows)


def test_groups_are_reported_side_by_side_and_nobody_is_chosen_twice(population, rng):
    targets = choose("rows:77,3+isolated:4+random:5", population, rng)
    assert targets.groups == ("rows",) * 2 + ("isolated",) * 4 + ("random",) * 5
    assert len(set(targets.rows.tolist())) == 11


def test_likelihood_is_the_product_of_frequencies(population):
    codes = population.codes
    naive = [sum(np.log((codes[:, c] == codes[row, c]).mean()) for c in range(codes.shape[1])) for row in range(20)]
    assert np.allclose(independent_log_likelihood(population)[:20], naive)


def test_achilles_equals_the_cosine_definition():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"a": rng.choice(list("xyz"), 40), "b": rng.choice(list("pq"), 40), "n": rng.random(40), "m": rng.random(40)}
    )
    table = read_table(frame)
    one_hot = pd.get_dummies(frame[["a", "b"]]).to_numpy(dtype=float)
    low, high = frame[["n", "m"]].min().to_numpy(), frame[["n", "m"]].max().to_numpy()
    scaled = (frame[["n", "m"]].to_numpy() - low) / (high - low)

    def cosine(x):
        length = np.linalg.norm(x, axis=1)
        return x @ x.T / np.outer(length, length)

    distance = 0.5 * (1 - cosine(one_hot)) + 0.5 * (1 - cosine(scaled))
    np.fill_diagonal(distance, np.inf)
    naive = np.sort(distance, axis=1)[:, :5].mean(axis=1)
    assert np.allclose(achilles(table, np.random.default_rng(0)), naive)


@pytest.mark.parametrize("text", ["many", "wise:3", "rows:a", "random:", ""])
def test_nonsense_says_what_can_be_written(population, rng, text):
    with pytest.raises(ParameterError, match="Write 5"):
        choose(text, population, rng)


def test_too_many_rare_targets_are_refused(population, rng):
    with pytest.raises(ParameterError, match="There are only"):
        choose("rare:400", population, rng)


def test_the_least_likely_of_some_random_people(population):
    """Likelihoods from the text of the paper: a product of the shares of a row's values among everybody."""
    frame = population.to_pandas().assign(n=population.codes[:, 2])
    shares = [frame[name].map(frame[name].value_counts(normalize=True)) for name in frame]
    likelihood = np.prod(np.array(shares, dtype=float), axis=0)
    least = 0
    for seed in range(300):
        rows = choose("unlikely:3@50", population, np.random.default_rng(seed)).rows
        sample = np.random.default_rng(seed).choice(500, 50, replace=False)  # ranking draws nothing
        assert np.isin(rows, sample).all()
        assert likelihood[rows] == pytest.approx(np.sort(likelihood[sample])[:3])
        least += 77 in rows
    assert 12 < least < 53  # 30 expected; 99.9 % of a binomial


def test_everybody_is_the_sample_of_everybody(population):
    for choice in ("unlikely", "isolated", "achilles", "rare"):
        all_of_them, sampled = (
            choose(text, population, np.random.default_rng(2)).rows for text in (f"{choice}:4", f"{choice}:4@500")
        )
        assert all_of_them.tolist() == sampled.tolist()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("unlikely:5@501", "fewer than 501"),
        ("unlikely:5@4", "only 4 unlikely targets, not 5"),
        ("random:5@50", "names no targets"),
        ("unlikely:5@0", "names no targets"),
        ("unlikely:5@", "names no targets"),
    ],
)
def test_samples_that_cannot_be(population, rng, text, told):
    with pytest.raises(ParameterError, match=told):
        choose(text, population, rng)
