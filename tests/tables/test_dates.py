"""Dates that nanoseconds cannot count (before 1677, after 2262), however they come: pandas 2 reads into nanoseconds."""

import datetime

import numpy as np
import pandas as pd
import pytest

from unmask.tables._dates import dates_of_texts
from unmask.tables.infer import Hints
from unmask.tables.read import read_table, write_csv
from unmask.tables.schema import Kind
from unmask.tables.table import Table

FAR = ("0001-01-01", "1500-01-01", "2020-02-29", "2300-12-31", "9999-12-31")
DAYS = [datetime.date.fromisoformat(day) for day in FAR]
COUNTS = np.array(FAR, dtype="datetime64[D]").astype(np.int64).tolist()


def check_column(table):
    column = table.schema.column("day")
    assert (column.kind, column.resolution) == (Kind.DATETIME, "D")
    assert table.numbers[:, 0].tolist() == COUNTS
    assert (column.lower, column.upper) == (COUNTS[0], COUNTS[-1])


@pytest.mark.parametrize("layout", ["%Y-%m-%d", "%d.%m.%Y", "%Y%m%d", "%Y-%m-%d %H:%M:%S.%f"])
def test_texts_of_a_file_are_dates_and_written_back(tmp_path, layout):
    texts = [written(day, layout) for day in DAYS]
    (tmp_path / "in.csv").write_text("day,n\n" + "".join(f"{text},{row}\n" for row, text in enumerate(texts)))
    table = read_table(tmp_path / "in.csv", Hints(kinds={"day": Kind.DATETIME}, layouts={"day": layout}))
    check_column(table)
    assert table.to_pandas()["day"].tolist() == texts
    write_csv(table, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "in.csv").read_text()
    assert read_table(tmp_path / "out.csv", table.schema).digest() == table.digest()


def test_iso_texts_are_recognised_as_dates_with_missing_ones(tmp_path):
    (tmp_path / "in.csv").write_text("day,n\n,0\n" + "".join(f"{day},1\n" for day in FAR))
    table = read_table(tmp_path / "in.csv")
    check_column(table.take(range(1, len(table))))
    assert np.isnan(table.numbers[0, 0])
    write_csv(table, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "in.csv").read_text()


@pytest.mark.parametrize("absent", [None, np.nan, pd.NaT, pd.NA])
def test_python_dates_come_back_as_python_dates(absent):
    frame = pd.DataFrame({"day": pd.Series([*DAYS, absent], dtype=object)})
    table = Table.from_pandas(frame)
    check_column(table.take(range(len(DAYS))))
    assert table.to_pandas()["day"].tolist() == [*DAYS, None]


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_columns_of_dates_come_back_in_their_unit(unit):
    frame = pd.DataFrame({"day": np.array(FAR, dtype=f"datetime64[{unit}]")})
    table = Table.from_pandas(frame)
    check_column(table)
    pd.testing.assert_frame_equal(table.to_pandas(), frame)
    gap = pd.concat([frame, pd.DataFrame({"day": np.array(["NaT"], dtype=f"datetime64[{unit}]")})], ignore_index=True)
    pd.testing.assert_frame_equal(Table.from_pandas(gap).to_pandas(), gap)


def test_moments_of_the_day_and_time_zones_come_back():
    moments = np.array(FAR, dtype="datetime64[us]") + np.timedelta64(1, "s")
    frame = pd.DataFrame({"naive": moments, "aware": pd.Series(moments).dt.tz_localize("UTC")})
    table = Table.from_pandas(frame)
    assert {column.resolution for column in table.schema.columns} == {"s"}
    pd.testing.assert_frame_equal(table.to_pandas(), frame)


@pytest.mark.parametrize("dtype", [object, "datetime64[s]", "datetime64[us]"])
def test_dates_of_a_frame_are_written_as_iso_texts(tmp_path, dtype):
    days = np.array(DAYS[1:], dtype="datetime64[D]").astype(dtype)
    write_csv(Table.from_pandas(pd.DataFrame({"day": days})), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().split() == ["day", *FAR[1:]]


def test_dates_of_parquet_arrow_and_polars(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    polars = pytest.importorskip("polars", reason="polars is not installed")
    pd.DataFrame({"day": DAYS}).to_parquet(tmp_path / "days.parquet")
    for source in (pyarrow.table({"day": DAYS}), polars.DataFrame({"day": DAYS}), tmp_path / "days.parquet"):
        table = read_table(source)
        check_column(table)
        assert table.to_pandas()["day"].to_numpy().astype("datetime64[D]").tolist() == DAYS


@pytest.mark.parametrize(
    "layout",
    ["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%d/%m/%Y"],
)
def test_texts_in_another_layout_are_no_dates_however_far(layout):
    strange = ("", "x", "2300", "2300-1-1", "2300-02-30", "9999-12-31 24:00:00", "10000-01-01", "2300-12-31Z")
    assert np.isnat(dates_of_texts(strange, layout)).all()
    assert dates_of_texts((), layout).shape == (0,)


def written(day, layout):
    """A date as text, with the zeros before the year 1 that strftime leaves out."""
    return datetime.datetime(day.year, day.month, day.day).strftime(layout.replace("%Y", f"{day.year:04}"))
