"""Audit a generator that somebody else runs: write training files, take synthetic files back, and judge everybody by them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unmask.audits.coin_pool import CoinPool
from unmask.audits.draws import DRAWS, open_draws
from unmask.audits.epsilon import parse_claim
from unmask.audits.everyone import identity, judge_pool, set_up
from unmask.audits.everyone_marks import group_columns
from unmask.audits.everyone_plan import AUTO, EveryonePlan
from unmask.audits.foreign_swaps import fits_of, odd_ones, swapped
from unmask.audits.result import Result, installed_versions
from unmask.errors import InputError
from unmask.generators.claim import Claim
from unmask.generators.foreign import Foreign
from unmask.simulation.coin_draw import coin_tasks
from unmask.simulation.executor import Progress, no_progress, run_tasks
from unmask.simulation.foreign_files import (
    ForeignSetting,
    ForeignStore,
    check_pool,
    in_words,
    names_of,
    read_synthetic,
    take_down_file,
)
from unmask.simulation.foreign_pool import (
    SYNTHETIC,
    TRAIN,
    ExportPlan,
    Secret,
    begin,
    file_of,
    read_secret,
    sha256,
    writable,
    write_runs,
)
from unmask.simulation.store import FileStore, Store
from unmask.tables.read import read_table, write_csv
from unmask.tables.schema import quoted
from unmask.tables.table import Table

# What may differ between results in one directory: none of it changes how a synthetic file was made.
FOREIGN_GROWING = ("synthetic", "files")


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
    _check_files_hold(setting.candidates)
    plan = ExportPlan(setting.synthetic_rows, str(kind), subsample, _claim_text(claimed), keep_persons, seed)
    begin(Path(out), plan, table, installed_versions())
    secret = read_secret(Path(out))
    new = write_runs(Path(out), setting, secret, runs, progress=progress)
    return Exported(new, len(secret.runs) + new, int(setting.game.coined.sum()), plan.synthetic_rows)


def attack_pool(
    directory: str | Path,
    *,
    name: str = "unnamed",
    out: str | Path | None = None,
    strict: bool = False,
    scores: str | Path | None = None,
    workers: int = 1,
    progress: Progress = no_progress,
    **choices: Any,
) -> Result:
    """The risk of each person, from the synthetic files that were put back into a pool.

    `choices` are those fields of `EveryonePlan` that concern the analysis: scorer, rate, confidence, groups, secrets. Every
    file is checked first; with `strict` none may be missing. `scores` is a file for the evidence, as in `everyone`.
    """
    directory = Path(directory)
    secret = read_secret(directory)
    plan = plan_of(secret, name, **choices)
    setting, rows, coins = set_up(plan, Foreign(name, _claim_of(secret)), secret.real)
    _check_columns(plan, secret.real)
    files = len(secret.runs)
    delivered = check_pool(
        directory, secret, setting, strict=strict, progress=lambda done, total: progress(done, 2 * files)
    )
    foreign = ForeignSetting(setting, directory / SYNTHETIC, delivered.digests)
    store: Store = open_draws(Path(out) / DRAWS if out else None, identity(plan, setting, secret.real))
    if isinstance(store, FileStore):
        store = ForeignStore(store.directory, delivered.digests)
    run_tasks(
        foreign, delivered.tasks, store, work=take_down_file, workers=workers,
        progress=lambda done, total: progress(files + done, files + total),
    )  # fmt: skip
    pool = CoinPool.gather(setting, delivered.tasks, store)
    notes = (*delivered.notes, *_check_names(directory, pool, secret))
    result = judge_pool(
        plan,
        pool,
        real=secret.real,
        rows=rows,
        coins=coins,
        scores=Path(scores) if scores else None,
        workers=workers,
        progress=progress,
    )
    return _told(result, secret, delivered.digests, notes)


def plan_of(secret: Secret, name: str, **choices: Any) -> EveryonePlan:
    """The plan that `everyone` would have for the same game."""
    kept = secret.plan
    if not secret.runs:
        raise InputError("This pool has no training files: the export was interrupted. Repeat it.")
    return EveryonePlan(
        generator=_name(name), runs=len(secret.runs), synthetic_rows=kept.synthetic_rows, coins=kept.coins,
        subsample=kept.subsample, seed=kept.seed, **choices,
    )  # fmt: skip


def _name(name: str) -> str:
    return f"foreign: {name}"


def _claim_text(claim: Claim | None) -> str:
    if claim is None:
        return ""
    return f"epsilon={claim.epsilon!r},delta={claim.delta!r},neighbours={claim.neighbours}"


def _claim_of(secret: Secret) -> Claim | None:
    return parse_claim(secret.plan.claim) if secret.plan.claim else None


def _check_columns(plan: EveryonePlan, real: Table) -> None:
    """Find out before the work that a column does not exist."""
    group_columns(real.schema, plan.groups)
    for name in plan.secrets:
        real.schema.position(name)


def _check_files_hold(candidates: Table) -> None:
    """Whether a CSV file holds all there is to the table; if not, every synthetic file would be misread in the same way."""
    with tempfile.TemporaryDirectory(prefix="unmask-") as folder:
        path = Path(folder) / "table.csv"
        write_csv(candidates, path)
        again = read_synthetic(path, candidates.schema)
    numbers = dict(zip(candidates.schema.numeric, range(len(candidates.schema.numeric)), strict=True))
    lost = [
        column.name
        for position, column in enumerate(candidates.schema.columns)
        if not np.array_equal(candidates.codes[:, position], again.codes[:, position])
        or (
            position in numbers
            and not np.array_equal(
                candidates.numbers[:, numbers[position]], again.numbers[:, numbers[position]], equal_nan=True
            )
        )
    ]
    if lost:
        raise InputError(
            f"Column {quoted(lost)} is not the same after it was written to a CSV file and read again.\n"
            "Save the real table as CSV, check the schema of that file, and export from there."
        )


def _check_names(directory: Path, pool: CoinPool, secret: Secret) -> tuple[str, ...]:
    """Stop if files carry each other's names: the attack would be blind for them. Returns what is odd, but not certain."""
    coins = np.array([[coin == "1" for coin in run.coins] for run in secret.runs])
    every = coin_tasks(len(secret.runs))
    fits = fits_of(pool, coins)
    if swaps := swapped(pool, fits):
        problems = [
            (
                f"{SYNTHETIC}/{file_of(pool.tasks[swap.run])}",
                f"fits the people of {TRAIN}/{file_of(every[swap.fits])} (z {swap.other:.1f}), not those of its own training "
                f"file (z {swap.own:.1f}): swapped, or misnamed.",
            )
            for swap in swaps
        ]
        raise InputError(
            f"{directory}: not attacked, since wrong files would hide leaks.\n{in_words(problems)}\n"
            "Give each synthetic file the name of the training file that it was made from, and repeat the command."
        )
    odd = [file_of(pool.tasks[run]) for run in odd_ones(pool, fits)]
    return () if not odd else (_odd_note(odd),)


def _odd_note(names: Sequence[str]) -> str:
    return (
        f"{names_of(names)}: fits no training file, while the others fit theirs clearly. Was the generator run on other data, or "
        "with other settings? If so, the figures understate the risk."
    )


def _told(result: Result, secret: Secret, digests: dict[str, str], notes: tuple[str, ...]) -> Result:
    """The result with what is particular to a pool: which files it is about, and what their owner alone could do."""
    content = sha256("\n".join(f"{name} {digest}" for name, digest in sorted(digests.items())).encode())
    plan = {
        **result.plan,
        "synthetic": content,
        "files": len(digests),
        "claim": secret.plan.claim,
        "keep_persons": secret.plan.keep_persons,
    }
    told = (
        "The generator was run by its owner. That each file was made from its own training file, from scratch and with the same "
        "settings, is taken on trust; files under wrong names are found only if the generator gives away enough.",
    )
    return replace(result, plan=plan, notes=(*result.notes, *told, *notes))


__all__ = ["FOREIGN_GROWING", "Exported", "attack_pool", "export_pool", "plan_of"]
