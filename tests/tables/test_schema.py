import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from unmask.errors import InputError, SchemaError
from unmask.tables.infer import Hints
from unmask.tables.read import read_schema, read_table, write_schema
from unmask.tables.schema import Column, Kind, Origin, Schema
from unmask.tables.schema_json import schema_from_json, schema_to_json


def integer(**fields):
    return Column("age", Kind.INTEGER, **{"lower": 17.0, "upper": 90.0, **fields})


def test_equal_bins_of_an_integer_column_hold_every_value_once():
    column = integer(bins=20)
    bins = column.bin_of(np.arange(17.0, 91.0))
    assert column.listed == 20
    assert np.all(np.diff(bins) >= 0)
    assert set(bins) == set(range(20)), "no bin is empty"
    assert set(np.bincount(bins)) <= {3, 4}


def test_more_bins_than_integers_gives_one_bin_each():
    assert integer(lower=0.0, upper=4.0, bins=20).listed == 5


def test_a_cut_belongs_to_the_bin_on_its_right_and_the_upper_end_to_the_last():
    column = Column("x", Kind.CONTINUOUS, lower=0.0, upper=10.0, cuts=(2.0, 5.0))
    assert list(column.bin_of(np.array([0.0, 1.99, 2.0, 4.9, 5.0, 10.0]))) == [0, 0, 1, 1, 2, 2]


def test_a_constant_column_has_one_bin():
    assert Column("x", Kind.CONTINUOUS, lower=3.0, upper=3.0).listed == 1
    assert integer(lower=3.0, upper=3.0).listed == 1


def test_codes_are_values_then_missing_then_unlisted_then_groups():
    column = Column(
        "c",
        Kind.CATEGORICAL,
        values=("a", "b", "c"),
        missing=("?",),
        groups=(("ab", ("a", "b")), ("all", ("a", "b", "c"))),
    )
    assert (column.listed, column.missing_code, column.size, column.unlisted_code) == (3, 3, 4, 4)
    assert column.code_of_text == {"a": 0, "b": 1, "c": 2, "ab": 5, "all": 6}
    assert column.code_count == 7


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"lower": 5.0, "upper": 1.0}, "above upper"),
        ({"lower": 0.5}, "must be whole"),
        ({"cuts": (30.0, 20.0)}, "rise strictly"),
        ({"cuts": (10.0,)}, "above lower"),
        ({"bins": 0}, "bins is 0"),
        ({"upper": float("inf")}, "finite"),
        ({"values": ("a",)}, "has no values"),
    ],
)
def test_bad_number_columns_are_refused(fields, says):
    with pytest.raises(SchemaError, match=says):
        integer(**fields)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"values": ("a", "a")}, "more than once"),
        ({"values": (1, "1")}, "more than once"),
        ({"values": ("a", "?"), "missing": ("?",)}, "as a value and as missing"),
        ({"values": tuple(map(str, range(70_000)))}, "too many"),
        ({"values": ("a",), "groups": (("g", ("b",)),)}, "not among the values"),
    ],
)
def test_bad_categories_are_refused(fields, says):
    with pytest.raises(SchemaError, match=says):
        Column("c", Kind.CATEGORICAL, **fields)


def test_schema_refuses_unknown_keys_and_double_use():
    with pytest.raises(SchemaError, match="no column 'agee'"):
        Schema((integer(),), keys=("agee",))
    with pytest.raises(SchemaError, match="not analysed"):
        Schema((integer(),), identifiers=("age",))
    with pytest.raises(SchemaError, match="more than once"):
        Schema((integer(), integer()))
    with pytest.raises(SchemaError, match="no columns"):
        Schema(())


def full_schema() -> Schema:
    return Schema(
        (
            integer(),
            Column("pay", Kind.CONTINUOUS, lower=0.0, upper=1e6, cuts=(10.5, 1e3), missing=("", "NA"), dtype="float64"),
            Column(
                "place", Kind.CATEGORICAL, values=("a", "b", 3, True), ordered=True, groups=(("ab", ("a", "b")),)
            ),
            Column("day", Kind.DATETIME, lower=14975.0, upper=18000.0, resolution="D", format="%Y-%m-%d"),
            Column("moment", Kind.DATETIME, lower=0.0, upper=1e15, resolution="us", dtype="datetime64[ns]"),
        ),
        keys=("age", "place"), secrets=("pay",), identifiers=("name",), person="id", origin=Origin.INFERRED,
    )  # fmt: skip


def test_json_round_trip_keeps_everything(tmp_path):
    schema = full_schema()
    write_schema(schema, tmp_path / "schema.json")
    assert read_schema(tmp_path / "schema.json") == schema
    assert schema_to_json(schema) == (tmp_path / "schema.json").read_text()


