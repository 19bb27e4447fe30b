"""Schemas as JSON that a person can read and edit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from unmask.errors import SchemaError
from unmask.tables._numerals import PLAIN
from unmask.tables._raw import UNITS
from unmask.tables.decode import check_types
from unmask.tables.schema import Column, Kind, Origin, Schema, quoted

VERSION = 1
FIRST_DATE, LAST_DATE = np.datetime64("0001-01-01"), np.datetime64("9999-12-31")

ABOUT = (
    "What the table may hold. unmask reads this file with --schema; edit it freely.",
    "origin: set it to 'public' once every value, range and cut below is public knowledge and not read off the data; "
    "until then no differential-privacy claim stands on this schema.",
    "keys: columns that an attacker may know about a person. secrets: columns that nobody should learn.",
    "identifiers: columns that are left out. person: the column that tells which rows belong to one person, or null.",
    "columns.*.kind: categorical (values, ordered, groups), integer or continuous (lower, upper, bins or cuts), "
    "datetime (lower, upper, format).",
    "columns.*.missing: false, or the list of texts that mean 'missing' in a file.",
)
ABOUT_MARKS = (
    "columns.*.decimal and columns.*.thousands: the marks before decimals and between thousands in a file; a point and none "
    "where they are absent."
)

_TOP = {"unmask_schema", "about", "origin", "keys", "secrets", "identifiers", "person", "columns"}
_ANY = {"kind", "missing", "dtype"}
_FIELDS = {
    Kind.CATEGORICAL: {"values", "ordered", "groups"},
    Kind.INTEGER: {"lower", "upper", "bins", "cuts", "decimal", "thousands"},
    Kind.CONTINUOUS: {"lower", "upper", "bins", "cuts", "decimal", "thousands"},
    Kind.DATETIME: {"lower", "upper", "bins", "cuts", "format", "resolution"},
}


def schema_to_json(schema: Schema) -> str:
    """The schema as text: one line per short list, the same bytes for equal schemas."""
    document = {
        "unmask_schema": VERSION,
        "about": [*ABOUT, *([ABOUT_MARKS] if any(column.numerals != PLAIN for column in schema.columns) else [])],
        "origin": str(schema.origin),
        "person": schema.person,
        "identifiers": list(schema.identifiers),
        "keys": list(schema.keys),
        "secrets": list(schema.secrets),
        "columns": {column.name: _column_to_plain(column) for column in schema.columns},
    }
    return _layout(document) + "\n"


def schema_from_json(document: Any, where: str = "schema") -> Schema:
    """A schema from its parsed JSON; errors name the field."""
    if not isinstance(document, Mapping) or not isinstance(document.get("columns"), Mapping):
        raise SchemaError(f"{where}: not a schema of unmask. Write one with: unmask schema real.csv -o schema.json")
    if (version := document.get("unmask_schema")) != VERSION:
        raise SchemaError(
            f"{where}: unmask_schema is {short(version)}; this version reads {VERSION}. Upgrade unmask, or write the file anew."
        )
    _only(document, _TOP, where)
    try:
        origin = Origin(document.get("origin", Origin.PUBLIC))
    except ValueError:
        raise SchemaError(f"{where}: origin is {short(document['origin'])}; use {quoted(Origin)}.") from None
    person = document.get("person")
    if person is not None and not isinstance(person, str):
        raise SchemaError(f"{where}: person is {short(person)}; write a column name or null.")
    return Schema(
        columns=tuple(_column_from_plain(name, plain, where) for name, plain in document["columns"].items()),
        keys=_names(document, "keys", where),
        secrets=_names(document, "secrets", where),
        identifiers=_names(document, "identifiers", where),
        person=person,
        origin=origin,
    )


def _column_to_plain(column: Column) -> dict[str, Any]:
    plain: dict[str, Any] = {"kind": str(column.kind)}
    if column.kind is Kind.CATEGORICAL:
        plain["values"] = list(column.values)
        if column.ordered:
            plain["ordered"] = True
        if column.groups:
            plain["groups"] = {name: list(members) for name, members in column.groups}
    else:
        plain["lower"], plain["upper"] = (_plain_number(number, column) for number in (column.lower, column.upper))
        if column.cuts:
            plain["cuts"] = [_plain_number(cut, column) for cut in column.cuts]
        else:
            plain["bins"] = column.bins
        if column.kind is Kind.DATETIME:
            plain |= {"format": column.format, "resolution": column.resolution}
        elif column.numerals != PLAIN:
            plain |= {"decimal": column.decimal, "thousands": column.thousands}
    plain["missing"] = list(column.missing) or False
    if column.dtype:
        plain["dtype"] = column.dtype
    return plain


def _column_from_plain(name: str, plain: Any, where: str) -> Column:
    place = f"{where}: columns.{name}"
    if not isinstance(plain, Mapping):
        raise SchemaError(f'{place} must be an object such as {{"kind": "integer", "lower": 0, "upper": 120}}.')
    try:
        kind = Kind(plain.get("kind", ""))
    except ValueError:
        raise SchemaError(f"{place}.kind is {short(plain.get('kind'))}; use one of {quoted(Kind)}.") from None
    _only(plain, _ANY | _FIELDS[kind], place)
    fields: dict[str, Any] = {
        "missing": _missing(plain.get("missing", False), place),
        "dtype": _text(plain, "dtype", "", place),
    }
    if kind is Kind.CATEGORICAL:
        fields["values"] = _values(plain.get("values"), f"{place}.values")
        if not isinstance(ordered := plain.get("ordered", False), bool):
            raise SchemaError(f"{place}.ordered is {short(ordered)}; write true or false.")
        fields["ordered"] = ordered
        groups = plain.get("groups", {})
        if not isinstance(groups, Mapping):
            raise SchemaError(f'{place}.groups must be an object such as {{"Europe": ["France", "Spain"]}}.')
        fields["groups"] = tuple(
            (group, _values(members, f"{place}.groups.{group}")) for group, members in groups.items()
        )
    else:
        resolution = _text(plain, "resolution", "D", place) if kind is Kind.DATETIME else ""
        if kind is Kind.DATETIME and resolution not in UNITS:
            raise SchemaError(f"{place}.resolution is {short(resolution)}; use one of {quoted(UNITS)}.")
        for limit in ("lower", "upper"):
            if limit not in plain:
                raise SchemaError(f"{place}.{limit} is missing. Write the public range of the column.")
            fields[limit] = number_from_plain(plain[limit], resolution, f"{place}.{limit}")
        if not isinstance(cuts := plain.get("cuts", []), list):
            raise SchemaError(f"{place}.cuts is {short(cuts)}; write a list of numbers or dates.")
        fields["cuts"] = tuple(number_from_plain(cut, resolution, f"{place}.cuts") for cut in cuts)
        bins = plain.get("bins", 20)
        if not isinstance(bins, int) or isinstance(bins, bool):
            raise SchemaError(f"{place}.bins is {short(bins)}; write a whole number.")
        fields["bins"] = bins
        if kind is Kind.DATETIME:
            fields |= {"resolution": resolution, "format": _text(plain, "format", "%Y-%m-%d", place)}
        else:
            fields |= {
                field: _text(plain, field, usual, place) for field, usual in (("decimal", "."), ("thousands", ""))
            }
    try:
        column = Column(name, kind, **fields)
        check_types(column)
        return column
    except SchemaError as problem:
        raise SchemaError(f"{where}: {problem}") from None


def _text(plain: Mapping[str, Any], field: str, usual: str, place: str) -> str:
    text = plain.get(field, usual)
    if not isinstance(text, str):
        raise SchemaError(f"{place}.{field} is {short(text)}; write a text.")
    return text


def short(value: Any) -> str:
    """A value of a file for a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _only(plain: Mapping[str, Any], known: set[str], where: str) -> None:
    if unknown := [field for field in plain if field not in known]:
        raise SchemaError(
            f"{where} has the unknown field {quoted(unknown)}. Known fields: {quoted(sorted(known), 20)}."
        )


