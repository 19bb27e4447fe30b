"""What experiments found, kept as JSON so that an interrupted run continues and charts can be drawn anew."""

import hashlib
import json
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from tests.papers.experiment import Experiment, Terms
from unmask.files import write_atomically

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "papers"


@dataclass(frozen=True, eq=False)
class Kept:
    """What an experiment found, and what that took."""

    found: pd.DataFrame
    cpu: float
    program: str  # digest of the program that found it


@cache
def program() -> str:
    """A digest of the program: what an older one found is not what this one finds."""
    digest = hashlib.sha256()
    for folder in (ROOT / "src" / "unmask", ROOT / "tests" / "papers"):
        for path in sorted(folder.rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def place(experiment: Experiment, terms: Terms, folder: Path) -> Path:
    """Where a result lives: by seed, and by share if it is not the whole."""
    share = "" if terms.share == 1 else f"-share-{terms.share:g}"
    return folder / f"{experiment.name}-seed-{terms.seed}{share}.json"


def recall(experiment: Experiment, terms: Terms, folder: Path = KEPT, *, older: bool = False) -> Kept | None:
    """What was found before on these terms by this program, or by an older one if that will do."""
    path = place(experiment, terms, folder)
    if not path.exists():
        return None
    plain = json.loads(path.read_text(encoding="utf-8"))
    if plain["program"] != program() and not older:
        return None
    return Kept(pd.DataFrame(plain["rows"], columns=plain["columns"]), plain["cpu"], plain["program"])


def measure(experiment: Experiment, terms: Terms, folder: Path = KEPT) -> Kept:
    """Run an experiment and keep what it found. It runs in this process, so that its CPU time can be told."""
    began = time.process_time()
    found = experiment.run(terms).reset_index(drop=True)
    kept = Kept(found, time.process_time() - began, program())
    plain = {
        "program": kept.program,
        "cpu": kept.cpu,
        "columns": [str(column) for column in found.columns],
        "rows": [[_plain(cell) for cell in row] for row in found.itertuples(index=False)],
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(place(experiment, terms, folder), json.dumps(plain).encode())
    return kept


def _plain(cell: object) -> object:
    return cell.item() if hasattr(cell, "item") else cell


def outcome(experiment: Experiment, terms: Terms) -> pd.DataFrame:
    """What an experiment finds: the kept result of this very program, or a new one."""
    return (recall(experiment, terms) or measure(experiment, terms)).found
