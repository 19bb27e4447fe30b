"""Little tables with every difficulty that a generator or an attack must survive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from unmask.tables.schema import Column, Kind, Origin, Schema
from unmask.tables.table import Table

ROWS = 60  # of the little tables
ASKED = 37  # rows asked for; not the number of training rows


STYLES: dict[str, tuple[str, ...]] = {
    "all kinds of columns": ("sex", "region", "age", "score", "day"),
    "numbers only": ("age", "score", "day"),
    "two small categorical columns": ("sex", "region"),
}
COLUMNS = {
    "sex": Column("sex", Kind.CATEGORICAL, values=("f", "m")),
    "region": Column("region", Kind.CATEGORICAL, values=("N", "S", "E"), groups=(("far", ("S", "E")),)),
    "age": Column("age", Kind.INTEGER, lower=0.0, upper=99.0, bins=10),
    "score": Column("score", Kind.CONTINUOUS, lower=-1.0, upper=1.0, bins=4),
    "day": Column("day", Kind.DATETIME, lower=14_610.0, upper=14_974.0, bins=6, resolution="D", format="%Y-%m-%d"),
}


def _values(column: Column, rows: int, rng: np.random.Generator) -> pd.Series:
    if column.kind is Kind.CATEGORICAL:
        return pd.Series(rng.choice(np.array(column.values, dtype=object), rows))
    if column.kind is Kind.INTEGER:
        return pd.Series(rng.integers(18, 80, rows))
    if column.kind is Kind.CONTINUOUS:
        return pd.Series(np.tanh(rng.normal(size=rows)))
    return pd.Series(np.datetime64("2010-01-01") + rng.integers(0, 365, rows))


def build_table(
    columns: list[Column], rows: int = ROWS, change: Callable[[pd.DataFrame], object] | None = None, **uses: Any
) -> Table:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({column.name: _values(column, rows, rng) for column in columns})
    if change is not None:
        change(frame)
    return Table.from_pandas(frame, Schema(tuple(columns), **uses))


def columns_of(style: str) -> list[Column]:
    return [COLUMNS[name] for name in STYLES[style]]


def plain(style: str) -> Table:
    """Sixty rows of the columns of a style."""
    return build_table(columns_of(style))


def _constant(style: str) -> Table:
    def same(frame: pd.DataFrame) -> None:
        for name in frame.columns:
            frame[name] = frame[name].iloc[0]

    rng = np.random.default_rng(0)
    only = (
        Column("only", Kind.CATEGORICAL, values=("x",)) if "sex" in STYLES[style] else Column("only", Kind.CONTINUOUS)
    )
    table = build_table(columns_of(style), change=same)
    frame = table.to_pandas().assign(only=_values(only, ROWS, rng) if only.values else 0.0)
    return Table.from_pandas(frame, Schema((*table.schema.columns, only)))


def _missing(style: str) -> Table:
    """A fifth of every column is missing, and all of the last."""

    def lose(frame: pd.DataFrame) -> None:
        rng = np.random.default_rng(1)
        for place, name in enumerate(frame.columns):
            lost = rng.random(len(frame)) < (1 if place == len(frame.columns) - 1 else 0.2)
            frame[name] = frame[name].astype(object).where(~lost, None)

    return build_table([replace(column, missing=("",)) for column in columns_of(style)], change=lose)


def _unseen(style: str) -> Table:
    """The schema lists values, and ranges, that no row has."""
    wider = [
        replace(column, values=(*column.values, "never", "nor this"))
        if column.values
        else replace(column, upper=column.upper + 50)
        for column in columns_of(style)
    ]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({column.name: _values(column, ROWS, rng) for column in columns_of(style)})
    return Table.from_pandas(frame, Schema(tuple(wider)))


def _persons(style: str) -> Table:
    def name(frame: pd.DataFrame) -> None:
        frame["who"] = [f"p{row // 2}" for row in range(len(frame))]

    return build_table(columns_of(style), change=name, person="who")


def _wide(style: str) -> Table:
    return build_table(
        [replace(column, name=f"{column.name}{copy}") for copy in range(60) for column in columns_of(style)][:60]
    )


def _large(style: str) -> Table:
    """A column with so many values that codes need two bytes."""
    if "sex" in STYLES[style]:
        large = Column("large", Kind.CATEGORICAL, values=tuple(f"v{i}" for i in range(1000)))
    else:
        large = Column("large", Kind.INTEGER, lower=0.0, upper=9999.0, bins=1000)
    return build_table([*columns_of(style), large])


CASES: dict[str, Callable[[str], Table]] = {
    "one column": lambda style: build_table(columns_of(style)[:1]),
    "one row": lambda style: build_table(columns_of(style), rows=1),
    "constant columns": _constant,
    "missing values": _missing,
    "values unseen in training": _unseen,
    "two rows per person": _persons,
    "a thousand values": _large,
    "sixty columns": _wide,
    "an inferred schema": lambda style: build_table(columns_of(style), origin=Origin.INFERRED),
}


# Attacks. The same little tables, each split into reference people and real ones, three of whom are targets; the release
# comes from a generator with a likelihood and measurements, and is then spoilt in every way that a release can be.
