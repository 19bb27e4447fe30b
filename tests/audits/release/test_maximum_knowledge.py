"""The attacker who holds the real table, as the audit tells it: M sets, four criteria, aligned rows against their null."""

import numpy as np
import pandas as pd
import pytest

from unmask.audits.release import aligned, maximum_knowledge
from unmask.audits.release.audit import audit
from unmask.errors import ParameterError, SchemaError
from unmask.results.policy import Severity


def people(rows, seed):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(rows, 1))
    frame = pd.DataFrame((base + 0.7 * rng.normal(size=(rows, 4))).round(3), columns=["a", "b", "c", "pay"])
    return frame.assign(job=np.where(base[:, 0] > 0, "x", "y"))


@pytest.fixture(scope="module")
def tables():
    frame = people(1000, 3)
    return frame[:200], [frame[400 + 200 * m : 600 + 200 * m] for m in range(3)], frame[200:400]


def grid(result, name):
    return next(grid for grid in result.grids if grid.name == name)


def found(result, name):
    return next(one for one in result.findings if one.name == name)


@pytest.fixture(scope="module")
def fresh(tables):
    real, sets, holdout = tables
    return audit(real, sets, holdout=holdout, secrets=["pay", "job"], attempts=50)


def test_every_criterion_and_every_number_of_sets(fresh):
    rows = grid(fresh, "maximum knowledge").rows
    assert [(row[1], row[2]) for row in rows if row[0] == "pay"] == [
        ("sum", 1), ("sum", 2), ("sum", 3), ("max", 1), ("max", 3), ("min", 1), ("min", 3), ("euclid", 1), ("euclid", 3),
    ]  # fmt: skip
    of_sum = [row for row in rows if row[:2] == ("pay", "sum")]
    assert of_sum[0][4] < of_sum[1][4] < of_sum[2][4]  # ranges widen
    assert abs(of_sum[2][7]) < 0.2  # shuffled columns tell nothing
    assert of_sum[2][6] > 0.05  # the population teaches something
    finding = found(fresh, "maximum knowledge pay")
    assert finding.severity is Severity.NONE
    assert finding.control is not None
    assert finding.baseline is not None


def test_risk_by_sets_is_a_chart_and_a_sentence(fresh):
    lines = {one.name: one for one in fresh.series if one.name.startswith("sets/pay/")}
    names = ("real people", "holdout people", "columns shuffled", "real people, low end", "real people, high end")
    assert set(lines) == {f"sets/pay/{name}" for name in names}
    assert lines["sets/pay/real people"].x == (1.0, 2.0, 3.0)
    (said,) = [note for note in fresh.notes if note.startswith("pay, 3 sets: ")]
    assert any(word in said for word in ("tell more than one", "confuse more than they help", "tell as much as one"))


def test_records_hold_the_ranks_and_values_found_in_every_set(tables):
    real, sets, holdout = tables
    result = audit(real, [real, sets[0]], holdout=holdout, secrets=["pay"], attempts=50)
    frame = pd.DataFrame(result.records.rows, columns=result.records.columns).set_index("row").sort_index()
    first = frame["pay: rank"].str.partition("-")[0].astype(int).to_numpy()
    assert (first == real["pay"].rank(method="min").astype(int)).all()
    assert frame["pay: values found, set 1"].astype(float).to_numpy() == pytest.approx(real["pay"].to_numpy())
    values = real["pay"].sort_values().to_numpy()
    for ranks, told in zip(frame["pay: ranks found, set 2"], frame["pay: values found, set 2"], strict=True):
        expected = dict.fromkeys(values[int(rank) - 1] for rank in ranks.split(", "))
        assert [float(value) for value in told.split(", ")] == pytest.approx(list(expected))
    assert found(result, "maximum knowledge pay").estimate.value > 0.1


def test_copies_are_found(tables):
    real, _, holdout = tables
    result = audit(real, real, holdout=holdout, secrets=["pay"], attempts=50)
    for row in grid(result, "maximum knowledge").rows:
        assert row[3] == 1
        assert row[4] < 0.02 or row[1] == "min"
    assert found(result, "maximum knowledge pay").severity is Severity.HIGH


def test_large_tables_are_sampled_and_it_is_said(tables, monkeypatch):
    real, sets, holdout = tables
    for module, fewest in ((maximum_knowledge, 60), (aligned, 70)):
        monkeypatch.setattr(module, "MOST_WORK", 1)
        monkeypatch.setattr(module, "FEWEST", fewest)
    result = audit(real, sets[0], holdout=holdout, secrets=["pay"], aligned=True, attempts=50)
    assert "Maximum knowledge of pay: 60 of 200 real records were attacked, drawn at random." in result.notes
    assert "Aligned rows: 70 of 200 real records were linked, drawn at random." in result.notes
    monkeypatch.setattr(maximum_knowledge, "MOST_PUBLISHED", 100)
    fewer = audit(real, sets, holdout=holdout, secrets=["pay"], attempts=50)
    assert any("99 of 600 published rows were searched" in note for note in fewer.notes)
    assert any("ranks were scaled" in note for note in fewer.notes)
    frame = pd.DataFrame(result.records.rows, columns=result.records.columns)
    assert frame["pay: rank"].notna().sum() == 60
    assert frame["linked to its own row, set 1"].notna().sum() == 70


def test_without_secrets_it_is_not_tested(tables):
    real, sets, holdout = tables
    result = audit(real, sets[0], holdout=holdout, attempts=50)
    assert "maximum knowledge" in {item.name for item in result.not_tested}


def test_aligned_rows_are_linked_and_fresh_ones_are_not(tables):
    real, sets, holdout = tables
    rng = np.random.default_rng(1)
    noisy = real.assign(**{name: real[name] + rng.normal(0, 0.02, len(real)) for name in ("a", "b", "c")})
    result = audit(real, [noisy, sets[0]], holdout=holdout, aligned=True, attempts=50)
    assert found(result, "linking of aligned rows, set 1").severity is Severity.HIGH
    assert found(result, "linking of aligned rows, set 2").severity is Severity.NONE
    rows = {row[1:3]: row for row in grid(result, "aligned links").rows}
    assert len(rows) == 8
    assert rows["sum", 1][3] > 150
    assert rows["sum", 2][3] < 8
    assert rows["sum", 2][4] == 1
    assert rows["sum", 1][6] < 1e-100 < rows["sum", 1][7] < 1e-3
    alone = audit(real, noisy, aligned=True, attempts=50)
    assert found(alone, "linking of aligned rows").severity is Severity.HIGH


def test_partly_synthetic_rows_are_linked_by_all_and_by_the_synthesised_columns(tables):
    real, sets, holdout = tables
    partly = real.assign(pay=sets[0]["pay"].to_numpy(), c=sets[0]["c"].to_numpy())
    result = audit(real, partly, holdout=holdout, synthesised=["pay", "c"], attempts=50)
    rows = {row[:2]: row for row in grid(result, "aligned links").rows}
    assert rows["all columns", "sum"][3] > 10
    assert rows["synthesised columns", "sum"][3] < 8


def test_refusals(tables):
    real, sets, holdout = tables
    with pytest.raises(ParameterError, match="--aligned: set 1 has 150 rows and the real table 200"):
        audit(real, sets[0][:150], holdout=holdout, aligned=True, attempts=50)
    with pytest.raises(SchemaError, match="no column 'zz'"):
        audit(real, sets[0], holdout=holdout, synthesised=["zz"], attempts=50)
