"""Options and arguments that several verbs share, and how a result is handed to the user."""

from __future__ import annotations

import datetime
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from unmask.results.result import Result

Real = Annotated[
    Path, typer.Argument(metavar="REAL", help="The real table: CSV, TSV (also .gz) or Parquet.", show_default=False)
]
SchemaFile = Annotated[
    Path | None, typer.Option("--schema", help="Schema file (unmask, SDV, TAPAS); inferred from the data when absent.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of every random step.")]
Workers = Annotated[
    int, typer.Option("--workers", min=1, help="Threads or processes to use.", show_default="all cores")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="Directory for report.html, result.json and companions.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON for other programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]

SEVERITIES = ("none", "low", "medium", "high")


def _known_severity(text: str) -> str:
    if text not in SEVERITIES:
        raise typer.BadParameter(f"use one of {', '.join(SEVERITIES)}")
    return text


FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on", help=f"Exit with 1 from this severity on: {', '.join(SEVERITIES)}.", callback=_known_severity
    ),
]

ALL_CORES = os.cpu_count() or 1


def deliver(
    result: Result, *, out: Path | None, as_json: bool, quiet: bool, workers: int, growing: tuple[str, ...] = ()
) -> None:
    """Write a result to its directory and show it, as the options say."""
    from unmask.results.directory import write

    if out is not None:
        from unmask.reports import html

        write(result, out, run=how_it_ran(workers), growing=growing)
        html.write(result, out)
    if as_json:
        print(json.dumps(result.to_plain(), indent=1, ensure_ascii=False))
    elif not quiet:
        from rich.console import Console

        from unmask.reports.terminal import show

        show(result, Console(), where=str(out) if out else "")


def check_out(out: Path | None, plan: Result | None = None, *, growing: tuple[str, ...] = ()) -> None:
    """Find out before the work begins that --out cannot be used, or holds another run."""
    if out is not None:
        from unmask.results.directory import check_directory

        check_directory(out, plan, growing=growing)


def how_it_ran(workers: int) -> dict[str, object]:
    """What goes to run.json and not to result.json, since it differs between equal runs."""
    return {
        "command": ["unmask", *sys.argv[1:]],
        "finished": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "workers": workers,
        "directory": str(Path.cwd()),
    }


def finish(result: Result, fail_on: str) -> None:
    """Set the exit code: 4 if tasks failed, 1 if a finding is at or above the limit."""
    from unmask.results.policy import Severity

    if result.failed_tasks:
        raise typer.Exit(4)
    if fail_on != Severity.NONE and result.severity.rank >= Severity(fail_on).rank:
        raise typer.Exit(1)


@contextmanager
def watch(what: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A progress bar with the time that is left, on the error stream; silent where nobody watches."""
    if quiet:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def seconds_of(text: str | None) -> float | None:
    """Seconds from a text such as 90s, 10m or 1h; a bare number is seconds."""
    if text is None:
        return None
    number, unit = (text[:-1], text[-1]) if text[-1:] in "smh" and text else (text, "s")
    try:
        seconds = float(number) * {"s": 1, "m": 60, "h": 3600}[unit]
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise typer.BadParameter(f"'{text}' is no duration; write 90s, 10m or 1h")
    return seconds
