"""The risk of each person in a table, for the price of K fits of a generator.

In every run a fair coin for each person says who is in; the generator is fitted and each release is held against everybody
at once. records.csv lists people by row, most exposed first; the report names nobody. The draws are kept, so that an
interrupted run continues and more --runs extend it.
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
    Real,
    SchemaFile,
    Seed,
    Workers,
    check_out,
    deliver,
    finish,
    seconds_of,
    watch,
)

Repeated = list[str] | None


def run(
    real: Real,
    generator: Annotated[
        str, typer.Option("--generator", help="Name, module:Class, or 'command: ...'.", show_default=False)
    ],
    settings: Annotated[
        Repeated, typer.Option("--set", metavar="NAME=VALUE", help="Parameter of the generator; may be repeated.")
    ] = None,
    runs: Annotated[int, typer.Option(help="Fits. The first quarter only teaches; later ones are judged.")] = 128,
    time_budget: Annotated[
        str | None, typer.Option(help="Choose the number of runs by time instead: 90s, 10m, 1h.", show_default=False)
    ] = None,
    synthetic_rows: Annotated[
        int | None, typer.Option(min=1, help="Rows of each release.", show_default="half the table")
    ] = None,
    subsample: Annotated[
        int | None,
        typer.Option(min=4, help="Play with this many people, drawn at random: for slow generators and large tables."),
    ] = None,
    coins: Annotated[
        str,
        typer.Option(help="independent (add-remove), paired (replace), or auto: as the generator's claim asks for."),
    ] = "auto",
    access: Annotated[
        str, typer.Option(help="black-box, or white-box: the attacker sees the fitted model.")
    ] = "black-box",
    secret: Annotated[
        Repeated, typer.Option(help="Also guess this column of everybody; may be repeated.", show_default=False)
    ] = None,
    redraw_secrets: Annotated[
        bool, typer.Option("--redraw-secrets", help="A second pool in which everybody's secret is drawn anew.")
    ] = False,
    confirm: Annotated[
        int, typer.Option(min=0, help="Play the exact game at full size for this many of the most exposed.")
    ] = 0,
    confirm_runs: Annotated[int, typer.Option(min=20, help="Fits at most for each of them.")] = 400,
    groups: Annotated[
        Repeated,
        typer.Option(help="Tell the risk by this column; may be repeated.", show_default="keys, else categories"),
    ] = None,
    rate: Annotated[float, typer.Option(help="Expected share of wrong names on the list of people.")] = 0.1,
    confidence: Annotated[float, typer.Option(help="Of every interval and bound.")] = 0.95,
    scorer: Annotated[str, typer.Option(help="ratio, or boosted (dearer).")] = "ratio",
    distances: Annotated[bool, typer.Option(help="Use nearest distances; they cost people x synthetic rows.")] = True,
    prediction_errors: Annotated[
        bool, typer.Option("--prediction-errors", help="Also use how well columns are predicted; costs model fits.")
    ] = False,
    pool: Annotated[
        Path | None,
        typer.Option(help="Keep the draws here instead of in --out, for other runs to use.", show_default=False),
    ] = None,
    export_scores: Annotated[
        Path | None, typer.Option(help="Write the raw scores and coins of all judged runs (.npz).", show_default=False)
    ] = None,
    schema: SchemaFile = None,
    seed: Seed = 0,
    workers: Workers = ALL_CORES,
    out: Out = None,
    fail_on: FailOn = "high",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    import sys

    from unmask.audits import everyone
    from unmask.audits.everyone.plan import GROWING, EveryonePlan
    from unmask.generators import parse
    from unmask.results.result import Result, describe_input
    from unmask.tables.read import read_table

    choices: dict[str, Any] = {
        "generator": generator, "settings": tuple(settings or ()), "runs": runs, "synthetic_rows": synthetic_rows,
        "subsample": subsample, "coins": coins, "access": access, "secrets": tuple(secret or ()),
        "redraw_secrets": redraw_secrets, "confirm": confirm, "confirm_runs": confirm_runs,
        "groups": tuple(groups or ()), "rate": rate, "confidence": confidence, "scorer": scorer, "distances": distances,
        "prediction_errors": prediction_errors, "seed": seed,
    }  # fmt: skip
    plan = EveryonePlan(**choices)
    check_out(out)
    table = read_table(real, schema)
    check_out(out, Result("everyone", plan.seed, plan.to_plain(), (describe_input("real", table),)), growing=GROWING)
    silent = quiet or as_json
    with watch("Fitting and attacking", quiet=silent) as progress:
        result = everyone.run(
            plan,
            parse(plan.generator, plan.settings),
            table,
            pool=everyone.draws_in(pool, out),
            workers=workers,
            progress=progress,
            say=everyone.silent if silent else lambda text: print(text, file=sys.stderr),
            seconds=seconds_of(time_budget),
            scores=export_scores,
        )
    deliver(result, out=out, as_json=as_json, quiet=quiet, workers=workers, growing=GROWING)
    finish(result, fail_on)
