"""Dates and numbers as people write them: recognised, said, kept exact, and given back as they were written."""

import numpy as np
import pandas as pd
import pytest

from unmask.errors import SchemaError
from unmask.tables._dates import layouts_of
from unmask.tables._numerals import ALL_NUMERALS, PLAIN, Numerals, numbers_of_texts, numerals_of, rounded
from unmask.tables.read import read_frame, read_schema, read_table, write_csv, write_schema
from unmask.tables.schema import Column, Kind, Schema

DAYS = ("2020-12-31", "2021-02-01", "1985-04-03")


def read(tmp_path, texts, schema=None, *, delimiter=";", name="in.csv", **how):
    """A table with the column x (and another, so that there is a delimiter) from a file."""
    frame = pd.DataFrame({"x": texts, "other": ["a", "b", "c", "d", "e"][: len(texts)]})
    frame.to_csv(tmp_path / name, sep=delimiter, index=False)
    return read_table(tmp_path / name, schema, **how)


def back(tmp_path, table):
    """The texts of x after it was written, once it is made sure that they are the same table."""
    write_csv(table, tmp_path / "out.csv")
    assert read_table(tmp_path / "out.csv", table.schema).digest() == table.digest()
    write_schema(table.schema, tmp_path / "schema.json")
    assert read_schema(tmp_path / "schema.json") == table.schema
    return ["" if text != text else text for text in read_frame(tmp_path / "out.csv").frame["x"]]


@pytest.mark.parametrize(
    "layout",
    [
        "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m/%d/%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y %H:%M",
        "%d/%m/%Y %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S.%f",
    ],
)  # fmt: skip
def test_layouts_are_recognised_and_given_back(tmp_path, layout):
    stamps = pd.to_datetime(pd.Series(DAYS)) + pd.Timedelta(minutes=63 if "%H" in layout else 0)
    texts = stamps.dt.strftime(layout).tolist()
    table = read(tmp_path, texts)
    column = table.schema.column("x")
    assert (column.kind, column.format) == (Kind.DATETIME, layout)
    assert (
        table.numbers[:, 0].tolist()
        == stamps.to_numpy().astype(f"datetime64[{column.resolution}]").astype(int).tolist()
    )
    assert back(tmp_path, table) == texts
    told = [] if layout.startswith("%Y-%m-%d") else [f"in.csv: column 'x' holds dates written as '{layout}'."]
    assert list(table.notes) == told


@pytest.mark.parametrize(
    ("texts", "layout"),
    [
        (["1/2/2020", "31/12/2020"], "%-d/%-m/%Y"),
        (["1/2/2020", "12/31/2020"], "%-m/%-d/%Y"),
        (["1.2.2020 9:05", "31.12.2020 10:00"], "%-d.%-m.%Y %-H:%M"),
        (["2020/1/5", "2020/11/30"], "%Y/%-m/%-d"),
    ],
)
def test_dates_without_leading_zeros(tmp_path, texts, layout):
    table = read(tmp_path, texts)
    assert table.schema.column("x").format == layout
    assert back(tmp_path, table) == texts
    padded = read(tmp_path, [text.replace("1/2/", "01/02/") for text in texts], table.schema)
    assert padded.numbers.tolist() == table.numbers.tolist()


def test_day_first_or_month_first_is_asked_about(tmp_path):
    table = read(tmp_path, ["01/02/2020", "03/04/2021", "12/11/2019"])
    assert table.schema.column("x").format == "%d/%m/%Y"
    assert table.notes == (
        "in.csv: column 'x' holds dates that could be written day first or month first; they are read day first "
        "('%d/%m/%Y'). If months come first, set its format to '%m/%d/%Y' in the schema.",
    )


@pytest.mark.parametrize(
    "texts",
    [
        ("31/12/2020", "12/31/2020"), ("31/12/2020", "31.12.2020"), ("31/12/2020", "2020-12-31"), ("30/02/2020",),
        ("31/12/2020 24:00",), ("31/12/020",), ("1/2",), ("12.345.6789",), ("2020-12-31", "2020-12-31 10:00"),
        ("01/2/2020", "1/02/2020"), ("",), (),
    ],
)  # fmt: skip
def test_texts_that_are_not_all_dates_of_one_layout(texts):
    assert layouts_of(texts) == ()


