"""ReconSyn: every record of a small grid, the floors of METHODS.md, and a search that asks 20 times less."""

import copy

import numpy as np
import pytest

from tests.attacks.reconstruction.played import Fresh, provider_of, rows_of, sampled, share, small
from unmask.attacks.reconstruction.asked_rows import AskedRows
from unmask.attacks.reconstruction.enumerate import domain_size, enumerate_domain
from unmask.attacks.reconstruction.guided_search import guided_search
from unmask.attacks.reconstruction.padding import COPIES, Reader, find_padding
from unmask.attacks.reconstruction.search import search_attack
from unmask.datasets import challenge
from unmask.datasets.challenges import BINS, SIDE

SHAPE = (4, 3, 5, 3)


@pytest.fixture
def grid():
    return small(40, SHAPE, 1), small(40, SHAPE, 2)


def test_a_small_grid_is_rebuilt_for_the_calls_that_a_formula_predicts(grid, rng):
    """Each cell once, each call with the same padding: cells + tries calls, (m + 1) cells + m tries rows."""
    train, holdout = grid
    oracle = provider_of("random", train, holdout)
    reader = Reader(oracle, find_padding(oracle, rng))
    tries = oracle.cost.calls
    found = enumerate_domain(reader, AskedRows(oracle.schema, rng))
    cells = int(np.prod(SHAPE))
    assert rows_of(found.codes) == rows_of(train.codes)
    assert (oracle.cost.calls, reader.read) == (cells + tries, cells)
    assert oracle.cost.rows == (COPIES + 1) * cells + COPIES * tries


@pytest.mark.parametrize("seed", range(8))
def test_the_guided_search_always_arrives(seed):
    """From one row far away, with no knowledge of frequencies: a record, within the sum of all domains."""
    train, holdout = small(30, (4, 3, 5, 3, 6, 4), seed), small(30, (4, 3, 5, 3, 6, 4), seed + 100)
    game = sampled(provider_of("random", train, holdout), rows=1, rounds=1, seed=seed)
    before = game.reader.read
    columns = train.codes.shape[1]
    found = guided_search(game.reader, game.history, game.likelihoods, found=game.sampled, distance=columns)
    assert len(found) + len(game.sampled) > 0
    assert rows_of(found.codes) <= rows_of(train.codes)
    assert game.reader.read - before <= len(found) * int(train.schema.sizes.sum())


def test_every_row_of_the_history_is_explained_in_the_end(grid):
    """The distance of each row that was asked about is that to a found record: the search stops for no other reason."""
    train, holdout = grid
    game = sampled(provider_of("random", train, holdout), rows=20, rounds=2)
    found = guided_search(game.reader, game.history, game.likelihoods, found=game.sampled, distance=4)
    records = np.concatenate([game.sampled, found.codes])
    assert rows_of(records) <= rows_of(train.codes)
    assert len(rows_of(records)) == len(records)
    nearest = (game.history.codes[:, None] != records[None]).sum(axis=2).min(axis=1)
    assert np.array_equal(nearest, game.history.distances)


def test_history_knows_what_was_asked(rng):
    schema = small(10, SHAPE, 1).schema
    history, naive = AskedRows(schema, rng), {}
    for _ in range(30):
        codes = rng.integers(0, schema.sizes, size=(40, 4)).astype(schema.code_type)
        fresh = history.fresh(codes)
        expected = [
            i for i, row in enumerate(codes.tolist()) if tuple(row) not in naive and row not in codes[:i].tolist()
        ]
        assert fresh.tolist() == expected
        distances = rng.integers(0, 5, len(fresh)).astype(np.int16)
        history.add(codes[fresh], distances)
        naive |= {tuple(row): value for row, value in zip(codes[fresh].tolist(), distances.tolist(), strict=True)}
        assert [int(history.distances[at]) for at in history.known(codes)] == [naive[tuple(r)] for r in codes.tolist()]


