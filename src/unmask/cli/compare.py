"""Mechanisms side by side: what each hides, what it keeps, what it costs, and who pays.

All mechanisms are fitted to the same tables with the same targets and coins, so that every two are compared within draws. Name
them after --generators, or one by one with --generator; a folder of finished releases (--releases) is compared by what needs no
fitting.
The draws are kept in --out, so that an interrupted run continues, and another mechanism can be added later.
"""

import click

from unmask.audits.compare.plan import ComparePlan
from unmask.cli.options import PATH, table
from unmask.cli.verb import AuditVerb

MANY = "--generators"


class SpreadCommand(click.Command):
    """A command in which all words after --generators, up to the next option, are generators."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, spread(args))


def spread(words: list[str]) -> list[str]:
    """`--generators raw cart --seed 1` as `--generators raw --generators cart --seed 1`."""
    made: list[str] = []
    inside = False
    for place, word in enumerate(words):
        if word.startswith("-") and word != "-":
            inside = word == MANY
            made += [] if inside and _has_value(words, place) else [word]
        else:
            made += [MANY, word] if inside else [word]
    return made


def _has_value(words: list[str], place: int) -> bool:
    return place + 1 < len(words) and not words[place + 1].startswith("-")


command = AuditVerb(
    "compare",
    __doc__,
    ComparePlan,
    audit="unmask.audits.compare.audit:CompareAudit",
    doing="Fitting and attacking",
    draws=True,
    within="The coin game is left out first, then there are fewer releases, the same number for all.",
    tables=[table("population", "People to draw real tables from: CSV, TSV or Parquet.")],
    more=[
        click.Option(
            ["--releases"],
            type=PATH,
            metavar="DIR",
            help="Compare finished releases: a file, or a folder of sets, for each.",
        )
    ],
    without=("fail_on",),
    kind=SpreadCommand,
).command
