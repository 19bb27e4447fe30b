"""Fit a generator and write a synthetic table."""

from __future__ import annotations

from pathlib import Path

import click

from unmask.cli import options
from unmask.cli.saying import say
from unmask.cli.trust import python_path
from unmask.cli.verb import verb
from unmask.cli.watching import watch


def run(
    real: Path,
    *,
    generator: str,
    out: Path,
    settings: tuple[str, ...],
    rows: int | None,
    schema: Path | None,
    seed: int | None,
    quiet: bool,
) -> None:
    import inspect
    from contextlib import nullcontext

    import numpy as np

    from unmask.errors import ParameterError
    from unmask.generators import get
    from unmask.generators.adapters.command import Command
    from unmask.registry import settings_from
    from unmask.tables.read import read_table, write_csv
    from unmask.threads import one_thread

    chosen = get(generator, **settings_from(list(settings)))
    release = getattr(chosen, "release", False)
    if release and seed is not None:
        raise ParameterError("A release with hardened noise cannot have a fixed seed: leave out --seed.")
    table = read_table(real, schema)
    rng = np.random.default_rng(None if release else seed or 0)
    tells = "progress" in inspect.signature(chosen.fit).parameters  # others are quick, or cannot say how far they are
    # A program of somebody's is alone here, and may use all cores: its seed is its own affair.
    with nullcontext() if isinstance(chosen, Command) else one_thread():
        with watch("Training", quiet=quiet or not tells) as seen:
            model = chosen.fit(table, None if release else rng, **({"progress": seen.progress} if tells else {}))
        synthetic = model.sample(rows or len(table), rng)
    write_csv(synthetic, out)
    if not quiet:
        for note in dict.fromkeys(table.notes + synthetic.notes):
            say(f"note: {note}")
        say(f"Wrote {len(synthetic):,} rows to {out} (seed {'none' if release else seed or 0}).")
        say(f"Claim: {model.claim or 'none'}")


command = verb(
    "synthesize",
    __doc__,
    [
        options.real(),
        click.Option(["--generator"], required=True, help="Name, module:Class, ./file.py:Class, or 'command: ...'."),
        options.written_to("CSV file to write (.gz compresses)."),
        click.Option(
            ["--set", "settings"],
            multiple=True,
            metavar="NAME=VALUE",
            help="Parameter of the generator; may be repeated.",
        ),
        click.Option(["--rows"], type=click.IntRange(1), help="Rows to draw. [default: as many as REAL has]"),
        options.schema(),
        click.Option(["--seed"], type=click.IntRange(0), help="Seed of every random step. [default: 0]"),
        python_path(),
        options.quiet(),
    ],
    run,
)
