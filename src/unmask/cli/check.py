"""Look the files over before an audit: REAL and SYNTHETIC in, what was noticed out, in seconds.

Which columns can be compared, which are left out and why, whether the holdout is one, whether tables were swapped; and whether
ids, names or notes of real people stand in the release, where no attack looks. `unmask audit` begins with the same.
"""

import json
from typing import Any

import click

from unmask.audits.release.plan import CheckPlan
from unmask.cli.options import PATH, real, table
from unmask.cli.saying import safe_json
from unmask.cli.verb import AuditVerb


class FoundCommand(click.Command):
    """A command that, with --found, prints what was found in the files and does nothing else."""

    def invoke(self, ctx: click.Context) -> Any:
        return _print_found(**ctx.params) if ctx.params.pop("found") else super().invoke(ctx)


def _print_found(real: Any, synthetic: Any, holdout: Any, schema: Any, **_: Any) -> None:
    from unmask.audits.release.preflight.found import found_in
    from unmask.results.plain import to_plain

    seen = found_in(real, synthetic, holdout=holdout, schema=schema)
    print(safe_json(json.dumps(to_plain(seen), indent=1, ensure_ascii=False)))
    if not seen.can_be_audited:
        raise click.exceptions.Exit(2)


command = AuditVerb(
    "check",
    __doc__,
    CheckPlan,
    audit="unmask.audits.release.check:ReleaseCheck",
    doing="Looking the files over",
    tables=[real(), table("synthetic", "The published table or tables.", many=True)],
    more=[
        click.Option(["--holdout"], type=PATH, help="People whom the generator never saw."),
        click.Option(
            ["--found"], is_flag=True,
            help="Print what was found in the files as JSON, codes with sentences, and stop; 2 if they cannot be audited.",
        ),
    ],
    kind=FoundCommand,
    without=("time_budget",),
).command  # fmt: skip
