"""A result on the terminal: verdict first, then findings, tables, and what was not tested."""

from __future__ import annotations

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table as RichTable
from rich.text import Text

from unmask.audits.result import Cell, Figure, Finding, Grid, Records, Result, Severity

# Severity by word, shape and colour: no reader depends on one of them alone.
SHAPES = {Severity.HIGH: "▲", Severity.MEDIUM: "◆", Severity.LOW: "●", Severity.NONE: "○"}
COLOURS = {Severity.HIGH: "bold red", Severity.MEDIUM: "yellow", Severity.LOW: "cyan", Severity.NONE: "green"}
TOP_RECORDS = 10


def show(result: Result, console: Console, *, where: str = "") -> None:
    """Print a result; `where` is the directory in which its files are."""
    for part in render(result, where=where):
        console.print(part)


def render(result: Result, *, where: str = "") -> list[RenderableType]:
    """The parts of a result in reading order."""
    parts: list[RenderableType] = []
    if result.findings:
        parts.append(_verdict(result))
        ordered = sorted(result.findings, key=lambda finding: -finding.severity.rank)
        parts.append(Group(*(_finding(finding) for finding in ordered)))
    parts += [_grid(grid) for grid in result.grids]
    if result.records is not None:
        parts.append(_records(result.records, where))
    if result.not_tested:
        rows = tuple((item.name, item.reason, item.remedy) for item in result.not_tested)
        parts.append(_grid(Grid("not tested", "Not tested", ("what", "why", "how to enable"), rows)))
    if result.notes:
        parts.append(Text("\nNotes", style="bold"))
        parts += [Text(f"  - {note}") for note in result.notes]
    if result.failed_tasks:
        parts.append(Text(f"\n{result.failed_tasks} tasks failed; see the notes.", style="bold red"))
    parts.append(Text(f"\nSeed {result.seed}, unmask {result.versions.get('unmask', '?')}", style="dim"))
    if where:
        parts.append(Text(f"Files are in {where}", style="dim"))
    return parts


def _verdict(result: Result) -> RenderableType:
    worst = max(result.findings, key=lambda finding: finding.severity.rank)
    return Panel(Text(f"{SHAPES[worst.severity]} {worst.severity}: {worst.title}", style=COLOURS[worst.severity]))


def _finding(finding: Finding) -> RenderableType:
    text = Text(f"{SHAPES[finding.severity]} {finding.severity}  ", style=COLOURS[finding.severity])
    text.append(finding.title, style="default")
    text.append(f"\n    {finding.threat}", style="dim")
    text.append(f"\n    measured {_figure(finding.estimate)}", style="default")
    if finding.control:
        text.append(f"; on people who are not in the data {_figure(finding.control)}", style="default")
    if finding.baseline:
        text.append(f"; by guessing {_figure(finding.baseline)}", style="default")
    text.append(f"\n    {finding.advice}", style="default")
    return text


def _figure(figure: Figure) -> str:
    return f"{figure.value:.3g} ({figure.low:.3g} to {figure.high:.3g}, {figure.confidence:.0%}, n = {figure.n:,})"


def _grid(grid: Grid) -> RenderableType:
    table = RichTable(title=escape(grid.title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    for place, name in enumerate(grid.columns):
        numbers = bool(grid.rows) and all(isinstance(row[place], int | float) for row in grid.rows)
        table.add_column(escape(name), justify="right" if numbers else "left", header_style="dim", overflow="fold")
    for row in grid.rows:
        table.add_row(*(Text(_cell(cell)) for cell in row))
    return Group(Text(), table)


def _records(records: Records, where: str) -> RenderableType:
    shown = tuple((str(row), *rest) for row, *rest in records.rows[:TOP_RECORDS])  # row numbers without separators
    more = len(records.rows) - len(shown)
    kept = f"; {more:,} more in records.csv" if where and more else ""
    return _grid(Grid("records", f"Records that stand out most{kept}", records.columns, shown))


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.4g}" if isinstance(cell, float) else cell
