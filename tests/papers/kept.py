"""What was found, as a JSON file, with the CPU time it took and a digest of the program that found it."""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from unmask.files import write_atomically

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, eq=False)
class Kept:
    """What an experiment or a game found, and what that took."""

    found: pd.DataFrame
    cpu: float


@cache
def program() -> str:
    """A digest of the program and the experiments: what an older one found is not what this one finds.

    How pages are written and charts are drawn changes no number, nor do tests.
    """
    papers = ROOT / "tests" / "papers"
    files = [*(ROOT / "src" / "unmask").rglob("*.py"), *papers.glob("*/*.py"), papers / "games.py"]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def load(path: Path, *, older: bool = False) -> Kept | None:
    """What this program found before, or an older one if that will do."""
    if not path.exists():
        return None
    plain = json.loads(path.read_text(encoding="utf-8"))
    if plain["program"] != program() and not older:
        return None
    return Kept(pd.DataFrame(plain["rows"], columns=plain["columns"]), plain["cpu"])


def save(path: Path, kept: Kept) -> None:
    """Keep what was found."""
    plain = {
        "program": program(),
        "cpu": kept.cpu,
        "columns": [str(column) for column in kept.found.columns],
        "rows": [[_plain(cell) for cell in row] for row in kept.found.itertuples(index=False)],
    }
    write_atomically(path, json.dumps(plain).encode())


def _plain(cell: object) -> object:
    return cell.item() if hasattr(cell, "item") else cell
