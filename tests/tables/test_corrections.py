"""Corrections of a proposed schema: a pure function, the same from options and from a file."""

import json
from dataclasses import replace

import pandas as pd
import pytest

import unmask
from unmask.cli import main
from unmask.errors import SchemaError
from unmask.tables.corrections import Corrections, corrected, corrections_from_plain
from unmask.tables.schema import Column, Kind, Origin, Schema

AGE = Column("age", Kind.INTEGER, lower=17, upper=90, cuts=(30, 60), dtype="int64")
ZIP = Column("zip", Kind.CATEGORICAL, values=("8001", "8002"))
SEX = Column("sex", Kind.CATEGORICAL, values=("f", "m"))
BORN = Column("born", Kind.DATETIME, lower=0, upper=10_000, format="%d.%m.%Y", resolution="D")
PROPOSED = Schema((AGE, ZIP, SEX, BORN), keys=("age", "sex"), identifiers=("name",), origin=Origin.INFERRED)


def test_nothing_corrected_is_nothing_changed():
    assert corrected(PROPOSED, Corrections()) == PROPOSED


def test_roles():
    made = corrected(PROPOSED, Corrections(keys=("zip", "born"), secrets=("age",), identifiers=("sex",)))
    assert (made.keys, made.secrets, made.identifiers) == (("zip", "born"), ("age",), ("name", "sex"))
    assert made.names == ("age", "zip", "born")
    assert corrected(PROPOSED, Corrections(secrets=("age",))).keys == ("sex",)  # a secret is no key
    assert corrected(PROPOSED, Corrections(keys=())).keys == ()
    assert corrected(PROPOSED, Corrections(public=True)).origin is Origin.PUBLIC


def test_a_person_column_is_taken_out_of_columns_and_of_identifiers():
    assert corrected(PROPOSED, Corrections(person="zip")).names == ("age", "sex", "born")
    made = corrected(PROPOSED, Corrections(person="name"))
    assert (made.person, made.identifiers) == ("name", ())


def test_domains():
    values, ranges = {"sex": ("f", "m", "x")}, {"age": (0, 120), "born": ("1900-01-01", "2020-12-31")}
    made = corrected(PROPOSED, Corrections(values=values, ranges=ranges))
    assert made.column("sex").values == ("f", "m", "x")
    assert (made.column("age").lower, made.column("age").upper, made.column("age").cuts) == (0, 120, (30, 60))
    assert made.column("born").upper == 18_627  # days from 1970 to the end of 2020
    narrow = corrected(PROPOSED, Corrections(ranges={"age": ("17", "40")}))
    assert narrow.column("age").cuts == (30,)


def test_one_bin_for_each_value_stays_so():
    schema = Schema((Column("rooms", Kind.INTEGER, lower=1, upper=8, bins=8),))
    assert corrected(schema, Corrections(ranges={"rooms": (0, 20)})).column("rooms").bins == 21
    assert corrected(schema, Corrections(ranges={"rooms": (0, 10_000)})).column("rooms").bins == 8


def test_values_of_another_type_stay_what_they_are():
    schema = Schema((Column("rooms", Kind.CATEGORICAL, values=(1, 2, True)),))
    assert corrected(schema, Corrections(values={"rooms": ("1", "2", "3")})).column("rooms").values == (1, 2, "3")


def test_kinds_that_the_domain_tells():
    made = corrected(PROPOSED, Corrections(kinds={"age": Kind.CONTINUOUS, "zip": Kind.INTEGER}))
    assert (made.column("age").kind, made.column("age").cuts) == (Kind.CONTINUOUS, (30, 60))
    assert (made.column("zip").kind, made.column("zip").lower, made.column("zip").upper) == (Kind.INTEGER, 8001, 8002)
    half = replace(AGE, kind=Kind.CONTINUOUS, lower=17.5, upper=90.5, cuts=(17.9, 60.5, 61), dtype="float64")
    whole = corrected(Schema((half,)), Corrections(kinds={"age": Kind.INTEGER})).column("age")
    assert (whole.lower, whole.upper, whole.cuts, whole.dtype) == (17, 91, (18, 61), "int64")
    listed = Corrections(kinds={"age": Kind.CATEGORICAL}, values={"age": ("17", "18")})
    assert corrected(PROPOSED, listed).column("age").values == ("17", "18")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"keys": ("nowhere",)}, "no column 'nowhere'. Columns: 'age', 'born', 'name', 'sex', 'zip'"),
        ({"keys": ("name",)}, "keys: 'name' is left out as an identifier"),
        ({"kinds": {"age": Kind.CATEGORICAL}}, "--kind age=categorical"),
        ({"kinds": {"sex": Kind.INTEGER}}, "is categorical, and what it would be as integer is not known"),
        ({"formats": {"born": "%m.%d.%Y"}}, "read them again"),
        ({"values": {"age": (1, 2)}}, "has a range and no values"),
        ({"ranges": {"sex": (1, 2)}}, "has values and no range"),
        ({"ranges": {"age": (50, 2)}}, "lower 50 is above upper 2"),
        ({"ranges": {"age": ("a", "b")}}, "write a number"),
        ({"ranges": {"born": ("1.1.1900", "2.2.2000")}}, "write a date"),
        ({"values": {"sex": ("f", "f")}}, "occurs more than once"),
        ({"identifiers": ("age", "zip", "sex", "born")}, "nothing is left"),
    ],
)
def test_what_does_not_fit_is_told(wrong, told):
    with pytest.raises(SchemaError, match=told):
        corrected(PROPOSED, Corrections(**wrong))


