"""Files as they come: delimiters, encodings, damage. Every refusal says what, where, and what to do."""

import gzip

import numpy as np
import pandas as pd
import pytest

from unmask.errors import InputError, SchemaError
from unmask.tables.encode import Unlisted
from unmask.tables.read import read_frame, read_table, write_csv
from unmask.tables.schema import Column, Kind, Origin, Schema


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "age,name\n1,x\n2,y\n"),
        ("a.csv", "\ufeffage,name\n1,x\n2,y\n"),
        ("a.csv", "age;name\n1;x\n2;y\n"),
        ("a.csv", "age|name\n1|x\n2|y\n"),
        ("a.tsv", "age\tname\n1\tx\n2\ty\n"),
        ("a.csv", '"age","name"\r\n"1","x"\r\n"2","y"\r\n'),
        ("a.csv", "age,name\n1,x\n\n2,y\n\n"),
        ("a.csv", "age,name\n1,x\n2,y"),
        ("a.csv.gz", gzip.compress(b"age,name\n1,x\n2,y\n", mtime=0)),
        ("a.csv", "age,name\n1,x\n2,y\n".encode("utf-16")),
    ],
)
def test_reads_the_same_table_from_every_dialect(tmp_path, name, content):
    frame = read_table(write(tmp_path / name, content)).to_pandas()
    assert frame.to_dict("list") == {"age": [1, 2], "name": ["x", "y"]}
    assert frame["age"].dtype == "int64"


def test_quotes_delimiters_and_line_breaks_inside_values(tmp_path):
    path = write(tmp_path / "a.csv", 'text,n\n"a, ""b""",1\n"two\nlines",2\n</script>,3\n')
    assert list(read_table(path).to_pandas()["text"]) == ['a, "b"', "two\nlines", "</script>"]


def test_latin_1_is_read_and_noted(tmp_path):
    table = read_table(write(tmp_path / "a.csv", "stadt,n\nKöln,1\nBonn,2\n".encode("latin-1")))
    assert list(table.to_pandas()["stadt"]) == ["Köln", "Bonn"]
    assert "line 2 is not UTF-8" in table.notes[0]


def test_leading_zeros_and_text_stay_text_and_na_is_a_country(tmp_path):
    table = read_table(write(tmp_path / "a.csv", "zip,country\n01234,NA\n20100,DE\n"))
    assert table.to_pandas().to_dict("list") == {"zip": ["01234", "20100"], "country": ["NA", "DE"]}


def test_missing_texts_in_number_columns_are_recognised_and_written_back(tmp_path):
    path = write(tmp_path / "a.csv", "n,x\n1,a\nNA,b\n3,\n")
    table = read_table(path)
    assert table.schema.column("n").missing == ("NA",)
    assert list(table.numbers[:, 0]) == pytest.approx([1, np.nan, 3], nan_ok=True)
    write_csv(table, tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == path.read_text()


def test_a_single_column_keeps_its_blank_lines_as_missing(tmp_path):
    table = read_table(write(tmp_path / "a.csv", "x\n1\n\n3\n"))
    assert len(table) == 3
    assert np.isnan(table.numbers[1, 0])


def test_mostly_numbers_is_noted(tmp_path):
    table = read_table(write(tmp_path / "a.csv", "pay\n10\n20\n30\nunknown\n"))
    assert table.schema.column("pay").kind is Kind.CATEGORICAL
    assert "mostly numbers, but 1 of its texts are not" in table.notes[0]


def test_unnamed_columns_get_a_name(tmp_path):
    assert read_frame(write(tmp_path / "a.csv", ",b\n7,2\n")).frame.columns.tolist() == ["unnamed_1", "b"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "the file is empty"),
        ("   \n\n", "the file is empty"),
        ("a,b\n", "a header but no rows"),
        ("a,b\n1,2\n1,2,3\n", "line 3 has 3 fields, the header has 2"),
        ("a,b\n1,2\n1\n", "line 3 has 1 fields, the header has 2"),
        ("a,a\n1,2\n", "'a' occurs more than once"),
        (b"a,b\n1,\x002\n", "NUL characters"),
        (b"PK\x03\x04xx", "spreadsheet"),
        ("a\n1\ninf\n", None),
    ],
)
def test_damaged_files_are_refused_with_a_reason(tmp_path, content, says):
    path = write(tmp_path / "real.csv", content)
    if says is None:  # "inf" is no number in a file, so the column is text: noted, not coerced
        assert read_table(path).schema.columns[0].kind is Kind.CATEGORICAL
        return
    with pytest.raises(InputError, match=says) as caught:
        read_table(path)
    assert str(caught.value).startswith("real.csv")


