"""How many threads libraries may use: BLAS and OpenMP (scikit-learn), all of them the same number.

Compiled loops have none of their own: whoever calls them starts threads, as many as it was told.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from unmask.errors import ParameterError

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)  # read when one is loaded


def all_cores() -> int:
    """UNMASK_WORKERS, else the cores that this process may use."""
    if asked := os.environ.get("UNMASK_WORKERS"):
        if not asked.isdigit() or int(asked) < 1:
            raise ParameterError(f"UNMASK_WORKERS is '{asked}'; use a whole number from 1, or unset it.")
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def bound(threads: int) -> Iterator[None]:
    """At most so many threads, also in libraries that are loaded meanwhile; fewer where the user asked for fewer.

    Afterwards all have what they had, or would have had.
    """
    from threadpoolctl import ThreadpoolController

    kept = {name: os.environ.get(name) for name in VARIABLES}
    before = {each.filepath: (each, each.num_threads) for each in ThreadpoolController().lib_controllers}
    os.environ |= {name: str(min(threads, _asked(value, threads))) for name, value in kept.items()}
    try:
        for library, usual in before.values():
            library.set_num_threads(min(threads, usual))
        yield
    finally:
        for name, value in kept.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
        usual = _asked(kept["OMP_NUM_THREADS"], os.cpu_count() or 1)
        for library in ThreadpoolController().lib_controllers:
            library.set_num_threads(before[library.filepath][1] if library.filepath in before else usual)


def _asked(value: str | None, otherwise: int) -> int:
    return int(value) if value and value.isdigit() and int(value) else otherwise
