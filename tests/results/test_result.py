import json
import math
import os

import pytest

from unmask.errors import ParameterError, RunError
from unmask.results.directory import load, write
from unmask.results.figures import Figure
from unmask.results.grid import Grid, GridKind, Role, Section, Series, SeriesKind
from unmask.results.policy import Policy, Severity
from unmask.results.result import Exposure, Facts, Finding, Input, NotTested, Records, Result

FIGURE = Figure(0.19, 0.12, 0.27, 0.95, "Clopper-Pearson", 200)
FINDING = Finding(
    "closest-record", "19 in 100 members are recognised", "Someone who holds the release", "membership", Severity.HIGH,
    FIGURE, None, FIGURE, "Do not publish", Exposure(200, 38, FIGURE, None, "why not"),
)  # fmt: skip


def full_result(**changes) -> Result:
    fields = {
        "audit": "release",
        "seed": 3,
        "plan": {"attacks": ["a", "b"], "rows": 10, "limit": None},
        "inputs": (Input("real", 10, 10, 3, "public", "abc"),),
        "findings": (FINDING,),
        "grids": (
            Grid("g", "A grid", ("a", "b"), (("x", 1), ("NaN", None), (True, math.nan), (-math.inf, 2.5))),
            Grid("h", "Groups", ("a", "b"), (("x", 10),), Section.RISK, GridKind.GROUPS, (Role.GROUP, Role.PEOPLE)),
        ),
        "series": (Series("s", "A line", "x", "y", (0.0, 1.0), (math.inf, 2.0), SeriesKind.WEALTH, Section.EPSILON),),
        "policy": Policy(0.2, 0.1, 0.3),
        "notes": ("</script> <b>",),
        "facts": Facts(("a leak of 3 % would be seen",), (), ("epsilon 1",)),
        "not_tested": (NotTested("gen-lra", "no holdout", "give one"),),
        "records": Records(("row", "score", "who"), ((4, 0.5, "p1"), (2, 0.25, None))),
    }
    return Result(**{**fields, **changes})


def test_result_comes_back_from_its_directory(tmp_path):
    result = full_result()
    write(result, tmp_path / "run")
    again = load(tmp_path / "run")
    assert again.to_plain() == result.to_plain()
    assert again.findings == result.findings
    assert again.records.rows == result.records.rows
    assert math.isnan(again.grids[0].rows[2][1])
    assert again.series == result.series
    assert again.grids[1] == result.grids[1]
    assert again.policy == result.policy


def test_equal_results_give_equal_bytes_and_run_details_stay_apart(tmp_path):
    write(full_result(), tmp_path / "a", run={"workers": 1})
    write(full_result(), tmp_path / "b", run={"workers": 8})
    assert (tmp_path / "a" / "result.json").read_bytes() == (tmp_path / "b" / "result.json").read_bytes()
    assert json.loads((tmp_path / "b" / "run.json").read_text())["workers"] == 8
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["records.csv", "result.json", "run.json"]


def test_no_record_is_in_the_shared_file(tmp_path):
    write(full_result(), tmp_path)
    assert "p1" not in (tmp_path / "result.json").read_text()
    assert (tmp_path / "records.csv").read_text() == "row,score,who\n4,0.5,p1\n2,0.25,\n"


def test_severity_is_the_worst_finding():
    low = Finding("b", "t", "w", "membership", Severity.LOW, FIGURE, None, None, "a")
    assert full_result(findings=(low, FINDING, low)).severity is Severity.HIGH
    assert full_result(findings=()).severity is Severity.NONE


def test_another_plan_is_not_overwritten_and_the_field_is_named(tmp_path):
    write(full_result(), tmp_path)
    write(full_result(), tmp_path)
    with pytest.raises(RunError, match="rows was 10, now it is 11"):
        write(full_result(plan={"attacks": ["a", "b"], "rows": 11, "limit": None}), tmp_path)
    with pytest.raises(RunError, match="seed was 3, now it is 4"):
        write(full_result(seed=4), tmp_path)
    with pytest.raises(RunError, match="inputs was"):
        write(full_result(inputs=()), tmp_path)


