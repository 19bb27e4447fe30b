"""What stays at home of a pool: the real table, the plan, and who was in each run. Sealed, so that a changed file is noticed."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unmask.errors import InputError, SchemaError
from unmask.files import parse_json, read_text, shown, write_atomically
from unmask.generators.claim import Claim, Neighbours
from unmask.simulation.foreign.readme import FOR_YOU
from unmask.simulation.foreign.words import Problem
from unmask.tables.schema import Schema
from unmask.tables.schema_json import schema_from_json, schema_to_json
from unmask.tables.table import Table

FORMAT = 1
TRAIN, SYNTHETIC, PRIVATE = "train", "synthetic", "private"
README, PLAN, REAL, SCHEMA, COINS = "README.txt", "plan.json", "real.npz", "schema.json", "coins.json"
CHANGED = "changed since the export."
# What files that were cut off, overwritten or edited do to those who read them.
DAMAGED = (
    OSError, KeyError, TypeError, ValueError, EOFError, AttributeError, OverflowError, NotImplementedError, zipfile.BadZipFile,
    zlib.error,
)  # fmt: skip


@dataclass(frozen=True)
class ExportPlan:
    """All that decides what is in the training files. It never changes once a pool is there."""

    synthetic_rows: int
    coins: str
    subsample: int | None
    claim: Claim | None
    keep_persons: bool
    seed: int


@dataclass(frozen=True)
class ExportedRun:
    """One run as the export left it."""

    coins: str  # of each unit: 1 = in
    rows: int  # of its training file
    digest: str  # SHA-256 of its training file

    def __post_init__(self) -> None:
        fits = isinstance(self.coins, str) and isinstance(self.rows, int) and isinstance(self.digest, str)
        if not fits:  # it comes from a file
            raise TypeError("a run has coins, rows and a digest")


@dataclass(frozen=True, eq=False)
class Private:
    """What stays at home. `problems` names files that are not as the export left them."""

    plan: ExportPlan
    versions: dict[str, str]
    real: Table
    runs: tuple[ExportedRun, ...]
    problems: tuple[Problem, ...] = ()


def sha256(content: bytes) -> str:
    """The digest of a file, as `sha256sum` prints it."""
    return hashlib.sha256(content).hexdigest()


def digest_of_file(path: Path) -> str:
    """The digest of a file; "" for one that cannot be read, which is not what was exported."""
    try:
        return sha256(path.read_bytes())
    except OSError:
        return ""


def write_private(directory: Path, plan: ExportPlan, *, real: Table, versions: dict[str, str]) -> None:
    """Write everything but the coins, which grow with the runs."""
    contents = {REAL: _packed(real), SCHEMA: schema_to_json(real.schema).encode()}
    document = {
        "format": FORMAT,
        "plan": asdict(plan),
        "real": real.digest(),
        "notes": list(real.notes),
        "versions": versions,
        "sha256": {name: sha256(content) for name, content in contents.items()},
    }
    folder = directory / PRIVATE
    for name, content in contents.items():
        write_atomically(folder / name, content, private=True)
    write_atomically(folder / README, FOR_YOU, private=True)
    write_atomically(folder / PLAN, _sealed(document), private=True)  # last: a pool with a plan is complete


def write_coins(directory: Path, runs: tuple[ExportedRun, ...]) -> None:
    """Write who is in each run."""
    write_atomically(directory / PRIVATE / COINS, _sealed({"runs": [asdict(run) for run in runs]}), private=True)


def read_private(directory: Path) -> Private:
    """Read what stayed at home. What was changed but can be read is in `problems`; what cannot be read is an error."""
    folder = directory / PRIVATE
    if not os.path.isdir(directory):
        raise InputError(
            f"{shown(directory)}: there is no such pool. Write one with: unmask pool export real.csv --out pool/"
        )
    if not (folder / PLAN).exists():
        raise InputError(
            f"{directory}: there is no {PRIVATE}/{PLAN} here, so the coins are not known.\n"
            f"Name the directory that `unmask pool export` wrote; if only {SYNTHETIC}/ came back, copy it into that one."
        )
    document, problems = _opened(folder / PLAN)
    try:
        if document["format"] != FORMAT:
            raise InputError(
                f"{folder / PLAN}: format {document['format']}; this version reads {FORMAT}. Use the unmask of the export."
            )
        contents = {name: (folder / name).read_bytes() for name in (REAL, SCHEMA)}
        changed = [name for name, content in contents.items() if sha256(content) != document["sha256"][name]]
        problems += [(f"{PRIVATE}/{name}", CHANGED) for name in changed]
        real = _unpacked(
            contents[REAL],
            schema_from_json(parse_json(contents[SCHEMA], SCHEMA, error=SchemaError), SCHEMA),
            document["notes"],
        )
        if not problems and real.digest() != document["real"]:
            problems.append((f"{PRIVATE}/{REAL}", "is not the table of the export."))
        runs: tuple[ExportedRun, ...] = ()
        if (folder / COINS).exists():
            listed, found = _opened(folder / COINS)
            runs = tuple(ExportedRun(**run) for run in listed["runs"])
            problems += found
        return Private(_plan_from(document["plan"]), document["versions"], real, runs, tuple(problems))
    except DAMAGED as problem:
        what = problem.strerror if isinstance(problem, OSError) and problem.strerror else type(problem).__name__
        named = "".join(f"\n{name}: {text}" for name, text in problems)
        raise InputError(
            f"{folder}: damaged, so that the pool cannot be attacked ({what}). Put the files of the export back.{named}"
        ) from None


def _plan_from(plain: dict[str, Any]) -> ExportPlan:
    claim = plain["claim"]
    if claim is not None:
        claim = Claim(**claim | {"neighbours": Neighbours(claim["neighbours"])})
    return ExportPlan(**plain | {"claim": claim})


def _sealed(document: dict[str, Any]) -> str:
    """JSON that notices when it was edited."""
    return json.dumps(document | {"seal": _seal(document)}, indent=1) + "\n"


def _seal(document: dict[str, Any]) -> str:
    return sha256(json.dumps({name: value for name, value in document.items() if name != "seal"}).encode())


def _opened(path: Path) -> tuple[dict[str, Any], list[Problem]]:
    try:
        document = parse_json(read_text(path), str(path))
        if not isinstance(document, dict):
            raise InputError("not an object")
    except (FileNotFoundError, InputError):
        raise InputError(f"{path}: damaged, it cannot be read. Put the file of the export back.") from None
    if document.get("seal") != _seal(document):
        return document, [(f"{PRIVATE}/{path.name}", CHANGED)]
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
