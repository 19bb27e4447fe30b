"""Columns of records.csv: about some people, and the most exposed first."""

import numpy as np
import pytest

from unmask.audits.part import SomePeople, of_everybody
from unmask.audits.release.audit import _most_exposed


def test_a_column_about_some_people_says_nothing_about_others():
    column = SomePeople(5, np.array([3, 1]), np.array([True, False]))
    assert of_everybody(column).tolist() == pytest.approx([np.nan, 0.0, np.nan, 1.0, np.nan], nan_ok=True)
    assert of_everybody(SomePeople(3, np.array([1]), np.array([7]))).tolist() == pytest.approx(
        [np.nan, 7.0, np.nan], nan_ok=True
    )


@pytest.mark.parametrize("most", [1, 7, 40, 199, 200, 500])
@pytest.mark.parametrize("seed", range(5))
def test_the_first_rows_are_those_of_a_sort_of_all(seed, most):
    """Ties go to the next column, then to the row number; texts order nobody."""
    rng = np.random.default_rng(seed)
    some = np.sort(rng.choice(200, 60, replace=False))
    columns = [
        ("copied", rng.integers(0, 2, 200)),
        ("name", tuple("abcd"[place % 4] for place in range(200))),
        ("hit", SomePeople(200, some, rng.random(60) < 0.5)),
        ("near", np.where(rng.random(200) < 0.3, np.nan, rng.integers(0, 3, 200))),
    ]
    keys = [np.nan_to_num(of_everybody(column).astype(float), nan=-1.0) for name, column in columns if name != "name"]
    expected = np.lexsort([np.arange(200), *(-key for key in reversed(keys))])[:most]
    assert _most_exposed(columns, 200, most).tolist() == expected.tolist()
