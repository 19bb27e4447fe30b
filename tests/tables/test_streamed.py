"""Files that are read some rows at a time give the tables, notes and errors of files that are read in one piece."""

import csv
import gzip
import io

import numpy as np
import pandas as pd
import pytest

from unmask.audits.release.tables import read_release
from unmask.errors import InputError
from unmask.tables import _streamed, read
from unmask.tables._streamed import are_even, stacked
from unmask.tables.infer import Counted
from unmask.tables.read import infer, read_frame, read_table

PLAIN = "age,town,pay\n" + "".join(f"{20 + row % 50},{'AB'[row % 2]} town,{row * 1.5}\n" for row in range(200))
FILES = {
    "plain.csv": PLAIN.encode(),
    "mark.csv": b"\xef\xbb\xbf" + PLAIN.encode(),
    "latin.csv": PLAIN.replace("A town", "K\xf6ln").encode("latin-1"),
    "late.csv": (PLAIN + "1,Ende \xe9").encode("latin-1"),  # the last letter is half a character of UTF-8
    "wide.csv": PLAIN.replace("A town", "北京").encode("utf-16"),
    "mac.csv": PLAIN.replace("\n", "\r").encode(),
    "dos.csv": PLAIN.replace("\n", "\r\n").encode(),
    "comma.csv": PLAIN.replace(".", "|").replace(",", ";").replace("|", ",").encode(),
    "gaps.csv": (PLAIN + ",,\n,NA,?\n").encode(),
    "quoted.csv": (PLAIN + '30,"a ""town"",\nfar away",7\n').encode(),
    "one.csv": b"x\n" + b"".join(b"%d\n\n" % row for row in range(40)),
    "tab.tsv": PLAIN.replace(",", "\t").encode(),
    "packed.csv.gz": gzip.compress(PLAIN.encode()),
    "short.csv": (PLAIN + "1,2\n").encode(),
    "twice.csv": PLAIN.replace("town,pay", "pay,pay", 1).encode(),
    "null.csv": (PLAIN + "1,\0,2\n").encode(),
    "header.csv": b"age,town,pay\n",
    "cut.csv.gz": gzip.compress(PLAIN.encode())[:-20],
}


def both(path, monkeypatch, what):
    """What is read in one piece, and in pieces of seven rows."""
    found = []
    for large in (read.LARGE, -1):
        monkeypatch.setattr(read, "LARGE", large)
        monkeypatch.setattr(_streamed, "ROWS_AT_ONCE", 7)
        try:
            found.append(what(path))
        except InputError as problem:
            found.append(str(problem))
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_streamed_file_is_the_same_table(name, tmp_path, monkeypatch):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    whole, parts = both(path, monkeypatch, read_table)
    if isinstance(whole, str):
        assert parts == whole
        return
    assert (parts.schema, parts.notes) == (whole.schema, whole.notes)
    assert parts.digest() == whole.digest()


def test_columns_take_the_least_bytes(tmp_path, monkeypatch):
    """Two texts take a byte a row, three hundred take two."""
    path = tmp_path / "people.csv"
    path.write_text("few,many\n" + "".join(f"{'ab'[row % 2]},{row % 300}\n" for row in range(3_000)))
    monkeypatch.setattr(read, "LARGE", -1)
    frame = read_frame(path).frame
    assert [frame[name].cat.codes.dtype for name in frame] == [np.int8, np.int16]


def test_two_files_together_are_inferred_as_one(tmp_path, monkeypatch):
    """The schema of real table and holdout: texts in order of appearance, whichever of the files is large."""
    first, second = "x,y\n" + "b,1\n" * 30 + "a,2\n" * 30, "x,y\n" + "c,3\n" * 30 + "a,1\n" * 30
    (tmp_path / "one.csv").write_text(first)
    (tmp_path / "two.csv").write_text(second)
    plain = [read_frame(tmp_path / name) for name in ("one.csv", "two.csv")]
    monkeypatch.setattr(read, "LARGE", -1)
    large = [read_frame(tmp_path / name) for name in ("one.csv", "two.csv")]
    expected = pd.concat([each.frame for each in plain], ignore_index=True)
    for pair in (large, [plain[0], large[1]], [large[0], plain[1]]):
        together = stacked([each.frame for each in pair], from_file=True)
        assert together.astype(str).to_numpy().tolist() == expected.astype(str).to_numpy().tolist()
        assert (
            infer(read.replace(large[0], held=together)).schema == infer(read.replace(plain[0], held=expected)).schema
        )


