"""Write a schema for you to check and edit.

Kinds, ranges, values, keys and identifiers are proposed from the data. Once you have made sure that they are public
knowledge, set "origin" to "public" in the file: a differential-privacy claim does not stand on an inferred schema.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import Quiet, Real


def run(
    real: Real,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="File to write; printed when absent.", show_default=False)
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option("--from", help="Start from the schema of another tool: SDV metadata, TAPAS or spring-epfl JSON."),
    ] = None,
    person: Annotated[str | None, typer.Option(help="Column that tells which rows belong to one person.")] = None,
    identifier: Annotated[list[str], typer.Option(help="Column to leave out; may be repeated.")] = [],  # noqa: B006
    key: Annotated[list[str], typer.Option(help="Column that an attacker may know; may be repeated.")] = [],  # noqa: B006
    secret: Annotated[list[str], typer.Option(help="Column that nobody should learn; may be repeated.")] = [],  # noqa: B006
    bins: Annotated[int, typer.Option(min=1, max=250, help="Bins for numbers.")] = 20,
    equal_width: Annotated[
        bool, typer.Option("--equal-width", help="Bins of equal width instead of equally many rows.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    import sys

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
        found = replace(known, person=person, identifiers=tuple(identifier))
    found = replace(found, keys=tuple(key) or found.keys, secrets=tuple(secret))
    read_table(real, found)  # the table must follow what is written
    if out is None:
        print(schema_to_json(found), end="")
    else:
        write_schema(found, out)
    if not quiet:
        for note in notes:
            print(f"note: {note}", file=sys.stderr)
        if out is not None:
            what = "Check it: the ranges and values were read off the data." if isinstance(known, Hints) else ""
            print(f"Wrote {out} ({len(found.columns)} columns). {what}".rstrip(), file=sys.stderr)
