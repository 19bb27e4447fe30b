"""Audit a generator that somebody else runs: write training files, take synthetic files back, and judge everybody by them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.draws import DRAWS, open_draws
from unmask.audits.epsilon.audit import parse_claim
from unmask.audits.everyone.audit import check_columns, identity, judge_pool, set_up
from unmask.audits.everyone.plan import AUTO, EveryonePlan
from unmask.audits.foreign.swaps import check_names
from unmask.results.result import Result, installed_versions
from unmask.errors import InputError
from unmask.generators.claim import Claim
from unmask.generators.foreign import Foreign
from unmask.simulation.executors.local import Progress, no_progress, run_tasks
from unmask.simulation.foreign.tables import writable
from unmask.simulation.foreign.files import ForeignSetting, ForeignStore, check_pool, take_down_file
from unmask.simulation.foreign.pool import begin, write_runs
from unmask.simulation.foreign.private import SYNTHETIC, ExportPlan, Private, read_private, sha256
from unmask.simulation.store import FileStore, Store
from unmask.tables.read import read_table

# What may differ between results in one directory: none of it changes how a synthetic file was made.
FOREIGN_GROWING = ("synthetic", "files")
ON_TRUST = (
    "The generator was run by its owner. That each file was made from its own training file, from scratch and with the same "
    "settings, is taken on trust; files under wrong names are found only if the generator gives away enough."
)


@dataclass(frozen=True)
class Exported:
    """What an export did."""

    new: int  # training files that were not there before
    runs: int  # training files that are there now
    units: int  # people with a coin
    synthetic_rows: int


def export_pool(
    real: Any,
    out: str | Path,
    *,
    runs: int = 64,
    schema: Any = None,
    synthetic_rows: int | None = None,
    coins: str = AUTO,
    subsample: int | None = None,
    claim: str | Claim | None = None,
    keep_persons: bool = False,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Exported:
    """Write the training files of `runs` runs, or of those that the pool does not have yet.

    `claim` (such as epsilon=1,neighbours=replace) decides on the kind of coins. Person ids are left out of the training
    files unless the generator needs them (`keep_persons`): most would learn them as a column.
    """
    claimed = parse_claim(claim) if isinstance(claim, str) else claim
    asked = EveryonePlan(
        generator=_name("export"), runs=runs, synthetic_rows=synthetic_rows, coins=coins, subsample=subsample, seed=seed
    )
    table = writable(read_table(real, schema))
    setting, _, kind = set_up(asked, Foreign(claim=claimed), table)
    plan = ExportPlan(setting.synthetic_rows, str(kind), subsample, claimed, keep_persons, seed)
    begin(Path(out), plan, real=table, candidates=setting.candidates, versions=installed_versions())
    private = read_private(Path(out))
    new = write_runs(Path(out), setting, private=private, runs=runs, progress=progress)
    return Exported(new, len(private.runs) + new, int(setting.game.coined.sum()), plan.synthetic_rows)


def attack_pool(
    directory: str | Path,
    *,
    name: str = "unnamed",
    out: str | Path | None = None,
    strict: bool = False,
    scorer: str = EveryonePlan.scorer,
    rate: float = EveryonePlan.rate,
    confidence: float = EveryonePlan.confidence,
    groups: tuple[str, ...] = (),
    secrets: tuple[str, ...] = (),
    scores: str | Path | None = None,
    workers: int = 1,
    progress: Progress = no_progress,
) -> Result:
    """The risk of each person, from the synthetic files that were put back into a pool.

    Every file is checked first; with `strict` none may be missing. What concerns the analysis (scorer, rate, confidence,
    groups, secrets) is as in `EveryonePlan`; all else was settled by the export. `scores` is a file for the evidence.
    """
    directory = Path(directory)
    private = read_private(directory)
    plan = replace(
        _plan_of(directory, private, name),
        scorer=scorer, rate=rate, confidence=confidence, groups=groups, secrets=secrets,
    )  # fmt: skip
    check_columns(plan, private.real)
    setting, rows, coins = set_up(plan, Foreign(name, private.plan.claim), private.real)
    files = len(private.runs)
    delivered = check_pool(
        directory, private, setting=setting, strict=strict, progress=lambda done, total: progress(done, 2 * files)
    )
    foreign = ForeignSetting(setting, directory / SYNTHETIC, delivered.digests)
    store: Store = open_draws(Path(out) / DRAWS if out else None, identity(plan, setting, private.real))
    if isinstance(store, FileStore):
        store = ForeignStore(store.directory, delivered.digests)
    run_tasks(
        foreign, delivered.tasks, store, work=take_down_file, workers=workers,
        progress=lambda done, total: progress(files + done, files + total),
    )  # fmt: skip
    pool = CoinPool.gather(setting, delivered.tasks, store)
    notes = (*delivered.notes, *check_names(directory, pool, runs=private.runs))
    result = judge_pool(
        plan,
        pool,
        real=private.real,
        rows=rows,
        coins=coins,
        scores=Path(scores) if scores else None,
        workers=workers,
        progress=progress,
    )
    return _told(result, private, delivered.digests, notes)


def _plan_of(directory: Path, private: Private, name: str) -> EveryonePlan:
    """The plan that `everyone` would have for the same game."""
    kept = private.plan
    if not private.runs:
        raise InputError(
            f"{directory}: this pool has no training files, since its export was interrupted.\n"
            "Repeat `unmask pool export` with the same options."
        )
    return EveryonePlan(
        generator=_name(name), runs=len(private.runs), synthetic_rows=kept.synthetic_rows, coins=kept.coins,
        subsample=kept.subsample, seed=kept.seed,
    )  # fmt: skip


def _name(name: str) -> str:
    return f"foreign: {name}"


def _told(result: Result, private: Private, digests: dict[str, str], notes: tuple[str, ...]) -> Result:
    """The result with what is particular to a pool: which files it is about, and what is taken on trust."""
    claim = private.plan.claim
    plan = {
        **result.plan,
        "synthetic": sha256("\n".join(f"{name} {digest}" for name, digest in sorted(digests.items())).encode()),
        "files": len(digests),
        "claim": None if claim is None else str(claim),
        "keep_persons": private.plan.keep_persons,
    }
    return replace(result, plan=plan, notes=(*result.notes, ON_TRUST, *notes))


__all__ = ["FOREIGN_GROWING", "Exported", "attack_pool", "export_pool"]
