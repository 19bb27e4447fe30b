"""Make the report of a finished run, or of several side by side.

One directory: report.html and summary.md are written into it, and the result is shown again. Several: one page compares
them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from unmask.cli import options
from unmask.cli.outputs import OutputFile, check_output
from unmask.cli.saying import say
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
        deliver(results[0], out=None, as_json=True, quiet=False, run={})
        return
    if pdf:
        from unmask.reports.browser import find_browser

        find_browser()  # before anything is written
    place = directories[0] if directories[0].is_dir() else directories[0].parent
    page = out or (place / "report.html" if len(results) == 1 else Path("comparison.html"))
    check_output(page, "page")
    if pdf:
        check_output(page.with_suffix(".pdf"), "pdf")
    if len(results) == 1:
        _one(place, results[0], out)
    else:
        _several(list(directories), results, page)
    say(f"Wrote {page}")
    if pdf:
        from unmask.reports.browser import write_pdf

        say(f"Wrote {write_pdf(page)}")


def _one(place: Path, result: Result, out: Path | None) -> None:
    from rich.console import Console

    from unmask.files import write_atomically
    from unmask.reports import html
    from unmask.reports.terminal import show
    from unmask.results.decision import decided
    from unmask.results.directory import read_run

    run = read_run(place)
    if out is None:
        html.write_report(result, place)
    else:
        write_atomically(out, html.render(result, run, decided(place)))
    show(result, Console(), run=run)


def _several(directories: list[Path], results: list[Result], page: Path) -> None:
    from unmask.files import write_atomically
    from unmask.reports import html

    names = _names([directory if directory.is_dir() else directory.parent for directory in directories])
    links = {
        name: html.link(page.parent, directory)
        for name, directory in zip(names, directories, strict=True)
        if (directory / html.REPORT).exists()
    }
    write_atomically(page, html.render_comparison(dict(zip(names, results, strict=True)), links))


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
            type=OutputFile("page"),
            help="File for the page. [default: report.html in DIR; comparison.html for several]",
        ),
        click.Option(["--pdf"], is_flag=True, help="Also print the page to a PDF; needs Chromium."),
        options.as_json(),
    ],
    run,
)
