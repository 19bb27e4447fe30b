"""Attack a generator: can people be recognised in what it publishes?

The generator is fitted many times on tables with and without each target; every attack sees every release. Results have
intervals; the draws are kept in --out, so that an interrupted run continues.
"""

import click

from unmask.audits.attack.plan import AttackPlan
from unmask.cli.options import table
from unmask.cli.outputs import OutputFile
from unmask.cli.verb import AuditVerb

command = AuditVerb(
    "attack",
    __doc__,
    AttackPlan,
    audit="unmask.audits.attack.audit:AttackAudit",
    doing="Drawing releases",
    draws=True,
    within="Shadows and tests are lowered to what it pays for.",
    tables=[table("population", "People to draw real tables from: CSV, TSV or Parquet.")],
    more=[
        click.Option(
            ["--export-scores", "scores"],
            type=OutputFile("scores"),
            help="Write the raw scores of all attacks on all releases, with the answers (.npz).",
        )
    ],
).command
