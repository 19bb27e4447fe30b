"""What one piece of an audit contributes to its result. Parts add up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from unmask.results.grid import Cell, Grid, Series
from unmask.results.result import Facts, Finding, NotTested, Records, Result
from unmask.results.state import DOUBT

IDENTIFIER = "identifier:"  # what the names of findings about texts that identify people begin with


@dataclass(frozen=True, eq=False)
class SomePeople:
    """A column of records.csv about some rows of a large table: numbers, and nothing about all others."""

    size: int  # rows of the table
    rows: np.ndarray
    values: np.ndarray  # of these rows

    def spread(self) -> np.ndarray:
        """A number for each row, NaN for those it does not speak of; in as few bytes as hold the numbers."""
        kinds: dict[str, np.dtype[Any]] = {"f": self.values.dtype, "b": np.dtype(np.float16)}
        found = np.full(self.size, np.nan, dtype=kinds.get(self.values.dtype.kind, np.dtype(np.float64)))
        found[self.rows] = self.values
        return found


RecordColumn = np.ndarray | tuple[Cell, ...] | SomePeople


def of_everybody(column: RecordColumn) -> np.ndarray:
    """A value for each row: numbers as numbers, texts and gaps as they are."""
    if isinstance(column, SomePeople):
        return column.spread()
    return column if isinstance(column, np.ndarray) else np.array(column, dtype=object)


@dataclass(frozen=True, eq=False)
class Part:
    """Findings, tables, lines, sentences, what was not tested, and columns of records.csv (a value per person)."""

    findings: tuple[Finding, ...] = ()
    grids: tuple[Grid, ...] = ()
    series: tuple[Series, ...] = ()
    notes: tuple[str, ...] = ()
    facts: Facts = Facts()
    not_tested: tuple[NotTested, ...] = ()
    columns: tuple[tuple[str, RecordColumn], ...] = ()
    failed_tasks: int = 0

    def __add__(self, other: Part) -> Part:
        return Part(
            self.findings + other.findings,
            self.grids + other.grids,
            self.series + other.series,
            self.notes + other.notes,
            self.facts + other.facts,
            self.not_tested + other.not_tested,
            self.columns + other.columns,
            self.failed_tasks + other.failed_tasks,
        )

    def told(self, expected: Result, records: Records | None) -> Result:
        """The result of an audit, from what was known of it before the work began."""
        return replace(
            expected,
            findings=tuple(sorted(self.findings, key=clearest_first)),
            grids=self.grids,
            series=self.series,
            notes=tuple(dict.fromkeys(self.notes)),
            facts=self.facts,
            not_tested=self.not_tested,
            failed_tasks=self.failed_tasks,
            records=records,
        )


def together(parts: Iterable[Part]) -> Part:
    """The sum of parts."""
    return reduce(add, parts, Part())


def clearest_first(finding: Finding) -> tuple[int, bool, bool, float]:
    """Worst first; then what throws doubt on the others, then what is certain of itself: ids, a refuted claim; the clearest."""
    plain = finding.name.startswith(IDENTIFIER) or finding.criterion == "dp claim"
    return -finding.severity.rank, finding.name != DOUBT, not plain, -finding.estimate.low
