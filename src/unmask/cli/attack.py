"""Attack a generator: can people be recognised in what it publishes?

The generator is fitted many times on tables with and without each target; every attack sees every release. Results have
intervals; the draws are kept in --out, so that an interrupted run continues.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unmask.cli.options import (
    ALL_CORES,
    FailOn,
    Json,
    Out,
    Quiet,
    SchemaFile,
    Workers,
    check_out,
    deliver,
    finish,
    watch,
)

Repeated = list[str] | None


def run(
    population: Annotated[
        Path,
        typer.Argument(
            metavar="POPULATION", help="People to draw real tables from: CSV, TSV or Parquet.", show_default=False
        ),
    ],
    generator: Annotated[
        str | None, typer.Option("--generator", help="Name, module:Class, or 'command: ...'.", show_default=False)
    ] = None,
    settings: Annotated[
        Repeated, typer.Option("--set", metavar="NAME=VALUE", help="Parameter of the generator; may be repeated.")
    ] = None,
    goal: Annotated[str | None, typer.Option(help="membership or attribute.", show_default="membership")] = None,
    targets: Annotated[
        str | None,
        typer.Option(help="5, unlikely:5, rare:5+random:5, rows:17,42 (0-based).", show_default="5 isolated ones"),
    ] = None,
    attacks: Annotated[
        Repeated,
        typer.Option(help="Attack with parameters, as in queries:order=1; may be repeated.", show_default="all"),
    ] = None,
    knowledge: Annotated[
        str | None, typer.Option(help="Of the data: auxiliary, exact or none.", show_default="auxiliary")
    ] = None,
    access: Annotated[
        str | None,
        typer.Option(help="To the generator: no-box, black-box, uncertain-box or white-box.", show_default="black-box"),
    ] = None,
    possible: Annotated[
        Repeated, typer.Option(help="Uncertain-box: a generator that the attacker holds possible; may be repeated.")
    ] = None,
    secret: Annotated[
        str | None, typer.Option(help="Attribute goal: the column to be guessed.", show_default=False)
    ] = None,
    secret_values: Annotated[
        str | None, typer.Option(help="true, or uniform: drawn anew for each release.", show_default="true")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Numeric secrets: how near counts as right.", show_default="1/4 of the middle half"),
    ] = None,
    shadows: Annotated[
        int | None, typer.Option(min=0, help="Releases that the attacker learns from.", show_default="200")
    ] = None,
    tests: Annotated[int | None, typer.Option(min=2, help="Releases that are judged.", show_default="100")] = None,
    train_rows: Annotated[int | None, typer.Option(min=1, help="Rows of each real table.", show_default="1000")] = None,
    synthetic_rows: Annotated[
        int | None, typer.Option(min=1, help="Rows of each release.", show_default="train rows")
    ] = None,
    prior: Annotated[float | None, typer.Option(help="Probability that a target is in.", show_default="0.5")] = None,
    placement: Annotated[
        str | None, typer.Option(help="replace another person, or append the target.", show_default="replace")
    ] = None,
    isolate_targets: Annotated[
        bool, typer.Option("--isolate-targets", help="Play each target alone (dearer).")
    ] = False,
    confidence: Annotated[float | None, typer.Option(help="Of every interval.", show_default="0.95")] = None,
    schema: SchemaFile = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of every random step.", show_default="0")] = None,
    workers: Workers = ALL_CORES,
    out: Out = None,
    plan: Annotated[
        Path | None, typer.Option(help="Read choices from a plan file; options change them.", show_default=False)
    ] = None,
    write_plan: Annotated[
        Path | None, typer.Option(help="Write the choices to a plan file and stop.", show_default=False)
    ] = None,
    fail_on: FailOn = "high",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    from unmask.audits import plan as plans
    from unmask.audits.attack.audit import run as run_attack
    from unmask.errors import ParameterError
    from unmask.generators import parse
    from unmask.results.result import Result, describe_input
    from unmask.tables.read import read_table

    given: dict[str, Any] = {
        "generator": generator, "settings": tuple(settings) if settings else None,
        "goal": goal, "targets": targets, "attacks": tuple(attacks) if attacks else None, "knowledge": knowledge,
        "access": access, "possible": tuple(possible) if possible else None, "secret": secret,
        "secret_values": secret_values, "tolerance": tolerance, "shadows": shadows, "tests": tests,
        "train_rows": train_rows, "synthetic_rows": synthetic_rows, "prior": prior, "placement": placement,
        "isolate_targets": isolate_targets or None, "confidence": confidence, "seed": seed,
    }  # fmt: skip
    choices = plans.read_plan(plan) if plan else {}
    choices |= {name: value for name, value in given.items() if value is not None}
    if "generator" not in choices:
        raise ParameterError("Name a generator: --generator cart. `unmask generators` lists them.")
    chosen = plans.AttackPlan(**choices)
    if write_plan is not None:
        plans.write_plan(chosen, write_plan)
        return
    check_out(out)
    table = read_table(population, schema)
    expected = Result("attack", chosen.seed, chosen.to_plain(), (describe_input("population", table),))
    check_out(out, expected, growing=plans.GROWING)
    with watch("Drawing releases", quiet=quiet or as_json) as progress:
        result = run_attack(
            chosen, parse(chosen.generator, chosen.settings), table, out=out, workers=workers, progress=progress
        )
    deliver(
        result,
        out=out,
        as_json=as_json,
        quiet=quiet,
        workers=workers,
        growing=plans.GROWING,
    )
    finish(result, fail_on)


def _generator_text(generator: str | None, settings: list[str]) -> str | None:
    """The generator in one text, as plans keep it: `privbayes:epsilon=1`."""
    if generator is None or not settings:
        return generator
    return f"{generator}{',' if ':' in generator else ':'}{','.join(settings)}"
