"""The risk of each person in a table, for the price of K fits of a generator.

In every run a fair coin for each person says who is in; the generator is fitted and each release is held against everybody
at once. records.csv lists people by row, most exposed first; the report names nobody. The draws are kept, so that an
interrupted run continues and more --runs extend it.
"""

import click

from unmask.audits.everyone.plan import EveryonePlan
from unmask.cli.options import PATH, real
from unmask.cli.outputs import OutputFile
from unmask.cli.verb import AuditVerb

SCORES = click.Option(
    ["--export-scores", "scores"],
    type=OutputFile("scores"),
    help="Write the raw scores and coins of all judged runs (.npz).",
)

command = AuditVerb(
    "everyone",
    __doc__,
    EveryonePlan,
    audit="unmask.audits.everyone.audit:EveryoneAudit",
    doing="Fitting and attacking",
    draws=True,
    within="The number of runs is then what it pays for.",
    tables=[real()],
    more=[
        click.Option(["--pool"], type=PATH, help="Keep the draws here instead of in --out, for other runs to use."),
        SCORES,
    ],
).command
