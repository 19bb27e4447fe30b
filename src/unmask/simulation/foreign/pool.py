"""A pool for a generator that somebody else runs: training files to give away, and what must stay at home.

    manifest.json, README.txt, train/run-0000.csv ...    for the owner of the generator
    synthetic/run-0000.csv ...                           what the owner puts back
    private/plan.json, real.npz, schema.json, coins.json what the attack needs, and nobody else may see

Everything but the synthetic files follows from the table, the plan and the seed, so a pool that is exported again with more runs
keeps its files, byte for byte.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import fields, replace
from pathlib import Path

from unmask.errors import RunError
from unmask.files import shown, write_atomically
from unmask.generators.adapters._frames import without_persons
from unmask.simulation.coin import CoinSetting, coin_tasks, members_of
from unmask.simulation.executors.local import Progress, no_progress
from unmask.simulation.foreign.private import (
    FORMAT,
    PLAN,
    PRIVATE,
    README,
    SYNTHETIC,
    TRAIN,
    ExportedRun,
    ExportPlan,
    Private,
    digest_of_file,
    read_private,
    sha256,
    write_coins,
    write_private,
)
from unmask.simulation.foreign.readme import FOR_THE_OWNER
from unmask.simulation.foreign.tables import check_files_hold
from unmask.simulation.foreign.words import in_words, names_of
from unmask.simulation.task import Task
from unmask.stream import stream
from unmask.tables.read import write_csv
from unmask.tables.table import Table

MANIFEST = "manifest.json"


def file_of(task: Task) -> str:
    """The name of a run's training file, and of the synthetic file that belongs to it."""
    return f"run-{task.index:04d}.csv"


def begin(directory: Path, plan: ExportPlan, *, real: Table, candidates: Table, versions: dict[str, str]) -> None:
    """Write what stays at home, or make sure that the pool that is here already is of this plan and table.

    `candidates` are the rows that go into training files.
    """
    if os.path.exists(directory / PRIVATE / PLAN):
        _check_same(directory, plan, real)
        return
    if taken := [name for name in (MANIFEST, README, TRAIN, SYNTHETIC, PRIVATE) if os.path.exists(directory / name)]:
        raise RunError(f"{directory}: holds {', '.join(taken)}, but no pool. Choose another --out, or remove them.")
    new = not os.path.exists(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / PRIVATE).mkdir(mode=0o700)  # for the user's own eyes
    except OSError as problem:
        raise RunError(
            f"{shown(directory)}: no pool can be written here ({problem.strerror}). Choose another --out."
        ) from None
    try:
        check_files_hold(candidates, directory / PRIVATE)
    except BaseException:  # also when interrupted: no pool was begun, so none is left behind
        shutil.rmtree(directory if new else directory / PRIVATE)
        raise
    (directory / SYNTHETIC).mkdir()
    write_private(directory, plan, real=real, versions=versions)


def _check_same(directory: Path, plan: ExportPlan, real: Table) -> None:
    private = read_private(directory)
    if private.problems:
        raise RunError(
            f"{directory}: this pool cannot be extended.\n{in_words(private.problems)}\n"
            "Put the files of the export back, or export a new pool: choose another --out."
        )
    for name in (field.name for field in fields(plan)):
        known, mine = getattr(private.plan, name), getattr(plan, name)
        if known != mine:
            raise RunError(
                f"{directory}: this pool was exported with another plan: {name} was {known}, now it is {mine}.\n"
                "Choose another --out, or repeat the old options to extend it."
            )
    if private.real.digest() != real.digest():
        raise RunError(
            f"{directory}: this pool was exported from another real table, or under another schema. Choose another --out."
        )


def write_runs(
    directory: Path, setting: CoinSetting, *, private: Private, runs: int, progress: Progress = no_progress
) -> int:
    """Write the training files of runs that the pool does not have yet. Returns how many are new."""
    plan, known = private.plan, list(private.runs)
    new = coin_tasks(runs)[len(known) :]
    changed = [
        f"{TRAIN}/{file_of(task)}"
        for task, run in zip(coin_tasks(len(known)), known, strict=True)
        if os.path.exists(path := directory / TRAIN / file_of(task)) and digest_of_file(path) != run.digest
    ]
    if changed:
        raise RunError(
            f"{directory}: changed since the export: {names_of(changed)}.\n"
            "Put the files of the export back, or remove the pool and export it again."
        )
    for done, task in enumerate(new):
        progress(done, len(new))
        members = members_of(plan.seed, setting.game, task)
        # The order that `everyone` fits in: with the same seed both play the very same game.
        order = stream(plan.seed, task.id, "release").permutation(setting.features.units.rows(members))
        train = setting.candidates.take(order)
        path = directory / TRAIN / file_of(task)
        write_csv(train if plan.keep_persons else without_persons(train), path)
        known.append(
            ExportedRun("".join("01"[coin] for coin in members.astype(int)), len(train), sha256(path.read_bytes()))
        )
    progress(len(new), len(new))
    private = replace(private, runs=tuple(known))
    write_coins(directory, private.runs)
    write_atomically(directory / README, FOR_THE_OWNER.format(rows=plan.synthetic_rows))
    write_atomically(directory / MANIFEST, manifest_text(private))
    return len(new)


def manifest_text(private: Private) -> str:
    """What the owner of the generator has to know. No coin, no seed."""
    tasks = coin_tasks(len(private.runs))
    real, rows = private.real, private.plan.synthetic_rows
    document = {
        "format": FORMAT,
        "unmask": private.versions.get("unmask", "unknown"),
        "about": f"Fit the generator anew to each training file, publish {rows} rows, see {README}.",
        "rows": rows,
        "columns": list(real.schema.names),
        "person": real.schema.person if private.plan.keep_persons and real.persons is not None else None,
        "runs": [
            {
                "train": f"{TRAIN}/{file_of(task)}",
                "train_rows": run.rows,
                "train_sha256": run.digest,
                "synthetic": f"{SYNTHETIC}/{file_of(task)}",
            }
            for task, run in zip(tasks, private.runs, strict=True)
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
