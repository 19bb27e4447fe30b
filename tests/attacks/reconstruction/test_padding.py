"""Reading distances through metrics: exact on every row, whatever the data and the scores shown; never a false match."""

import numpy as np
import pytest

from tests.attacks.reconstruction.played import provider_of, small
from unmask.attacks.reconstruction.padding import UNKNOWN, Reader, find_padding
from unmask.datasets import challenge
from unmask.errors import InputError
from unmask.tables.distance import kth_distances
from unmask.threats.oracle import Answers, Rules, ask_each, one_by_one, table_of


def truth(codes, train):
    return kth_distances(table_of(train.schema, codes), train, ks=(1,))[:, 0]


def mixed(oracle, train, rng, count=120):
    """Synthetic rows, train rows, and train rows with one or two columns changed."""
    drawn = oracle.sample(count, rng).codes
    copies = train.codes[rng.integers(0, len(train), count)].copy()
    near = copies.copy()
    for row in near:
        for column in rng.choice(len(row), 2, replace=False):
            row[column] = rng.integers(train.schema.sizes[column])
    return np.concatenate([drawn, copies, near])


@pytest.fixture(scope="module", params=["adult-small", "adult", "digits", "census"])
def setting(request):
    path = request.getfixturevalue("data") / "census_kdd" if request.param == "census" else None
    made = challenge(request.param, seed=1, path=path)
    half = np.arange(min(len(made.train), 1500))
    return made.train.take(half), made.holdout.take(half)


@pytest.mark.parametrize("shown", ["all", "mean", "percentile"])
def test_every_distance_is_exact(setting, shown, rng):
    train, holdout = setting
    oracle = provider_of("independent", train, holdout, rules=Rules(shown=shown))
    reader = Reader(oracle, find_padding(oracle, rng))
    codes = mixed(oracle, train, rng)
    read, true = reader.distances(codes), truth(codes, train)
    if shown == "percentile":  # rows further away than the padding: at least as far
        true = np.minimum(true, reader.padding.distance)
        known = read != UNKNOWN
        assert known.mean() > 0.9
        assert (true[~known] > 0).all()
        assert np.array_equal(read[known], true[known])
    else:
        assert np.array_equal(read, true)


def test_the_fast_path_answers_as_the_interface_does(rng):
    """Row by row through `ask` with whole tables, and all at once: equal scores, equal distances, equal cost, equal noise."""
    train, holdout = small(150, (5, 4, 3, 6), 1), small(150, (5, 4, 3, 6), 2)
    for rules in (Rules(), Rules(shown="mean", decimals=3), Rules(shown="percentile"), Rules(shown="none")):
        slow, fast = (provider_of("independent", train, holdout, rules=rules) for _ in range(2))
        codes = mixed(slow, train, rng, 25)
        padding = rng.integers(0, train.schema.sizes).astype(train.schema.code_type)
        for copies in (1, 2, 19, 20, 40):
            one, many = one_by_one(slow, codes, padding, copies), ask_each(fast, codes, padding, copies)
            assert np.array_equal(one.passed, many.passed)
            for name in ("ims", "dcr", "nndr", "dcr_mean", "nndr_mean"):
                assert getattr(one, name) == pytest.approx(getattr(many, name), abs=1e-12, nan_ok=True)
        assert slow.cost == fast.cost
    noisy = [provider_of("independent", train, holdout, rules=Rules(epsilon=50.0)) for _ in range(2)]
    one, many = one_by_one(noisy[0], codes, padding, 20), ask_each(noisy[1], codes, padding, 20)
    assert one.dcr_mean == pytest.approx(many.dcr_mean, abs=1e-9, nan_ok=True)


def test_an_oracle_of_another_product_is_read_through_ask_alone(rng):
    """Nothing but schema, rules, sample and ask."""
    train, holdout = small(150, (5, 4, 3, 6), 1), small(150, (5, 4, 3, 6), 2)
    inner = provider_of("independent", train, holdout)

    class Foreign:
        schema, rules = inner.schema, inner.rules
        cost = property(lambda self: inner.cost)
        sample, ask = inner.sample, inner.ask

    reader = Reader(Foreign(), find_padding(Foreign(), rng))
    codes = mixed(inner, train, rng, 20)
    assert np.array_equal(reader.distances(codes), truth(codes, train))


def test_rounding_costs_calls_and_hides_little(rng):
    """Two decimals hide nothing; one is undone by other numbers of copies; none leaves exact matches."""
    train, holdout = (challenge("adult", seed=1).train.take(range(low, low + 1000)) for low in (0, 1000))
    found = {}
    for decimals in (3, 2, 1, 0):
        oracle = provider_of("independent", train, holdout, rules=Rules(shown="mean", decimals=decimals))
        reader = Reader(oracle, find_padding(oracle, rng))
        codes = mixed(oracle, train, np.random.default_rng(5))
        read, true = reader.distances(codes), truth(codes, train)
        known = read != UNKNOWN
        assert np.array_equal(read[known], true[known])  # what is told is right
        found[decimals] = (known.mean(), oracle.cost.calls)
    assert found[3][0] == found[2][0] == 1
    assert found[1][0] > 0.8
    assert found[1][1] > 2 * found[2][1]
    assert found[0][0] < found[1][0]


def test_a_limit_of_calls_ends_the_reading(rng):
    train, holdout = small(150, (5, 4, 3, 6), 1), small(150, (5, 4, 3, 6), 2)
    oracle = provider_of("independent", train, holdout, rules=Rules(calls=60))
    reader = Reader(oracle, find_padding(oracle, rng))
    codes = mixed(oracle, train, rng)
    read = reader.distances(codes)
    assert reader.spent
    assert oracle.cost.calls == 60
    assert 0 < (read != UNKNOWN).sum() < 60
    assert (reader.distances(codes) == UNKNOWN).all()
    assert oracle.cost.calls == 60


@pytest.mark.parametrize(("epsilon", "readable"), [(0.1, False), (1.0, False), (20_000.0, True)])
def test_noise_is_not_read_through(epsilon, readable, rng):
    """At epsilon .1 or 1 a call nothing is read and nothing claimed; noise that hardly is any is averaged away."""
    train, holdout = small(300, (5, 4, 3, 6), 1), small(300, (5, 4, 3, 6), 2)
    oracle = provider_of("independent", train, holdout, rules=Rules(epsilon=epsilon))
    try:
        reader = Reader(oracle, find_padding(oracle, rng))
    except InputError:
        assert not readable
        return
    codes = mixed(oracle, train, rng)
    read, true = reader.distances(codes), truth(codes, train)
    known = read != UNKNOWN
    assert known.any() == readable
    assert (read[known] == true[known]).mean() > 0.99 if readable else True


def test_pass_or_fail_alone_gives_exact_matches_where_the_holdout_has_few(rng):
    train, holdout = (challenge("digits", seed=1).train.take(range(low, low + 180)) for low in (0, 180))
    oracle = provider_of("independent", train, holdout, rules=Rules(shown="none"))
    reader = Reader(oracle, find_padding(oracle, rng))
    codes = mixed(oracle, train, rng, 60)
    assert np.array_equal(reader.distances(codes) == 0, truth(codes, train) == 0)


def test_an_oracle_that_never_passes_is_told(rng):
    class Never:
        schema, rules = small(10, (3, 3), 1).schema, Rules()
        cost = None

        def ask(self, rows):
            hidden = np.array([np.nan])
            return Answers(np.array([False]), hidden, hidden, hidden, hidden, hidden)

    with pytest.raises(InputError, match="passes the tests in copies of its own"):
        find_padding(Never(), rng)
