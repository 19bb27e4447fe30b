"""Which columns the tables have in common, and which are left out, why, and with which texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from unmask.errors import InputError, ParameterError
from unmask.metrics.verbatim import OwnTexts
from unmask.tables.read import Frame
from unmask.tables.schema import Column, quoted
from unmask.tables.table import Table
from unmask.tables.units import units

Loaded = Table | Frame

IDENTIFIES = "it tells people apart by itself"
EMPTY = "it has no values"
CONSTANT = "it has one value only"
NOT_CHOSEN = "--columns does not name it"
CODES = {EMPTY: "all-missing", CONSTANT: "constant"}  # any other: the column repeats another
FEWEST = 2  # columns in common


@dataclass(frozen=True, eq=False)
class LeftOut:
    """A column that no attack looks at, and why; its texts, where real table and release have it as text."""

    name: str
    why: str
    identifies: bool = False
    code: str = "not-in-all-tables"  # the same for programs
    real: OwnTexts | None = None
    holdout: OwnTexts | None = None
    published: tuple[str, ...] = ()

    @property
    def can_be_tested(self) -> bool:
        """Whether texts of real people can be looked for in the release."""
        return self.real is not None and bool(self.published)


def names_of(loaded: Loaded) -> tuple[str, ...]:
    """The columns of a table that was loaded."""
    if isinstance(loaded, Frame):
        return tuple(map(str, loaded.held.columns))
    return loaded.schema.names


def common_columns(
    candidates: Sequence[str],
    real: Loaded,
    others: Sequence[tuple[str, Loaded]],
    chosen: Sequence[str],
    apart: Collection[str | None] = (),
) -> tuple[tuple[str, ...], tuple[LeftOut, ...]]:
    """The columns that every table has, in the order of the real one, and those that are left out because one has not."""
    absent = {name: [role for role, table in others if name not in names_of(table)] for name in candidates}
    shared = [name for name in candidates if not absent[name]]
    _check_chosen(chosen, shared, absent, apart)
    if len(shared) < min(FEWEST, len(candidates)):
        raise InputError(_too_few(real, others, shared))
    left = [LeftOut(name, f"not in the {_and(roles)}") for name, roles in absent.items() if roles]
    left += [LeftOut(name, NOT_CHOSEN, code="not-chosen") for name in shared if chosen and name not in chosen]
    return tuple(name for name in shared if not chosen or name in chosen), tuple(left)


def _check_chosen(
    chosen: Sequence[str], shared: Sequence[str], absent: dict[str, list[str]], apart: Collection[str | None]
) -> None:
    for name in chosen:
        if name in shared:
            continue
        why = f"it is not in the {_and(absent[name])}" if absent.get(name) else "there is no such column to examine"
        why = "it identifies people, so that no attack looks at it" if name in apart else why
        raise ParameterError(f"--columns {name}: {why}. Columns that all tables have: {quoted(shared)}.")
    if len(chosen) == 1 and len(shared) > 1:
        raise ParameterError("--columns names one column; name at least two.")


def _too_few(real: Loaded, others: Sequence[tuple[str, Loaded]], shared: Sequence[str]) -> str:
    """What the tables have, and which columns may be the same under two names."""
    lines = [
        f"The tables have {len(shared) or 'no'} column{'s' * (len(shared) != 1)} in common; at least 2 are needed."
    ]
    lines.append(f"Columns of the real table: {quoted(names_of(real))}.")
    lines += [f"Columns of the {role}: {quoted(names_of(table))}." for role, table in others]
    plain = {_plain(name): name for name in names_of(real)}
    alike = sorted(
        {(plain[_plain(name)], name) for _, table in others for name in names_of(table) if _plain(name) in plain}
    )
    same = [f"'{mine}' and '{theirs}'" for mine, theirs in alike if mine != theirs]
    lines.append(
        f"These may be the same: {', '.join(same)}. Rename one of each." if same else "Is the first line the header?"
    )
    return "\n".join(lines)


def _plain(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def only_published(candidates: Iterable[str], sets: Sequence[Loaded]) -> tuple[LeftOut, ...]:
    """Columns that the release has and the real table has not."""
    mine = {name: _plain(name) for name in candidates}
    names = dict.fromkeys(name for table in sets for name in names_of(table) if name not in mine)
    alike = {name: [known for known, plain in mine.items() if plain == _plain(name)] for name in names}
    hints = {name: f"; is it '{known[0]}'? Rename it" if known else "" for name, known in alike.items()}
    return tuple(LeftOut(name, f"not in the real table{hints[name]}", code="only-in-release") for name in names)


def identifying(
    names: Iterable[str], real: Loaded, holdout: Loaded | None, sets: Sequence[Loaded], persons: str | None
) -> tuple[LeftOut, ...]:
    """Columns that identify people, with their texts.

    The release may have them under another name, so that its columns which the real table has not are looked through too.
    """
    strange = [
        name for name in dict.fromkeys(each for table in sets for each in names_of(table)) if name not in names_of(real)
    ]

    names = tuple(names)
    places = dict.fromkeys((*names, *strange))  # the release may have put them elsewhere

    def left_out(name: str) -> LeftOut:
        published = (text for table in sets for column in places for text in _column(table, column) if text)
        held = None if holdout is None else texts_of(holdout, name, persons)
        mine = texts_of(real, name, persons)
        return LeftOut(name, IDENTIFIES, True, "identifier", mine, held, tuple(published))

    return tuple(map(left_out, names))


def texts_of(loaded: Loaded, name: str, persons: str | None) -> OwnTexts | None:
    """The texts of a column and whose they are; None if the table has none of that name, or was read without it."""
    if isinstance(loaded, Table):
        ids = loaded.persons if name == loaded.schema.person else None
        return None if ids is None else OwnTexts(ids, units(loaded).of_row)
    texts = _column(loaded, name)
    if not len(texts):
        return None
    if persons is None or persons not in loaded.held.columns:
        return OwnTexts(texts, np.arange(len(texts)))
    _, person = np.unique(loaded.frame[persons].astype(str).to_numpy(dtype=object), return_inverse=True)
    return OwnTexts(texts, person)


def _column(loaded: Loaded, name: str) -> np.ndarray:
    if not isinstance(loaded, Frame) or name not in loaded.held.columns:
        return np.empty(0, dtype=object)
    return loaded.texts(name)


def uninformative(tables: Sequence[Table], people: Sequence[Table], kept: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Columns that tell nothing about people: empty, constant, or the same as another column in every table."""
    columns = tables[0].schema.columns
    found: list[tuple[str, str]] = []
    for position, column in enumerate(columns):
        if column.name in kept:
            continue
        values = np.concatenate([_values(table, position) for table in people])
        if _missing(values, column):
            found.append((column.name, EMPTY))
        elif len(values) > 1 and (values == values[0]).all():
            found.append((column.name, CONSTANT))
        else:
            gone = {name for name, _ in found}
            twins = (
                other.name
                for place, other in enumerate(columns[:position])
                if other.name not in gone and _alike(column, other) and _equal(tables, position, place)
            )
            if twin := next(twins, ""):
                found.append((column.name, f"it equals '{twin}' in every row"))
    return tuple(found)


def _values(table: Table, position: int) -> np.ndarray:
    """Numbers as they are, categories as codes; NaN and the missing code stay what they are."""
    if position in table.schema.numeric:
        numbers = table.numbers[:, table.schema.numeric.index(position)]
        return np.where(np.isnan(numbers), -np.inf, numbers)
    return table.codes[:, position].astype(np.float64)


def _missing(values: np.ndarray, column: Column) -> bool:
    return bool((values == (-np.inf if column.is_numeric else column.missing_code)).all())


def _alike(one: Column, other: Column) -> bool:
    return one.is_numeric == other.is_numeric and one.values == other.values


def _equal(tables: Sequence[Table], one: int, other: int) -> bool:
    return all(np.array_equal(_values(table, one), _values(table, other)) for table in tables)


def _and(words: Sequence[str]) -> str:
    words = list(dict.fromkeys(words))
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
