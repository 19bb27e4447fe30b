"""Describe a table before it is attacked.

Rows, units, columns with their kinds, missing values, uniqueness, and the ten most isolated records by row number (mean
Gower distance to the 5 nearest).
"""

from unmask.audits.plan import SeedPlan
from unmask.cli.options import real
from unmask.cli.verb import AuditVerb

command = AuditVerb(
    "describe",
    __doc__,
    SeedPlan,
    audit="unmask.audits.describe:Description",
    doing="Looking at everybody",
    tables=[real()],
    without=("time_budget", "fail_on"),
).command