def test_missing_files_folders_and_bad_gzip(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(InputError, match="folder"):
        read_table(tmp_path)
    with pytest.raises(InputError, match="not a complete gzip file"):
        read_table(write(tmp_path / "a.csv.gz", b"a,b\n1,2\n"))
    with pytest.raises(InputError, match="not a complete gzip file"):
        read_table(write(tmp_path / "b.csv.gz", gzip.compress(b"a,b\n1,2\n" * 100)[:-9]))
    with pytest.raises(InputError, match="not a readable Parquet file"):
        read_table(write(tmp_path / "a.parquet", b"nonsense"))


def test_infinite_numbers_in_a_frame_are_refused():
    with pytest.raises(InputError, match=r"column 'x' holds an infinite number \(row 1\)"):
        read_table(pd.DataFrame({"x": [1.0, np.inf]}))


def test_parquet_polars_and_pyarrow_give_the_same_table(tmp_path, people):
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame = people.to_pandas()
    frame.to_parquet(tmp_path / "a.parquet")
    for source in (tmp_path / "a.parquet", polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        table = read_table(source, people.schema)
        assert np.array_equal(table.codes, people.codes)
        assert np.array_equal(table.numbers, people.numbers, equal_nan=True)


def test_csv_round_trip_gives_the_same_table(tmp_path, people):
    write_csv(people, tmp_path / "a.csv.gz")
    again = read_table(tmp_path / "a.csv.gz", people.schema)
    assert np.array_equal(again.codes, people.codes)
    assert np.array_equal(again.numbers, people.numbers, equal_nan=True)


REGION = Schema(
    (
        Column("region", Kind.CATEGORICAL, values=("North", "South", "East", "West")),
        Column("age", Kind.INTEGER, lower=0.0, upper=120.0),
    )
)


def test_values_outside_the_schema_are_an_error_that_helps(tmp_path):
    path = write(tmp_path / "real.csv", "region,age\nNorth,3\nN/A,4\nunknown,5\n")
    with pytest.raises(SchemaError) as caught:
        read_table(path, REGION)
    assert str(caught.value).splitlines() == [
        "real.csv: column 'region' has 2 values that the schema does not list: 'N/A', 'unknown'.",
        "Listed: 'North', 'South', 'East', 'West'.",
        "If they are valid, add them under columns.region.values in the schema; if 'region' is a number, set its kind there.",
    ]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("North,130", "no whole number from 0 to 120: '130'"),
        ("North,3.5", "no whole number from 0 to 120: '3.5'"),
        ("North,old", "no whole number from 0 to 120: 'old'"),
        ("North,", "has missing values, and the schema does not allow them"),
        (",3", "has missing values, and the schema does not allow them"),
    ],
)
def test_real_tables_must_follow_the_schema(tmp_path, row, says):
    path = write(tmp_path / "real.csv", f"region,age\nSouth,7\n{row}\n")
    with pytest.raises(SchemaError, match=says):
        read_table(path, REGION)