def test_rows_that_were_taken_out_leave_no_value(tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    path.write_text("x,y\n" + "b,1\n" * 30 + "a,2\n" * 30)
    monkeypatch.setattr(read, "LARGE", -1)
    loaded = read_frame(path)
    schema = infer(read.replace(loaded, held=loaded.frame[30:])).schema
    assert schema.column("x").values == ("a",)


def test_packed_files_are_measured_as_they_expand(tmp_path, monkeypatch):
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(PLAIN.encode()))
    monkeypatch.setenv("UNMASK_MAX_EXPANDED", "1000")
    whole, parts = both(path, monkeypatch, read_table)
    assert whole == parts
    assert "more than 1,000 bytes" in parts


def slow(content, delimiter, fields):
    """Whether csv finds so many fields in every line, and none is blank."""
    try:
        rows = list(csv.reader(io.StringIO(content, newline="\n"), delimiter=delimiter))
    except csv.Error:
        return False
    return all(len(row) == fields for row in rows)


def test_lines_that_are_counted_are_those_that_csv_counts(rng, monkeypatch):
    """Whatever stands in a file: never said to be even where csv finds it is not, and always where nothing can mislead."""
    monkeypatch.setattr(_streamed, "BYTES_AT_ONCE", 5)
    said = 0
    for _ in range(3_000):
        ends = rng.choice(["\n", "\r\n", "\n\n", "\r", "\n,"], p=[0.85, 0.12, 0.01, 0.01, 0.01], size=6)
        shares = [0.2, 0.3, 0.3, 0.17, 0.01, 0.01, 0.01]
        fields = [rng.choice(["", "a", "bc", "é", '"', '"x,y"', "d,e"], p=shares, size=3) for _ in ends]
        content = "".join(",".join(row) + end for row, end in zip(fields, ends, strict=True))
        content = content if rng.random() < 0.5 else content.removesuffix("\n")
        even = are_even(lambda content=content: io.BytesIO(content.encode()), ",", 3)
        assert not even or slow(content, ",", 3), content
        plain = '"' not in content and "\r" not in content
        assert even or not plain or not slow(content, ",", 3), content
        said += even
    assert 500 < said < 2_900


def test_a_frame_of_categories_and_its_holdout_keep_their_kinds(rng):
    """Categories that nobody has, numbers that stay numbers: categories of frames are no texts of a file."""

    def people(rows):
        town = pd.Categorical(rng.choice(list("abc"), rows), categories=list("abcd"), ordered=True)
        return pd.DataFrame({"age": rng.integers(18, 90, rows), "pay": rng.normal(size=rows), "town": town})

    schema = read_release(people(500), people(500), people(200), None).schema
    assert [column.kind for column in schema.columns] == ["integer", "continuous", "categorical"]
    assert schema.column("town").values == ("a", "b", "c", "d")
    assert schema.column("town").ordered


def test_quantiles_by_counts_are_those_of_all_rows(rng):
    for rows in (1, 2, 3, 7, 19, 20, 21, 100, 999, 1_000, 4_321):
        for distinct in (1, 3, 50, 5_000):
            numbers = rng.normal(size=distinct)[rng.integers(distinct, size=rows)].round(2) + 0.0
            found = Counted(*np.unique(numbers, return_counts=True))
            for bins in (2, 3, 7, 10, 20, 33):
                shares = np.arange(1, bins) / bins
                expected = np.quantile(numbers, shares, method="inverted_cdf")
                assert found.quantiles(shares).tolist() == expected.tolist()
