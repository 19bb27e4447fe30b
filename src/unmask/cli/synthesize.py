"""Fit a generator and write a synthetic table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import Quiet, Real, SchemaFile


def run(
    real: Real,
    generator: Annotated[
        str, typer.Option("--generator", help="Name, module:Class, or 'command: ...'.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="CSV file to write (.gz compresses).", show_default=False)],
    settings: Annotated[
        list[str], typer.Option("--set", metavar="NAME=VALUE", help="Parameter of the generator; may be repeated.")
    ] = [],  # noqa: B006
    rows: Annotated[int | None, typer.Option(min=1, help="Rows to draw.", show_default="as many as REAL has")] = None,
    schema: SchemaFile = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of every random step.", show_default="0")] = None,
    quiet: Quiet = False,
) -> None:
    import sys

    import numpy as np

    from unmask.errors import ParameterError
    from unmask.generators import get
    from unmask.registry import settings_from
    from unmask.tables.read import read_table, write_csv

    chosen = get(generator, **settings_from(settings))
    release = getattr(chosen, "release", False)
    if release and seed is not None:
        raise ParameterError("A release with hardened noise cannot have a fixed seed: leave out --seed.")
    table = read_table(real, schema)
    rng = np.random.default_rng(None if release else seed or 0)
    model = chosen.fit(table, None if release else rng)
    synthetic = model.sample(rows or len(table), rng)
    write_csv(synthetic, out)
    if not quiet:
        for note in dict.fromkeys(table.notes + synthetic.notes):
            print(f"note: {note}", file=sys.stderr)
        print(f"Wrote {len(synthetic):,} rows to {out} (seed {'none' if release else seed or 0}).", file=sys.stderr)
        print(f"Claim: {model.claim or 'none'}", file=sys.stderr)
