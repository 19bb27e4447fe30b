"""Files and frames to tables, and back: the only place in `tables` that touches files."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from unmask.errors import InputError, MissingExtraError, SchemaError
from unmask.files import limit, parse_json, read_text, shown, write_atomically
from unmask.tables._numerals import NUMBER, PLAIN
from unmask.tables._raw import raw_column
from unmask.tables._streamed import NotStreamedError, are_even, encoding_of, read_columns, stacked, texts, too_large
from unmask.tables._text_columns import TextColumns, is_plain, read_texts, uneven
from unmask.tables.encode import Unlisted
from unmask.tables.infer import Binning, Hints, Inferred, identifying_columns, infer_schema
from unmask.tables.schema import Schema, quoted, repeats
from unmask.tables.schema_foreign import hints_from_sdv, is_list_of_columns, is_sdv, schema_from_columns
from unmask.tables.schema_json import schema_from_json, schema_to_json
from unmask.tables.table import Table, check_frame, check_width

if TYPE_CHECKING:
    import pandas as pd

Source = Any  # a path, a Table, or a frame of pandas, polars or pyarrow

DELIMITERS = (",", ";", "\t", "|")
PARQUET = (".parquet", ".pq")
MOST_EXPANDED = 4 * 2**30  # bytes
LARGE, EXPANSION = 16 * 2**20, 5  # bytes of a file that is read some rows at a time; how much a compressed one grows
SEEN = 100_000  # characters by which the delimiter is told
HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, eq=False)
class Frame:
    """The columns of a source, what to call it in messages, and whether its texts may be numbers."""

    held: pd.DataFrame | TextColumns  # of small files without quotes their texts
    where: str
    from_file: bool = False
    notes: tuple[str, ...] = ()
    decimal: str = "."  # the mark before decimals that goes with the file's delimiter

    @cached_property
    def frame(self) -> pd.DataFrame:
        """As pandas has it."""
        return self.held.to_pandas() if isinstance(self.held, TextColumns) else self.held

    def texts(self, name: str) -> np.ndarray:
        """The texts of a column as they stand in a file; "" where there is none."""
        raw = raw_column(self.held[name], self.where, from_file=self.from_file).as_categories()
        return np.array([*raw.texts, ""], dtype=object)[raw.index]


def read_table(
    source: Source,
    schema: Schema | Hints | str | os.PathLike[str] | None = None,
    *,
    unlisted: Unlisted | str = Unlisted.ERROR,
) -> Table:
    """A table from a path (CSV, TSV, Parquet; gz), a frame (pandas, polars, pyarrow) or a table.

    Without a schema one is inferred from this very table, and the table says so. `unlisted="note"` gives values
    that the schema does not list a code that matches nothing, instead of an error: for synthetic tables.
    """
    if isinstance(source, Table) and (schema is None or schema == source.schema):
        return source
    loaded = read_frame(source)
    known = read_schema(schema) if isinstance(schema, str | os.PathLike) else schema
    notes = loaded.notes
    if known is None or isinstance(known, Hints):
        inferred = infer(loaded, known or Hints())
        known, notes = inferred.schema, notes + inferred.notes
    return encode_frame(replace(loaded, notes=notes), known, unlisted=Unlisted(unlisted))


def encode_frame(loaded: Frame, schema: Schema, *, unlisted: Unlisted) -> Table:
    """The table that a loaded frame holds, under a schema."""
    table = Table.from_pandas(loaded.held, schema, unlisted=unlisted, where=loaded.where, from_file=loaded.from_file)
    return replace(table, notes=loaded.notes + table.notes)


def infer(loaded: Frame, hints: Hints = Hints(), *, binning: Binning = Binning()) -> Inferred:
    """The schema of a loaded frame, guessed from its content."""
    return infer_schema(
        loaded.held, loaded.where, hints=hints, binning=binning, from_file=loaded.from_file, decimal=loaded.decimal
    )


def infer_together(
    loaded: Frame, others: Sequence[Frame], hints: Hints = Hints(), *, binning: Binning = Binning()
) -> Inferred:
    """The schema of a frame whose domains hold the values of others of the same population too.

    What identifies people is told by the first alone: where tables number their rows from 1, every number occurs twice.
    """
    first = infer(loaded, hints, binning=binning)
    alike = [each.held for each in others if each.from_file == loaded.from_file]
    if not alike:
        return first
    together = replace(loaded, held=stacked([loaded.held, *alike], from_file=loaded.from_file))
    whole = infer(together, replace(hints, identifiers=first.schema.identifiers), binning=binning)
    return replace(whole, noticed=(*(each for each in first.noticed if each.code == "identifier"), *whole.noticed))


def identifiers_in(loaded: Frame, hints: Hints) -> tuple[str, ...]:
    """The columns of a loaded frame that identify people."""
    return identifying_columns(loaded.held, loaded.where, hints, from_file=loaded.from_file, decimal=loaded.decimal)


def read_frame(source: Source) -> Frame:
    """Load whatever holds a table, without looking into its values yet."""
    if isinstance(source, str | os.PathLike):
        return _read_file(Path(source))
    if isinstance(source, Table):
        return Frame(source.to_pandas(), "table")
    import pandas as pd

    frame = source if isinstance(source, pd.DataFrame) else _foreign_frame(source)
    check_frame(frame, "table")
    return Frame(frame.set_axis([str(name) for name in frame.columns], axis=1), "table")


def _foreign_frame(source: Source) -> pd.DataFrame:
    if not hasattr(source, "to_pandas"):
        raise InputError(
            f"A table is a path, a pandas, polars or pyarrow frame, or a Table; this is a {type(source).__name__}."
        )
    from unmask.tables._parquet import rounded_integers, with_integers

    try:
        frame = source.to_pandas()
        if rounded := rounded_integers(frame):
            arrow = source.to_arrow() if hasattr(source, "to_arrow") else source
            frame = with_integers(frame, arrow.select(rounded))
        return frame
    except ImportError as problem:
        raise MissingExtraError(
            f"This frame needs pyarrow. Install it with: pip install 'unmask[parquet]' ({problem})"
        ) from None


def _read_file(path: Path) -> Frame:
    where = path.name
    if not os.path.exists(path):
        raise InputError(f"{shown(path)}: there is no such file.")
    if os.path.isdir(path):
        raise InputError(f"{shown(path)}: this is a folder. Name one file.")
    if path.suffix.lower() in PARQUET:
        from unmask.tables._parquet import read_parquet

        return Frame(read_parquet(path, limit("UNMASK_MAX_EXPANDED", MOST_EXPANDED)), where)
    try:
        if (streamed := _read_streamed(path)) is not None:
            return streamed
        content = _expanded(path) if path.suffix.lower() == ".gz" else path.read_bytes()
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(f"{where}: this is not a complete gzip file. Compress it again, or rename it.") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror}).") from None
    if content[:4] == b"PAR1":
        raise InputError(f"{where}: this is a Parquet file. Rename it to end in .parquet.")
    if content[:2] in (b"PK", b"\x1f\x8b"):
        raise InputError(f"{where}: this is a compressed file or a spreadsheet. Save it as CSV (or CSV ending in .gz).")
    try:
        text, notes = _decode(content, where)
        if not text.strip():
            raise InputError(f"{where}: the file is empty.")
        return replace(_parse(text, where, tab=".tsv" in path.name.lower()), notes=notes)
    except (UnicodeDecodeError, csv.Error) as problem:
        raise _unreadable(where, problem) from None


def _unreadable(where: str, problem: Exception) -> InputError:
    return InputError(f"{where}: not a readable table ({type(problem).__name__}). Save it as CSV in UTF-8.")


def _expanded(path: Path) -> bytes:
    """The content of a gzip file, unless it is more than a file of this size should ever hold."""
    most = limit("UNMASK_MAX_EXPANDED", MOST_EXPANDED)
    with gzip.open(path) as handle:
        content = handle.read(most + 1)
    if len(content) > most:
        raise too_large(path.name, most)
    return content


def _read_streamed(path: Path) -> Frame | None:
    """A large CSV file, some rows at a time; None if it is small, or of a kind that has to be read in one piece."""
    packed, where = path.suffix.lower() == ".gz", path.name
    if path.stat().st_size <= LARGE // (EXPANSION if packed else 1):
        return None
    most = limit("UNMASK_MAX_EXPANDED", MOST_EXPANDED) if packed else sys.maxsize

    def opened() -> IO[bytes]:
        return cast(IO[bytes], gzip.open(path)) if packed else path.open("rb")

    with opened() as handle:
        if handle.read(4)[:2] in (b"PK", b"\x1f\x8b", b"PA"):
            return None
    try:
        encoding, line = encoding_of(opened, most, lambda: too_large(path.name, most))
    except NotStreamedError:
        return None
    import pandas as pd

    try:
        with texts(opened, encoding) as stream:
            delimiter = "\t" if ".tsv" in where.lower() else _delimiter(stream.read(SEEN))
        with texts(opened, encoding) as stream:
            head = list(islice(stream, 2))
            even = are_even(opened, delimiter, head[0].count(delimiter) + 1)
        with texts(opened, encoding) as stream:
            names = _check_rows(head if even else stream, delimiter, where)
        with texts(opened, encoding) as stream:
            frame = read_columns(stream, names, **_options(delimiter, names))
    except (csv.Error, pd.errors.ParserError) as problem:
        raise _unreadable(where, problem) from None
    check_frame(frame, where)
    notes = () if line is None else (_no_utf8(where, line),)
    return Frame(frame, where, from_file=True, notes=notes, decimal="," if delimiter == ";" else ".")


def _decode(content: bytes, where: str) -> tuple[str, tuple[str, ...]]:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16"), ()
    try:
        return content.decode("utf-8-sig"), ()
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1
        return content.decode("latin-1"), (_no_utf8(where, line),)


def _no_utf8(where: str, line: int) -> str:
    return f"{where}: line {line} is not UTF-8; the file was read as latin-1. Check letters with accents."


def _parse(text: str, where: str, *, tab: bool) -> Frame:
    if "\0" in text:
        raise InputError(f"{where}: the file holds NUL characters, so it is not a text file. Save it as CSV.")
    if "\n" not in text:
        text = text.replace("\r", "\n")  # as old Macs ended their lines
    delimiter = "\t" if tab else _delimiter(text)
    held = _plain_texts(text, delimiter, where) if is_plain(text) else None
    held = _read_by_pandas(text, delimiter, where) if held is None else held
    check_frame(held, where)
    return Frame(held, where, from_file=True, decimal="," if delimiter == ";" else ".")


def _plain_texts(text: str, delimiter: str, where: str) -> TextColumns | None:
    """The columns of a file without quotes; None if there is one alone, of which a blank line is a missing value."""
    rows = (row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row)
    names, first = _names_in(next(rows)), next(rows, [])
    check_width(len(names), where)
    if len(names) < 2:
        return None
    columns = read_texts(io.StringIO(text), names, delimiter, where)
    _check_names(names, first, where)
    return columns


def _read_by_pandas(text: str, delimiter: str, where: str) -> pd.DataFrame:
    import pandas as pd

    names = _check_rows(io.StringIO(text), delimiter, where)
    try:
        return pd.read_csv(io.StringIO(text), names=names, **_options(delimiter, names))
    except pd.errors.ParserError as problem:
        raise _unreadable(where, problem) from None


def _options(delimiter: str, names: list[str]) -> dict[str, Any]:
    """How pandas reads a CSV file: as texts, of which only empty ones are missing."""
    return {
        "sep": delimiter,
        "header": 0,
        "dtype": str,
        "keep_default_na": False,
        "na_values": [""],
        "index_col": False,
        "skip_blank_lines": len(names) > 1,  # with one column a blank line is a missing value
        "low_memory": False,
    }


def _delimiter(text: str) -> str:
    """The delimiter that cuts the first lines into equally many fields, the most; a comma if none does."""
    sample = list(text[:SEEN].splitlines()[:50])
    best, most = ",", 1
    for delimiter in DELIMITERS:
        widths = {len(row) for row in csv.reader(sample[:-1] or sample, delimiter=delimiter) if row}
        if len(widths) == 1 and (width := widths.pop()) > most:
            best, most = delimiter, width
    return best


def _check_rows(lines: Iterable[str], delimiter: str, where: str) -> list[str]:
    """Column names, once every row is known to have as many fields as there are names."""
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(lines, delimiter=delimiter)
    names: list[str] = []
    first: list[str] = []
    for row in reader:
        first = first or (row if names else [])
        if not names:
            names = _names_in(row)
            check_width(len(names), where)
        elif row and len(row) != len(names):
            raise uneven(where, reader.line_num, len(row), len(names), delimiter)
    _check_names(names, first, where)
    return names


def _names_in(row: list[str]) -> list[str]:
    return [name.strip() or f"unnamed_{place}" for place, name in enumerate(row, 1)]


def _check_names(names: list[str], first: list[str], where: str) -> None:
    """Whether names of columns are names: each its own, and not the values of somebody; `first` is the row below them."""
    if doubled := repeats(names):
        raise InputError(f"{where}: the column name {quoted(doubled)} occurs more than once. Rename one of them.")
    if _is_row(names, first):
        raise InputError(  # and quotes none of it: it may be a person's
            f"{where}: the first line looks like a row and not like names of columns. Write a line of names above it."
        )


def _is_row(names: list[str], first: list[str]) -> bool:
    """Whether names of columns are the values of somebody: numbers above numbers, which neither count nor are years."""
    numeric = [
        name for name, below in zip(names, first, strict=False) if NUMBER.fullmatch(name) and NUMBER.fullmatch(below)
    ]
    if not numeric:
        return False
    numbers = [float(name) for name in numeric]
    counted = [number - numbers[0] for number in numbers] == list(range(len(numbers)))
    years = all(name.isdigit() and 1800 <= number <= 2200 for name, number in zip(numeric, numbers, strict=True))
    return not years and not (counted and (len(numbers) > 1 or numbers[0] in (0, 1)))


def read_schema(path: str | os.PathLike[str]) -> Schema | Hints:
    """A schema from a file of unmask, TAPAS or spring-epfl, or what SDV metadata tells about one."""
    path = Path(path)
    try:
        document = parse_json(text := read_text(path), path.name, error=SchemaError)
    except FileNotFoundError:
        raise InputError(
            f"{path}: there is no such file. Write one with: unmask schema real.csv -o {path.name}"
        ) from None
    if "\\ud" in text.lower() and HALF.search(json.dumps(document, ensure_ascii=False)):
        raise SchemaError(f"{path.name}: holds half a character (\\ud800 to \\udfff), which no file can. Remove it.")
    if is_list_of_columns(document):
        return schema_from_columns(document, path.name)
    if is_sdv(document):
        return hints_from_sdv(document, path.name)
    return schema_from_json(document, path.name)


def write_schema(schema: Schema, path: str | os.PathLike[str]) -> None:
    """Write a schema that a person can edit."""
    write_atomically(Path(path), schema_to_json(schema))


def write_csv(table: Table, path: str | os.PathLike[str]) -> None:
    """Write the values as text: dates, numbers and missing values as the schema says they are written; .gz compresses."""
    frame = table.to_pandas()
    for column in table.schema.columns:
        values = frame[column.name]
        if column.numerals != PLAIN:
            texts = {number: column.numerals.write(str(number)) for number in values.dropna().unique()}
            frame[column.name] = values = values.map(texts, na_action="ignore").astype(object)
        if column.missing and values.isna().any():
            frame[column.name] = values.astype(object).where(values.notna(), column.missing[0])
    text = frame.to_csv(index=False, lineterminator="\n")
    path = Path(path)
    if path.suffix == ".gz":
        write_atomically(path, gzip.compress(text.encode(), mtime=0))
    else:
        write_atomically(path, text)
