"""A Parquet file that is read some rows at a time is the table that pandas makes of it in one piece."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

from unmask.audits.release.tables import read_release
from unmask.errors import InputError
from unmask.tables import _parquet, read
from unmask.tables._packed import is_packed, plain, unpacked
from unmask.tables.infer import Hints
from unmask.tables.read import Frame, encode_frame, infer, read_frame, read_table
from unmask.tables.schema import Kind

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

ROWS = 60
COUNT = range(ROWS)
DAY, NOON = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 12)
DAYS = [DAY + datetime.timedelta(days=3 * (row % 17)) for row in COUNT]
TIMES = [NOON + datetime.timedelta(seconds=row % 23) for row in COUNT]
TOWNS = ["Bern", "Genève", "", "NA", "Chur"]


def gaps(values):
    return [None if row % 5 == 3 else value for row, value in enumerate(values)]


def kinds():
    """Arrow columns of every type that a file may hold."""
    found = {
        "texts": pa.array([TOWNS[row % 5] for row in COUNT]),
        "long texts": pa.array([TOWNS[row % 3] for row in COUNT], pa.large_string()),
        "text of numbers": pa.array([str(row % 7) for row in COUNT]),
        "text of dates": pa.array([str(day) for day in DAYS]),
        "ids": pa.array([f"p{row}" for row in COUNT]),
        "all different": pa.array(list(COUNT)),
        "float": pa.array([row % 9 / 10 for row in COUNT]),
        "short float": pa.array([row % 9 / 10 for row in COUNT], pa.float32()),
        "half float": pa.array(np.arange(ROWS, dtype=np.float16) / 4),
        "not a number": pa.array([float("nan") if row % 4 else 1.5 for row in COUNT]),
        "minus nought": pa.array([-0.0 if row % 2 else 0.0 for row in COUNT]),
        "infinite": pa.array([float("inf") if row == 31 else row / 4 for row in COUNT]),
        "beyond a float": pa.array([2**60 + row % 3 for row in COUNT]),
        "unsigned": pa.array([2**63 + row % 3 for row in COUNT], pa.uint64()),
        "days": pa.array(DAYS),
        "far days": pa.array([datetime.date(1200, 1, 1 + row % 9) for row in COUNT]),
        "milliseconds": pa.array(TIMES, pa.timestamp("ms")),
        "microseconds": pa.array(TIMES, pa.timestamp("us")),
        "nanoseconds": pa.array([10**18 + row % 4 for row in COUNT], pa.timestamp("ns")),
        "zone": pa.array(TIMES, pa.timestamp("us", tz="Europe/Zurich")),
        "truth": pa.array([row % 3 == 0 for row in COUNT]),
        "constant": pa.array([7] * ROWS),
        "nothing": pa.nulls(ROWS),
        "no texts": pa.nulls(ROWS, pa.string()),
        "no numbers": pa.nulls(ROWS, pa.int32()),
        "no days": pa.nulls(ROWS, pa.date32()),
        "categories": pa.array([TOWNS[row % 4] for row in COUNT]).dictionary_encode(),
        "decimals": pa.array([decimal.Decimal(row % 9) / 4 for row in COUNT]),
        "list": pa.array([[row] for row in COUNT]),
        "struct": pa.array([{"x": row} for row in COUNT]),
        "bytes": pa.array([b"ab"] * ROWS),
        "hours": pa.array([datetime.time(row % 24) for row in COUNT]),
        "duration": pa.array([datetime.timedelta(row) for row in COUNT]),
    }
    for bits in (8, 16, 32, 64):
        found[f"int{bits}"] = pa.array([row % 11 - 5 for row in COUNT], f"int{bits}")
        found[f"uint{bits}"] = pa.array([row % 11 for row in COUNT], f"uint{bits}")
    return found | {f"{name}, gaps": pa.array(gaps(column.to_pylist()), column.type) for name, column in found.items()}


def in_one_piece(path):
    return Frame(_parquet._in_one_piece(path, None), path.name)


def made(loaded, hints=Hints()):
    """The table that a frame becomes, or what is wrong with it."""
    try:
        inferred = infer(loaded, hints)
        return encode_frame(read.replace(loaded, notes=inferred.notes), inferred.schema, unlisted=read.Unlisted.ERROR)
    except InputError as problem:
        return str(problem)


def same(one, other):
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    equal = np.array_equal(one.numbers, other.numbers, equal_nan=True) and one.codes.tobytes() == other.codes.tobytes()
    signs = np.array_equal(np.signbit(one.numbers), np.signbit(other.numbers))
    return equal and signs and (one.schema, one.notes, one.digest()) == (other.schema, other.notes, other.digest())


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(_parquet, "ROWS_AT_ONCE", 7)


@pytest.mark.parametrize("name", kinds())
def test_every_type_is_read_as_in_one_piece(name, tmp_path, small_parts):
    path = tmp_path / "people.parquet"
    table = pa.table({"x": kinds()[name], "y": pa.array([row % 6 for row in COUNT])})
    parquet.write_table(table, path, row_group_size=20)
    loaded, whole = read_frame(path), in_one_piece(path)
    assert is_packed(loaded.frame["y"])
    pd.testing.assert_series_equal(plain(loaded.frame["x"]), whole.frame["x"])
    assert same(made(loaded), made(whole))
    for kind in Kind:  # also where somebody says what it is
        hints = Hints(kinds={"x": kind})
        assert same(made(loaded, hints), made(whole, hints)), kind
    if not isinstance(known := made(whole), str):
        assert same(read_table(path, known.schema), replace_notes(read_table(whole.frame, known.schema)))


def replace_notes(table):
    return read.replace(table, notes=tuple(note.replace("table:", "people.parquet:") for note in table.notes))


FRAMES = {
    "plain": {},
    "index": {"index": pd.Index([f"i{row}" for row in COUNT])},
    "named index": {"index": pd.Index(list(COUNT)[::-1], name="who")},
    "columns by number": {"columns": [0, 1, 2, 3, 4, 5]},
}


@pytest.mark.parametrize("name", FRAMES)
def test_what_pandas_wrote_comes_back_in_its_types(name, tmp_path, small_parts):
    """Types and an index that Arrow knows nothing of, kept in what pandas notes in the file."""
    frame = pd.DataFrame(
        {
            "age": pd.array(gaps([row % 50 for row in COUNT]), dtype="Int64"),
            "town": pd.array([TOWNS[row % 5] for row in COUNT], dtype="string"),
            "kind": pd.Categorical([TOWNS[row % 2] for row in COUNT], categories=TOWNS),
            "truth": pd.array(gaps([row % 2 == 0 for row in COUNT]), dtype="boolean"),
            "pay": [row / 4 for row in COUNT],
            "born": pd.to_datetime(DAYS).as_unit("us"),
        }
    ).set_axis(FRAMES[name].get("columns", list("abcdef")), axis=1)
    frame.index = FRAMES[name].get("index", frame.index)
    frame.to_parquet(path := tmp_path / "people.parquet", row_group_size=13)
    loaded, whole = read_frame(path), in_one_piece(path)
    assert list(loaded.frame.columns) == list(whole.frame.columns)
    for column in whole.frame.columns:
        pd.testing.assert_series_equal(plain(loaded.frame[column]), whole.frame[column])
    assert same(made(loaded), made(whole))


def test_columns_take_the_least_bytes(tmp_path, small_parts):
    columns = {"few": [row % 2 for row in range(3_000)], "many": [f"t{row % 300}" for row in range(3_000)]}
    parquet.write_table(pa.table(columns), path := tmp_path / "people.parquet")
    frame = read_frame(path).frame
    assert [unpacked(frame[name])[1].dtype for name in frame] == [np.int8, np.int16]
    assert unpacked(frame["many"])[0].tolist()[:3] == ["t0", "t1", "t2"], "in order of first appearance"


def test_two_files_together_are_inferred_as_one(tmp_path, small_parts):
    """Also where one of them has gaps, so that pandas has whole numbers here and floats there."""
    for name, low in (("real", 0), ("synthetic", 0), ("holdout", 40)):
        ages = [low + row % 30 for row in COUNT]
        towns, pay = [TOWNS[(row + low) % 5] for row in COUNT], [row % 8 / 8 for row in COUNT]
        table = {"age": gaps(ages) if low else ages, "town": towns, "pay": pay}
        parquet.write_table(pa.table(table), tmp_path / f"{name}.parquet")
    paths = [tmp_path / f"{name}.parquet" for name in ("real", "synthetic", "holdout")]
    packed, whole = read_release(*paths, None), read_release(*(in_one_piece(path).frame for path in paths), None)
    assert packed.schema == whole.schema
    assert [table.digest() for _, table in packed.tables] == [table.digest() for _, table in whole.tables]
    loaded = read_frame(paths[0])
    schema = infer(read.replace(loaded, held=loaded.frame[1:5])).schema
    assert "Bern" not in schema.column("town").values, "of the row that was taken out"


def test_person_ids_are_the_texts_that_they_were(tmp_path, small_parts):
    ids = {"who": [row // 2 for row in COUNT], "when": TIMES, "age": [row % 50 for row in COUNT]}
    parquet.write_table(pa.table(ids), path := tmp_path / "people.parquet")
    for name in ("who", "when"):
        hints = Hints(person=name)
        assert made(read_frame(path), hints).persons.tolist() == made(in_one_piece(path), hints).persons.tolist()


def test_a_file_without_rows_or_with_doubled_names_says_so(tmp_path):
    parquet.write_table(pa.table({"x": pa.array([], pa.int64())}), path := tmp_path / "none.parquet")
    with pytest.raises(InputError, match=r"none\.parquet: there is a header but no rows"):
        read_table(path)
    parquet.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["x", "x"]), path)
    with pytest.raises(InputError, match=r"none\.parquet"):
        read_table(path)


def test_frames_of_dictionaries_are_read_by_their_values():
    """pandas keeps such columns of Arrow; their type could not be given back."""
    values = pa.array(gaps([row % 11 for row in COUNT])).dictionary_encode()
    towns = (
        pa.array([TOWNS[row % 5] for row in COUNT]).dictionary_encode().cast(pa.dictionary(pa.uint32(), pa.string()))
    )
    frame = pd.DataFrame({"x": pd.arrays.ArrowExtensionArray(values), "y": pd.arrays.ArrowExtensionArray(towns)})
    table = read_table(frame)
    assert [column.kind for column in table.schema.columns] == [Kind.INTEGER, Kind.CATEGORICAL]
    assert table.to_pandas()["y"].tolist() == [TOWNS[row % 5] for row in COUNT]
