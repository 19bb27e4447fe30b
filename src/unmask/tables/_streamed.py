"""Large CSV files, read some rows at a time: each column becomes its distinct texts and a small number for each row.

What a file holds as texts takes five to ten times its size in memory; as numbers of one to four bytes it takes a fraction of it.
Columns are pandas categories in order of first appearance, from which `raw_column` makes what it makes of plain texts: a table is
the same however it was read.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np
import pandas as pd

from unmask.errors import InputError

ROWS_AT_ONCE = 200_000
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


def read_columns(stream: IO[str], names: list[str], **options: Any) -> pd.DataFrame:
    """The columns of a CSV file as categories of texts."""
    columns = [_Texts() for _ in names]
    chunks: Iterator[pd.DataFrame] = pd.read_csv(stream, names=names, chunksize=ROWS_AT_ONCE, **options)
    for chunk in chunks:
        for column, name in zip(columns, names, strict=True):
            column.add(chunk[name])
    return pd.DataFrame({name: column.categories() for name, column in zip(names, columns, strict=True)}, copy=False)


class _Texts:
    """The distinct texts of a column so far, and the number of each row's."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.parts: list[np.ndarray] = []

    def add(self, series: pd.Series) -> None:
        index, found = pd.factorize(series, use_na_sentinel=True)
        known = self.known
        texts = np.asarray(found, dtype=object).tolist()
        places = np.array([*[known.setdefault(text, len(known)) for text in texts], -1], dtype=np.int64)
        codes = places[index]
        self.parts.append(codes.astype(np.min_scalar_type(-max(len(self.known), 1))))

    def categories(self) -> pd.Categorical:
        kind = np.min_scalar_type(-max(len(self.known), 1))
        codes = np.empty(sum(map(len, self.parts)), dtype=kind)
        low = 0
        while self.parts:  # each part goes as soon as it is copied
            part = self.parts.pop(0)
            codes[low : low + len(part)] = part
            low += len(part)
        return as_categories(codes, list(self.known))


def as_categories(codes: np.ndarray, found: list[str]) -> pd.Categorical:
    """Categories of texts, which are compared as they are."""
    return pd.Categorical.from_codes(codes, pd.Index(found, dtype=object))


def stacked(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Frames of the same columns, one below the other; categories of texts stay so."""
    if not any(isinstance(kind, pd.CategoricalDtype) for frame in frames for kind in frame.dtypes):
        return pd.concat(frames, ignore_index=True)
    columns = {}
    for name in frames[0].columns:
        known = _Texts()
        for frame in frames:
            for low in range(0, len(frame), ROWS_AT_ONCE):
                known.add(frame[name].iloc[low : low + ROWS_AT_ONCE])
        columns[name] = known.categories()
    return pd.DataFrame(columns, copy=False)


def too_large(name: str, most: int) -> InputError:
    """What to say of a file that expands to more than anybody meant."""
    return InputError(
        f"{name}: holds more than {most:,} bytes once it is expanded. If that is meant, set UNMASK_MAX_EXPANDED to a "
        "larger number of bytes."
    )
