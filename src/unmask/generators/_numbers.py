"""From codes that a generator drew to a table: numbers are uniform within their bin, integers stay whole."""

from __future__ import annotations

import numpy as np

from unmask.tables.schema import Column, Schema
from unmask.tables.table import Table


def table_from_codes(schema: Schema, codes: np.ndarray, rng: np.random.Generator) -> Table:
    """A table with these codes (rows x columns, any integer type) and numbers drawn within the bins."""
    codes = np.asfortranarray(codes, dtype=schema.code_type)
    numbers = np.empty((len(codes), len(schema.numeric)), order="F")
    for place, position in enumerate(schema.numeric):
        numbers[:, place] = draw_numbers(schema.columns[position], codes[:, position], rng)
    return Table(schema, codes, numbers)


def draw_numbers(column: Column, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One number per code, uniform within its bin; NaN for the missing code."""
    edges = column.edges
    low = np.append(edges[:-1], np.nan)  # the missing code comes right after the bins
    width = np.append(np.diff(edges), np.nan)
    numbers = low[codes] + rng.random(len(codes)) * width[codes]
    if column.is_integral:
        numbers = np.floor(numbers)
    return np.minimum(numbers, column.upper)  # rounding can reach the open end of a bin
