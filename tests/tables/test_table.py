import datetime
import pickle

import hypothesis.extra.pandas as odd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unmask.errors import InputError, ParameterError, SchemaError
from unmask.tables.infer import Binning, Hints, infer_schema
from unmask.tables.ranks import Ties, ranks
from unmask.tables.read import read_table
from unmask.tables.schema import Kind
from unmask.tables.table import Table, concatenate
from unmask.tables.units import units


@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("adult/adult_full.csv.gz", {}),
        ("adult/adult_complete.csv.gz", {}),
        ("texas/texas.csv.gz", {"dtype": {"PAT_AGE": str}, "low_memory": False}),
        ("ons_census2011/2011-census-microdata-small.csv.gz", {}),
        ("bike_sharing/day.csv", {}),
        ("bike_sharing/day.csv", {"parse_dates": ["dteday"]}),
        ("insurance/insurance.csv", {}),
    ],
)
def test_real_frames_come_back_as_they_were(data, file, options):
    frame = pd.read_csv(data / file, **options)
    pd.testing.assert_frame_equal(Table.from_pandas(frame).to_pandas(), frame)


TEXT = st.text(max_size=6)


def reads_as_itself(text: str) -> bool:
    """Not as true, false or a number: a column that mixes those with such texts is noted, and has a test of its own."""
    try:
        float(text)
    except ValueError:
        return text not in ("True", "False")
    return False


ODD_COLUMNS = [
    odd.column("whole", dtype=np.int64, elements=st.integers(-(2**53), 2**53)),
    odd.column("huge", dtype=np.int64),
    odd.column("small", dtype=np.uint8),
    odd.column("real", dtype=np.float64, elements=st.floats(-1e307, 1e307)),  # a range must be a number too
    odd.column("short", dtype=np.float32, elements=st.floats(allow_infinity=False, width=32)),
    odd.column("flag", dtype=bool),
    odd.column("text", dtype=object, elements=st.one_of(TEXT, st.none())),
    odd.column(
        "mixed",
        dtype=object,
        elements=st.one_of(TEXT.filter(reads_as_itself), st.booleans(), st.floats(0.1, 0.9), st.none()),
    ),
    odd.column(
        "day",
        dtype=object,
        elements=st.one_of(st.dates(datetime.date(1, 1, 1), datetime.date(9999, 12, 31)), st.none()),
    ),
]


@settings(max_examples=150, deadline=None)
@given(odd.data_frames(ODD_COLUMNS, index=odd.range_indexes(min_size=1, max_size=12)))
def test_odd_frames_come_back_as_they_were(frame):
    frame["category"] = pd.Categorical(frame["small"] % 3, categories=[2, 0, 1, 7], ordered=True)
    frame["string"] = frame["text"].astype("string")
    frame["nullable"] = pd.array([None if v % 2 else int(v) for v in frame["small"]], dtype="Int16")
    frame["moment"] = pd.to_datetime(frame["small"].astype("int64") * 1001, unit="ms", utc=True)
    back = Table.from_pandas(frame).to_pandas()
    pd.testing.assert_frame_equal(back, frame)


@settings(max_examples=60, deadline=None)
@given(odd.data_frames(ODD_COLUMNS, index=odd.range_indexes(min_size=1, max_size=12)))
def test_equal_schema_and_codes_whatever_the_row_order(frame):
    """Encoding is a function of the value alone."""
    table = Table.from_pandas(frame)
    backwards = Table.from_pandas(frame.iloc[::-1].reset_index(drop=True), table.schema)
    assert np.array_equal(backwards.codes[::-1], table.codes)


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ([1 + 2j], "plain number"),
        (pd.to_timedelta([3], unit="s"), "plain number"),
        ([[1, 2]], "objects of type 'list'"),
        ([b"x"], "objects of type 'bytes'"),
        (pd.to_datetime([1], unit="ns"), "Round it to microseconds"),
    ],
)
def test_columns_without_a_meaning_are_refused(column, says):
    with pytest.raises(InputError, match=says):
        Table.from_pandas(pd.DataFrame({"x": column}))


