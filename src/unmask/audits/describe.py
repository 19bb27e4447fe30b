"""What a table looks like before anything is attacked: sizes, kinds, uniqueness, and who stands alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unmask.audits.part import Part
from unmask.audits.plan import SeedPlan, takes
from unmask.audits.runner import Runner
from unmask.results.grid import Cell, Grid
from unmask.results.result import Input, Records, Result, describe_input
from unmask.simulation.executors import Executor
from unmask.tables.matching import duplicates
from unmask.tables.read import read_table
from unmask.tables.schema import Column, Kind
from unmask.tables.table import Table
from unmask.tables.units import units
from unmask.threats.targets import MOST_ROWS, NEIGHBOURS, isolation


@takes(SeedPlan)
def describe(table: Any, *, schema: Any = None, workers: int | Executor | None = None, **choices: Any) -> Result:
    """Rows, units, columns, missing values, uniqueness, and every record's mean Gower distance to its 5 nearest."""
    return Description.of(SeedPlan.of(choices), real=table, schema=schema).run(Runner.of(workers))


@dataclass(frozen=True, eq=False)
class Description:
    """A table to be described; the plan is its seed."""

    plan: SeedPlan
    table: Table

    @classmethod
    def of(cls, plan: SeedPlan, *, real: Any, schema: Any = None) -> Description:
        """Read the table."""
        return cls(plan, read_table(real, schema))

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        return (describe_input("real", self.table),)

    def expected(self) -> Result:
        return self.plan.expected("describe", self.inputs)

    def run(self, runner: Runner) -> Result:
        table, notes = self.table, self.table.notes
        if len(table) == 1:
            scores = np.zeros(1)
            notes += ("One row has no neighbours: isolation was not measured.",)
        else:
            scores = isolation(table, np.random.default_rng(self.plan.seed), workers=runner.threads)
        if len(table) > MOST_ROWS:
            notes += (f"Isolation was measured against {MOST_ROWS:,} rows drawn at random, since the table is larger.",)
        order = np.argsort(-scores, kind="stable")
        records = Records(
            ("row", f"mean distance to the {NEIGHBOURS} nearest"),
            tuple((int(row), round(float(scores[row]), 6)) for row in order),
        )
        part = Part(grids=(_size_grid(table), _column_grid(table)), notes=notes)
        return part.told(self.expected(), records)


def _size_grid(table: Table) -> Grid:
    unit, copies = units(table), duplicates(table)
    lines: list[tuple[Cell, ...]] = [
        ("rows", len(table)),
        ("units of privacy", f"{unit.count:,} {'rows' if table.persons is None else 'persons'}"),
        ("columns", len(table.schema.columns)),
        ("rows that no other row equals", int((copies == 1).sum())),
        ("rows that equal another row", int((copies > 1).sum())),
        ("domains", str(table.schema.origin)),
    ]
    if table.schema.identifiers:
        lines.append(("left out as identifiers", ", ".join(table.schema.identifiers)))
    return Grid("table", "The table", ("what", "value"), tuple(lines))


def _column_grid(table: Table) -> Grid:
    lines = tuple(_column_line(table, position, column) for position, column in enumerate(table.schema.columns))
    return Grid("columns", "Its columns", ("column", "kind", "domain", "distinct here", "missing", "used as"), lines)


def _column_line(table: Table, position: int, column: Column) -> tuple[Cell, ...]:
    codes = table.codes[:, position]
    missing = int((codes == column.missing_code).sum()) if column.missing else 0
    if column.is_numeric:
        numbers = table.numbers[:, table.schema.numeric.index(position)]
        distinct = len(np.unique(numbers[~np.isnan(numbers)]))
        domain = f"{column.listed} bins"
    else:
        distinct = len(np.unique(codes[codes < column.listed]))
        domain = f"{column.listed} values{', ordered' if column.ordered else ''}"
    uses = [
        use for use, names in (("key", table.schema.keys), ("secret", table.schema.secrets)) if column.name in names
    ]
    share = f"{missing / len(table):.1%}" if missing else ""
    return (column.name, str(Kind(column.kind)), domain, distinct, share, ", ".join(uses))
