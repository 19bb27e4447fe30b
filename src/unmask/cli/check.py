"""Look the files over before an audit: REAL and SYNTHETIC in, what was noticed out, in seconds.

Which columns can be compared, which are left out and why, whether the holdout is one, whether tables were swapped; and whether
ids, names or notes of real people stand in the release, where no attack looks. `unmask audit` begins with the same.
"""

import click

from unmask.audits.release.plan import CheckPlan
from unmask.cli.options import PATH, real, table
from unmask.cli.verb import AuditVerb

command = AuditVerb(
    "check",
    __doc__,
    CheckPlan,
    audit="unmask.audits.release.check:ReleaseCheck",
    doing="Looking the files over",
    tables=[real(), table("synthetic", "The published table or tables.", many=True)],
    more=[click.Option(["--holdout"], type=PATH, help="People whom the generator never saw.")],
    without=("time_budget",),
).command
