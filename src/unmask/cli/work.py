"""Help with a run that another process leads.

Any process that sees the run directory takes draws that are missing and nobody else works on, and writes them. Start as many as
you like, on any machine, at any time: jobs of an array, containers, a second laptop. One that is killed costs its draw.

Begin with the audit's own command and --cluster shared (it works too and waits for all), or with --prepare (it stops at once;
given again without it, it finds the draws done and judges them).
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import click

from unmask.cli import trust as trusting
from unmask.cli.options import PATH, quiet
from unmask.cli.saying import say
from unmask.cli.verb import verb
from unmask.cli.watching import ProgressFile, watch


def run(
    directory: Path, *, shard: tuple[int, int], workers: int | None, inputs: dict[str, Path], trust: bool, quiet: bool
) -> None:
    from unmask.audits.runner import Runner, all_cores, silent
    from unmask.cli.job import JOB, Job
    from unmask.cli.main import VERBS
    from unmask.errors import RunError
    from unmask.registry import load_class
    from unmask.simulation.executors.shared import Shared
    from unmask.threads import one_thread

    job = Job.read(directory)
    found: Any = importlib.import_module(f"unmask.cli.{job.verb}").command if job.verb in VERBS else None
    lead = getattr(found, "audit_verb", None)
    if lead is None or not lead.draws:
        raise RunError(f"{directory / JOB}: there is no run of '{job.verb}' that others can work on.")
    trusting.check_trust(lead.plan, job.plan, directory / JOB, trusted=trust)
    job.check_code()
    plan = lead.plan.of(job.plan)
    with watch("Reading", quiet=quiet):
        audit: Any = load_class(lead.audit)
        ready = audit.of(plan, **job.files(inputs))
    part, parts = shard
    runner = Runner(
        Shared(workers or all_cores(), part, parts),
        out=directory,
        draws=directory / job.draws,
        say=silent if quiet else say,
        group=job.group,
    )
    with (
        one_thread(),
        ProgressFile(directory, "work", group=job.group, helps=True) as kept,
        watch("Working along", quiet=quiet) as bar,
    ):
        kept.begin()
        seen = bar + kept.watch
        ready.run(runner.watched(seen.progress, seen.stage))
    if not quiet:
        say("All draws are there.")


def _shard(ctx: click.Context, param: click.Parameter, text: str | None) -> tuple[int, int]:
    """Where to begin: `3/16`, counted from 0 or from 1."""
    if text is None:
        return (0, 1)
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal()) or not 0 <= int(part) <= int(parts) or not int(parts):
        raise click.BadParameter(f"'{text}' is no part; write 0/16 to 15/16", ctx, param)
    return int(part) % int(parts), int(parts)


def _inputs(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, Path]:
    found = {}
    for text in texts:
        name, sign, path = text.partition("=")
        if not sign or not path:
            raise click.BadParameter(f"'{text}' names no file; write population=PATH", ctx, param)
        found[name] = Path(path)
    return found


command = verb(
    "work",
    __doc__,
    [
        click.Argument(["directory"], type=PATH, metavar="DIR"),
        click.Option(
            ["--shard"], callback=_shard, metavar="I/N",
            help="Begin with part I (from 0) of N, so that N that start together seldom want the same. All help to the end.",
        ),
        click.Option(["--workers"], type=int, help="Processes to use. [default: all cores]"),
        click.Option(
            ["--input", "inputs"], multiple=True, callback=_inputs, metavar="NAME=PATH",
            help="Where an input file is on this machine, if not where the run had it; may be repeated.",
        ),
        *trusting.options(),
        quiet(),
    ],
    run,
)  # fmt: skip
