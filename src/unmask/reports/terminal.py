"""A result on the terminal: verdict first, then findings, tables, and what was not tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table as RichTable
from rich.text import Text

from unmask.reports.notes import merged
from unmask.reports.words import (
    Verdict,
    by_question,
    cell_text,
    exposed,
    finding_badge,
    in_words,
    measure,
    sentence,
    verdict,
)
from unmask.results.grid import Cell, Grid, GridKind
from unmask.results.next_steps import next_steps
from unmask.results.readable import one_line, readable
from unmask.results.result import Finding, Records, Result
from unmask.results.sharing import for_sharing

COLOURS = {
    "high": "bold red",
    "medium": "yellow",
    "low": "cyan",
    "inconclusive": "magenta",
    "confounded": "magenta",
}  # by badge
TOP_RECORDS = 10
TOP_FINDINGS = 8


def show(result: Result, console: Console, *, where: str = "", run: Mapping[str, Any] | None = None) -> None:
    """Print a result; `where` is the directory in which its files are, `run` what run.json holds."""
    for part in render(result, where=where, width=console.width, run=run):
        console.print(part, soft_wrap=isinstance(part, Text) and part.no_wrap is True)  # commands stay in one piece


def render(
    result: Result, *, where: str = "", width: int = 120, run: Mapping[str, Any] | None = None
) -> list[RenderableType]:
    """The parts of a result in reading order; tables show as many columns as fit."""
    parts: list[RenderableType] = []
    records, result = result.records, for_sharing(result)  # records are for local eyes, as the terminal is
    if result.state is not None:
        parts += [_verdict(result), *_findings(result), *_next(result, run)]
    if said := by_question(result):
        parts += [_verdict(result), *_answers(said), *_next(result, run)]
    parts += [_grid(grid, width) for grid in result.grids if not grid.detail and grid.kind is not GridKind.ANSWERS]
    if result.costs:
        costs = tuple((each.name, each.fit, each.sample) for each in result.costs)
        heads = ("mechanism", "CPU seconds of a fit", "of a release")
        parts.append(_grid(Grid("costs", "Cost (medians)", heads, costs), width))
    if records is not None:
        parts.append(_records(records, where, width))
    if result.not_tested:
        rows = tuple((item.name, item.reason, item.remedy) for item in result.not_tested)
        parts.append(_grid(Grid("not tested", "Not tested", ("what", "why", "how to enable"), rows), width))
    told = (
        result.facts.left_out + result.facts.inconclusive if result.state is not None else ()
    )  # in the verdict, above
    if notes := [note for note in result.notes if note not in told]:
        parts.append(Text("\nNotes", style="bold"))
        parts += [Text(f"  - {readable(note, 600)}") for note in merged(notes)]
    if result.failed_tasks:
        parts.append(Text(f"\n{result.failed_tasks} tasks failed; see the notes.", style="bold red"))
    parts.append(Text(f"\nSeed {result.seed}, unmask {readable(result.versions.get('unmask', '?'))}", style="dim"))
    if result.state is not None:
        parts.append(_headline(verdict(result)))  # again, since the tables are long
    if where:
        parts.append(
            Text(
                f"Files are in {readable(where)}; open {readable(str(Path(where) / 'report.html'))} in a browser",
                style="dim",
            )
        )
    return parts


def _verdict(result: Result) -> RenderableType:
    said = verdict(result)
    text = _headline(said)
    lines = (*said.support, *said.left_out, *(() if result.leaks else said.cannot[:1]))
    return Panel(text.append("".join(f"\n{readable(line, 600)}" for line in lines), style="default"))


def _answers(said: Sequence[tuple[str, tuple[str, ...]]]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for question, told in said:
        parts.append(Text(f"\n{readable(question)}", style="bold"))
        parts += [Text(f"  - {readable(line, 2000)}") for line in told]
    return parts


def _headline(said: Verdict) -> Text:
    style = COLOURS.get(said.badge.name, "default")
    return Text(f"{said.badge.shape} {said.badge.label}: {readable(said.sentence)}", style=style)


def _findings(result: Result) -> list[RenderableType]:
    """Findings with a severity in full, worst first; the others are in the tables."""
    shown = sorted(result.leaks, key=lambda leak: -leak.severity.rank)
    threats = list(dict.fromkeys(finding.threat for finding in shown[:TOP_FINDINGS]))
    parts: list[RenderableType] = [Text(readable(threat), style="dim") for threat in threats]
    parts += [_finding(finding, result) for finding in shown[:TOP_FINDINGS]]
    advice = dict.fromkeys(readable(finding.advice, 600) for finding in shown[:TOP_FINDINGS])
    parts += [Text(f"  -> {line}") for line in advice]
    if len(shown) > TOP_FINDINGS:
        parts.append(Text(f"... and {len(shown) - TOP_FINDINGS} more findings; result.json has all.", style="dim"))
    return parts


def _finding(finding: Finding, result: Result) -> RenderableType:
    badge = finding_badge(finding, result)
    text = Text(f"{badge.shape} {badge.label}  ", style=COLOURS.get(badge.name, "default"))
    lines = [sentence(finding.title), f"{measure(finding)}: {in_words(finding.estimate)}"]
    if finding.control:
        lines.append(f"Control: {in_words(finding.control)}")
    if finding.baseline:
        lines.append(f"By guessing: {in_words(finding.baseline)}")
    if finding.exposure:
        worst, above = exposed(finding.exposure)
        lines.append(f"Records above tolerance: {above}; worst record: {worst}")
    return text.append("\n    ".join(readable(line) for line in lines), style="default")


def _next(result: Result, run: Mapping[str, Any] | None) -> list[RenderableType]:
    parts: list[RenderableType] = [Text("\nWhat to do next", style="bold")]
    for number, step in enumerate(next_steps(result, run), start=1):
        parts.append(Text(f"  {number}. {readable(step.text, 600)}"))
        if step.command:
            parts.append(Text(f"     {one_line(step.command, 2000)}", style="bold", overflow="ignore", no_wrap=True))
    return parts


def _grid(grid: Grid, width: int) -> RenderableType:
    table = RichTable(
        title=escape(readable(grid.title)), title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    shown = _columns_that_fit(grid, width)
    for place in shown:
        numbers = bool(grid.rows) and all(isinstance(row[place], int | float) for row in grid.rows)
        table.add_column(
            escape(readable(grid.columns[place])),
            justify="right" if numbers else "left",
            header_style="dim",
            overflow="fold",
        )
    for row in grid.rows:
        table.add_row(*(Text(_cell(row[place])) for place in shown))
    return Group(Text(), table)


def _columns_that_fit(grid: Grid, width: int) -> list[int]:
    """The first columns whose longest words stand side by side; texts may wrap, numbers may not."""
    used = 0
    shown: list[int] = []
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
    return readable(cell_text(cell))
