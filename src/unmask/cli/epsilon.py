"""Try to refute a differential-privacy claim.

The generator is fitted many times on one of two tables that differ in one row; a coin decides which. Attacks bet on the coin. The
audit stops as soon as the claim is refuted; a claim that stands comes with what would have been seen. Exit code 1 if refuted.
"""

import click

from unmask.audits.epsilon.plan import EpsilonPlan
from unmask.cli.options import table
from unmask.cli.outputs import OutputFile
from unmask.cli.verb import AuditVerb

command = AuditVerb(
    "epsilon",
    __doc__,
    EpsilonPlan,
    audit="unmask.audits.epsilon.audit:EpsilonAudit",
    doing="Playing runs",
    draws=True,
    within="No further run is begun after that.",
    tables=[table("real", "A real table for a canary; without it, worst-case tables only.", required=False)],
    more=[
        click.Option(["--carry-on"], is_flag=True, help="Play further runs on top of the audit in --out; stays valid."),
        click.Option(["--junit"], type=OutputFile("junit"), help="Write a JUnit XML file for CI."),
    ],
).command
