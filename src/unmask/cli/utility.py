"""What a release is still good for: REAL and SYNTHETIC in, how far they are apart out.

Marginals, summary statistics, correlations, whether rows can be told from real ones, and what models learn from them (--label),
each beside what a fresh sample of real people would score. It attacks nobody: for privacy there is `unmask audit`.
"""

import click

from unmask.audits.utility.plan import UtilityPlan
from unmask.cli.options import PATH, real, table
from unmask.cli.verb import AuditVerb

command = AuditVerb(
    "utility",
    __doc__,
    UtilityPlan,
    audit="unmask.audits.utility.audit:UtilityAudit",
    doing="Measuring",
    within="No further part is begun after that.",
    tables=[real(), table("synthetic", "The published table or tables.", many=True)],
    more=[click.Option(["--holdout"], type=PATH, help="People whom the generator never saw, to test models with.")],
    without=("fail_on",),
).command
