"""What a person corrects in a schema that was proposed: roles, kinds, and domains that are public knowledge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from unmask.errors import SchemaError
from unmask.tables._numerals import NUMBER
from unmask.tables.infer import Hints
from unmask.tables.schema import Column, Kind, Origin, Schema, Value, quoted, text_of
from unmask.tables.schema_json import number_from_plain, short

MOST_UNIT_BINS = 250  # bins of width 1 that a wider range keeps

READ_ANEW = "Let unmask read the data again with that kind: unmask schema real.csv --kind {0}={1}."


@dataclass(frozen=True)
class Corrections:
    """What differs from the proposal. None and what is not named stay as they were proposed."""

    keys: tuple[str, ...] | None = None
    secrets: tuple[str, ...] | None = None
    identifiers: tuple[str, ...] = ()  # more of them; naming its kind keeps a column from being one
    person: str | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)  # how dates are written, as in strptime
    values: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)  # all that are public, in order
    ranges: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)  # lower and upper: numbers or ISO dates
    public: bool = False  # somebody has made sure that all domains are public knowledge

    def __post_init__(self) -> None:
        placed = [*self.identifiers, *([self.person] if self.person else [])]
        for name in (*(self.keys or ()), *(self.secrets or ()), *self.kinds, *self.formats, *self.values, *self.ranges):
            if name in placed:
                role = "person" if name == self.person else "identifier"
                raise SchemaError(
                    f"'{name}' is named as {role}, which is not analysed, and as something else. Choose one."
                )
        if self.person in self.identifiers:
            raise SchemaError(f"'{self.person}' is named as person and as identifier. Choose one.")
        if both := [name for name in self.keys or () if name in (self.secrets or ())]:
            raise SchemaError(f"{quoted(both)} is named as key and as secret. Choose one.")

    def hints(self, known: Hints = Hints()) -> Hints:
        """What inference should know before it looks at the data."""
        dates = dict.fromkeys(self.formats, Kind.DATETIME)
        return Hints(
            self.person or known.person,
            tuple(dict.fromkeys((*known.identifiers, *self.identifiers))),
            {**known.kinds, **dates, **self.kinds},
            {**known.layouts, **self.formats},
        )


def corrected(schema: Schema, corrections: Corrections) -> Schema:
    """The schema with what a person corrected. It needs no data, so that a kind changes only where the domain tells how."""
    _check_names(schema, corrections)
    apart = {*corrections.identifiers, *([corrections.person] if corrections.person else [])}
    columns = [_column(column, corrections) for column in schema.columns if column.name not in apart]
    if not columns:
        raise SchemaError("Every column is an identifier: nothing is left to analyse.")
    left = {column.name for column in columns}
    person = corrections.person or schema.person
    identifiers = dict.fromkeys((*schema.identifiers, *corrections.identifiers))
    secrets = corrections.secrets if corrections.secrets is not None else _kept(schema.secrets, left)
    if corrections.keys is not None:
        secrets = tuple(name for name in secrets if name not in corrections.keys)
        keys = corrections.keys
    else:
        keys = tuple(name for name in _kept(schema.keys, left) if name not in secrets)
    return Schema(
        tuple(columns),
        keys,
        secrets,
        tuple(name for name in identifiers if name != person),
        person,
        Origin.PUBLIC if corrections.public else schema.origin,
    )


def _kept(names: Iterable[str], left: set[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in left)


def _check_names(schema: Schema, corrections: Corrections) -> None:
    known = {*schema.names, *schema.identifiers, *([schema.person] if schema.person else [])}
    named = (*corrections.identifiers, *([corrections.person] if corrections.person else []))
    analysed = {
        "keys": corrections.keys or (),
        "secrets": corrections.secrets or (),
        "kinds": corrections.kinds,
        "formats": corrections.formats,
        "values": corrections.values,
        "ranges": corrections.ranges,
    }
    if unknown := [
        name for name in (*named, *(each for names in analysed.values() for each in names)) if name not in known
    ]:
        raise SchemaError(f"There is no column {quoted(unknown)}. Columns: {quoted(sorted(known))}.")
    for what, names in analysed.items():
        if hidden := [name for name in names if name not in schema.names]:
            raise SchemaError(
                f"{what}: '{hidden[0]}' is left out as an identifier, so that its values are not known.\n"
                + READ_ANEW.format(hidden[0], Kind.CATEGORICAL)
            )


def _column(column: Column, corrections: Corrections) -> Column:
    name, where = column.name, f"columns.{column.name}"
    values, limits = corrections.values.get(name), corrections.ranges.get(name)
    layout = corrections.formats.get(name)
    kind = corrections.kinds.get(name, Kind.DATETIME if layout else column.kind)
    if kind is not column.kind:
        column = _of_kind(column, kind, values)
    if layout and layout != column.format:
        raise SchemaError(
            f"{where}: dates written as '{layout}' are other dates.\nLet unmask read them again: unmask schema real.csv "
            f"--format '{name}={layout}'."
        )
    if values is not None:
        column = _with_values(column, values)
    return column if limits is None else _with_range(column, limits)


def _of_kind(column: Column, kind: Kind, values: tuple[Value, ...] | None) -> Column:
    name = column.name
    if kind is Kind.CATEGORICAL and values is not None:
        return Column(name, kind, values=values, missing=column.missing)
    numeric = (Kind.INTEGER, Kind.CONTINUOUS)
    if kind in numeric and column.kind in numeric:
        whole = kind is Kind.INTEGER
        lower, upper = (np.floor(column.lower), np.ceil(column.upper)) if whole else (column.lower, column.upper)
        cuts = sorted({float(np.ceil(cut)) for cut in column.cuts}) if whole else column.cuts
        cuts = tuple(cut for cut in cuts if lower < cut <= upper)
        dtype = "" if not column.dtype else "int64" if whole else "float64"
        return replace(column, kind=kind, lower=lower, upper=upper, cuts=cuts, dtype=dtype)
    texts = [text_of(value) for value in column.values]
    if kind in numeric and column.kind is Kind.CATEGORICAL and texts and all(map(NUMBER.fullmatch, texts)):
        numbers = [float(text) for text in texts]
        made = Column(name, Kind.CONTINUOUS, lower=min(numbers), upper=max(numbers), missing=column.missing)
        return made if kind is Kind.CONTINUOUS else _of_kind(made, kind, None)
    raise SchemaError(
        f"columns.{name}: it is {column.kind}, and what it would be as {kind} is not known.\n"
        + READ_ANEW.format(name, kind)
    )


def _with_values(column: Column, values: tuple[Value, ...]) -> Column:
    if column.kind is not Kind.CATEGORICAL:
        raise SchemaError(
            f"columns.{column.name}: a column of kind {column.kind} has a range and no values. Give its range, or set its kind "
            "to 'categorical'."
        )
    known = {text_of(value): value for value in column.values}  # a value of another type than its text stays what it is
    return replace(column, values=tuple(known.get(text_of(value), value) for value in values))


def _with_range(column: Column, limits: tuple[Any, Any]) -> Column:
    if column.kind is Kind.CATEGORICAL:
        raise SchemaError(
            f"columns.{column.name}: a categorical column has values and no range. Give its values, or set its kind."
        )
    plain = limits if column.resolution else tuple(map(_as_number, limits))  # dates are texts
    lower, upper = (number_from_plain(each, column.resolution, f"columns.{column.name}: its range") for each in plain)
    cuts = tuple(cut for cut in column.cuts if lower < cut <= upper)
    span = upper - lower + 1
    unit = column.is_integral and not column.cuts and column.bins == column.upper - column.lower + 1
    bins = int(span) if unit and 1 <= span <= MOST_UNIT_BINS else column.bins
    return replace(column, lower=lower, upper=upper, cuts=cuts, bins=bins)


def _as_number(limit: Any) -> Any:
    """A number that came as text."""
    return float(limit) if isinstance(limit, str) and NUMBER.fullmatch(limit) else limit


def corrections_from_plain(plain: Any, where: str) -> Corrections:
    """Corrections from parsed JSON; errors name the field."""
    known = {each.name for each in fields(Corrections)}
    if not isinstance(plain, Mapping):
        raise SchemaError(f"{where}: write an object with some of {quoted(sorted(known), 20)}.")
    if unknown := [name for name in plain if name not in known]:
        raise SchemaError(f"{where}: unknown field {quoted(unknown)}. Known fields: {quoted(sorted(known), 20)}.")
    made: dict[str, Any] = {}
    for name in ("keys", "secrets", "identifiers"):
        if plain.get(name) is not None:
            made[name] = _texts(plain[name], f"{where}: {name}")
    for name, kind in (("person", str), ("public", bool)):
        if plain.get(name) is not None:
            if not isinstance(plain[name], kind):
                raise SchemaError(
                    f"{where}: {name} is {short(plain[name])}; write {'a text' if kind is str else 'true'}."
                )
            made[name] = plain[name]
    for name in ("kinds", "formats", "values", "ranges"):
        each = plain.get(name) or {}
        if not isinstance(each, Mapping):
            raise SchemaError(f"{where}: {name} is {short(each)}; write an object with names of columns.")
        made[name] = {column: _item(name, item, f"{where}: {name}.{column}") for column, item in each.items()}
    return Corrections(**made)


def _item(name: str, item: Any, where: str) -> Any:
    if name == "kinds":
        return kind_from_text(item, where)
    if name == "formats":
        if not isinstance(item, str):
            raise SchemaError(f"{where} is {short(item)}; write how dates are written, such as '%d.%m.%Y'.")
        return item
    if name == "ranges":
        if not isinstance(item, list) or len(item) != 2:
            raise SchemaError(f"{where} is {short(item)}; write its lower and upper end, such as [0, 120].")
        return tuple(item)
    if not isinstance(item, list) or not all(isinstance(value, str | int | float | bool) for value in item):
        raise SchemaError(f"{where} must be a list of texts, numbers or true/false.")
    return tuple(item)


def kind_from_text(text: Any, where: str) -> Kind:
    """A kind by its name."""
    if text not in list(Kind):
        raise SchemaError(f"{where} is {short(text)}; use one of {quoted(Kind)}.")
    return Kind(text)


def _texts(given: Any, where: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise SchemaError(f"{where} is {short(given)}; write a list of column names.")
    return tuple(given)
