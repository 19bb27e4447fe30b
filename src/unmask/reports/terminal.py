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
TOP_FINDINGS = 8


def show(result: Result, console: Console, *, where: str = "") -> None:
    """Print a result; `where` is the directory in which its files are."""
    for part in render(result, where=where, width=console.width):
        console.print(part)


def render(result: Result, *, where: str = "", width: int = 120) -> list[RenderableType]:
    """The parts of a result in reading order; tables show as many columns as fit."""
    parts: list[RenderableType] = []
    if result.findings:
        parts += [_verdict(result), *_findings(result)]
    parts += [_grid(grid, width) for grid in result.grids if not grid.detail]
    if result.records is not None:
        parts.append(_records(result.records, where, width))
    if result.not_tested:
        rows = tuple((item.name, item.reason, item.remedy) for item in result.not_tested)
        parts.append(_grid(Grid("not tested", "Not tested", ("what", "why", "how to enable"), rows), width))
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
    if worst.severity is Severity.NONE:
        many = f"{len(result.findings)} comparisons" if len(result.findings) > 1 else "1 comparison"
        sentence = (
            f"No attack beat its control ({many}). This is no proof of safety: see the notes for what was visible."
        )
    else:
        sentence = worst.title
    return Panel(Text(f"{SHAPES[worst.severity]} {worst.severity}: {sentence}", style=COLOURS[worst.severity]))


def _findings(result: Result) -> list[RenderableType]:
    """Findings with a severity in full, worst first; the others are in the tables."""
    shown = sorted((f for f in result.findings if f.severity is not Severity.NONE), key=lambda f: -f.severity.rank)
    threats = list(dict.fromkeys(finding.threat for finding in shown[:TOP_FINDINGS] or result.findings[:1]))
    parts: list[RenderableType] = [Text(threat, style="dim") for threat in threats]
    parts += [_finding(finding) for finding in shown[:TOP_FINDINGS]]
    if len(shown) > TOP_FINDINGS:
        parts.append(Text(f"... and {len(shown) - TOP_FINDINGS} more findings; result.json has all.", style="dim"))
    return parts


def _finding(finding: Finding) -> RenderableType:
    text = Text(f"{SHAPES[finding.severity]} {finding.severity}  ", style=COLOURS[finding.severity])
    text.append(finding.title, style="default")
    text.append(f"\n    gain over the control {_figure(finding.estimate)}", style="default")
    if finding.control:
        text.append(f"\n    control {_figure(finding.control)}", style="default")
    if finding.baseline:
        text.append(f"\n    by guessing {_figure(finding.baseline)}", style="default")
    text.append(f"\n    {finding.advice}", style="default")
    return text


def _figure(figure: Figure) -> str:
    return f"{figure.value:.3g} ({figure.low:.3g} to {figure.high:.3g}, {figure.confidence:.0%}, n = {figure.n:,})"


def _grid(grid: Grid, width: int) -> RenderableType:
    table = RichTable(title=escape(grid.title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    shown = _columns_that_fit(grid, width)
    for place in shown:
        numbers = bool(grid.rows) and all(isinstance(row[place], int | float) for row in grid.rows)
        table.add_column(
            escape(grid.columns[place]), justify="right" if numbers else "left", header_style="dim", overflow="fold"
        )
    for row in grid.rows:
        table.add_row(*(Text(_cell(row[place])) for place in shown))
    return Group(Text(), table)


def _columns_that_fit(grid: Grid, width: int) -> list[int]:
    """The first columns whose longest words stand side by side; texts may wrap, numbers may not."""
    used, shown = 0, []
    for place, name in enumerate(grid.columns):
        cells = [_cell(row[place]) for row in grid.rows]
        words = [word for cell in (name, *cells) for word in cell.split()] or [""]
        used += 2 + max(len(word) for word in words)
        if used > width + 2 and shown:
            break
        shown.append(place)
    return shown


def _records(records: Records, where: str, width: int) -> RenderableType:
    rows = tuple((str(row), *rest) for row, *rest in records.rows[:TOP_RECORDS])  # row numbers without separators
    more = len(records.rows) - len(rows)
    kept = f"; {more:,} more in records.csv" if where and more else ""
    return _grid(Grid("records", f"Records that stand out most{kept}", records.columns, rows), width)


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.4g}" if isinstance(cell, float) else cell
