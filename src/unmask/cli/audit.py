"""Audit a release: REAL and SYNTHETIC in, a verdict out.

No generator is needed. Several synthetic files are sets of one release. Give a holdout (people whom the generator never saw):
without one the audit cannot tell what the release adds from what the population teaches anyway.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli.options import (
    ALL_CORES,
    FailOn,
    Json,
    Out,
    Quiet,
    Real,
    SchemaFile,
    Seed,
    Workers,
    check_out,
    deliver,
    finish,
    seconds_of,
    watch,
)  # fmt: skip

Repeated = list[str] | None


def run(
    real: Real,
    synthetic: Annotated[
        list[Path], typer.Argument(metavar="SYNTHETIC...", help="The published table or tables.", show_default=False)
    ],
    holdout: Annotated[
        Path | None, typer.Option(help="People whom the generator never saw.", show_default=False)
    ] = None,
    secret: Annotated[
        Repeated, typer.Option(help="Column that nobody should learn; may be repeated.", show_default="schema, or all")
    ] = None,
    key: Annotated[
        Repeated,
        typer.Option(
            "--key", "--keys", help="Column that an attacker may know; may be repeated.", show_default="schema"
        ),
    ] = None,
    attempts: Annotated[int, typer.Option(min=10, help="Attempts per legal criterion.")] = 1000,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.9999, help="Of every interval.")] = 0.95,
    time_budget: Annotated[
        str | None,
        typer.Option(help="Begin no further part after this long, such as 90s, 10m or 1h.", show_default="no limit"),
    ] = None,
    schema: SchemaFile = None,
    seed: Seed = 0,
    workers: Workers = ALL_CORES,
    out: Out = None,
    fail_on: FailOn = "high",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    from unmask.audits.release.audit import expected
    from unmask.audits.release.audit import run as run_audit
    from unmask.audits.release.plan import ReleasePlan
    from unmask.audits.release.tables import read_release

    limit = seconds_of(time_budget)
    plan = ReleasePlan(tuple(secret or ()), tuple(key or ()), attempts, confidence, seed=seed)
    check_out(out)
    release = read_release(real, list(synthetic), holdout, schema, secrets=plan.secrets, keys=plan.keys)
    check_out(out, expected(release, plan))
    with watch("Auditing", quiet=quiet or as_json) as progress:
        result = run_audit(release, plan, workers=workers, time_budget=limit, progress=progress)
    deliver(result, out=out, as_json=as_json, quiet=quiet, workers=workers)
    finish(result, fail_on)
