"""Rebuild records of a real table from what a provider's privacy metrics answer.

The generator is fitted to half of the table and stands behind an oracle, as companies offer it: whoever draws synthetic rows
may have rows judged by IMS, DCR and NNDR against the other half. The attacker knows no real row. The report says how many
records are rebuilt, at what cost, and what each mitigation would have done; records.csv says which. The rounds are kept, so
that an interrupted run continues and more --rounds extend it.

With SYNTHETIC and no generator: records are completed from known columns, and secrets solved for, from the release alone.
"""

import click

from unmask.audits.reconstruct.plan import ReconstructPlan
from unmask.cli.options import PATH, real, table
from unmask.cli.verb import AuditVerb

command = AuditVerb(
    "reconstruct",
    __doc__,
    ReconstructPlan,
    audit="unmask.audits.reconstruct.audit:ReconstructAudit",
    doing="Drawing and asking",
    tables=[
        real(),
        table("synthetic", "A release, instead of a generator.", many=True, required=False, metavar="[SYNTHETIC]..."),
    ],
    more=[click.Option(["--holdout"], type=PATH, help="Rows that the generator never saw. [default: half of REAL]")],
    draws=True,
    within="Mitigations, and parts of a release's audit, are then left out.",
).command
