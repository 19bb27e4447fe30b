"""A pool for a generator that somebody else runs: training files to give away, and what must stay at home.

    manifest.json, README.txt, train/run-0000.csv ...   for the owner of the generator
    synthetic/run-0000.csv ...                          what the owner puts back
    secret/plan.json, real.npz, schema.json, coins.json what the attack needs, and nobody else may see

Everything but the synthetic files follows from the table, the plan and the seed, so a pool that is exported again with more runs
keeps its files, byte for byte.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unmask.errors import InputError, RunError
from unmask.files import write_atomically
from unmask.generators.adapters._frames import without_persons
from unmask.simulation.coin_draw import CoinSetting, coin_tasks, members_of
from unmask.simulation.executor import Progress, no_progress
from unmask.simulation.foreign_readme import FOR_THE_OWNER, FOR_YOU
from unmask.simulation.task import Task, stream
from unmask.tables.read import write_csv
from unmask.tables.schema import Kind, Schema
from unmask.tables.schema_json import schema_from_json, schema_to_json
from unmask.tables.table import Table

FORMAT = 1
TRAIN, SYNTHETIC, SECRET = "train", "synthetic", "secret"
MANIFEST, README, PLAN, REAL, SCHEMA, COINS = (
    "manifest.json", "README.txt", "plan.json", "real.npz", "schema.json", "coins.json",
)  # fmt: skip
DATE_FORMATS = {"D": "%Y-%m-%d", "s": "%Y-%m-%d %H:%M:%S", "us": "%Y-%m-%d %H:%M:%S.%f"}


@dataclass(frozen=True)
class ExportPlan:
    """All that decides what is in the training files. It never changes once a pool is there."""

    synthetic_rows: int
    coins: str
    subsample: int | None
    claim: str  # as in --claim; "" = none
    keep_persons: bool
    seed: int


@dataclass(frozen=True)
class Run:
    """One run as the export left it."""

    coins: str  # of each unit: 1 = in
    rows: int  # of its training file
    digest: str  # SHA-256 of its training file


@dataclass(frozen=True, eq=False)
class Secret:
    """What stays at home. `problems` names files that are not as the export left them."""

    plan: ExportPlan
    versions: dict[str, str]
    real: Table
    runs: tuple[Run, ...]
    problems: tuple[tuple[str, str], ...] = ()


def file_of(task: Task) -> str:
    """The name of a run's training file, and of the synthetic file that belongs to it."""
    return f"run-{task.index:04d}.csv"


def sha256(content: bytes) -> str:
    """The digest of a file, as `sha256sum` prints it."""
    return hashlib.sha256(content).hexdigest()


def writable(real: Table) -> Table:
    """The table with dates that files can hold: those of a frame have no text format of their own."""

    def with_format(schema: Schema) -> Schema:
        columns = [
            replace(column, format=DATE_FORMATS[column.resolution], dtype="")
            if column.kind is Kind.DATETIME and not column.format
            else column
            for column in schema.columns
        ]
        return replace(schema, columns=tuple(columns))

    return replace(real, schema=with_format(real.schema))


def begin(directory: Path, plan: ExportPlan, real: Table, versions: dict[str, str]) -> None:
    """Write the secret part, or make sure that the pool that is here already is of this plan and table."""
    if (directory / SECRET / PLAN).exists():
        _check_same(directory, plan, real)
        return
    if taken := [name for name in (MANIFEST, README, TRAIN, SYNTHETIC, SECRET) if (directory / name).exists()]:
        raise RunError(f"{directory}: holds {', '.join(taken)}, but no pool. Choose another --out, or remove them.")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / SECRET).mkdir(mode=0o700)  # for the user's own eyes
        (directory / SYNTHETIC).mkdir()
    except OSError as problem:
        raise RunError(
            f"{directory}: no pool can be written here ({problem.strerror}). Choose another --out."
        ) from None
    contents = {REAL: _packed(real), SCHEMA: schema_to_json(real.schema).encode()}
    document = {
        "format": FORMAT,
        "plan": asdict(plan),
        "real": real.digest(),
        "notes": list(real.notes),
        "versions": versions,
        "sha256": {name: sha256(content) for name, content in contents.items()},
    }
    for name, content in contents.items():
        write_atomically(directory / SECRET / name, content)
    write_atomically(directory / SECRET / README, FOR_YOU)
    write_atomically(directory / SECRET / PLAN, _sealed(document))  # last: a pool with a plan is complete


def _check_same(directory: Path, plan: ExportPlan, real: Table) -> None:
    secret = read_secret(directory)
    if secret.problems:
        named = "\n".join(f"{name}: {text}" for name, text in secret.problems)
        raise RunError(f"{directory}: this pool cannot be extended.\n{named}")
    for name, mine in asdict(plan).items():
        if (known := getattr(secret.plan, name)) != mine:
            raise RunError(
                f"{directory}: this pool was exported with another plan: {name} was {known!r}, now it is {mine!r}.\n"
                "Choose another --out, or repeat the old options to extend it."
            )
    if secret.real.digest() != real.digest():
        raise RunError(
            f"{directory}: this pool was exported from another real table, or under another schema. Choose another --out."
        )


