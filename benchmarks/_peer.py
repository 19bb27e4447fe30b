"""A peer's CPU seconds on tables of ours, measured now in an environment of its own (`UNMASK_PEERS`)."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.generators import interpreter
from unmask.tables.read import write_csv
from unmask.tables.schema import Kind
from unmask.tables.table import Table


def peer_seconds(peer: str, tables: Mapping[str, Table], **job: Any) -> dict[str, float]:
    """What `_release_peers.py` measures; nothing if no environment has the peer, or if it fails, which is said."""
    if not (python := interpreter(peer)):
        return {}
    with tempfile.TemporaryDirectory() as folder:
        files = {name: str(Path(folder, f"{name}.csv")) for name in tables}
        for name, table in tables.items():
            write_csv(table, files[name])
        columns = next(iter(tables.values())).schema.columns
        job |= {"categories": [column.name for column in columns if column.kind is Kind.CATEGORICAL]}
        result = Path(folder, "result.json")
        Path(folder, "job.json").write_text(json.dumps({"peer": peer, "result": str(result), **files, **job}))
        words = [python, "-I", Path(__file__).with_name("_release_peers.py"), Path(folder, "job.json")]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
        if done.returncode:
            print(f"  {peer} failed: {(done.stderr.strip().splitlines() or ['it said nothing'])[-1]}")
            return {}
        found: dict[str, float] = json.loads(result.read_text())["seconds"]
        return found
