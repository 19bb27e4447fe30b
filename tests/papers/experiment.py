"""What an experiment is: how it is run, and how what it found is shown."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from unmask.reports.charts import Chart
from unmask.results.grid import Cell, Grid


@dataclass(frozen=True)
class Terms:
    """On what terms an experiment runs: the seed, the share of its repetitions, and where data sets are."""

    data: Path
    seed: int = 1
    share: float = 1.0

    def times(self, repetitions: int) -> int:
        """So many repetitions, or the share of them that was asked for."""
        return max(4, round(self.share * repetitions))


@dataclass(frozen=True)
class Shown:
    """What stands on the page of the paper, in this order: charts, then tables."""

    tables: tuple[Grid, ...]
    charts: tuple[Chart, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """A figure or a table of a paper.

    `run` does the work and is kept; `show` makes tables and charts of what was found, and costs nothing. Names of charts
    begin with the name of the experiment, the name with that of its page in docs/explanation/papers.
    """

    name: str
    about: str
    run: Callable[[Terms], pd.DataFrame]
    show: Callable[[pd.DataFrame], Shown]
    seconds: float  # of CPU, about

    @property
    def page(self) -> str:
        """The page of the paper."""
        return self.name.partition("-")[0]


def table(title: str, frame: pd.DataFrame, digits: int = 2) -> Grid:
    """A frame as people read it; its index is not shown."""
    rows = tuple(tuple(words(cell, digits) for cell in row) for row in frame.itertuples(index=False))
    return Grid("table", title, tuple(str(column) for column in frame.columns), rows)


def words(cell: object, digits: int = 2) -> Cell:
    """A number with so many digits, without the zero before the point; what was not measured is a dash."""
    if isinstance(cell, bool | str):
        return str(cell)
    if cell is None or cell != cell:
        return "–"
    if isinstance(cell, float):
        text = f"{cell:.{digits}f}"
        text = text.lstrip("-") if not float(text) else text
        return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
    return str(cell)


def span(low: float, high: float, digits: int = 2) -> str:
    """An interval."""
    return f"{words(float(low), digits)} to {words(float(high), digits)}"


def joined(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Frames under one another, with lines numbered anew."""
    return pd.concat(list(parts), ignore_index=True)
