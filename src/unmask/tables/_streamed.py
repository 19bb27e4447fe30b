"""Large CSV files, read some rows at a time: each column becomes its distinct texts and a small number for each row.

What a file holds as texts takes five to ten times its size in memory; as numbers of one to four bytes it takes a fraction of it.
Columns are pandas categories in order of first appearance, from which `raw_column` makes what it makes of plain texts: a table is
the same however it was read.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from unmask.errors import InputError
from unmask.tables._text_columns import TextColumns, stacked_texts

if TYPE_CHECKING:
    import pandas as pd

ROWS_AT_ONCE = 50_000  # of 15 columns they take 50 MB as texts
BYTES_AT_ONCE = 1 << 20

Opened = Callable[[], IO[bytes]]


class NotStreamedError(Exception):
    """The file is of a kind that is read in one piece: another encoding, another end of line."""


def encoding_of(opened: Opened, most: int, too_large: Callable[[], Exception]) -> tuple[str, int | None]:
    """UTF-8, or latin-1 and the line that is no UTF-8: by one look at all bytes, of which there may be at most so many."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines, total, wrong = 0, 0, None
    with opened() as handle:
        while part := handle.read(BYTES_AT_ONCE):
            if total == 0 and part[:2] in (b"\xff\xfe", b"\xfe\xff"):
                raise NotStreamedError
            total += len(part)
            if total > most:
                raise too_large()
            if b"\0" in part:
                raise NotStreamedError
            if wrong is None:
                wrong = _line_of_damage(decoder, part, lines)
            lines += part.count(b"\n")
    if wrong is None and _line_of_damage(decoder, b"", lines, final=True) is not None:
        wrong = lines + 1
    if not lines:
        raise NotStreamedError
    return ("utf-8-sig", None) if wrong is None else ("latin-1", wrong)


def _line_of_damage(decoder: codecs.IncrementalDecoder, part: bytes, lines: int, *, final: bool = False) -> int | None:
    try:
        decoder.decode(part, final)
    except UnicodeDecodeError as problem:
        return lines + part[: max(0, problem.start)].count(b"\n") + 1
    return None


def texts(opened: Opened, encoding: str) -> IO[str]:
    """The file as text; lines end at line feeds, and nothing is translated."""
    return io.TextIOWrapper(opened(), encoding=encoding, newline="\n")


def are_even(opened: Opened, delimiter: str, fields: int) -> bool:
    """Whether every line surely has so many fields: by counting delimiters, where no quote, blank line or lone \\r can mislead.

    Ten times as fast as `csv`, which is asked where this says no: it knows what is wrong, and where.
    """
    mark, rest = ord(delimiter), b""
    if fields < 2:
        return False
    with opened() as handle:
        while part := handle.read(BYTES_AT_ONCE):
            lines, end, rest = (rest + part).rpartition(b"\n")
            if end and not _lines_are_even(lines, mark, fields):
                return False
    return not rest or _lines_are_even(rest, mark, fields)


def _lines_are_even(lines: bytes, mark: int, fields: int) -> bool:
    """The same of whole lines, the last of which does not end."""
    if b'"' in lines or lines.count(b"\r") != lines.count(b"\r\n") + lines.endswith(b"\r"):
        return False
    signs = np.frombuffer(lines, dtype=np.uint8)
    ends = np.append(np.flatnonzero(signs == ord("\n")), len(signs))
    marks = np.flatnonzero(signs == mark)
    if len(marks) != (fields - 1) * len(ends):
        return False
    by_line = marks.reshape(len(ends), fields - 1)
    return bool((by_line[:, -1] < ends).all() and (by_line[1:, 0] > ends[:-1]).all())


def read_columns(stream: IO[str], names: list[str], **options: Any) -> pd.DataFrame:
    """The columns of a CSV file as categories of texts."""
    import pandas as pd

    columns = [_Texts() for _ in names]
    options["dtype"] = object  # a text of Arrow, as pandas 3 makes them of `str`, would be made only to be left
    chunks: Iterator[pd.DataFrame] = pd.read_csv(stream, names=names, chunksize=ROWS_AT_ONCE, **options)
    for chunk in chunks:
        for column, name in zip(columns, names, strict=True):
            column.add(chunk[name])
    return pd.DataFrame({name: column.categories() for name, column in zip(names, columns, strict=True)}, copy=False)


class _Texts:
    """The distinct texts of a column so far, and the number of each row's."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.codes: np.ndarray = np.empty(0, dtype=np.int8)

    def add(self, series: pd.Series) -> None:
        import pandas as pd

        index, found = pd.factorize(series, use_na_sentinel=True)
        known = self.known
        texts = np.asarray(found, dtype=object).tolist()
        places = np.array([*[known.setdefault(text, len(known)) for text in texts], -1], dtype=np.int64)
        rows, kind = len(self.codes), np.min_scalar_type(-max(len(known), 1))
        if kind != self.codes.dtype:
            self.codes = self.codes.astype(kind)
        # One array that grows: many small ones, freed one by one, leave memory that nothing else fits into.
        self.codes.resize(rows + len(index), refcheck=False)
        self.codes[rows:] = places[index]

    def categories(self) -> pd.Categorical:
        return as_categories(self.codes, list(self.known))


def as_categories(codes: np.ndarray, found: list[str]) -> pd.Categorical:
    """Categories of texts, which are compared as they are."""
    import pandas as pd

    return pd.Categorical.from_codes(codes, pd.Index(found, dtype=object))


def stacked(tables: list[pd.DataFrame | TextColumns], *, from_file: bool) -> pd.DataFrame | TextColumns:
    """Tables of the same columns, one below the other; what is held as distinct values stays so.

    Categories of a file are its texts (`read_columns`), those of a frame are categories.
    """
    names = list(tables[0].columns)
    if (texts := stacked_texts(tables, names)) is not None:
        return texts
    import pandas as pd

    from unmask.tables._packed import plain, stacked_series

    frames = [each.to_pandas() if isinstance(each, TextColumns) else each for each in tables]
    if any(name not in frame.columns for frame in frames for name in names):
        whole = [pd.DataFrame({name: plain(frame[name]) for name in frame.columns}) for frame in frames]
        return pd.concat(whole, ignore_index=True)[names]
    columns = {}
    for name in names:
        parts = [frame[name] for frame in frames]
        if not from_file or not any(isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
            columns[name] = stacked_series(parts)
            continue
        known = _Texts()
        for part in parts:
            for low in range(0, len(part), ROWS_AT_ONCE):
                known.add(part.iloc[low : low + ROWS_AT_ONCE])
        columns[name] = known.categories()
    return pd.DataFrame(columns, copy=False)


def too_large(name: str, most: int) -> InputError:
    """What to say of a file that expands to more than anybody meant."""
    return InputError(
        f"{name}: holds more than {most:,} bytes once it is expanded. If that is meant, set UNMASK_MAX_EXPANDED to a "
        "larger number of bytes."
    )
