"""Try to refute a differential-privacy claim.

The generator is fitted many times on one of two tables that differ in one row; a coin decides which. Attacks bet on the coin. The
audit stops as soon as the claim is refuted; a claim that stands comes with what would have been seen. Exit code 1 if refuted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import (
    ALL_CORES,
    FailOn,
    Json,
    Out,
    Quiet,
    SchemaFile,
    Seed,
    Workers,
    check_out,
    deliver,
    finish,
    watch,
)

Repeated = list[str] | None


def run(
    real: Annotated[
        Path | None,
        typer.Argument(
            metavar="[REAL]", help="A real table for a canary; without it, worst-case tables only.", show_default=False
        ),
    ] = None,
    generator: Annotated[
        str | None, typer.Option("--generator", help="Name, module:Class, or 'command: ...'.", show_default=False)
    ] = None,
    settings: Annotated[
        Repeated, typer.Option("--set", metavar="NAME=VALUE", help="Parameter of the generator; may be repeated.")
    ] = None,
    claim: Annotated[
        str | None,
        typer.Option(
            metavar="epsilon=E[,delta=D,neighbours=N]",
            help="What to refute; neighbours are replace or add-remove.",
            show_default="the generator's own claim",
        ),
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs, one fit each; fewer if the claim falls.")] = 1000,
    pairs: Annotated[
        Repeated,
        typer.Option(
            help="Tables: worst-case, repeat, narrow, tiny, mixed, canary, random; repeated ones take turns.",
            show_default="worst-case; with REAL also canary",
        ),
    ] = None,
    access: Annotated[str, typer.Option(help="white-box (sees the fitted model) or black-box.")] = "white-box",
    synthetic_rows: Annotated[
        int | None, typer.Option(min=1, help="Rows of each release.", show_default="100 per real row, at most 5,000")
    ] = None,
    to_the_end: Annotated[
        bool, typer.Option("--to-the-end", help="Play all runs even if the claim falls: for a sharper bound.")
    ] = False,
    carry_on: Annotated[
        bool, typer.Option("--carry-on", help="Play further runs on top of the audit in --out; stays valid.")
    ] = False,
    confidence: Annotated[float, typer.Option(help="Of every bound.")] = 0.95,
    schema: SchemaFile = None,
    seed: Seed = 0,
    workers: Workers = ALL_CORES,
    out: Out = None,
    junit: Annotated[Path | None, typer.Option(help="Write a JUnit XML file for CI.", show_default=False)] = None,
    fail_on: FailOn = "high",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    from unmask.audits.epsilon.audit import GROWING, audit_epsilon, parse_claim
    from unmask.cli.attack import _generator_text
    from unmask.errors import ParameterError
    from unmask.files import write_atomically
    from unmask.generators import parse
    from unmask.reports.junit import junit_xml
    from unmask.tables.read import read_table

    text = _generator_text(generator, settings or [])
    if text is None:
        raise ParameterError("Name a generator: --generator privbayes. `unmask generators` lists them.")
    check_out(out)
    own = parse(text).claim
    with watch("Playing runs", quiet=quiet or as_json) as progress:
        result = audit_epsilon(
            text, claim=parse_claim(claim, own) if claim else None, table=read_table(real, schema) if real else None,
            pairs=pairs or None, out=out, carry_on=carry_on, workers=workers, progress=progress, runs=runs, access=access,
            synthetic_rows=synthetic_rows, stop_early=not to_the_end, confidence=confidence, seed=seed,
        )  # fmt: skip
    deliver(
        result, out=out, as_json=as_json, quiet=quiet, workers=workers,
        growing=GROWING,
    )  # fmt: skip
    if junit is not None:
        write_atomically(junit, junit_xml(result))
    finish(result, fail_on)
