"""What a chart must not do: draw what has no common scale, widen a last bin, or write numbers that do not fit."""

from dataclasses import replace

from tests.reports import examples
from unmask.reports.charts import DRAWN, chart_of_grid, charts_of
from unmask.reports.charts.histograms import _edges
from unmask.reports.charts.svg import Axis, fitted, tick
from unmask.reports.html import render
from unmask.results.grid import Grid, GridKind, Role, Section, Series, SeriesKind


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


def test_every_kind_of_series_is_drawn():
    assert set(DRAWN) == set(SeriesKind)


def test_roles_and_not_the_texts_of_heads_decide_what_is_drawn():
    """`low` and `high` mean nothing by themselves, and any other words do if they have the roles."""
    rows = (("a", 0.5, 0.4, 0.6, 1.0), ("b", 0.7, 0.6, 0.8, 1.0))
    plain = Grid("membership", "Plain", ("attack", "AUC", "low", "high", "claim"), rows)
    roles = (Role.TEXT, Role.AUC, Role.LOW, Role.HIGH, Role.CLAIM)
    typed = Grid("x", "Typed", ("qui", "combien", "de", "à", "promis"), rows, roles=roles)
    assert chart_of_grid(plain) is None
    drawn = chart_of_grid(typed)
    assert "combien" in drawn.wide
    assert ("other", "promis") in drawn.legend
    assert chart_of_grid(replace(typed, rows=rows[:1])) is None
    made = render(replace(examples.release(), grids=(plain, typed)))
    assert 'id="table-x-680' in made
    assert 'id="table-membership' not in made


def test_an_auc_of_one_half_is_nothing():
    def base(role):
        rows = (("a", 0.45, 0.3, 0.6), ("b", 0.7, 0.6, 0.8))
        made = chart_of_grid(Grid("g", "G", tuple("abcd"), rows, roles=(Role.TEXT, role, Role.LOW, Role.HIGH)))
        return made.wide.partition('class="axis"')[0].rpartition("x1=")[2]

    assert base(Role.AUC) != base(Role.ESTIMATE)


def test_kinds_and_sections_and_not_names_decide_where_a_chart_stands():
    points = {"x_label": "x", "y_label": "y", "x": (0.1, 1.0), "y": (0.1, 1.0)}
    one = Series("roc/a", "A", **points)
    other = Series("roc/b", "B", **points, kind=SeriesKind.TRADEOFF, section=Section.UTILITY)
    assert [(s.section, s.kind, c.title) for s, c in charts_of([one, other])] == [
        (Section.DETAIL, SeriesKind.LINE, "A"),
        (Section.UTILITY, SeriesKind.TRADEOFF, "Each mark is one release"),
    ]
    heat = Grid("anything", "Heat", ("a", "b"), (("x", 1.0),), kind=GridKind.HEAT)
    assert 'class="heat' in chart_of_grid(heat).wide


def test_lines_that_coincide_are_both_visible():
    """Moved apart by more than the width of a line; the solid one is not drawn over dashed ones."""
    from unmask.reports.charts.lines import WIDTH, side_by_side

    line = [(float(x), 50.0) for x in range(10)]
    other = [(float(x), 90.0 - x) for x in range(10)]
    drawn = side_by_side([line, line, other, line])
    assert [place for place, _ in drawn] == [0, 1, 2, 3]
    assert [points[0][1] for _, points in drawn] == [50.0, 50.0 - WIDTH, 90.0, 50.0 - 2 * WIDTH]
    assert WIDTH > 2, "as wide as a line"
    assert [place for place, _ in side_by_side([[(0.0, float(k))] for k in range(8)])] == [6, 7, 0, 1, 2, 3, 4, 5]


TRIPLE = (Role.ESTIMATE, Role.LOW, Role.HIGH)


def test_mechanisms_are_drawn_with_bars_front_and_names():
    """A mark and two bars each; the front leaves out what another one beats on both; every name stands in the legend."""
    rows = (
        ("raw", 0.0, 0.0, 0.0, 1.0, 1.0, 1.0),
        ("good", 0.9, 0.8, 1.0, 0.8, 0.7, 0.9),
        ("bad", 0.5, 0.4, None, 0.3, 0.2, 0.4),
    )
    grid = Grid(
        "t",
        "T",
        ("m", "gain", "l", "h", "use", "l2", "h2"),
        rows,
        kind=GridKind.TRADEOFF,
        roles=(Role.TEXT, *TRIPLE, *TRIPLE),
    )
    drawn = chart_of_grid(grid)
    assert drawn.wide.count('class="bars') == 6
    assert "raw keeps most, good hides most" in drawn.description
    assert [label for _, label in drawn.legend] == ["raw", "good", "bad"]
    assert chart_of_grid(replace(grid, rows=())) is None
    assert chart_of_grid(replace(grid, roles=())) is None


def test_targets_are_marks_in_a_line_per_mechanism():
    rows = (("raw", "rare", 0.1, 0.0, 0.2, 0.05, 0.15), ("cart", "rare", 0.6, 0.5, 0.7, 0.6, None))
    roles = (Role.TEXT, Role.TEXT, *TRIPLE, Role.TEXT, Role.TEXT)
    grid = Grid("t", "T", ("m", "targets", "gain", "l", "h", "1", "2"), rows, kind=GridKind.TARGETS, roles=roles)
    drawn = chart_of_grid(grid)
    assert drawn.wide.count("<circle") == 3
    assert "the least is 0.05" in drawn.description.replace("\n", " ")
    assert "row" not in drawn.wide.replace("rows", "")


def test_a_sweep_has_a_line_for_each_thing_told():
    rows = (
        ("gain", 0.1, 0.9, 0.8, 1.0),
        ("gain", 10, 0.5, 0.4, 0.6),
        ("use", 0.1, 0.2, 0.1, 0.3),
        ("use", 10, 0.8, 0.7, 0.9),
    )
    grid = Grid(
        "s", "S", ("what", "epsilon", "v", "l", "h"), rows, kind=GridKind.SWEEP, roles=(Role.TEXT, Role.BY, *TRIPLE)
    )
    drawn = chart_of_grid(grid)
    assert [label for _, label in drawn.legend] == ["gain", "use"]
    assert "From epsilon 0.1 to 10" in drawn.description
    assert chart_of_grid(replace(grid, rows=())) is None


def test_labels_keep_the_group_and_the_end_of_the_mechanism():
    one, ten = (fitted(f"privbayes:epsilon={value} · marital-status · value 3 of 7", 294) for value in (1, 10))
    assert one != ten
    assert all(each.endswith("marital-status · value 3 of 7") and len(each) <= 40 for each in (one, ten))
    assert fitted("raw · sex · f", 314) == "raw · sex · f"
