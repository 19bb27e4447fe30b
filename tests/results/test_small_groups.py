"""Small groups are not even in result.json, and nobody finds them by subtraction."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from unmask.audits.release.audit import audit
from unmask.results.sharing import for_sharing
from unmask.results.small_groups import hidden_places
from unmask.tables.infer import Hints
from unmask.tables.read import read_table
from unmask.tables.schema import Origin


@pytest.mark.parametrize(
    ("sizes", "hidden"),
    [
        ([100, 12, 9], {1, 2}),
        ([100, 12, 9, 3], {2, 3}),
        ([10, 12], set()),
        ([9], {0}),
        ([5, 4, 1], {0, 1, 2}),
        ([5, 4, 1, 30], {0, 1, 2}),
        ([5, 4, 30], {0, 1, 2}),
        ([], set()),
    ],
)
def test_the_next_larger_groups_go_until_ten_people_are_hidden(sizes, hidden):
    assert hidden_places(sizes) == hidden


def people(seed, count, *, rare):
    """A place of 400, one of 60 and one of `rare` people; a column of noise that makes copies unique."""
    rng = np.random.default_rng(seed)
    place = np.r_[["rare"] * rare, ["small"] * 60, ["large"] * (count - 60 - rare)]
    return pd.DataFrame({"place": place, "sex": rng.choice(["f", "m"], count), **{
        f"c{k}": rng.choice(list("abcdefgh"), count) for k in range(5)}})  # fmt: skip


def groups(result, name):
    grid = next(grid for grid in result.grids if grid.name == name)
    return [dict(zip(grid.columns, row, strict=True)) for row in grid.rows]


@pytest.fixture(scope="module")
def result():
    real, holdout = people(1, 460, rare=4), people(2, 460, rare=4)
    table = read_table(pd.concat([real, holdout]))
    schema = replace(table.schema, origin=Origin.PUBLIC, keys=("place", "sex"))
    return audit(real, real, holdout=holdout, schema=schema, attempts=460)


def test_a_group_of_four_and_the_one_that_would_give_it_away_are_not_in_the_result(result):
    for name in ("groups", "groups/criteria"):
        values = {(line["column"], line["value"]) for line in groups(result, name)}
        assert values == {("place", "large"), ("sex", "f"), ("sex", "m")}, name


def test_sizes_are_told_and_the_guard_of_the_report_has_nothing_left_to_do(result):
    for line in groups(result, "groups/criteria"):
        assert line["people"] >= 10
        assert line["others"] >= 10
    shared = for_sharing(result)
    for name in ("groups", "groups/criteria"):
        assert groups(shared, name) == groups(result, name)


def test_a_group_is_counted_in_persons_not_in_rows():
    """Twelve rows of two persons are a group of two."""
    rows = people(1, 460, rare=12).assign(who=[f"p{k}" for k in [0] * 6 + [1] * 6 + list(range(2, 450))])
    others = people(2, 460, rare=12).assign(who=[f"q{k}" for k in range(460)])
    table = read_table(pd.concat([rows, others]), Hints(person="who"))
    schema = replace(table.schema, origin=Origin.PUBLIC, keys=("place", "sex"))
    result = audit(rows, rows.drop(columns="who"), holdout=others, schema=schema, attempts=460)
    for name in ("groups", "groups/criteria"):
        assert {line["value"] for line in groups(result, name) if line["column"] == "place"} == {"large"}, name
