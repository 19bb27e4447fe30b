"""Audit a generator that you cannot run: its owner gets training files and gives synthetic files back.

`unmask pool export real.csv --out pool/` writes the training files, `unmask pool attack pool/ --out run/` judges what came back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unmask.audits.foreign.plan import PoolExportPlan, PoolPlan
from unmask.cli.everyone import SCORES
from unmask.cli.options import PATH, chosen, of_plan, quiet, real, schema, table
from unmask.cli.saying import say
from unmask.cli.verb import AuditVerb, verb
from unmask.cli.watching import watch
from unmask.results.readable import readable

EXPORT = """Write training files for a generator that somebody else runs.

In each run a fair coin decides for every person whether they are in. The owner of the generator gets train/, manifest.json and
README.txt; private/ must not be given away. Repeated with more --runs, the command extends the pool and keeps its files.
"""
ATTACK = """Judge everybody in the real table by the synthetic files that came back.

Every file is checked first: what is missing, changed, unreadable or copied is named at once; swapped files once all can be read.
"""


def export(real: Path, out: Path, schema: Path | None, quiet: bool, **given: Any) -> None:
    from unmask.audits.everyone.budget import before_the_start
    from unmask.audits.everyone.plan import EveryonePlan
    from unmask.audits.foreign.export import export_pool

    choices = chosen(PoolExportPlan, given)
    with watch("Writing training files", quiet=quiet) as bar:
        done = export_pool(real, out, schema=schema, progress=bar.progress, **choices)
    if quiet:
        return
    seed = choices.get("seed", 0)
    say(f"Wrote {done.new} new training files to {out}/train (seed {seed}); there are {done.runs}.")
    say(before_the_start(done.runs, done.units, rate=EveryonePlan.rate))
    place = readable(str(out))
    print(f"Give to the owner of the generator: {place}/train, manifest.json, README.txt. They hold real records.")
    print(f"Keep to yourself: {place}/private. It holds the whole table, and who is in which file.")
    print(f"When the synthetic files are in {place}/synthetic: unmask pool attack {place} --out run/")


command = click.Group(
    "pool",
    help=__doc__,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    commands=[
        verb(
            "export", EXPORT,
            [real(), click.Option(["--out"], type=PATH, required=True, help="Directory of the pool."),
             *of_plan(PoolExportPlan), schema(), quiet()],
            export,
        ),
        AuditVerb(
            "attack", ATTACK, PoolPlan, audit="unmask.audits.foreign.audit:PoolAudit", doing="Judging synthetic files",
            tables=[table("exported", "Directory that `pool export` wrote.", metavar="POOL")], more=[SCORES],
            without=("schema", "time_budget"),
        ).command,
    ],
)  # fmt: skip
