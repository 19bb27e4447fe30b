"""A draw as a file that cannot lie: arrays with a seal that says of which task and run they are, and what each one holds."""

from __future__ import annotations

import functools
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unmask.simulation.task import Arrays

SEAL = "seal.json"  # beside the arrays: numpy reads the file as any other
MOST_AT_ONCE = 2**28  # bytes of a draw that are read at once
PLAIN = b"\x93NUMPY\x01\x00"  # how an array in a file begins, but for types of many fields


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
    """The content of the file: what `np.savez` would write, and the seal. Without dates: equal draws have equal bytes."""
    content, digests = io.BytesIO(), {}
    with zipfile.ZipFile(content, "w") as file:
        for name, given in arrays.items():
            array = np.asarray(given)
            digests[name] = _digest(array)
            file.writestr(zipfile.ZipInfo(f"{name}.npy"), _written(array))
        told = {"task": identity.task, "run": identity.run, "arrays": digests}
        file.writestr(zipfile.ZipInfo(SEAL), json.dumps(told))
    return content.getvalue()


def unseal(path: Path, identity: Identity, names: Sequence[str] | None = None) -> Arrays | None:
    """The arrays of a file, or those of these `names`, each compared with its seal; None if there is no such file."""
    if not os.path.isfile(path) and os.path.exists(path):  # a pipe would never end
        raise DamagedError(f"{path}: is no file")
    try:
        at_once = names is None and path.stat().st_size <= MOST_AT_ONCE  # all of it is read
        source = io.BytesIO(path.read_bytes()) if at_once else path
        with zipfile.ZipFile(source) as file:
            held = {member.removesuffix(".npy"): member for member in file.namelist()}
            told = _seal_of(file, held.keys(), identity)
            wanted = [name for name in held if name != SEAL and (names is None or name in names)]
            arrays = {name: _read(file.read(held[name])) for name in wanted}
    except FileNotFoundError:
        return None
    except Exception as problem:  # noqa: BLE001 - one flipped bit makes readers of archives raise anything
        raise DamagedError(f"{path}: {problem}") from None
    if told is not None and any(told.get(name) != _digest(array) for name, array in arrays.items()):
        raise DamagedError(f"{path}: is not what was written")
    return arrays


def _seal_of(file: zipfile.ZipFile, held: Set[str], identity: Identity) -> dict[str, str] | None:
    """The digests of the arrays; None where a draw may be without."""
    if SEAL not in held:
        if identity.unsealed:
            return None
        raise ValueError("has no seal")
    told = json.loads(file.read(SEAL))
    if (told["task"], told["run"]) != (identity.task, identity.run):
        raise ValueError("is the draw of another task or run")
    digests: dict[str, str] = told["arrays"]
    if set(digests) != held - {SEAL}:
        raise ValueError("holds other arrays than were written")
    return digests


def _written(array: np.ndarray) -> bytes:
    """As numpy writes an array into a file. Hundreds of draws have arrays of the same few forms: the header is made once."""
    if array.dtype.hasobject or array.dtype.names or not array.flags.c_contiguous:
        content = io.BytesIO()
        np.lib.format.write_array(content, array, allow_pickle=False)
        return content.getvalue()
    return _header(array.dtype, array.shape) + array.tobytes()


@functools.lru_cache(maxsize=1000)
def _header(dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    content = io.BytesIO()
    form = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(content, form)
    return content.getvalue()


def _read(content: bytes) -> np.ndarray:
    """The array in such a file; numpy takes Python's parser to read a header, so each is read once."""
    start = 10 + int.from_bytes(content[8:10], "little")
    if content[:8] == PLAIN and (form := _form(content[:start])) is not None:
        return np.ndarray(form[1], form[0], content, start).copy()
    return np.asarray(np.lib.format.read_array(io.BytesIO(content), allow_pickle=False))


@functools.lru_cache(maxsize=1000)
def _form(header: bytes) -> tuple[np.dtype, tuple[int, ...]] | None:
    """Type and shape; None where rows do not simply follow each other."""
    shape, by_columns, dtype = np.lib.format.read_array_header_1_0(io.BytesIO(header[8:]))
    return None if by_columns or dtype.hasobject else (dtype, shape)


def _digest(array: np.ndarray) -> str:
    array = np.asarray(array)
    form = f"{array.dtype.str} {array.shape}".encode()
    return hashlib.sha256(form + b"\n" + np.ascontiguousarray(array).tobytes()).hexdigest()
