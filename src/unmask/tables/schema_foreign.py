"""Schemas that other tools wrote: SDV metadata, TAPAS and spring-epfl (Groundhog) JSON.

None of them says whether its domains are public, so what they leave out is filled in from the data and the
result is marked as inferred.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unmask.errors import SchemaError
from unmask.tables.infer import Hints
from unmask.tables.schema import MAX_VALUES, Column, Kind, Origin, Schema, quoted
from unmask.tables.schema_json import short

LARGEST = 1e308


def is_sdv(document: Any) -> bool:
    """Whether this is SDV metadata (single table, V1, alone or as the only table of a multi-table file)."""
    return isinstance(document, Mapping) and ("METADATA_SPEC_VERSION" in document or "tables" in document)


def is_list_of_columns(document: Any) -> bool:
    """Whether this is TAPAS' list of columns, or spring-epfl's object that wraps such a list."""
    return isinstance(document, list) or (isinstance(document, Mapping) and isinstance(document.get("columns"), list))


def schema_from_columns(document: Any, where: str) -> Schema:
    """TAPAS (`type: finite, representation`) and spring-epfl (`type: categorical, i2s`) columns."""
    columns = document if isinstance(document, list) else document["columns"]
    return Schema(tuple(_listed_column(plain, where) for plain in columns), origin=Origin.PUBLIC)


def _listed_column(plain: Any, where: str) -> Column:
    if not isinstance(plain, Mapping) or "name" not in plain or "type" not in plain:
        raise SchemaError(f"{where}: each column needs a name and a type; found {str(plain)[:60]}.")
    name, kind = str(plain["name"]), str(plain["type"])
    values = plain.get("i2s", plain.get("representation"))
    if kind.lower() in {"categorical", "finite", "ordinal", "finite/ordered", "categoricalordered"}:
        if isinstance(values, int) and not isinstance(
            values, bool
        ):  # TAPAS writes a number alone if they are 0, 1, 2, ...
            if values > MAX_VALUES:
                raise SchemaError(
                    f"{where}: column '{name}' has {short(values)} values; a categorical column has at most {MAX_VALUES:,}."
                )
            values = [str(value) for value in range(values)]
        if not isinstance(values, list) or not all(isinstance(value, str | int | float) for value in values):
            raise SchemaError(f"{where}: column '{name}' of type {kind} lists no values (i2s or representation).")
        return Column(name, Kind.CATEGORICAL, values=tuple(values), ordered="ord" in kind.lower())
    lower, upper = _limits(plain, values)
    if lower is None or upper is None:
        raise SchemaError(
            f"{where}: column '{name}' of type {kind} has no range.\n"
            'Add "min" and "max" to it, or write a schema with: unmask schema real.csv -o schema.json'
        )
    for limit in (lower, upper):
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not abs(limit) < LARGEST:
            raise SchemaError(f"{where}: column '{name}' has the limit {short(limit)}; write a number.")
    if kind.lower() in {"integer", "int"}:
        return Column(name, Kind.INTEGER, lower=float(lower), upper=float(upper))
    if kind.lower() in {"continuous", "float", "real", "real/unbounded", "interval"}:
        return Column(name, Kind.CONTINUOUS, lower=float(lower), upper=float(upper))
    raise SchemaError(f"{where}: column '{name}' has the unknown type {kind!r}.")


def _limits(plain: Mapping[str, Any], values: Any) -> tuple[Any, Any]:
    if "min" in plain and "max" in plain:
        return plain["min"], plain["max"]
    if isinstance(values, list) and len(values) == 2:
        return values[0], values[1]
    return None, None


def hints_from_sdv(document: Mapping[str, Any], where: str) -> Hints:
    """What SDV metadata says about each column. It lists kinds but no domains: those come from the data."""
    if "tables" in document:
        tables = document["tables"]
        if not isinstance(tables, Mapping) or not all(isinstance(table, Mapping) for table in tables.values()):
            raise SchemaError(f"{where}: tables of SDV metadata are objects by name; this is {short(tables)}.")
        if len(tables) != 1:
            raise SchemaError(
                f"{where}: this SDV metadata holds {len(tables)} tables ({quoted(tables)}); unmask reads one."
            )
        document = next(iter(tables.values()))
    kinds: dict[str, Kind] = {}
    layouts: dict[str, str] = {}
    identifiers = []
    if not isinstance(columns := document.get("columns", {}), Mapping):
        raise SchemaError(f"{where}: columns of SDV metadata are objects by name; this is {short(columns)}.")
    for name, plain in columns.items():
        if not isinstance(plain, Mapping) or not isinstance(sdtype := plain.get("sdtype", ""), str):
            raise SchemaError(f"{where}: column '{name}' is {short(plain)}; SDV writes an object with an sdtype.")
        if sdtype in {"categorical", "boolean"}:
            kinds[name] = Kind.CATEGORICAL
        elif sdtype == "numerical":
            kinds[name] = Kind.CONTINUOUS  # whole numbers are recognised in the data
        elif sdtype == "datetime":
            kinds[name] = Kind.DATETIME
            if not isinstance(layout := plain.get("datetime_format") or "", str):
                raise SchemaError(f"{where}: column '{name}' has the datetime_format {short(layout)}; write a text.")
            layouts[name] = layout
        else:  # id, text, email, name, phone_number ... all identify people
            identifiers.append(name)
    if not kinds:
        raise SchemaError(f"{where}: this SDV metadata lists no columns that can be analysed.")
    return Hints(identifiers=tuple(identifiers), kinds=kinds, layouts=layouts)
