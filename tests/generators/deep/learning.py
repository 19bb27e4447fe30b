"""A table with one strong dependence, and how far a sample is from it."""

import numpy as np
import pandas as pd

from unmask.generators._numbers import table_from_codes
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

SCHEMA = Schema(
    (
        Column("job", Kind.CATEGORICAL, values=("cook", "pilot", "nurse", "judge")),
        Column("pay", Kind.CONTINUOUS, lower=0.0, upper=10.0, bins=10, missing=("",)),
    )
)


def people(rows: int, seed: int = 0) -> Table:
    """Pay depends on the job, and a third of the cooks tell none."""
    rng = np.random.default_rng(seed)
    job = rng.choice(4, rows, p=[0.4, 0.3, 0.2, 0.1])
    pay = np.array([1.5, 7.5, 3.5, 9.0])[job] + rng.normal(0, 0.3, rows)
    pay[(job == 0) & (rng.random(rows) < 1 / 3)] = np.nan
    return Table.from_pandas(
        pd.DataFrame({"job": np.array(SCHEMA.columns[0].values)[job], "pay": pay.clip(0, 10)}), SCHEMA
    )


def away(first: Table, second: Table) -> float:
    """Total variation between the joint distributions of both columns."""
    cells = [table.codes[:, 0].astype(int) * 12 + table.codes[:, 1] for table in (first, second)]
    shares = [np.bincount(each, minlength=60) / len(each) for each in cells]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def scattered(rows: int, seed: int) -> Table:
    """Rows from anywhere in the domain."""
    rng = np.random.default_rng(seed)
    return table_from_codes(SCHEMA, rng.integers(0, SCHEMA.sizes, size=(rows, 2)), rng)