def test_frames_without_rows_columns_or_own_names_are_refused():
    with pytest.raises(InputError, match="no rows"):
        Table.from_pandas(pd.DataFrame({"x": []}))
    with pytest.raises(InputError, match="no columns"):
        Table.from_pandas(pd.DataFrame(index=[0]))
    with pytest.raises(InputError, match="more than once"):
        Table.from_pandas(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="this is a list"):
        read_table([1, 2])


def test_all_missing_and_constant_columns_are_noted_and_kept():
    frame = pd.DataFrame({"gone": [np.nan] * 3, "void": [None] * 3, "same": [4, 4, 4], "word": ["a"] * 3})
    table = Table.from_pandas(frame)
    assert [note.split("column ")[1] for note in table.notes] == [
        "'gone' has no values at all.",
        "'void' has no values at all.",
        "'same' has the same value in every row.",
        "'word' has the same value in every row.",
    ]
    pd.testing.assert_frame_equal(table.to_pandas(), frame)


def test_mixed_numbers_and_texts_that_read_the_same_are_noted():
    table = Table.from_pandas(pd.DataFrame({"x": pd.Series(["1", 1, "2"], dtype=object)}))
    assert "mixes types" in table.notes[0]
    assert table.codes[:, 0].tolist() == [0, 0, 1]


def test_one_row_works():
    table = Table.from_pandas(pd.DataFrame({"x": [1], "y": ["a"]}))
    assert len(table) == 1


def test_codes_take_the_smallest_type_that_fits():
    assert Table.from_pandas(pd.DataFrame({"x": ["a", "b"]})).codes.dtype == np.uint8
    many = pd.DataFrame({"x": [f"v{i % 300}" for i in range(900)]})
    assert Table.from_pandas(many).codes.dtype == np.uint16


def test_nearly_unique_text_is_an_identifier_and_unique_numbers_are_noted():
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(100)], "id": range(100), "sex": ["f", "m"] * 50})
    inferred = infer_schema(frame)
    assert inferred.schema.identifiers == ("name",)
    assert inferred.schema.keys == ("sex",)
    assert "'id' differs in every row" in inferred.notes[1]


def test_quantile_bins_are_about_equally_full_and_atoms_get_their_own(rng):
    values = np.concatenate([np.zeros(500), rng.lognormal(3, 1, 1500)])
    schema = infer_schema(pd.DataFrame({"x": values}), binning=Binning(10)).schema
    counts = np.bincount(schema.columns[0].bin_of(values))
    assert counts[0] == 500
    assert counts[1:].max() <= 220
    uniform = infer_schema(pd.DataFrame({"x": values}), binning=Binning(10, quantile=False)).schema
    assert np.allclose(np.diff(uniform.columns[0].edges), (values.max() - 0) / 10)


def test_hints_declare_kinds_and_refuse_what_does_not_fit():
    frame = pd.DataFrame({"zip": [1, 2, 1], "n": ["1", "x", "2"], "d": ["1/2/2020", "3/4/2020", "5/6/2020"]})
    schema = infer_schema(frame, hints=Hints(kinds={"zip": Kind.CATEGORICAL})).schema
    assert schema.column("zip").values == (1, 2)
    with pytest.raises(SchemaError, match="declared as a number, but holds 'x'"):
        infer_schema(frame, hints=Hints(kinds={"n": Kind.CONTINUOUS}))
    with pytest.raises(SchemaError, match="declared as a date"):
        infer_schema(frame, hints=Hints(kinds={"d": Kind.DATETIME}, layouts={"d": "%Y"}))
    with pytest.raises(InputError, match="no column 'q'"):
        infer_schema(frame, hints=Hints(person="q"))