def test_gauss_outliers_are_rebuilt_though_the_generator_knows_nobody():
    """Fresh draws from the true distribution, 1,000 rounds: the metrics leak, not the generator. Floor .85."""
    made = challenge("gauss", seed=1)
    oracle = provider_of(Fresh(SIDE, BINS), made.train, made.holdout)
    game = sampled(oracle, rows=1000, rounds=1000, region=made.outliers)
    assert share(game.sampled, made.train, made.targets) >= 0.85
    assert rows_of(game.sampled) <= rows_of(made.train.codes)


@pytest.mark.parametrize("generator", ["bayesnet:degree=2", "mst:epsilon=1000"])
def test_adult_small_is_rebuilt_by_samples(generator):
    """Floor .95, here after 100 rounds instead of 1,000."""
    made = challenge("adult-small", seed=1)
    game = sampled(provider_of(generator, made.train, made.holdout), rows=3000, rounds=100, region=made.outliers)
    assert share(game.sampled, made.train, made.targets) >= 0.95


@pytest.mark.parametrize(("generator", "floor"), [("bayesnet:degree=2", 0.95), ("mst:epsilon=1000", 0.90)])
def test_any_record_of_adult_in_50_rounds_without_a_locator(generator, floor):
    made = challenge("adult", seed=1)
    game = sampled(provider_of(generator, made.train, made.holdout), rows=3000, rounds=50)
    found = guided_search(game.reader, game.history, game.likelihoods, found=game.sampled, distance=14)
    records = np.concatenate([game.sampled, found.codes])
    assert share(records, made.train) >= floor
    assert rows_of(records) <= rows_of(made.train.codes)  # no false positive


def test_the_guided_search_asks_20_times_less_at_equal_recall():
    """Adult, outliers by the shared mixture, distance 4; the floor of both is .95 (here 150 of the 1,000 rounds)."""
    made = challenge("adult", seed=1)
    game = sampled(
        provider_of("bayesnet:degree=2", made.train, made.holdout), rows=3000, rounds=150, region=made.outliers
    )
    again, reader = copy.deepcopy(game.history), Reader(game.oracle, game.reader.padding)
    ours = guided_search(reader, again, game.likelihoods, found=game.sampled, distance=4, region=made.outliers)
    before = game.reader.read
    theirs = search_attack(game.reader, game.history, distance=4, region=made.outliers)
    shares = [share(np.concatenate([game.sampled, each.codes]), made.train, made.targets) for each in (ours, theirs)]
    assert shares[0] >= shares[1] >= 0.95
    assert game.reader.read - before >= 20 * reader.read


@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_differential_privacy_of_the_model_does_not_help(epsilon):
    """Adult Small, 50 rounds, then the rest of the public domain: records there hide one another, so this is near enumeration."""
    made = challenge("adult-small", seed=1)
    oracle = provider_of(f"privbayes:epsilon={epsilon}", made.train, made.holdout)
    game = sampled(oracle, rows=3000, rounds=50)
    found = guided_search(game.reader, game.history, game.likelihoods, found=game.sampled, distance=6)
    found += enumerate_domain(game.reader, game.history)
    assert share(np.concatenate([game.sampled, found.codes]), made.train, made.targets) >= 0.95
    assert game.reader.read == domain_size(made.train.schema)


def test_digits_are_rebuilt_pixel_by_pixel():
    """scikit-learn's 8 x 8 digits, the zeros, 30 rounds: not one is sampled, nearly all are found. Floor .85 after 500."""
    made = challenge("digits", seed=1)
    game = sampled(
        provider_of("bayesnet:degree=2", made.train, made.holdout),
        rows=len(made.train),
        rounds=30,
        region=made.outliers,
    )
    found = guided_search(
        game.reader, game.history, game.likelihoods, found=game.sampled, distance=65, region=made.outliers
    )
    assert len(game.sampled) == 0
    assert share(found.codes, made.train, made.targets) >= 0.85
