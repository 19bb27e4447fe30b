"""Audit two releases of the bundled data: needs nothing.

Half of 8,000 people of the bundled Adult data set is published twice: by a leaky generator (cart) and by a careful one
(privbayes, epsilon 1). The audit of both takes about a minute the first time, since loops are compiled. The report is written
to unmask-demo/, or where --out says.
"""

from unmask.audits.plan import Plan
from unmask.cli.verb import AuditVerb

command = AuditVerb(
    "demo",
    __doc__,
    Plan,
    audit="unmask.audits.demo:Demonstration",
    doing="Auditing two releases",
    without=("schema", "time_budget", "fail_on"),
    out="unmask-demo",
).command
