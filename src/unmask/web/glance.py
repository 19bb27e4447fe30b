"""What a run comes to, at a glance: read in a process of its own, since results bring the whole of statistics along.

A result.json may come from a stranger: what cannot be read is told in a sentence, and nothing in it is run. A report is shown
only if its bytes are those that this version makes of the result, so that a page of a stranger never reaches the browser.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

LARGEST = 50_000_000  # bytes of a result.json that is read here
READ = {  # what else is read of a directory, here or by a page, and how many bytes it may have
    "run.json": LARGEST, "records.csv": 500_000_000, "decision.json": 1_000_000, "report.html": LARGEST,
    "summary.md": LARGEST, "progress.json": 100_000,
}  # fmt: skip


def glance(directory: Path) -> dict[str, Any]:
    """The verdict of a run directory in plain data, or why there is none."""
    from unmask.errors import UnmaskError

    size, count = _size(directory)
    plain: dict[str, Any] = {"size": size, "count": count}
    try:
        return plain | _read(directory)
    except UnmaskError as problem:
        return plain | {"error": str(problem)}
    except Exception as problem:  # noqa: BLE001 - of one directory: the others are read as well
        return plain | {"error": f"This result cannot be read ({type(problem).__name__})."}


def _read(directory: Path) -> dict[str, Any]:
    from unmask.reports.html import REPORT, render
    from unmask.results.decision import decided
    from unmask.results.directory import load, read_run
    from unmask.results.verdict import title_of, verdict
    from unmask.web.places import plain_file, read_bytes

    path = plain_file(directory, "result.json")
    if path is None:
        return {"error": "There is no result yet."}
    if path.stat().st_size > LARGEST:
        return {"error": "The result is too large to be shown here."}
    for name, most in READ.items():
        if os.path.lexists(directory / name) and not _is_plain(directory, name, most):
            return {"error": f"{name} is a link, no file, or too large: this directory is not read."}
    result = load(directory)
    told, run = verdict(result), read_run(directory)
    finished = run.get("finished")
    content = read_bytes(directory, REPORT, LARGEST) or b""
    made = render(result, run, decided(directory)).encode("utf-8", errors="backslashreplace")
    return {
        "audit": result.audit,
        "title": title_of(result),
        "badge": {"name": told.badge.name, "shape": told.badge.shape, "label": told.badge.label},
        "sentence": told.sentence,
        "support": list(told.support),
        "finished": finished if isinstance(finished, str) else "",
        "files": [[each.role, each.name] for each in result.files],
        "inputs": [[each.role, each.rows, each.columns] for each in result.inputs],
        "seed": result.seed,
        "generator": str(result.plan.get("generator") or ""),
        "report": hashlib.sha256(content).hexdigest() if content == made else "",
        "has_report": bool(content),
    }


def _is_plain(directory: Path, name: str, most: int) -> bool:
    from unmask.web.places import plain_file

    path = plain_file(directory, name)
    return path is not None and path.stat().st_size <= most


def _size(directory: Path) -> tuple[int, int]:
    size = count = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            try:
                size += os.lstat(os.path.join(folder, name)).st_size
                count += 1
            except OSError:
                continue
    return size, count


if __name__ == "__main__":
    for place in json.load(sys.stdin):
        print(json.dumps(glance(Path(place))), flush=True)  # noqa: T201 - the answer
