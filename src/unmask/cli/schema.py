"""Write a schema for you to check and edit.

Kinds, ranges, values, keys and identifiers are proposed from the data; options correct them. Once you have made sure that
domains are public knowledge, say --public (or set "origin" to "public" in the file): a differential-privacy claim does not stand
on an inferred schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unmask.cli import options
from unmask.cli.outputs import OutputFile
from unmask.cli.saying import safe_json, say
from unmask.cli.verb import verb

if TYPE_CHECKING:
    from unmask.tables.corrections import Corrections
    from unmask.tables.schema import Schema

KINDS = ("categorical", "integer", "continuous", "datetime")


def run(
    real: Path,
    *,
    out: Path | None,
    like: Path | None,
    holdout: Path | None,
    corrections: Path | None,
    bins: int,
    equal_width: bool,
    quiet: bool,
    **typed: Any,
) -> None:
    from unmask.tables.corrections import corrected
    from unmask.tables.infer import Binning, Hints
    from unmask.tables.read import infer_together, read_frame, read_schema, read_table, write_schema
    from unmask.tables.schema_json import schema_to_json

    asked = _asked(corrections, typed)
    loaded = read_frame(real)
    known = read_schema(like) if like else Hints()
    notes = loaded.notes
    if isinstance(known, Hints):
        others = [] if holdout is None else [read_frame(holdout)]
        inferred = infer_together(loaded, others, asked.hints(known), binning=Binning(bins, not equal_width))
        found, notes = inferred.schema, notes + inferred.notes
    else:
        found = known
    found = corrected(found, asked)
    if asked.public and isinstance(known, Hints):
        notes += _vouched(found, asked)
    checked = read_table(real, found)  # the table must follow what is written
    if out is None:
        print(safe_json(schema_to_json(found)), end="")
    else:
        write_schema(found, out)
    if not quiet:
        for note in dict.fromkeys((*notes, *checked.notes)):
            say(f"note: {note}")
        if out is not None:
            guessed = isinstance(known, Hints) and not asked.public
            what = "Check it: the ranges and values were read off the data." if guessed else ""
            say(f"Wrote {out} ({len(found.columns)} columns). {what}".rstrip())


def _asked(path: Path | None, typed: dict[str, Any]) -> Corrections:
    """What the file says, with what was typed added; where both say something, what was typed counts."""
    from unmask.errors import InputError, SchemaError
    from unmask.files import parse_json, read_text
    from unmask.tables.corrections import Corrections, corrections_from_plain

    base = Corrections()
    if path is not None:
        try:
            base = corrections_from_plain(parse_json(read_text(path), path.name, error=SchemaError), path.name)
        except FileNotFoundError:
            raise InputError(f"{path}: there is no such file.") from None
    values: dict[str, tuple[str, ...]] = {}
    for name, value in typed["value"]:
        values[name] = (*values.get(name, ()), value)
    plain = {
        "kinds": dict(typed["kind"]),
        "formats": dict(typed["format"]),
        "values": {name: list(each) for name, each in values.items()},
        "ranges": {name: list(_limits(name, text)) for name, text in typed["range"]},
    }
    mine = corrections_from_plain(plain, "the command line")
    return Corrections(
        keys=() if typed["no_keys"] else typed["key"] or base.keys,
        secrets=typed["secret"] or base.secrets,
        identifiers=(*base.identifiers, *typed["identifier"]),
        person=typed["person"] or base.person,
        kinds={**base.kinds, **mine.kinds},
        formats={**base.formats, **mine.formats},
        values={**base.values, **mine.values},
        ranges={**base.ranges, **mine.ranges},
        public=base.public or typed["public"],
    )


def _vouched(schema: Schema, asked: Corrections) -> tuple[str, ...]:
    """What --public says of domains that nobody typed."""
    from unmask.tables.schema import quoted

    read = [each for each in schema.columns if each.name not in {*asked.values, *asked.ranges}]
    cut = [each.name for each in schema.columns if each.cuts]
    told = [f"values or range of {quoted(each.name for each in read)}"] if read else []
    told += [f"cuts of {quoted(cut)} (--equal-width makes none)"] if cut else []
    return (f"--public vouches for what was read off the data: {', and '.join(told)}.",) if told else ()


def _limits(name: str, text: str) -> tuple[str, str]:
    from unmask.errors import ParameterError

    lower, dots, upper = text.partition("..")
    if not dots:
        raise ParameterError(f"--range {name}={text}: write its lower and upper end, as in {name}=0..120.")
    return lower, upper


def _pairs(ctx: click.Context, param: click.Parameter, texts: Sequence[str]) -> list[tuple[str, str]]:
    """NAME=VALUE, cut at the first sign."""
    found = []
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise click.BadParameter(f"'{text}' names no column; write NAME=...", ctx, param)
        found.append((name, value))
    return found


def _pair(name: str, metavar: str, told: str) -> click.Option:
    return click.Option([name], multiple=True, callback=_pairs, metavar=metavar, help=f"{told}; may be repeated.")


command = verb(
    "schema",
    __doc__,
    [
        options.real(),
        click.Option(["-o", "--out"], type=OutputFile("schema"), help="File to write; printed when absent."),
        click.Option(
            ["--from", "like"], type=options.PATH,
            help="Start from a schema: of unmask, or of another tool (SDV metadata, TAPAS or spring-epfl JSON).",
        ),
        click.Option(
            ["--holdout"], type=options.PATH,
            help="People of the same population: values that only they have belong to the domains too.",
        ),
        click.Option(["--person"], help="Column that tells which rows belong to one person."),
        click.Option(["--identifier"], multiple=True, help="Column to leave out; may be repeated."),
        click.Option(["--key"], multiple=True, help="Column that an attacker may know; may be repeated."),
        click.Option(["--no-keys"], is_flag=True, help="No column is a key, whatever is proposed."),
        click.Option(["--secret"], multiple=True, help="Column that nobody should learn; may be repeated."),
        _pair("--kind", f"NAME={'|'.join(KINDS)}", "Kind of a column, which then is no identifier"),
        _pair("--format", "NAME=LAYOUT", "How the dates of a column are written, as in birth=%d.%m.%Y"),
        _pair("--value", "NAME=VALUE", "A value that a column may have; all that are public"),
        _pair("--range", "NAME=LOWER..UPPER", "The public range of a number or date, as in age=0..120"),
        click.Option(["--public"], is_flag=True, help="All domains are public knowledge: I have made sure."),
        click.Option(
            ["--corrections"], type=options.PATH, metavar="FILE",
            help="The same from a JSON file: keys, secrets, identifiers, person, kinds, formats, values, ranges, public.",
        ),
        click.Option(["--bins"], type=click.IntRange(1, 250), default=20, show_default=True, help="Bins for numbers."),
        click.Option(["--equal-width"], is_flag=True, help="Bins of equal width instead of equally many rows."),
        options.quiet(),
    ],
    run,
)  # fmt: skip
