"""A draw as a file that cannot lie: arrays with a seal that says of which task and run they are, and what each one holds."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unmask.simulation.task import Arrays

SEAL = "seal.json"  # beside the arrays: numpy reads the file as any other


class DamagedError(Exception):
    """The file is cut off, overwritten, or the draw of another task or run."""


@dataclass(frozen=True)
class Identity:
    """Whose draw a file must be. `unsealed` takes draws of versions that had no seal: their checksums must do."""

    task: str
    run: str
    unsealed: bool = False


def digest_of(plain: Mapping[str, Any]) -> str:
    """One for all ways to write the same fields down."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def seal(arrays: Arrays, identity: Identity) -> bytes:
    """The content of the file."""
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    told = {
        "task": identity.task,
        "run": identity.run,
        "arrays": {name: _digest(array) for name, array in arrays.items()},
    }
    with zipfile.ZipFile(content, "a") as file:
        file.writestr(zipfile.ZipInfo(SEAL), json.dumps(told))  # without a date: equal draws have equal bytes
    return content.getvalue()


def unseal(path: Path, identity: Identity, names: Sequence[str] | None = None) -> Arrays | None:
    """The arrays of a file, or those of these `names`, each compared with its seal; None if there is no such file."""
    try:
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as file:
            told = _seal_of(file, identity)
            arrays = {name: file[name] for name in file.files if name != SEAL and (names is None or name in names)}
    except FileNotFoundError:
        return None
    except Exception as problem:  # noqa: BLE001 - one flipped bit makes readers of archives raise anything
        raise DamagedError(f"{path}: {problem}") from None
    if told is not None and any(told.get(name) != _digest(array) for name, array in arrays.items()):
        raise DamagedError(f"{path}: is not what was written")
    return arrays


def _seal_of(file: Any, identity: Identity) -> dict[str, str] | None:
    """The digests of the arrays; None where a draw may be without."""
    if SEAL not in file.files:
        if identity.unsealed:
            return None
        raise ValueError("has no seal")
    told = json.loads(file[SEAL])
    if (told["task"], told["run"]) != (identity.task, identity.run):
        raise ValueError("is the draw of another task or run")
    digests: dict[str, str] = told["arrays"]
    if set(digests) != set(file.files) - {SEAL}:
        raise ValueError("holds other arrays than were written")
    return digests


def _digest(array: np.ndarray) -> str:
    array = np.asarray(array)
    form = f"{array.dtype.str} {array.shape}".encode()
    return hashlib.sha256(form + b"\n" + np.ascontiguousarray(array).tobytes()).hexdigest()
