"""Drop synthetic rows that are too close to real ones, or outliers.

Filters like these are customary. They do not make a release private, and void a claim of differential privacy: the warnings that
are printed say why.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import Quiet, Real, SchemaFile


def run(
    real: Real,
    synthetic: Annotated[Path, typer.Argument(metavar="SYNTHETIC", help="The synthetic table.", show_default=False)],
    name: Annotated[
        str, typer.Option("--filter", help="similarity or outlier, with parameters as in similarity:radius=0.05.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="CSV file to write (.gz compresses).", show_default=False)],
    schema: SchemaFile = None,
    quiet: Quiet = False,
) -> None:
    import sys

    from unmask.metrics.filters import OutlierFilter, SimilarityFilter
    from unmask.registry import build, settings_from
    from unmask.tables.read import read_table, write_csv

    places = {f.name: f"{f.__module__}:{f.__name__}" for f in (SimilarityFilter, OutlierFilter)}
    kind, _, settings = name.partition(":")
    chosen = build(kind, settings_from(settings.split(",")) if settings else {}, places, what="filter")
    table = read_table(real, schema)
    cleaned = chosen.clean(table, read_table(synthetic, table.schema, unlisted="note"))
    write_csv(cleaned.table, out)
    if not quiet:
        print(f"Wrote {len(cleaned.table):,} rows to {out}; dropped {len(cleaned.dropped):,}.", file=sys.stderr)
        for text in (*cleaned.notes, *cleaned.warnings):
            print(f"note: {text}", file=sys.stderr)