def write_runs(
    directory: Path, setting: CoinSetting, secret: Secret, runs: int, *, progress: Progress = no_progress
) -> int:
    """Write the training files of runs that the pool does not have yet. Returns how many are new."""
    plan, known = secret.plan, list(secret.runs)
    new = coin_tasks(runs)[len(known) :]
    changed = [
        f"{TRAIN}/{file_of(task)}"
        for task, run in zip(coin_tasks(len(known)), known, strict=True)
        if (path := directory / TRAIN / file_of(task)).exists() and sha256(path.read_bytes()) != run.digest
    ]
    if changed:
        raise RunError(
            f"{directory}: changed since the export: {', '.join(changed)}. Remove the pool and export it again."
        )
    for done, task in enumerate(new):
        progress(done, len(new))
        members = members_of(plan.seed, setting.game, task)
        # The order that `everyone` fits in: with the same seed both play the very same game.
        order = stream(plan.seed, task.id, "release").permutation(setting.features.units.rows(members))
        train = setting.candidates.take(order)
        path = directory / TRAIN / file_of(task)
        write_csv(train if plan.keep_persons else without_persons(train), path)
        known.append(Run("".join("01"[coin] for coin in members.astype(int)), len(train), sha256(path.read_bytes())))
    progress(len(new), len(new))
    secret = replace(secret, runs=tuple(known))
    write_atomically(directory / SECRET / COINS, _sealed({"runs": [asdict(run) for run in known]}))
    write_atomically(directory / README, FOR_THE_OWNER.format(rows=plan.synthetic_rows))
    write_atomically(directory / MANIFEST, manifest_text(secret))
    return len(new)


def manifest_text(secret: Secret) -> str:
    """What the owner of the generator has to know. No coin, no seed."""
    tasks = coin_tasks(len(secret.runs))
    person = [secret.real.schema.person] if secret.plan.keep_persons and secret.real.persons is not None else []
    document = {
        "format": FORMAT,
        "unmask": secret.versions.get("unmask", "unknown"),
        "about": f"Fit the generator anew to each training file, publish {secret.plan.synthetic_rows} rows, see {README}.",
        "rows": secret.plan.synthetic_rows,
        "columns": list(secret.real.schema.names),
        "person": person[0] if person else None,
        "runs": [
            {
                "train": f"{TRAIN}/{file_of(task)}",
                "train_rows": run.rows,
                "train_sha256": run.digest,
                "synthetic": f"{SYNTHETIC}/{file_of(task)}",
            }
            for task, run in zip(tasks, secret.runs, strict=True)
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def read_secret(directory: Path) -> Secret:
    """Read the secret part. What was changed but can be read is in `problems`; what cannot be read is an error."""
    folder = directory / SECRET
    if not directory.is_dir():
        raise InputError(f"{directory}: there is no such pool. Write one with: unmask pool export real.csv --out pool/")
    if not (folder / PLAN).exists():
        raise InputError(
            f"{directory}: there is no {SECRET}/{PLAN} here, so the coins are not known.\n"
            f"Name the directory that `unmask pool export` wrote; if only {SYNTHETIC}/ came back, copy it into that one."
        )
    document, problems = _opened(folder / PLAN)
    try:
        if document["format"] != FORMAT:
            raise InputError(
                f"{SECRET}/{PLAN}: format {document['format']}; this version reads {FORMAT}. Use the unmask of the export."
            )
        contents = {name: (folder / name).read_bytes() for name in (REAL, SCHEMA)}
        changed = [name for name, content in contents.items() if sha256(content) != document["sha256"][name]]
        problems += [(f"{SECRET}/{name}", "changed since the export.") for name in changed]
        real = _unpacked(contents[REAL], schema_from_json(json.loads(contents[SCHEMA]), SCHEMA), document["notes"])
        if not problems and real.digest() != document["real"]:
            problems.append((f"{SECRET}/{REAL}", "is not the table of the export."))
        runs: tuple[Run, ...] = ()
        if (folder / COINS).exists():
            listed, found = _opened(folder / COINS)
            runs = tuple(Run(**run) for run in listed["runs"])
            problems += found
        return Secret(ExportPlan(**document["plan"]), document["versions"], real, runs, tuple(problems))
    except (OSError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as problem:
        what = problem.strerror if isinstance(problem, OSError) and problem.strerror else type(problem).__name__
        named = "".join(f"\n{name}: {text}" for name, text in problems)
        raise InputError(
            f"{folder}: damaged, so that the pool cannot be attacked ({what}). Put the files of the export back.{named}"
        ) from None


def _sealed(document: dict[str, Any]) -> str:
    """JSON that notices when it was edited."""
    return json.dumps(document | {"seal": _seal(document)}, indent=1) + "\n"


def _seal(document: dict[str, Any]) -> str:
    return sha256(json.dumps({name: value for name, value in document.items() if name != "seal"}).encode())


def _opened(path: Path) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    name = f"{SECRET}/{path.name}"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(f"{path}: damaged, it cannot be read. Put the file of the export back.") from None
    if not isinstance(document, dict) or document.get("seal") != _seal(document):
        return document, [(name, "changed since the export.")]
    return document, []


def _packed(table: Table) -> bytes:
    """Exactly the table, which no text format promises."""
    content = io.BytesIO()
    arrays = {"codes": table.codes, "numbers": table.numbers}
    if table.persons is not None:
        arrays["persons"] = table.persons.astype(str)
    np.savez_compressed(content, **arrays)  # type: ignore[arg-type]
    return content.getvalue()


def _unpacked(content: bytes, schema: Schema, notes: list[str]) -> Table:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        persons = arrays["persons"].astype(object) if "persons" in arrays.files else None
        codes, numbers = np.asfortranarray(arrays["codes"]), np.asfortranarray(arrays["numbers"])
    return Table(schema, codes, numbers, persons, tuple(notes))
