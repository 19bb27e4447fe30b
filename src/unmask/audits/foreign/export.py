"""Write training files for a generator that somebody else runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unmask.audits.everyone.audit import set_up
from unmask.audits.foreign.plan import PoolExportPlan
from unmask.audits.plan import takes
from unmask.generators.foreign import Foreign
from unmask.results.result import installed_versions
from unmask.simulation.executors import Progress, no_progress
from unmask.simulation.foreign.pool import begin, write_runs
from unmask.simulation.foreign.private import ExportPlan, read_private
from unmask.simulation.foreign.tables import writable
from unmask.tables.read import read_table


@dataclass(frozen=True)
class Exported:
    """What an export did."""

    new: int  # training files that were not there before
    runs: int  # training files that are there now
    units: int  # people with a coin


@takes(PoolExportPlan)
def export_pool(
    real: Any, out: str | Path, *, schema: Any = None, progress: Progress = no_progress, **choices: Any
) -> Exported:
    """Write the training files of some runs, or of those that the pool does not have yet.

    `choices` are the fields of `PoolExportPlan`: runs, synthetic_rows, coins, subsample, claim (such as
    epsilon=1,neighbours=replace: it decides on the kind of coins), seed. Person ids are left out of the training files unless
    the generator needs them (`keep_persons`): most would learn them as a column.
    """
    asked = PoolExportPlan.of(choices)
    table = writable(read_table(real, schema))
    setting, _, kind = set_up(asked.game, Foreign(claim=asked.claim), table)
    plan = ExportPlan(setting.synthetic_rows, str(kind), asked.subsample, asked.claim, asked.keep_persons, asked.seed)
    begin(Path(out), plan, real=table, candidates=setting.candidates, versions=installed_versions())
    private = read_private(Path(out))
    new = write_runs(Path(out), setting, private=private, runs=asked.runs, progress=progress)
    return Exported(new, len(private.runs) + new, int(setting.game.coined.sum()))