def _names(document: Mapping[str, Any], field: str, where: str) -> tuple[str, ...]:
    names = document.get(field, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SchemaError(f"{where}: {field} is {short(names)}; write a list of column names.")
    return tuple(names)


def _values(values: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str | int | float | bool) for value in values):
        raise SchemaError(f"{place} must be a list of texts, numbers or true/false.")
    return tuple(values)


def _missing(missing: Any, place: str) -> tuple[str, ...]:
    if missing is False:
        return ()
    if missing is True:
        return ("",)
    if not isinstance(missing, list) or not all(isinstance(text, str) for text in missing):
        raise SchemaError(
            f'{place}.missing is {short(missing)}; write false, or the texts that mean missing, such as ["", "NA"].'
        )
    return tuple(missing)


def _plain_number(number: float, column: Column) -> Any:
    if column.kind is Kind.DATETIME:
        return str(np.datetime64(int(number), column.resolution))  # type: ignore[call-overload]
    return int(number) if column.is_integral or (number.is_integer() and abs(number) < 1e15) else number


def number_from_plain(value: Any, resolution: str, place: str) -> float:
    """A number, or a date of this resolution as the number that it counts; an error names the place."""
    if resolution:
        try:
            date = np.datetime64(value, resolution)  # type: ignore[call-overload]
            if not FIRST_DATE <= date <= LAST_DATE:  # nor NaT, which is in no range
                raise ValueError
            return float(date.astype(np.int64))
        except (ValueError, TypeError, OverflowError):
            raise SchemaError(
                f"{place} is {short(value)}; write a date such as '2011-01-31' (resolution D, s or us)."
            ) from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SchemaError(f"{place} is {short(value)}; write a number.")
    try:
        return float(value)
    except OverflowError:
        raise SchemaError(f"{place} has more digits than a number can keep; write one below 1e308.") from None


def _layout(document: dict[str, Any]) -> str:
    """Indented JSON in which each column takes one line, so that a wide table stays readable."""
    lines = ["{"]
    for position, (field, value) in enumerate(document.items()):
        comma = "," if position < len(document) - 1 else ""
        if field in ("about", "columns"):
            items = value.items() if isinstance(value, dict) else [(None, item) for item in value]
            inner = [
                f"    {'' if name is None else json.dumps(name, ensure_ascii=False) + ': '}{_compact(item)}"
                for name, item in items
            ]
            start, stop = ("{", "}") if isinstance(value, dict) else ("[", "]")
            lines += [f'  "{field}": {start}', ",\n".join(inner), f"  {stop}{comma}"]
        else:
            lines.append(f'  "{field}": {_compact(value)}{comma}')
    return "\n".join([*lines, "}"])


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