def test_fields_that_one_plan_does_not_have_take_their_default(tmp_path):
    """A later version may know more fields: an old directory can still be used, if they are as they always were."""
    write(full_result(), tmp_path)
    more = {**full_result().plan, "retries": (1, 2)}
    with pytest.raises(RunError, match=r"retries was None, now it is \[1, 2\]"):
        write(full_result(plan=more), tmp_path)
    with pytest.raises(RunError, match=r"retries was \[3\], now it is \[1, 2\]"):
        write(full_result(plan=more, usual={"retries": (3,)}), tmp_path)
    write(full_result(plan=more, usual={"retries": (1, 2), "rows": 11}), tmp_path)
    write(full_result(usual={"retries": (1, 2)}), tmp_path)
    with pytest.raises(RunError, match="rows was 10, now it is 11"):
        write(full_result(plan={"attacks": ["a", "b"], "limit": None}, usual={"rows": 11}), tmp_path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda plain: plain.update(format=1), "has format 1, this version of unmask reads 2 to 4"),
        (lambda plain: plain["facts"].pop("visible"), "facts: the field 'visible' is missing"),
        (lambda plain: plain["findings"][0]["exposure"].update(hit="x"), "exposure: hit is 'x'"),
        (lambda plain: plain.pop("seed"), "the field 'seed' is missing"),
        (lambda plain: plain.update(extra=1), "unknown field extra"),
        (lambda plain: plain.update(seed="3"), "seed is '3'; it should be of type int"),
        (lambda plain: plain.update(seed=True), "seed is 'True'"),
        (
            lambda plain: plain["findings"][0].update(severity="dire"),
            "severity is 'dire'; it should be one of none, low",
        ),
        (lambda plain: plain["findings"][0]["estimate"].update(low="x"), "low is 'x'; it should be a number"),
        (lambda plain: plain.update(grids={}), "grids is '{}'; it should be a list"),
        (lambda plain: plain["grids"][0].update(rows=[[[]]]), "should be str or int or float or bool"),
        (lambda plain: plain["grids"][0].update(rows=[[1]]), "grids[0]: the table 'g' has a row that is not as long"),
        (lambda plain: plain["grids"][1].update(roles=["people"]), "grids[1]: the table 'h' has 2 columns and 1 roles"),
        (
            lambda plain: plain["grids"][1].update(kind="heap"),
            "kind is 'heap'; it should be one of table, heat, answers",
        ),
        (lambda plain: plain["policy"].update(high=2), "policy: high is 2.0; use a share above 0"),
    ],
)
def test_results_are_checked_field_by_field(tmp_path, change, says):
    write(full_result(), tmp_path)
    plain = json.loads((tmp_path / "result.json").read_text())
    change(plain)
    (tmp_path / "result.json").write_text(json.dumps(plain))
    with pytest.raises(RunError) as caught:
        load(tmp_path)
    assert says in str(caught.value)


def test_directories_without_a_result_are_refused(tmp_path):
    with pytest.raises(RunError, match=r"no result\.json here"):
        load(tmp_path)
    (tmp_path / "result.json").write_text("{")
    with pytest.raises(RunError, match="not valid JSON"):
        load(tmp_path)
    (tmp_path / "result.json").write_text("[1]")
    with pytest.raises(RunError, match="not a result"):
        load(tmp_path)


def test_a_crash_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    from unmask.files import write_atomically

    write_atomically(tmp_path / "a.txt", "old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(RunError, match="No space left"):
        write_atomically(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_findings_as_a_frame():
    frame = full_result().to_frame()
    assert frame.loc[0, ["name", "severity", "gain"]].tolist() == ["closest-record", "high", 0.19]
    assert full_result(findings=()).to_frame().empty


def test_tables_hold_together():
    with pytest.raises(ParameterError, match="3 columns and 1 roles"):
        Grid("g", "G", ("a", "b", "c"), (), roles=(Role.TEXT,))
    with pytest.raises(ParameterError, match="a row that is not as long as its 2 columns"):
        Grid("g", "G", ("a", "b"), ((1,),))


def test_a_result_is_one_line_on_the_prompt():
    assert repr(full_result()) == "<Result of 'release': high, 1 finding, seed 3>"
    assert repr(full_result(findings=())) == "<Result of 'release': no findings, seed 3>"
