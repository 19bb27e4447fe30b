"""What an experiment is: on what terms it is run, and how what it found is shown."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tests.papers.kept import ROOT, Kept, load, save
from unmask.reports.charts import Chart
from unmask.results.grid import Cell, Grid


def _silent(text: str) -> None:
    """For those who do not watch."""


@dataclass(frozen=True)
class Terms:
    """On what terms an experiment runs: where data sets are, the seed, and the share of its repetitions.

    What is finished is kept in a folder; `older` takes it though the program has changed since. A share is written to the
    page with `write` only, and the page says so.
    """

    data: Path
    seed: int = 1
    share: float = 1.0
    folder: Path = ROOT / "build" / "papers"
    older: bool = False
    write: bool = False  # the page, though it is a share
    seeds: int = 3  # of experiments that are repeated over seeds and long
    say: Callable[[str], None] = _silent
    borrowed: list[float] = field(default_factory=list, compare=False)  # CPU seconds of games that were played before

    def times(self, repetitions: int) -> int:
        """So many repetitions, or the share of them that was asked for."""
        return max(4, round(self.share * repetitions))

    def place(self, name: str) -> Path:
        """The file of a result: by seed, and by share if it is not the whole."""
        share = "" if self.share == 1 else f"-share-{self.share:g}"
        seeds = "" if self.seeds == Terms.seeds or "-game-" in name else f"-seeds-{self.seeds}"
        return self.folder / f"{name}-seed-{self.seed}{share}{seeds}.json"

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return self.share == 1 and self.seeds == Terms.seeds

    def once(self, name: str, play: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """A game that several experiments share, or one of many in a long one: played once, kept, and counted for each."""
        path = self.place(name)
        kept = load(path, older=self.older)
        if kept is not None:
            self.borrowed.append(kept.cpu)
            return kept.found
        began = time.process_time()
        found = play().reset_index(drop=True)
        kept = Kept(found, time.process_time() - began)
        save(path, kept)
        self.say(f"    {name}: {kept.cpu:.0f} CPU s")
        return found


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

    def recall(self, terms: Terms) -> Kept | None:
        """What was found before on these terms."""
        return load(terms.place(self.name), older=terms.older)

    def measure(self, terms: Terms) -> Kept:
        """Run it and keep what it found. It runs in this process, so that its CPU time can be told."""
        terms.borrowed.clear()
        began = time.process_time()
        found = self.run(terms).reset_index(drop=True)
        kept = Kept(found, time.process_time() - began + sum(terms.borrowed))
        save(terms.place(self.name), kept)
        return kept

    def outcome(self, terms: Terms) -> pd.DataFrame:
        """What it finds: the kept result of this very program, or a new one."""
        return (self.recall(terms) or self.measure(terms)).found


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
