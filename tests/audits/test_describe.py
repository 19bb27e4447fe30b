import numpy as np
import pandas as pd

from unmask.audits.describe import describe
from unmask.tables.table import Table
from unmask.threats import targets
from unmask.threats.targets import isolation


def naive_isolation(table: Table) -> np.ndarray:
    """Mean of the 5 smallest Gower distances, by the book."""
    frame = table.to_pandas()
    total = np.zeros((len(frame), len(frame)))
    for column in table.schema.columns:
        values = frame[column.name]
        missing = values.isna().to_numpy()
        if column.is_numeric:
            numbers = table.numbers[:, table.schema.numeric.index(table.schema.position(column.name))]
            gap = np.abs(numbers[:, None] - numbers[None, :]) / (column.upper - column.lower)
        else:
            codes = table.codes[:, table.schema.position(column.name)]
            gap = (codes[:, None] != codes[None, :]).astype(float)
        gap[missing[:, None] != missing[None, :]] = 1
        gap[missing[:, None] & missing[None, :]] = 0
        total += gap
    total /= len(table.schema.columns)
    np.fill_diagonal(total, np.inf)
    return np.sort(total, axis=1)[:, :5].mean(axis=1)


def test_isolation_equals_the_definition(people):
    assert np.allclose(isolation(people, np.random.default_rng(0)), naive_isolation(people))


def test_large_tables_are_measured_against_a_part_without_meeting_oneself(people, monkeypatch):
    monkeypatch.setattr(targets, "MOST_ROWS", 150)
    scores = isolation(people, np.random.default_rng(0))
    assert (scores >= naive_isolation(people) - 1e-12).all()


def test_describe_counts_what_is_there(people):
    result = describe(people)
    grid = dict(result.grids[0].rows)
    assert grid["rows"] == 200
    assert grid["rows that no other row equals"] == 200
    region = next(row for row in result.grids[1].rows if row[0] == "region")
    missing = people.to_pandas()["region"].isna().mean()
    assert region == ("region", "categorical", "3 values", 3, f"{missing:.1%}", "key")
    assert len(result.records.rows) == 200
    worst = [row[1] for row in result.records.rows]
    assert worst == sorted(worst, reverse=True)
    assert result.to_plain() == describe(people, workers=2).to_plain()


def test_describe_works_on_one_row_and_counts_duplicates():
    assert "One row" in describe(Table.from_pandas(pd.DataFrame({"x": [1]}))).notes[-1]
    twins = describe(Table.from_pandas(pd.DataFrame({"x": [1, 1, 2]})))
    assert dict(twins.grids[0].rows)["rows that equal another row"] == 2
