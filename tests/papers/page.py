"""The pages of the papers: text by hand, and between markers what the experiments found."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.papers.drawing import alone
from tests.papers.experiment import Experiment, Terms
from tests.papers.kept import ROOT, Kept
from unmask.errors import InputError
from unmask.files import write_atomically
from unmask.results.grid import Grid

END = "<!-- end -->"


@dataclass(frozen=True)
class Places:
    """Where pages and drawings are."""

    root: Path = ROOT

    @property
    def pages(self) -> Path:
        return self.root / "docs" / "explanation" / "papers"

    @property
    def drawings(self) -> Path:
        return self.root / "docs" / "images" / "papers"

    def page(self, experiment: Experiment) -> Path:
        """The page that an experiment stands on."""
        return self.pages / f"{experiment.page}.md"


def begin(name: str) -> str:
    """The marker before a block."""
    return f"<!-- papers: {name} -->"


def write(experiment: Experiment, terms: Terms, kept: Kept, places: Places = Places()) -> Path:
    """Put what an experiment found into its page, and its charts beside it. Equal findings give equal bytes but for CPU."""
    page = places.page(experiment)
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    block = re.compile(f"{re.escape(begin(experiment.name))}\n.*?{re.escape(END)}", re.DOTALL)
    if len(block.findall(text)) != 1:
        raise InputError(
            f"{page.relative_to(places.root)}: no place for {experiment.name}, or two. Write these two lines there, once:\n"
            f"{begin(experiment.name)}\n{END}"
        )
    for chart in experiment.show(kept.found).charts:
        write_atomically(places.drawings / f"{chart.name}.svg", alone(chart).encode())
    made = f"{begin(experiment.name)}\n{body(experiment, terms, kept)}\n{END}"
    write_atomically(page, block.sub(lambda _: made, text).encode())
    return page


def body(experiment: Experiment, terms: Terms, kept: Kept) -> str:
    """Charts, tables, and how they were made."""
    shown = experiment.show(kept.found)
    parts = [f"![{chart.title}](../../images/papers/{chart.name}.svg)" for chart in shown.charts]
    parts += [markdown(grid) for grid in shown.tables]
    words, left = "", []
    if terms.share != 1:
        words += f" --share {terms.share:g}"
        left.append(f"{terms.share:.0%} of the repetitions")
    if terms.seeds != Terms.seeds:
        words += f" --seeds {terms.seeds}"
        left.append(f"{terms.seeds} of {Terms.seeds} seeds")
    told = "" if terms.whole else f" {', '.join(left)}.".capitalize()
    share = words if terms.whole else f"{words} --write"
    parts.append(f"`python -m tests.papers {experiment.name} --seed {terms.seed}{share}`: {kept.cpu:.0f} CPU s.{told}")
    return "\n\n".join(parts)


def markdown(grid: Grid) -> str:
    """A table with its title."""
    lines = [grid.columns, ("---",) * len(grid.columns), *grid.rows]
    written = "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
    return f"{grid.title}\n\n{written}" if grid.title else written
