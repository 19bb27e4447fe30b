"""Drop synthetic rows that are too close to real ones, or outliers.

Filters like these are customary. They do not make a release private, and void a claim of differential privacy: the warnings that
are printed say why.
"""

from __future__ import annotations

from pathlib import Path

import click

from unmask.cli import options
from unmask.cli.saying import say
from unmask.cli.verb import verb


def run(real: Path, synthetic: Path, *, name: str, out: Path, schema: Path | None, quiet: bool) -> None:
    from unmask.metrics.filters import parse
    from unmask.tables.read import read_table, write_csv
    from unmask.threads import one_thread

    chosen = parse(name)
    table = read_table(real, schema)
    with one_thread():
        cleaned = chosen.clean(table, read_table(synthetic, table.schema, unlisted="note"))
    write_csv(cleaned.table, out)
    if not quiet:
        say(f"Wrote {len(cleaned.table):,} rows to {out}; dropped {len(cleaned.dropped):,}.")
        for text in (*cleaned.notes, *cleaned.warnings):
            say(f"note: {text}")


command = verb(
    "filter",
    __doc__,
    [
        options.real(),
        options.table("synthetic", "The synthetic table."),
        click.Option(
            ["--filter", "name"],
            required=True,
            help="similarity or outlier, with parameters as in similarity:radius=0.05.",
        ),
        options.written_to("CSV file to write (.gz compresses)."),
        options.schema(),
        options.quiet(),
    ],
    run,
)