def test_take_select_and_concatenate_keep_rows_together(people):
    frame = people.to_pandas()
    rows = np.array([5, 3, 3, 199])
    pd.testing.assert_frame_equal(people.take(rows).to_pandas(), frame.iloc[rows].reset_index(drop=True))
    mask = frame["smoker"].to_numpy()
    pd.testing.assert_frame_equal(people.take(mask).to_pandas(), frame[mask].reset_index(drop=True))
    pd.testing.assert_frame_equal(people.between(3, 9).to_pandas(), frame.iloc[3:9].reset_index(drop=True))
    assert people.between(190, 900).digest() == people.take(np.arange(190, len(people))).digest()
    assert np.shares_memory(people.between(3, 9).codes, people.codes)
    assert people.select(["income", "sex"]).to_pandas().equals(frame[["income", "sex"]])
    both = concatenate([people.take([0, 1]), people.take([2])])
    assert both.to_pandas().equals(people.take([0, 1, 2]).to_pandas())
    with pytest.raises(SchemaError, match="one schema"):
        concatenate([people, people.select(["sex"])])
    with pytest.raises(SchemaError, match="no column 'x'"):
        people.select(["x"])


def test_tables_stay_column_by_column(people):
    for table in (people, people.take([1, 2, 3]), people.select(["age", "sex"]), concatenate([people, people])):
        assert table.codes.flags.f_contiguous
        assert table.numbers.flags.f_contiguous


def test_tables_pickle_and_digests_tell_tables_apart(people):
    again = pickle.loads(pickle.dumps(people))
    assert again.digest() == people.digest()
    assert people.take(np.arange(200)[::-1]).digest() != people.digest()


PERSONS = pd.DataFrame({"who": ["b", "a", "b", "c", "a", "b"], "x": [1, 2, 3, 4, 5, 6]})


def test_units_are_rows_or_persons():
    assert units(Table.from_pandas(PERSONS)).count == 6
    schema = infer_schema(PERSONS, hints=Hints(person="who")).schema
    table = Table.from_pandas(PERSONS, schema)
    unit = units(table)
    assert unit.count == 3
    assert unit.labels.tolist() == ["b", "a", "c"]
    assert unit.sizes.tolist() == [3, 2, 1]
    assert unit.rows(np.array([0])).tolist() == [0, 2, 5]
    assert table.to_pandas()["who"].tolist() == list(PERSONS["who"])


def test_rows_without_a_person_are_refused():
    schema = infer_schema(PERSONS, hints=Hints(person="who")).schema
    with pytest.raises(InputError, match="row 1 has no person id in column 'who'"):
        Table.from_pandas(PERSONS.assign(who=["a", None, "b", "b", "c", "c"]), schema)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 60), st.integers(0, 5), st.floats(0.05, 0.95))
def test_split_is_disjoint_by_unit_and_loses_nobody(count, seed, share):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"who": rng.integers(0, count, 200), "row": np.arange(200)})
    schema = infer_schema(frame, hints=Hints(person="who")).schema
    table = Table.from_pandas(frame, schema)
    people_count = units(table).count
    if round(share * people_count) in (0, people_count):
        with pytest.raises(ParameterError, match="empty"):
            table.split(share, seed=seed)
        return
    first, second = table.split(share, seed=seed)
    assert not set(first.persons) & set(second.persons)
    assert sorted([*first.numbers[:, 0], *second.numbers[:, 0]]) == list(range(200))
    assert units(first).count == round(share * people_count)


def test_split_repeats_for_a_seed_and_refuses_nonsense(people):
    assert people.split(0.5, seed=3)[0].digest() == people.split(0.5, seed=3)[0].digest()
    assert people.split(0.5, seed=3)[0].digest() != people.split(0.5, seed=4)[0].digest()
    with pytest.raises(ParameterError, match="between 0 and 1"):
        people.split(1.5, seed=0)


def test_ranks_in_order_are_permutations_and_middle_ranks_ignore_the_row(people):
    in_order, middle = ranks(people, Ties.IN_ORDER), ranks(people, Ties.MIDDLE)
    assert np.array_equal(np.sort(in_order, axis=0), np.tile(np.arange(1, 201.0)[:, None], (1, 6)))
    shuffle = np.random.default_rng(0).permutation(200)
    assert np.array_equal(ranks(people.take(shuffle), Ties.MIDDLE), middle[shuffle])
    assert middle[:, 0].sum() == 200 * 201 / 2
    income = people.to_pandas()["income"].to_numpy()
    assert in_order[np.isnan(income), 3].min() > in_order[~np.isnan(income), 3].max(), "missing values come last"
