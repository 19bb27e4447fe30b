"""The synthetic files that came back: checked one by one before anything is computed, and all that is wrong named at once."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from unmask.errors import InputError
from unmask.simulation.coin import CoinSetting, coin_tasks, members_of, take_down
from unmask.simulation.executors.local import Progress, no_progress
from unmask.simulation.foreign.pool import MANIFEST, file_of, manifest_text
from unmask.simulation.foreign.private import COINS, PRIVATE, SYNTHETIC, TRAIN, Private, digest_of_file, sha256
from unmask.simulation.foreign.tables import read_synthetic
from unmask.simulation.foreign.words import Problem, in_words, names_of
from unmask.simulation.store import FileStore
from unmask.simulation.task import Arrays, Failed, Task
from unmask.tables.schema import Schema, quoted
from unmask.tables.table import Table
from unmask.threats.knowledge import FEWEST_RUNS

RIGHT_FILES = "Put the right files there and repeat the command; those that are not named here need not be made again."
RUN_IT = "Let the generator run on the training files of the same names."


@dataclass(frozen=True, eq=False)
class Delivered:
    """The synthetic files that are there and in order."""

    tasks: tuple[Task, ...]
    digests: dict[str, str]  # SHA-256 of each file, by task id
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ForeignSetting:
    """All that a worker needs to take down any synthetic file."""

    setting: CoinSetting
    folder: Path
    digests: dict[str, str]

    def play(self, task: Task) -> Arrays:
        """The arrays of one run, as if the release had been drawn here."""
        setting = self.setting
        path = self.folder / file_of(task)
        synthetic = read_synthetic(path, setting.candidates.schema)
        members = members_of(setting.seed, setting.game, task)
        return {**take_down(setting.features, members, synthetic, None), "digest": np.array(self.digests[task.id])}


@dataclass(frozen=True)
class ForeignStore(FileStore):
    """A store that forgets a draw once its synthetic file is another one."""

    digests: dict[str, str] = field(default_factory=dict)  # of the synthetic files, by task

    def get(self, task: Task, names: Sequence[str] | None = None) -> Arrays | Failed | None:
        outcome = super().get(task, None if names is None else (*names, "digest"))
        if outcome is None or isinstance(outcome, Failed) or str(outcome.get("digest")) == self.digests.get(task.id):
            return outcome
        return None


def check_pool(
    directory: Path, private: Private, *, setting: CoinSetting, strict: bool, progress: Progress = no_progress
) -> Delivered:
    """Go through all files of a pool. Raises one error that names everything that is wrong."""
    tasks = coin_tasks(len(private.runs))
    problems = [*private.problems, *_exported(directory, private, setting, tasks), *_strays(directory, tasks)]
    present = [task for task in tasks if (directory / SYNTHETIC / file_of(task)).is_file()]
    missing = [task for task in tasks if task not in present]
    trained = {run.digest: file_of(task) for task, run in zip(tasks, private.runs, strict=True)}
    seen = []
    for done, task in enumerate(present):
        progress(done, len(present))
        seen.append(_look(directory / SYNTHETIC / file_of(task), task, private, setting, trained))
    progress(len(present), len(present))
    problems += _of_files(seen)
    wrong = bool(problems)
    if missing and (strict or len(present) < FEWEST_RUNS):
        why = "missing." if strict else f"missing; at least {FEWEST_RUNS} synthetic files are needed."
        problems += [(f"{SYNTHETIC}/{file_of(task)}", why) for task in missing]
    if problems:
        advice = RIGHT_FILES if wrong else RUN_IT + (" Or leave out --strict." if strict else "")
        raise InputError(f"{directory}: not ready to be attacked.\n{in_words(problems)}\n{advice}")
    digests = {task.id: file.digest for task, file in zip(present, seen, strict=True)}
    return Delivered(tuple(present), digests, (*_missing_note(missing, tasks), *_notes(seen, private.real.schema)))


def _missing_note(missing: Sequence[Task], tasks: Sequence[Task]) -> tuple[str, ...]:
    if not missing:
        return ()
    return (
        f"{len(missing)} of {len(tasks)} synthetic files are missing ({names_of([file_of(task) for task in missing])}); the "
        "figures come from the others. A generator that fails on some tables only may give away who is in them by that alone.",
    )  # fmt: skip


def _exported(directory: Path, private: Private, setting: CoinSetting, tasks: Sequence[Task]) -> Iterable[Problem]:
    """What the export wrote must still be what it was."""
    manifest = directory / MANIFEST
    if not manifest.is_file():
        yield MANIFEST, "missing; put the file of the export back."
    elif manifest.read_bytes() != manifest_text(private).encode():
        yield MANIFEST, "changed since the export; put the file of the export back."
    for task, run in zip(tasks, private.runs, strict=True):
        path = directory / TRAIN / file_of(task)
        if path.is_file() and digest_of_file(path) != run.digest:
            yield (
                f"{TRAIN}/{path.name}",
                "changed since the export, so the generator may have learnt from other people.",
            )
        coins = np.frombuffer(run.coins.encode(), dtype=np.uint8) == ord("1")
        if not np.array_equal(coins, members_of(setting.seed, setting.game, task)):
            yield (
                f"{PRIVATE}/{COINS}",
                f"the coins of some runs do not follow from the seed. Use the versions of the export: {_versions(private)}.",
            )


def _versions(private: Private) -> str:
    return ", ".join(f"{name} {number}" for name, number in private.versions.items())


def _strays(directory: Path, tasks: Sequence[Task]) -> Iterable[Problem]:
    known = {file_of(task) for task in tasks}
    for folder in (TRAIN, SYNTHETIC):
        for path in sorted((directory / folder).glob("*")):
            if path.name not in known and not path.name.startswith("."):
                yield f"{folder}/{path.name}", f"not in {MANIFEST}; remove it, or give it its right name."


@dataclass(frozen=True, eq=False)
class _Seen:
    """What one synthetic file looks like."""

    name: str
    digest: str
    content: str = ""  # digest of its rows; "" where it cannot be read
    problems: tuple[str, ...] = ()
    strange: tuple[int, ...] = ()  # columns with values outside the schema
    latin: bool = False


def _look(path: Path, task: Task, private: Private, setting: CoinSetting, trained: dict[str, str]) -> _Seen:
    """Look at one file. `trained` leads from the SHA-256 of a training file to its name."""
    name, digest = f"{SYNTHETIC}/{path.name}", ""
    schema, rows = private.real.schema, private.plan.synthetic_rows
    try:
        digest = sha256(path.read_bytes())
        table = read_synthetic(path, schema)
    except InputError as problem:
        text = str(problem).removeprefix(f"{path}: ").removeprefix(f"{path.name}: ")
        return _Seen(name, digest, problems=(text,))
    except (OSError, ValueError, csv.Error) as problem:  # what foreign files do to readers of text and of CSV
        return _Seen(name, digest, problems=(f"cannot be read ({type(problem).__name__}).",))
    problems = [] if len(table) == rows else [f"{len(table):,} rows; {MANIFEST} asks for {rows:,}."]
    outside = (table.codes == schema.sizes).sum(axis=0)
    if len(blind := np.flatnonzero(outside == len(table))):
        named = quoted(schema.names[position] for position in blind)
        problems.append(f"no value of column {named} is in the schema. Write values as they are in the training files.")
    content = _content(table)
    people = setting.features.units.rows(members_of(setting.seed, setting.game, task))
    if digest in trained or content == _content(setting.candidates.take(people)):
        same = trained.get(digest, path.name)
        problems.append(f"the same as {TRAIN}/{same}: that is the real data, not a synthetic table.")
    strange = tuple(int(position) for position in np.flatnonzero(outside))
    return _Seen(name, digest, content, tuple(problems), strange, bool(table.notes))


def _of_files(seen: Sequence[_Seen]) -> Iterable[Problem]:
    """Problems of single files, then those of files that are the same."""
    first: dict[str, str] = {}
    for file in seen:
        yield from ((file.name, text) for text in file.problems)
        if file.content and first.setdefault(file.content, file.name) != file.name:
            yield (
                file.name,
                f"the same content as {first[file.content]}: each training file needs a release of its own.",
            )


def _notes(seen: Sequence[_Seen], schema: Schema) -> Iterable[str]:
    for position, column in enumerate(schema.columns):
        if files := sum(position in file.strange for file in seen):
            yield (
                f"Column '{column.name}' holds values outside the schema in {files} of {len(seen)} synthetic files; they "
                "match nothing."
            )
    if latin := sum(file.latin for file in seen):
        yield f"{latin} of {len(seen)} synthetic files are not UTF-8 and were read as latin-1."


def _content(table: Table) -> str:
    """A digest of the rows whatever their order: a sorted or reformatted copy is still a copy."""
    rows = np.concatenate([table.codes.astype(np.float64), np.nan_to_num(table.numbers, nan=np.inf) + 0.0], axis=1)
    return sha256(np.ascontiguousarray(rows[np.lexsort(rows.T)]).tobytes())
