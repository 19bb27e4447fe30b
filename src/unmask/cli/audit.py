"""Audit a release: REAL and SYNTHETIC in, a verdict out.

No generator is needed. Several synthetic files are sets of one release. Give a holdout (people whom the generator never saw):
without one the audit cannot tell what the release adds from what the population teaches anyway.
"""

import click

from unmask.audits.release.plan import ReleasePlan
from unmask.cli.options import PATH, real, table
from unmask.cli.verb import AuditVerb

command = AuditVerb(
    "audit",
    __doc__,
    ReleasePlan,
    audit="unmask.audits.release.audit:ReleaseAudit",
    doing="Auditing",
    within="Parts that would not end in time are cut to size or left out, and named.",
    tables=[real(), table("synthetic", "The published table or tables.", many=True)],
    more=[click.Option(["--holdout"], type=PATH, help="People whom the generator never saw.")],
).command
