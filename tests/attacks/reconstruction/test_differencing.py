"""Differencing: membership and unknown columns, right for every record tried."""

import numpy as np
import pytest

from tests.attacks.reconstruction.played import provider_of, rows_of
from unmask.attacks.reconstruction.differencing import complete, members
from unmask.attacks.reconstruction.padding import Reader, find_padding
from unmask.datasets import challenge
from unmask.errors import ParameterError


@pytest.fixture(scope="module")
def adult():
    return challenge("adult", seed=2)


@pytest.fixture(params=["mean", "percentile"])
def reader(adult, request):
    from unmask.threats.oracle import Rules

    oracle = provider_of("independent", adult.train, adult.holdout, rules=Rules(shown=request.param))
    return Reader(oracle, find_padding(oracle, np.random.default_rng(3)))


def test_membership_is_right_for_everybody(adult, reader):
    people = np.concatenate([adult.train.codes[:400], adult.holdout.codes[:400]])
    inside = rows_of(adult.train.codes)
    assert members(reader, people).tolist() == [int(tuple(row) in inside) for row in people.tolist()]


@pytest.mark.parametrize("unknown", [1, 2, 3])
def test_unknown_columns_are_found_for_every_record(adult, reader, unknown):
    """All completions that are train records, and no other; the truth is always among them, and far fewer are asked."""
    rng = np.random.default_rng(unknown)
    inside = rows_of(adult.train.codes)
    asked = tried = 0
    for row in adult.train.codes[rng.integers(0, len(adult.train), 12)]:
        columns = tuple(rng.choice([1, 3, 4, 5, 6, 7, 8, 9, 13], unknown, replace=False).tolist())
        blank = row.copy()
        blank[list(columns)] = 0
        found = complete(reader, blank, columns)
        keep = [at for at in range(len(row)) if at not in columns]
        expected = {each for each in inside if all(each[at] == row[at] for at in keep)}
        assert rows_of(found.rows) == expected
        assert tuple(row.tolist()) in expected
        asked, tried = asked + found.read, tried + found.of
    assert asked <= tried
    assert unknown == 1 or asked < tried / 2


def test_too_many_unknown_columns_are_refused(adult, reader):
    with pytest.raises(ParameterError, match="at most 1,000,000 are tried"):
        complete(reader, adult.train.codes[0], tuple(range(8)))
