"""Write a schema for you to check and edit.

Kinds, ranges, values, keys and identifiers are proposed from the data. Once you have made sure that they are public
knowledge, set "origin" to "public" in the file: a differential-privacy claim does not stand on an inferred schema.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from unmask.cli import options
from unmask.cli.outputs import OutputFile
from unmask.cli.saying import safe_json, say
from unmask.cli.verb import verb


def run(
    real: Path,
    *,
    out: Path | None,
    like: Path | None,
    person: str | None,
    identifier: tuple[str, ...],
    key: tuple[str, ...],
    secret: tuple[str, ...],
    bins: int,
    equal_width: bool,
    quiet: bool,
) -> None:
    from unmask.tables.infer import Binning, Hints
    from unmask.tables.read import infer, read_frame, read_schema, read_table, write_schema
    from unmask.tables.schema_json import schema_to_json

    loaded = read_frame(real)
    known = read_schema(like) if like else Hints()
    notes = loaded.notes
    if isinstance(known, Hints):
        hints = replace(known, person=person, identifiers=(*known.identifiers, *identifier))
        inferred = infer(loaded, hints, binning=Binning(bins, not equal_width))
        found, notes = inferred.schema, notes + inferred.notes
    else:
        found = replace(known, person=person, identifiers=identifier)
    found = replace(found, keys=key or found.keys, secrets=secret)
    checked = read_table(real, found)  # the table must follow what is written
    if out is None:
        print(safe_json(schema_to_json(found)), end="")
    else:
        write_schema(found, out)
    if not quiet:
        for note in dict.fromkeys((*notes, *checked.notes)):
            say(f"note: {note}")
        if out is not None:
            what = "Check it: the ranges and values were read off the data." if isinstance(known, Hints) else ""
            say(f"Wrote {out} ({len(found.columns)} columns). {what}".rstrip())


command = verb(
    "schema",
    __doc__,
    [
        options.real(),
        click.Option(["-o", "--out"], type=OutputFile("schema"), help="File to write; printed when absent."),
        click.Option(
            ["--from", "like"], type=options.PATH,
            help="Start from the schema of another tool: SDV metadata, TAPAS or spring-epfl JSON.",
        ),
        click.Option(["--person"], help="Column that tells which rows belong to one person."),
        click.Option(["--identifier"], multiple=True, help="Column to leave out; may be repeated."),
        click.Option(["--key"], multiple=True, help="Column that an attacker may know; may be repeated."),
        click.Option(["--secret"], multiple=True, help="Column that nobody should learn; may be repeated."),
        click.Option(["--bins"], type=click.IntRange(1, 250), default=20, show_default=True, help="Bins for numbers."),
        click.Option(["--equal-width"], is_flag=True, help="Bins of equal width instead of equally many rows."),
        options.quiet(),
    ],
    run,
)  # fmt: skip
