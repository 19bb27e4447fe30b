from dataclasses import replace

import pytest

from tests.reports import examples
from unmask.results.grid import Grid, GridKind, Role
from unmask.results.sharing import for_sharing, without_small_groups

ROLES = (Role.GROUP, Role.PEOPLE, Role.TEXT)


def grid(*rows, roles=ROLES):
    return Grid("g", "Groups", tuple("abcdefgh"[: len(roles)]), rows, kind=GridKind.GROUPS, roles=roles)


def names(made):
    return [row[0] for row in made.rows]


def test_small_groups_are_left_out_with_one_more_that_hides_them():
    made = without_small_groups(grid(("a", 100, 0.1), ("b", 12, 0.2), ("c", 9, 0.9)))
    assert names(made) == ["a", "2 small groups, not shown"]
    assert made.rows[-1][1:] == (None, None)


def test_small_groups_that_hide_one_another_need_no_other():
    made = without_small_groups(grid(("a", 100, 0.1), ("b", 12, 0.2), ("c", 9, 0.9), ("d", 3, 0.9)))
    assert names(made) == ["a", "b", "2 small groups, not shown"]


def test_ten_is_enough():
    rows = (("a", 10, 0.1), ("b", 12, 0.2))
    assert without_small_groups(grid(*rows)).rows == rows


def test_each_column_is_hidden_for_itself():
    made = without_small_groups(
        grid(
            ("sex", "f", 50, 0.1),
            ("sex", "m", 50, 0.2),
            ("place", "x", 95, 0.1),
            ("place", "y", 5, 0.9),
            roles=(Role.BY, Role.GROUP, Role.PEOPLE, Role.TEXT),
        )
    )
    assert [row[:2] for row in made.rows] == [("sex", "f"), ("sex", "m"), ("place", "2 small groups, not shown")]


@pytest.mark.parametrize(
    "roles", [(Role.GROUP, Role.TEXT), (Role.TEXT, Role.PEOPLE), (Role.BY, Role.PEOPLE), (Role.TEXT,) * 2]
)
def test_groups_of_unknown_size_or_name_are_not_shown(roles):
    made = without_small_groups(grid(("secret", 500), roles=roles))
    (line,) = made.rows
    assert line[0].startswith("not shown: the table does not say")
    assert "secret" not in str(made)


def test_no_name_decides_what_may_be_shared():
    """A table of records is one by its kind, whatever it is called, and a word in its head makes no table one."""
    base = examples.release()
    kept = Grid("scores", "T", ("row", "group", "people"), ((1, "a", 3),))
    hidden = Grid("t", "T", ("what", "much"), (("p-secret", 0.5),), kind=GridKind.RECORDS)
    assert for_sharing(replace(base, grids=(kept, hidden))).grids == (kept,)


def test_names_that_are_not_public_become_numbers():
    base = examples.release()
    private = replace(base, inputs=tuple(replace(item, schema="inferred from the data") for item in base.inputs))
    assert "Female" in str(for_sharing(base).grids)
    assert "Female" not in str(for_sharing(private).grids)
    assert "group 1" in str(for_sharing(private).grids)


def test_records_and_tables_about_single_records_stay_behind():
    shared = for_sharing(examples.release())
    assert shared.records is None
    assert "scores" not in [made.name for made in shared.grids]
    assert any("records.csv" in note for note in shared.notes)
