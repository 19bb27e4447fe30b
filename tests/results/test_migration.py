"""Results of format 2, from real runs: all are read, and stand where the reports of 0.1 showed them."""

import json
from pathlib import Path

import pytest

from unmask.errors import RunError
from unmask.reports.charts import chart_of_grid
from unmask.results.directory import load, write
from unmask.results.grid import GridKind, Role, Section, SeriesKind
from unmask.results.migration import upgraded
from unmask.results.policy import Policy
from unmask.results.result import FORMAT, Result

TESTS = Path(__file__).parents[1]
PATHS = [
    *sorted((TESTS / "golden" / "format2").glob("*/result.json")),
    *sorted((TESTS / "golden" / "format2" / "results").glob("*.json")),
    *sorted((TESTS / "golden" / "format2" / "results").glob("*.json")),
    *sorted((TESTS / "reports" / "golden").glob("*.json")),
]

# Tables by name: the section in which 0.1 showed them, and whether it drew a chart above those of several lines.
TABLES = {
    "attacks": ("attacks", False), "attacks in detail": ("attacks", False), "attributes": ("attacks", True),
    "cap": ("detail", True), "columns": ("detail", False), "confirm": ("risk", False), "continuous cap": ("detail", False),
    "controls": ("sound", False), "criteria": ("attacks", False), "demo": ("attacks", False), "groups": ("risk", True),
    "groups/criteria": ("risk", False), "maximum knowledge": ("detail", False), "membership": ("attacks", True),
    "people": ("risk", False), "people/marks": ("risk", True), "similarity": ("detail", False), "support": ("epsilon", False),
    "table": ("detail", False), "verdict": ("epsilon", False),
}  # fmt: skip
LINES = {
    "ecdf": (SeriesKind.ECDF, Section.DETAIL), "histogram": (SeriesKind.HISTOGRAM, Section.DETAIL),
    "power": (SeriesKind.POWER, Section.SOUND), "risk": (SeriesKind.RISK, Section.RISK),
    "roc": (SeriesKind.ROC, Section.DETAIL), "wealth": (SeriesKind.WEALTH, Section.EPSILON),
}  # fmt: skip


def plain_of(path: Path) -> dict:
    plain = json.loads(path.read_text())
    return {"versions": {}, **plain.get("result", plain)}  # frozen cases keep no versions


OLD = {f"{path.parent.name}/{path.stem}": plain for path in PATHS if (plain := plain_of(path))["format"] == 2}


def old_result(**changes) -> dict:
    """A small result of format 2."""
    fields = {
        "audit": "release", "seed": 0, "plan": {}, "inputs": [], "findings": [], "grids": [], "series": [], "notes": [],
        "facts": {"visible": [], "at_risk": [], "claims": []}, "not_tested": [], "failed_tasks": 0, "versions": {}, "format": 2,
    }  # fmt: skip
    return {**fields, **changes}


def old_grid(name, *columns):
    return {"name": name, "title": "T", "columns": list(columns), "rows": [], "detail": False}


def made(name, *columns):
    (grid,) = Result.from_plain(old_result(grids=[old_grid(name, *columns)])).grids
    return grid


@pytest.mark.parametrize("name", OLD)
def test_old_results_are_read_and_written_anew(name, tmp_path):
    result = Result.from_plain(OLD[name], name)
    assert (result.format, result.policy) == (FORMAT, Policy(0.10, 0.03, 0.10))
    for field in ("audit", "seed", "findings", "notes", "not_tested", "failed_tasks"):
        assert result.to_plain()[field] == OLD[name][field]
    assert result.to_plain()["facts"] == {**OLD[name]["facts"], "left_out": [], "inconclusive": []}
    expected = dict(OLD[name]["plan"])
    if result.audit in ("release", "demo"):  # there the attempts per legal criterion were called attacks
        expected["attempts"] = expected.pop("attacks")
    assert result.to_plain()["plan"] == expected
    write(result, tmp_path)
    assert load(tmp_path).to_plain() == result.to_plain()


@pytest.mark.parametrize("name", OLD)
def test_everything_stands_where_it_stood(name):
    result = Result.from_plain(OLD[name], name)
    for grid in result.grids:
        section, drawn = TABLES[grid.name]
        assert grid.section == section, grid.name
        assert chart_of_grid(grid) is None or drawn, grid.name
        assert grid.kind is (GridKind.GROUPS if grid.name.startswith("groups") else GridKind.TABLE), grid.name
    for series in result.series:
        assert (series.kind, series.section) == LINES[series.name.partition("/")[0]], series.name


def test_every_table_that_was_drawn_still_is():
    results = [Result.from_plain(plain, name) for name, plain in OLD.items()]
    drawn = {grid.name for result in results for grid in result.grids if chart_of_grid(grid) is not None}
    assert drawn == {name for name, (_, drawn) in TABLES.items() if drawn}


def test_heads_of_old_tables_become_roles():
    groups = made("groups", "Column", "Value", "people", "named at risk", "low", "high")
    assert groups.roles == (Role.BY, Role.GROUP, Role.PEOPLE, Role.ESTIMATE, Role.LOW, Role.HIGH)
    assert made("membership", "attack", "AUC", "low", "high").roles == (Role.TEXT, Role.AUC, Role.LOW, Role.HIGH)
    claimed = made("epsilon", "method", "epsilon", "low", "high", "claim")
    assert claimed.roles == (Role.TEXT, Role.ESTIMATE, Role.LOW, Role.HIGH, Role.CLAIM)
    parts = made("groups/criteria", "criterion", "column", "value", "people", "gain", "low", "high")
    assert parts.roles == (Role.BY, Role.BY, Role.GROUP, Role.PEOPLE, *[Role.TEXT] * 3)
    assert made("controls", "control", "value", "low", "high").roles == ()


def test_the_guards_of_old_tables_still_hold():
    """A line per person by its first head; how many people by the first word that says so; names even where none is said."""
    assert made("anything", "Row", "score").kind is GridKind.RECORDS
    assert made("groups", "person", "people").kind is GridKind.RECORDS
    assert made("groups/x", "n", "people", "where").roles == (Role.GROUP, Role.PEOPLE, Role.TEXT)
    assert Role.PEOPLE not in made("groups", "group", "risk").roles
    assert made("heat/x", "a", "b").kind is GridKind.HEAT


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"grids": {}}, "grids is '{}'; it should be a list"),
        ({"grids": [3]}, "grids[0] is '3'; it should be an object"),
        ({"grids": [{"name": "g"}]}, "grids[0]: the field 'title' is missing"),
        ({"grids": [{**old_grid("g"), "columns": 3}]}, "columns is '3'; it should be a list"),
        ({"series": [{"name": 3}]}, "series[0]: the field 'title' is missing"),
        ({"extra": 1}, "unknown field extra"),
    ],
)
def test_old_results_are_checked_field_by_field(change, says):
    with pytest.raises(RunError) as caught:
        Result.from_plain(old_result(**change))
    assert says in str(caught.value)


def test_what_is_read_is_left_as_it_was():
    plain = old_result(grids=[old_grid("groups", "group", "people")])
    before = json.dumps(plain)
    upgraded(plain)
    assert json.dumps(plain) == before