def test_missing_texts_among_dates(tmp_path):
    table = read(tmp_path, ["31.12.2020", "NA", "01.02.2021", None])
    assert table.schema.column("x").missing == ("", "NA")
    assert np.isnan(table.numbers[:, 0]).tolist() == [False, True, False, True]


def test_years_of_two_digits_stay_text_and_are_mentioned(tmp_path):
    table = read(tmp_path, ["31.12.50", "01.02.49"])
    assert table.schema.column("x").kind is Kind.CATEGORICAL
    assert "do not tell the century" in table.notes[0]
    assert "'%d.%m.%y'" in table.notes[0]
    chosen = Schema(
        (Column("x", Kind.DATETIME, lower=0, upper=40_000, format="%d.%m.%y", resolution="D"), table.schema.columns[1])
    )
    assert read(tmp_path, ["31.12.20", "01.02.21"], chosen).numbers[:, 0].tolist() == [18627, 18659]


def test_eight_digits_are_numbers_and_mentioned(tmp_path):
    table = read(tmp_path, ["20201231", "19850403"])
    assert table.schema.column("x").kind is Kind.INTEGER
    assert "'%Y%m%d'" in table.notes[0]
    assert read(tmp_path, ["20201231", "19851303"]).notes == ()


@pytest.mark.parametrize(
    ("texts", "numbers", "numerals"),
    [
        (["1,5", "2,25", "3"], [1.5, 2.25, 3], Numerals(",")),
        (["0,123", "1,234"], [0.123, 1.234], Numerals(",")),
        (["-1,5", "1,25e3", ",5"], [-1.5, 1250, 0.5], Numerals(",")),
        (["1.234,50", "12,5", "999"], [1234.5, 12.5, 999], Numerals(",", ".")),
        (["1.234.567", "234.567", "12"], [1234567, 234567, 12], Numerals(",", ".")),
        (["1,234.50", "12.5", "999"], [1234.5, 12.5, 999], Numerals(".", ",")),
        (["1,234,567", "234,567", "-12"], [1234567, 234567, -12], Numerals(".", ",")),
        (["1 234,5", "12,25"], [1234.5, 12.25], Numerals(",", " ")),
        (["1\u202f234", "12\u202f345\u202f678"], [1234, 12345678], Numerals(",", "\u202f")),
        (["1'234", "12'345", "7"], [1234, 12345, 7], Numerals(",", "'")),
        (["1’234.5", "7"], [1234.5, 7], Numerals(".", "’")),
        (["1.5", "2"], [1.5, 2], PLAIN),
    ],
)
def test_numerals_are_recognised_said_and_given_back(tmp_path, texts, numbers, numerals):
    table = read(tmp_path, texts)
    assert table.schema.column("x").numerals == numerals
    assert table.numbers[:, 0].tolist() == numbers
    assert numerals.numbers(back(tmp_path, table)).tolist() == numbers
    assert list(table.notes) == (
        [] if numerals == PLAIN else [f"in.csv: column 'x' holds numbers written with {numerals}."]
    )


def test_whole_numbers_with_thousands_come_back_letter_by_letter(tmp_path):
    texts = ["1,234,567", "", "12", "-1,234", "0"]
    table = read(tmp_path, texts, delimiter=",")
    assert table.schema.column("x").kind is Kind.INTEGER
    assert back(tmp_path, table) == texts


@pytest.mark.parametrize(("delimiter", "numbers"), [(";", [1.234, 5.678]), (",", [1234, 5678]), ("\t", [1234, 5678])])
def test_what_could_be_either_follows_the_delimiter_and_is_said(tmp_path, delimiter, numbers):
    table = read(tmp_path, ["1,234", "5,678"], delimiter=delimiter)
    assert table.numbers[:, 0].tolist() == numbers
    assert len(table.notes) == 1
    assert "could be written with" in table.notes[0]
    assert "1,234" not in table.notes[0]