def test_json_is_laid_out_for_people():
    text = schema_to_json(full_schema())
    assert '    "age": {"kind": "integer", "lower": 17, "upper": 90, "bins": 20, "missing": false}' in text
    assert json.loads(text)["columns"]["day"]["lower"] == "2011-01-01"


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (["columns", "age", "kind"], "int", "columns.age.kind is 'int'; use one of 'categorical', 'integer'"),
        (["columns", "age", "lower"], "17", "columns.age.lower is '17'; write a number"),
        (["columns", "age", "uper"], 3, "unknown field 'uper'"),
        (["columns", "age", "missing"], "NA", "write false, or the texts"),
        (["columns", "age", "lower"], 100, "above upper"),
        (["columns", "day", "lower"], "yesterday", "write a date"),
        (["columns", "place", "values"], "a", "must be a list"),
        (["keys"], ["nobody"], "no column 'nobody'"),
        (["keys"], "age", "write a list"),
        (["origin"], "guessed", "origin is 'guessed'"),
        (["person"], 3, "person is 3"),
        (["unmask_schema"], 99, "this version reads 1"),
    ],
)
def test_errors_name_the_field(path, value, says):
    document = json.loads(schema_to_json(full_schema()))
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(SchemaError, match=says.replace(".", r"\.").replace("(", r"\(")):
        schema_from_json(document, "schema.json")


def test_broken_json_and_missing_files_say_where(tmp_path):
    (tmp_path / "s.json").write_text('{"columns": {\n  oops')
    with pytest.raises(SchemaError, match="line 2 is not valid JSON"):
        read_schema(tmp_path / "s.json")
    with pytest.raises(InputError, match="no such file"):
        read_schema(tmp_path / "none.json")
    (tmp_path / "x.json").write_text("3")
    with pytest.raises(SchemaError, match="not a schema of unmask"):
        read_schema(tmp_path / "x.json")


def test_reads_the_schema_of_spring_epfl(data):
    schema = read_schema(data / "texas" / "texas.json")
    assert schema.column("PAT_AGE").values[:3] == ("13", "01", "15")
    assert schema.column("TOTAL_CHARGES").lower == -5894.56
    table = read_table(data / "texas" / "texas.csv.gz", schema)
    assert len(table) == 50_000
    assert table.schema.origin is Origin.PUBLIC


def test_reads_the_schema_of_tapas(data):
    schema = read_schema(data / "ons_census2011" / "tapas_schema.json")
    assert len(schema.columns) == 17
    with_id = replace(schema, identifiers=("Person ID",))
    table = read_table(data / "ons_census2011" / "2011-census-microdata-small.csv.gz", with_id)
    assert len(table) == 50_000


SDV = {
    "primary_key": "id",
    "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1",
    "columns": {
        "id": {"sdtype": "id"},
        "mail": {"sdtype": "email", "pii": True},
        "level": {"sdtype": "categorical"},
        "fee": {"sdtype": "numerical"},
        "day": {"sdtype": "datetime", "datetime_format": "%d %b %Y"},
        "member": {"sdtype": "boolean"},
    },
}


@pytest.mark.parametrize(
    "document", [SDV, {"METADATA_SPEC_VERSION": "V1", "tables": {"guests": SDV}, "relationships": []}]
)
def test_reads_sdv_metadata(tmp_path, document):
    (tmp_path / "metadata.json").write_text(json.dumps(document))
    (tmp_path / "real.csv").write_text(
        "id,mail,level,fee,day,member\n1,a@b,3,1.5,03 Feb 2020,True\n2,c@d,4,2.5,04 Mar 2021,False\n"
    )
    hints = read_schema(tmp_path / "metadata.json")
    assert isinstance(hints, Hints)
    table = read_table(tmp_path / "real.csv", hints)
    kinds = {column.name: column.kind for column in table.schema.columns}
    assert kinds == {
        "level": Kind.CATEGORICAL, "fee": Kind.CONTINUOUS, "day": Kind.DATETIME, "member": Kind.CATEGORICAL,
    }  # fmt: skip
    assert table.schema.identifiers == ("id", "mail")
    assert table.schema.origin is Origin.INFERRED
    assert list(table.to_pandas()["day"]) == ["03 Feb 2020", "04 Mar 2021"]


def test_sdv_metadata_of_several_tables_is_refused(tmp_path):
    (tmp_path / "m.json").write_text(json.dumps({"METADATA_SPEC_VERSION": "V1", "tables": {"a": SDV, "b": SDV}}))
    with pytest.raises(SchemaError, match="2 tables"):
        read_schema(tmp_path / "m.json")


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "Float32", "int8", "Int64", "uint8", "category", "bool", "boolean", "string"]
)
def test_the_schema_of_a_frame_can_be_written_and_read(dtype):
    """Types that round are no reason to refuse a schema; those that cannot hold its values are."""
    values = (
        np.random.default_rng(0).normal(size=60) if "loat" in dtype else np.arange(60) % (2 if "bool" in dtype else 5)
    )
    schema = read_table(pd.DataFrame({"a": pd.Series(values).astype(dtype)})).schema
    assert schema_from_json(json.loads(schema_to_json(schema))) == schema
