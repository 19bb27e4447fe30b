"""Audit a generator that you cannot run: its owner gets training files and gives synthetic files back.

`unmask pool export real.csv --out pool/` writes the training files, `unmask pool attack pool/ --out run/` judges what came back.
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
    Real,
    SchemaFile,
    Seed,
    Workers,
    check_out,
    deliver,
    finish,
    watch,
)

Repeated = list[str] | None

EXPORT = """Write training files for a generator that somebody else runs.

In each run a fair coin decides for every person whether they are in. The owner of the generator gets train/, manifest.json and
README.txt; private/ must not be given away. Repeated with more --runs, the command extends the pool and keeps its files.
"""
ATTACK = """Judge everybody in the real table by the synthetic files that came back.

Every file is checked first: what is missing, changed, unreadable or copied is named at once; swapped files once all can be read.
"""

app = typer.Typer(
    help=__doc__,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command(name="export", help=EXPORT)
def export(
    real: Real,
    out: Annotated[Path, typer.Option("--out", help="Directory of the pool.", show_default=False)],
    runs: Annotated[int, typer.Option(help="Training files; the owner fits the generator to each.")] = 64,
    synthetic_rows: Annotated[
        int | None, typer.Option(min=1, help="Rows to publish in each run.", show_default="half the rows of REAL")
    ] = None,
    coins: Annotated[
        str, typer.Option(help="independent (each person is in or not), paired (one of each two), or auto.")
    ] = "auto",
    subsample: Annotated[
        int | None, typer.Option(min=4, help="Play with this many people, drawn at random.", show_default="all")
    ] = None,
    claim: Annotated[
        str | None,
        typer.Option(
            metavar="epsilon=E[,delta=D,neighbours=N]",
            help="What the owner claims; its neighbours (replace or add-remove) decide on the coins.",
            show_default=False,
        ),
    ] = None,
    keep_persons: Annotated[
        bool, typer.Option("--keep-persons", help="Write the person column into the training files.")
    ] = False,
    schema: SchemaFile = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    import sys

    from unmask.audits.everyone.budget import before_the_start
    from unmask.audits.everyone.plan import EveryonePlan
    from unmask.audits.foreign.audit import export_pool

    with watch("Writing training files", quiet=quiet) as progress:
        done = export_pool(
            real, out, runs=runs, schema=schema, synthetic_rows=synthetic_rows, coins=coins, subsample=subsample,
            claim=claim, keep_persons=keep_persons, seed=seed, progress=progress,
        )  # fmt: skip
    if quiet:
        return
    print(f"Wrote {done.new} new training files to {out}/train (seed {seed}); there are {done.runs}.", file=sys.stderr)
    print(before_the_start(done.runs, done.units, rate=EveryonePlan.rate), file=sys.stderr)
    print(f"Give to the owner of the generator: {out}/train, manifest.json, README.txt. They hold real records.")
    print(f"Keep to yourself: {out}/private. It holds the whole table, and who is in which file.")
    print(f"When the synthetic files are in {out}/synthetic: unmask pool attack {out} --out run/")


@app.command(name="attack", help=ATTACK)
def attack(
    pool: Annotated[
        Path, typer.Argument(metavar="POOL", help="Directory that `pool export` wrote.", show_default=False)
    ],
    name: Annotated[str, typer.Option(help="What to call the generator in the report.")] = "unnamed",
    strict: Annotated[bool, typer.Option("--strict", help="Stop if any synthetic file is missing.")] = False,
    scorer: Annotated[str, typer.Option(help="ratio, or boosted (dearer).")] = "ratio",
    rate: Annotated[float, typer.Option(help="Expected share of wrong names on the list of people.")] = 0.1,
    confidence: Annotated[float, typer.Option(help="Of every interval and bound.")] = 0.95,
    groups: Annotated[
        Repeated,
        typer.Option(help="Tell the risk by this column; may be repeated.", show_default="keys, else categories"),
    ] = None,
    secrets: Annotated[
        Repeated,
        typer.Option("--secret", help="Also guess this column of everybody; may be repeated.", show_default=False),
    ] = None,
    export_scores: Annotated[
        Path | None, typer.Option(help="Write the raw scores and coins of all judged runs (.npz).", show_default=False)
    ] = None,
    workers: Workers = ALL_CORES,
    out: Out = None,
    fail_on: FailOn = "high",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    from unmask.audits.everyone.plan import GROWING
    from unmask.audits.foreign.audit import FOREIGN_GROWING, attack_pool

    check_out(out)
    with watch("Judging synthetic files", quiet=quiet or as_json) as progress:
        result = attack_pool(
            pool, name=name, out=out, strict=strict, scores=export_scores, workers=workers, progress=progress,
            scorer=scorer, rate=rate, confidence=confidence, groups=tuple(groups or ()), secrets=tuple(secrets or ()),
        )  # fmt: skip
    deliver(result, out=out, as_json=as_json, quiet=quiet, workers=workers, growing=(*GROWING, *FOREIGN_GROWING))
    finish(result, fail_on)