def test_points_are_decimal_even_with_semicolons_and_it_is_said(tmp_path):
    table = read(tmp_path, ["1.234", "15.678"])
    assert table.numbers[:, 0].tolist() == [1.234, 15.678]
    assert "set its decimal to ',' and its thousands to '.'" in table.notes[0]
    assert read(tmp_path, ["1.234", "15.678"], delimiter=",").notes == ()


@pytest.mark.parametrize(
    "texts",
    [
        ("1,5", "1.5"), ("1,234", "1.234"), ("1,23,456",), ("1,2,3", "1,2"), ("12,34,567", "1,000"), ("0012,5",), ("1 23",),
        ("1,5", "x"), ("123 456 789", "987 654 321"), ("756.123.456", "756.222.333"), ("1 234'567",), ("1,234 567",),
        ("1.234,567,8",), ("1234,567.5",),
        ("01.234,5",), (",",), ("1,,5",), ("1,5 %",),
    ],
)  # fmt: skip
def test_codes_lists_and_mixtures_stay_text(texts):
    assert numerals_of(texts) == ()
    assert numerals_of(texts, ",") == ()


@pytest.mark.parametrize("numerals", ALL_NUMERALS, ids=repr)
def test_what_is_written_is_read(numerals, rng):
    numbers = [0.0, -0.5, 1e-7, 123456.75, -1e15, 1e300, *rng.normal(0, 10.0 ** rng.integers(-6, 12, 200)).tolist()]
    assert numerals.numbers([numerals.write(repr(number)) for number in numbers]).tolist() == numbers
    assert numerals.numbers([numerals.write(str(whole)) for whole in (0, -7, 1000, 10**6)]).tolist() == [
        0,
        -7,
        1000,
        10**6,
    ]


PAY = Column("x", Kind.CONTINUOUS, lower=0, upper=10_000, bins=4)
OTHER = Column("other", Kind.CATEGORICAL, values=tuple("abcde"))


@pytest.mark.parametrize("numerals", ALL_NUMERALS, ids=repr)
@pytest.mark.parametrize("own", [PLAIN, Numerals(","), Numerals(",", "."), Numerals(".", ",")], ids=repr)
def test_a_release_in_other_numerals_has_the_same_numbers(tmp_path, numerals, own):
    schema = Schema(
        (Column("x", Kind.CONTINUOUS, lower=0, upper=10_000, decimal=own.decimal, thousands=own.thousands), OTHER)
    )
    numbers = [1234.5, 0.25, 12.0, 9999.99]
    table = read(tmp_path, [numerals.write(repr(number)) for number in numbers], schema, unlisted="note")
    assert table.numbers[:, 0].tolist() == numbers
    assert table.unlisted_rows == 0
    if own != numerals:
        assert table.notes == (
            f"in.csv: column 'x' is written with {numerals} here and not with {own}; it was read so.",
        )


def test_one_strange_text_does_not_hide_how_the_others_are_written(tmp_path):
    table = read(tmp_path, ["1,5", "2,5", "oops"], Schema((PAY, OTHER)), unlisted="note")
    assert table.numbers[:2, 0].tolist() == [1.5, 2.5]
    assert table.unlisted_rows == 1
    with pytest.raises(SchemaError, match="oops"):
        read(tmp_path, ["1,5", "2,5", "oops"], Schema((PAY, OTHER)))


def test_what_could_be_either_is_the_one_of_the_range(tmp_path):
    whole = Column("x", Kind.INTEGER, lower=0, upper=10_000)
    small = Column("x", Kind.CONTINUOUS, lower=0, upper=10)
    for column, numbers in ((whole, [1234, 5678]), (small, [1.234, 5.678])):
        assert read(tmp_path, ["1,234", "5,678"], Schema((column, OTHER))).numbers[:, 0].tolist() == numbers


