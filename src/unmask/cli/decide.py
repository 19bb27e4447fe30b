"""Keep what a person decided about a result: decision.json beside it, printed in its report.

The decision names the result by its digest: if another result takes its place, the report says that the decision is about
another one.
"""

from __future__ import annotations

from pathlib import Path

import click

from unmask.cli import options
from unmask.cli.saying import say
from unmask.cli.verb import verb
from unmask.results.decision import DECISION, Decision, Publishing, write_decision

CHOICES = [str(each) for each in Publishing]


def run(directory: Path, *, reviewer: str, decision: str, reasons: str, date: str | None, quiet: bool) -> None:
    from unmask.reports.html import write_report
    from unmask.results.directory import load

    result = load(directory)  # a damaged one is nothing to decide about
    made = Decision(reviewer, Publishing(decision), reasons, date or "")
    write_decision(directory, made)
    page = write_report(result, directory)
    if not quiet:
        say(f"Wrote {directory / DECISION}, and the report anew: {page}")


command = verb(
    "decide",
    __doc__,
    [
        options.table("directory", "Directory that an audit wrote.", metavar="DIR"),
        click.Option(["--reviewer"], required=True, help="Who decides."),
        click.Option(
            ["--decision"],
            required=True,
            type=click.Choice([str(each) for each in Publishing]),
            help="What may happen.",
        ),
        click.Option(["--reasons"], required=True, help="Why, and under which conditions."),
        click.Option(["--date"], metavar="DATE", help="When it was decided, as 2026-01-31. [default: now]"),
        options.quiet(),
    ],
    run,
)
