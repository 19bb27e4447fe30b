"""Make the report of a finished run, or of several side by side.

One directory: report.html and summary.md are written into it, and the result is shown again. Several: one page compares
them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from unmask.cli import options
from unmask.cli.verb import deliver, verb

if TYPE_CHECKING:
    from unmask.results.result import Result


def run(directories: tuple[Path, ...], *, out: Path | None, pdf: bool, as_json: bool) -> None:
    from unmask.errors import ParameterError
    from unmask.results.directory import load

    if len(directories) > 1 and as_json:
        raise ParameterError("--json prints one result; name one directory.")
    results = [load(directory) for directory in directories]
    if as_json:
        deliver(results[0], out=None, as_json=True, quiet=False, workers=1)
        return
    if pdf:
        from unmask.reports.browser import find_browser

        find_browser()  # before anything is written
    page = _one(directories[0], results[0], out) if len(results) == 1 else _several(list(directories), results, out)
    print(f"Wrote {page}", file=sys.stderr)
    if pdf:
        from unmask.reports.browser import write_pdf

        print(f"Wrote {write_pdf(page)}", file=sys.stderr)


def _one(directory: Path, result: Result, out: Path | None) -> Path:
    from rich.console import Console

    from unmask.files import write_atomically
    from unmask.reports import html
    from unmask.reports.terminal import show

    place = directory if directory.is_dir() else directory.parent
    if out is None:
        page = html.write_report(result, place)
    else:
        write_atomically(out, html.render(result, html.read_run(place)))
        page = out
    show(result, Console())
    return page


def _several(directories: list[Path], results: list[Result], out: Path | None) -> Path:
    from unmask.files import write_atomically
    from unmask.reports import html

    page = out or Path("comparison.html")
    names = _names([directory if directory.is_dir() else directory.parent for directory in directories])
    links = {
        name: html.link(page.parent, directory)
        for name, directory in zip(names, directories, strict=True)
        if (directory / html.REPORT).exists()
    }
    write_atomically(page, html.render_comparison(dict(zip(names, results, strict=True)), links))
    return page


def _names(directories: list[Path]) -> list[str]:
    """The last part of each path, or as many parts as it takes to tell them apart."""
    parts = [directory.resolve().parts for directory in directories]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(each[-depth:]) for each in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({place})" for place, name in enumerate(names, start=1)]


command = verb(
    "report",
    __doc__,
    [
        options.table("directories", "Directories that audits wrote.", many=True, metavar="DIR..."),
        click.Option(
            ["--out", "-o"],
            type=options.PATH,
            help="File for the page. [default: report.html in DIR; comparison.html for several]",
        ),
        click.Option(["--pdf"], is_flag=True, help="Also print the page to a PDF; needs Chromium."),
        options.as_json(),
    ],
    run,
)