def test_synthetic_tables_get_a_code_that_matches_nothing_and_a_note(tmp_path):
    path = write(tmp_path / "synthetic.csv", "region,age\nNorth,3\nMars,130\nSouth,\n")
    table = read_table(path, REGION, unlisted="note")
    assert table.codes[1].tolist() == [4, 20]
    assert table.codes[2].tolist() == [1, 20]
    assert table.numbers[1, 0] == 130
    assert table.unlisted_rows == 2
    assert len(table.notes) == 3
    assert table.notes[0] == "synthetic.csv: column 'region' has 1 value outside the schema; they match nothing."
    assert not any("Mars" in note or "130" in note for note in table.notes), "notes go into results: no values in them"
    with pytest.raises(SchemaError, match="cannot be given back"):
        table.to_pandas()


def test_text_in_a_synthetic_number_column_matches_nothing_not_even_missing(tmp_path):
    schema = Schema((Column("age", Kind.INTEGER, lower=0, upper=120, missing=("",)), REGION.columns[0]))
    table = read_table(write(tmp_path / "s.csv", "age,region\nold,North\n,North\n"), schema, unlisted="note")
    column = schema.columns[0]
    assert table.codes[:, 0].tolist() == [column.unlisted_code, column.missing_code]


def test_columns_that_differ_are_named(tmp_path):
    with pytest.raises(SchemaError, match="Only here: 'agee'"):
        read_table(write(tmp_path / "s.csv", "region,agee\nNorth,1\n"), REGION)


def test_a_file_against_a_schema_made_from_a_frame(tmp_path):
    """Categories that were numbers or true/false in a frame are recognised by their text in a file."""
    frame = pd.DataFrame({"flag": [True, False, True], "level": pd.Categorical([3, 1, 2])})
    schema = read_table(frame).schema
    table = read_table(write(tmp_path / "a.csv", "flag,level\nTrue,3\nFalse,1\n"), schema)
    assert table.to_pandas()["flag"].tolist() == [True, False]
    assert table.to_pandas()["level"].tolist() == [3, 1]


def test_million_distinct_texts_are_left_out_as_an_identifier():
    frame = pd.DataFrame({"id": [f"p{i}" for i in range(100_000)] * 10, "x": np.arange(1_000_000) % 7})
    table = read_table(frame)
    assert table.schema.identifiers == ("id",)
    assert "100,000 distinct values" in table.notes[0]


def test_inference_says_so_and_unlisted_is_validated():
    table = read_table(pd.DataFrame({"x": [1, 2]}))
    assert table.schema.origin is Origin.INFERRED
    with pytest.raises(ValueError, match="whatever"):
        Unlisted("whatever")


@pytest.mark.parametrize(
    "content", [b"\xff\xfea\x00,\x00b", b'a,b\n1,"2\n3,4\n', b"\xff\xfe\x00\xd8"], ids=["cut", "quote", "half"]
)
def test_a_damaged_file_is_wrong_input(tmp_path, content):
    path = tmp_path / "damaged.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"damaged\.csv"):
        read_table(path)


@pytest.mark.parametrize("header", ["Ann Lee,34,kuru", "1.5,2,x", "7,a,b"])
def test_a_file_without_names_is_refused_and_not_quoted(tmp_path, header):
    below = ",".join("8" if cell.replace(".", "").isdigit() else "z" for cell in header.split(","))
    path = write(tmp_path / "people.csv", f"{header}\n{below}\n{below}\n")
    with pytest.raises(InputError, match="the first line looks like a row") as caught:
        read_table(path)
    assert not any(cell in str(caught.value) for cell in ("Ann", "34", "kuru", "1.5"))


@pytest.mark.parametrize("header", ["0,1,2", "1,2,3", "2019,2020,2021", "0,a,b", "x,1960,1970"])
def test_numbers_may_be_names(tmp_path, header):
    path = write(tmp_path / "wide.csv", f"{header}\n5,6,7\n8,9,10\n")
    assert len(read_table(path)) == 2
