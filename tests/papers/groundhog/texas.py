"""Texas hospital discharges as Stadler et al. (2022) attack them: people and targets."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from unmask.tables.read import read_schema, read_table
from unmask.tables.schema import Column, Schema
from unmask.tables.table import Table

# The five outliers of the authors (`Targets` in tests/linkage/runconfig.json of spring-epfl/synthetic_data_release). Two
# have the highest total charges, one the highest non-covered ones, two a high mortality risk and illness severity.
AUTHORS_TARGETS = "rows:26241,31432,27428,29265,14086"
BINS = 25  # table 1 of the paper
# Demographic columns for which the authors ask for k-anonymity (`sanitisationTechniques` of the same file).
KEYS = ("PAT_STATE", "SEX_CODE", "RACE", "ETHNICITY", "PAT_AGE")


@cache
def texas(data: Path) -> Table:
    """All 50,000 people under the authors' public schema: their ranges, 25 equal bins."""
    folder = data / "texas"
    schema = read_schema(folder / "texas.json")
    columns = [replace(column, bins=BINS) if column.is_numeric else column for column in schema.columns]
    return read_table(folder / "texas.csv.gz", schema.with_columns(columns, keys=KEYS))


def widened(schema: Schema) -> Schema:
    """The same schema with every range widened to the next round limits, so that they tell about nobody."""
    return schema.with_columns(_widened(column) for column in schema.columns)


def _widened(column: Column) -> Column:
    if not column.is_numeric:
        return column
    return replace(column, lower=-_round_up(-column.lower), upper=_round_up(column.upper))


def _round_up(number: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50, ... at or above a number; 0 for 0, and towards 0 for negative numbers."""
    if number <= 0:
        return 0.0 if number == 0 else -_round_down(-number)
    power = 10.0 ** np.floor(np.log10(number))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= number))


def _round_down(number: float) -> float:
    power = 10.0 ** np.floor(np.log10(number))
    return float(next(step * power for step in (5, 2, 1) if step * power <= number))


def recoded(table: Table, schema: Schema) -> Table:
    """The same people under another schema."""
    return Table.from_pandas(table.to_pandas(), schema)