@pytest.mark.parametrize(
    "wrong",
    [
        {"keys": ("age",), "secrets": ("age",)}, {"keys": ("age",), "identifiers": ("age",)},
        {"person": "age", "kinds": {"age": Kind.INTEGER}}, {"person": "age", "identifiers": ("age",)},
    ],
)  # fmt: skip
def test_a_column_has_one_role(wrong):
    with pytest.raises(SchemaError, match="Choose one"):
        Corrections(**wrong)


@pytest.mark.parametrize(
    "plain",
    [
        [], {"key": ["age"]}, {"keys": "age"}, {"keys": [1]}, {"person": 3}, {"public": "yes"}, {"kinds": ["age"]},
        {"kinds": {"age": "number"}}, {"kinds": {"age": []}}, {"ranges": {"age": [1]}}, {"ranges": {"age": "1..2"}},
        {"values": {"age": "a"}}, {"values": {"age": [None]}}, {"formats": {"born": 3}},
    ],
)  # fmt: skip
def test_files_that_are_wrong_are_told(plain):
    with pytest.raises(SchemaError, match=r"roles\.json"):
        corrections_from_plain(plain, "roles.json")


@pytest.fixture
def people(tmp_path):
    """Ids that differ for everybody, codes that look like numbers, dates that could be read in two ways."""
    frame = pd.DataFrame(
        {
            "id": [f"K{number:05d}" for number in range(0, 6000, 100)],
            "zip": [8000 + number % 7 for number in range(60)],
            "age": [20 + number % 50 for number in range(60)],
            "seen": [f"{1 + number % 9:02d}/{1 + number % 11:02d}/2020" for number in range(60)],
            "income": ["low", "high"] * 30,
        }
    )
    frame.to_csv(tmp_path / "real.csv", index=False)
    other = frame.assign(id=[f"L{number:05d}" for number in range(60)], income=["low", "middle"] * 30)
    other.to_csv(tmp_path / "holdout.csv", index=False)
    other.to_csv(tmp_path / "synthetic.csv", index=False)
    return tmp_path


def words(place):
    return ["schema", str(place / "real.csv"), "--quiet", "-o", str(place / "schema.json")]


def test_the_command_corrects_and_the_audit_takes_what_it_wrote(people):
    asked = (
        "--key", "age", "--key", "zip", "--secret", "income", "--person", "id", "--kind", "zip=categorical", "--range",
        "age=0..120", "--format", "seen=%m/%d/%Y", "--value", "income=low", "--value", "income=high", "--value", "income=middle",
    )  # fmt: skip
    assert main.answer([*words(people), *asked]) == 0
    made = unmask.read_schema(people / "schema.json")
    assert (made.keys, made.secrets, made.person) == (("age", "zip"), ("income",), "id")
    assert made.column("zip").kind is Kind.CATEGORICAL
    assert (made.column("age").lower, made.column("age").upper) == (0, 120)
    assert made.column("seen").format == "%m/%d/%Y"
    assert made.column("income").values == ("low", "high", "middle")
    files = [str(people / name) for name in ("real.csv", "synthetic.csv")]
    assert main.answer(["check", *files, "--schema", str(people / "schema.json"), "--quiet", "--fail-on", "none"]) == 0


def test_the_same_from_a_file(people):
    options = ("--key", "age", "--secret", "income", "--identifier", "zip", "--range", "age=0..120", "--public")
    assert main.answer([*words(people), *options]) == 0
    typed = (people / "schema.json").read_text()
    plain = {
        "keys": ["age"],
        "secrets": ["income"],
        "identifiers": ["zip"],
        "ranges": {"age": [0, 120]},
        "public": True,
    }
    (people / "roles.json").write_text(json.dumps(plain))
    assert main.answer([*words(people), "--corrections", str(people / "roles.json")]) == 0
    assert (people / "schema.json").read_text() == typed


def test_a_kind_keeps_a_column_from_being_an_identifier(people):
    assert main.answer(words(people)) == 0
    assert unmask.read_schema(people / "schema.json").identifiers == ("id",)
    assert main.answer([*words(people), "--kind", "id=categorical"]) == 0
    made = unmask.read_schema(people / "schema.json")
    assert made.identifiers == ()
    assert len(made.column("id").values) == 60


def test_a_schema_of_unmask_can_be_corrected_again(people):
    assert main.answer([*words(people), "--person", "id", "--secret", "income"]) == 0
    first = unmask.read_schema(people / "schema.json")
    again = [*words(people)[:-1], str(people / "again.json"), "--from", str(people / "schema.json"), "--no-keys"]
    assert main.answer(again) == 0
    assert unmask.read_schema(people / "again.json") == replace(first, keys=())


def test_values_of_the_holdout_belong_to_the_domain(people):
    assert main.answer([*words(people), "--holdout", str(people / "holdout.csv")]) == 0
    made = unmask.read_schema(people / "schema.json")
    assert made.column("income").values == ("high", "low", "middle")
    assert made.identifiers == ("id",)


@pytest.mark.parametrize(
    "asked",
    [("--kind", "zip"), ("--kind", "zip=number"), ("--range", "age=3"), ("--value", "=3"), ("--corrections", "nowhere.json"),
     ("--value", "income=low"), ("--range", "age=0..30"), ("--kind", "income=integer"), ("--key", "nobody")],
)  # fmt: skip
def test_wrong_options_are_exit_2(people, asked, capsys):
    assert main.answer([*words(people), *asked]) == 2
    assert "defect" not in capsys.readouterr().err
    assert not (people / "schema.json").exists()


def test_public_says_what_it_vouches_for(people, capsys):
    command = [word for word in words(people) if word != "--quiet"]
    assert main.answer([*command, "--public", "--range", "age=0..120"]) == 0
    told = capsys.readouterr().err
    assert "--public vouches for what was read off the data: values or range of 'zip', 'seen', 'income'" in told
    assert "cuts of 'age'" in told
