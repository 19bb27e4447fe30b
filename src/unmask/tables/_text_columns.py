"""Columns of a CSV file as distinct texts and a small number for each row: read by `csv` alone, without pandas.

Files without quotes mean the same to every reader, so nothing is left for pandas to decide, which takes longer to import than
such a file of fifty thousand rows takes to read.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, overload

import numpy as np

from unmask.errors import InputError
from unmask.tables._raw import RawColumn

if TYPE_CHECKING:
    import pandas as pd

ROWS_AT_ONCE = 200  # so few stay in the processor's cache until they are numbers: half the time of 5,000


@dataclass(frozen=True, eq=False)
class TextColumns:
    """What a file holds, by names of columns; read as a frame is read: `columns`, `[name]`, `[[names]]`, `len`."""

    held: dict[str, RawColumn]
    rows: int

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.held)

    def __len__(self) -> int:
        return self.rows

    @overload
    def __getitem__(self, chosen: str) -> RawColumn: ...
    @overload
    def __getitem__(self, chosen: list[str]) -> TextColumns: ...
    def __getitem__(self, chosen: str | list[str]) -> RawColumn | TextColumns:
        if isinstance(chosen, str):
            return self.held[chosen]
        return TextColumns({name: self.held[name] for name in chosen}, self.rows)

    def to_pandas(self) -> pd.DataFrame:
        """The same as categories of texts, as large files are read (`_streamed.py`)."""
        import pandas as pd

        from unmask.tables._streamed import as_categories

        columns = {name: as_categories(np.asarray(raw.index), list(raw.texts)) for name, raw in self.held.items()}
        return pd.DataFrame(columns, copy=False)


class Places(dict[str, int]):
    """The number of each distinct text of a column, in order of first appearance; -1 where a field is empty."""

    def __missing__(self, text: str) -> int:
        place = self[text] = len(self) - 1
        return place


class GrowingTexts:
    """The texts of a column so far."""

    def __init__(self) -> None:
        self.places = Places({"": -1})
        self.parts: list[np.ndarray] = []

    def add(self, fields: Sequence[str]) -> None:
        """Some more rows."""
        self.parts.append(np.fromiter(map(self.places.__getitem__, fields), dtype=np.int32, count=len(fields)))

    def raw(self, name: str) -> RawColumn:
        """The column."""
        index = np.concatenate(self.parts) if self.parts else np.empty(0, dtype=np.int32)
        return RawColumn(name, "str", values=tuple(self.places)[1:], index=index, from_file=True)


def stacked_texts(tables: Sequence[object], names: Sequence[str]) -> TextColumns | None:
    """Texts of files, one below the other; None if not all of them are, or one lacks a column."""
    files = [each for each in tables if isinstance(each, TextColumns) and all(name in each.held for name in names)]
    if len(files) < len(tables):
        return None
    return TextColumns({name: _below([each[name] for each in files]) for name in names}, sum(map(len, files)))


def _below(parts: Sequence[RawColumn]) -> RawColumn:
    place: dict[str, int] = {}
    found = []
    for raw in parts:
        places = np.array([*[place.setdefault(text, len(place)) for text in raw.texts], -1])
        found.append(places[raw.index])
    return replace(parts[0], values=tuple(place), index=np.concatenate(found))


def is_plain(text: str) -> bool:
    """Whether every reader takes a CSV file for the same: no quotes, and lines that end in one of the two usual ways."""
    return '"' not in text and text.count("\r") == text.count("\r\n")


def read_texts(lines: Iterable[str], names: Sequence[str], delimiter: str, where: str) -> TextColumns:
    """The columns of a plain file, whose first line is that of the names. Blank lines are passed over."""
    reader = csv.reader(lines, delimiter=delimiter)
    next(row for row in reader if row)
    columns, total = [GrowingTexts() for _ in names], 0
    while rows := list(islice(reader, ROWS_AT_ONCE)):
        if set(map(len, rows)) != {len(names)}:
            first = reader.line_num - len(rows) + 1  # each row of a plain file is a line
            for line, row in enumerate(rows, first):
                if row and len(row) != len(names):
                    raise uneven(where, line, len(row), len(names), delimiter)
            rows = [row for row in rows if row]
        total += len(rows)
        for column, fields in zip(columns, zip(*rows, strict=True), strict=False):
            column.add(fields)
    return TextColumns({name: column.raw(name) for name, column in zip(names, columns, strict=True)}, total)


def uneven(where: str, line: int, fields: int, names: int, delimiter: str) -> InputError:
    """What to say of a line that has more or fewer fields than there are names."""
    mark = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}[delimiter]
    return InputError(
        f"{where}: line {line} has {fields} fields, the header has {names}.\n"
        f"Fields are separated by {mark}; put texts that contain it in double quotes."
    )
