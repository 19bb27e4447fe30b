"""What a chart must not do: draw what has no common scale, widen a last bin, or write numbers that do not fit."""

from dataclasses import replace

from tests.reports import examples
from unmask.reports.charts.bars import _edges
from unmask.reports.charts.svg import Axis, tick
from unmask.reports.html import render
from unmask.results.grid import Grid, Series


def series(x, y):
    return Series("histogram/a/in", "in", "score", "share", x, y)


def test_a_last_point_of_height_zero_ends_the_last_bin():
    assert _edges(series((0.0, 1.0, 3.0), (2.0, 1.0, 0.0))) == (0.0, 1.0, 3.0)
    assert _edges(series((0.0, 1.0, 3.0), (2.0, 1.0, 1.0))) == (0.0, 1.0, 3.0, 5.0)


def test_large_ticks_are_short():
    axis = Axis(0.0, 4e8)
    assert [tick(value, axis, False) for value in (0.0, 2500.0, 2e8, 2.5e8, -1e12)] == [
        "0",
        "2,500",
        "2e8",
        "2.5e8",
        "-1e12",
    ]


def test_controls_and_labels_of_three_parts_are_tables_only():
    rows = ((f"c{k}", "sex", v, 50, 0.1, 0.0, 0.2) for k in range(2) for v in "fm")
    groups = Grid(
        "groups/criteria", "By group", ("criterion", "column", "value", "people", "gain", "low", "high"), tuple(rows)
    )
    controls = Grid(
        "controls", "Controls", ("control", "value", "low", "high"), (("AUC", 0.5, 0.4, 0.6), ("gain", 1.0, 0.9, 1.0))
    )
    made = render(replace(examples.release(), grids=(groups, controls)))
    assert 'id="table-groups' not in made
    assert 'id="table-controls' not in made
    assert "By group" in made
    plain = replace(groups, columns=("criterion", "a", "b", "people", "gain", "low", "high"), rows=tuple(
        (row[0], 1, 2, *row[3:]) for row in groups.rows))  # fmt: skip
    assert 'id="table-groups' in render(replace(examples.release(), grids=(plain,)))