def test_a_release_with_dates_in_another_layout(tmp_path):
    schema = read(tmp_path, ["2020-12-31", "2020-01-01"]).schema
    table = read(tmp_path, ["31/12/2020", "01/02/2020"], schema, unlisted="note")
    assert table.to_pandas()["x"].tolist() == ["2020-12-31", "2020-02-01"]
    assert table.notes == ("in.csv: column 'x' is written as '%d/%m/%Y' here and not as '%Y-%m-%d'; it was read so.",)
    times = read(tmp_path, ["2020-12-31 00:00:00", "2020-02-01 10:30:00"], schema, unlisted="note")
    assert times.unlisted_rows == 1, "half past ten is no day"
    with pytest.raises(SchemaError, match="no dates from"):
        read(tmp_path, ["31/12/2020", "01/02/2020"], schema)


LONG = ["9007199254740993", "9007199254740992", "12"]


@pytest.mark.parametrize(
    "texts",
    [
        LONG, ["123456789012345678901", "123456789012345678902"], ["0.12345678901234567890", "0.12345678901234567891"],
        ["9007199254740993.5", "9007199254740993.25"], ["1e400", "5"], ["0012", "12"], ["9.007.199.254.740.993", "1"],
    ],
)  # fmt: skip
def test_numbers_that_would_become_equal_stay_text(tmp_path, texts):
    table = read(tmp_path, texts)
    assert table.schema.column("x").kind is Kind.CATEGORICAL
    assert back(tmp_path, table) == texts
    assert texts[0] == "0012" or "no two become equal" in table.notes[0]


def test_numbers_that_are_rounded_are_counted(tmp_path):
    table = read(tmp_path, ["0.12345678901234567890", "0.5"])
    assert table.notes == (
        "in.csv: column 'x' has numbers with more digits than a calculation keeps (about 16). They are rounded (1 distinct "
        "text), and no two become equal.",
    )
    same = read(tmp_path, ["0.12345678901234567890", "0.12345678901234567891"], Schema((PAY, OTHER)))
    assert "some become equal" in same.notes[0]


def test_what_a_program_writes_for_a_float_is_not_rounded(rng):
    numbers = rng.lognormal(0, 30, 300)
    for form in ("{!r}", "{:.17g}", "{:.18e}", "{:.15g}", "{:.2f}", "{:.25g}"):
        texts = [form.format(float(number)) for number in numbers]
        assert rounded(texts, np.array([float(text) for text in texts])) == [], form
    assert rounded(["1e-400", "1.2345678e-320", "9007199254740993"], np.array([0, 1.2345678e-320, 2.0**53])) == [
        0,
        1,
        2,
    ]


def test_a_whole_number_is_not_the_one_it_would_be_rounded_to(tmp_path):
    schema = Schema((Column("x", Kind.INTEGER, lower=0, upper=2**53), OTHER))
    table = read(tmp_path, LONG, schema, unlisted="note")
    assert table.unlisted_rows == 1
    assert table.numbers[1:, 0].tolist() == [2.0**53, 12]


@pytest.mark.parametrize("gap", [(), (None,)])
def test_long_whole_numbers_of_frames_and_parquet_are_exact(tmp_path, gap):
    """pandas makes floats of whole numbers beside missing ones."""
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    whole = [2**53 + 1, 2**53, 2**60 + 1, 5, *gap]
    small = list(range(len(whole)))
    made = polars.DataFrame({"id": whole, "n": small})
    made.write_parquet(tmp_path / "a.parquet")
    for source in (made, pyarrow.table({"id": whole, "n": small}), tmp_path / "a.parquet"):
        table = read_table(source)
        assert table.schema.column("id").values == (5, 2**53, 2**53 + 1, 2**60 + 1)
        assert table.to_pandas()["id"].dropna().tolist() == whole[:4]
        assert "no two become equal" in table.notes[0]


@pytest.mark.parametrize(("decimal", "thousands"), [(";", ""), (",", ","), (".", "x"), (".", "."), ("", "")])
def test_marks_that_make_no_sense_are_refused(decimal, thousands):
    with pytest.raises(SchemaError, match=r"columns\.x: decimal"):
        Column("x", Kind.CONTINUOUS, lower=0, upper=1, decimal=decimal, thousands=thousands)


def test_texts_are_numbers_only_if_all_are():
    assert numbers_of_texts(()) is None
    assert numbers_of_texts(("1", "x")) is None
