"""One thread of BLAS, OpenMP (scikit-learn) and torch while numbers of a result are computed.

Libraries that share a sum among threads add in another order, so that its last digits hang on how many there are. What a run may
use of a machine it uses by workers of its own, processes for tasks and threads for compiled loops, and no number hangs on those.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from unmask.errors import ParameterError

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)  # read when one is loaded
ONE_THREAD = dict.fromkeys(VARIABLES, "1")


def all_cores() -> int:
    """UNMASK_WORKERS, else the cores that this process may use."""
    if asked := os.environ.get("UNMASK_WORKERS"):
        if not asked.isdigit() or int(asked) < 1:
            raise ParameterError(f"UNMASK_WORKERS is '{asked}'; use a whole number from 1, or unset it.")
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread in every library, also in those that are loaded meanwhile; programs that are started have one too.

    May be used within itself, and by several threads at a time. Afterwards all have what they had, or would have had.
    """
    mine = _HERE.enter()
    try:
        yield
    finally:
        _HERE.leave(mine)


class _Library(Protocol):
    """As threadpoolctl has them."""

    user_api: str
    filepath: str

    @property
    def num_threads(self) -> int: ...

    def set_num_threads(self, num_threads: int) -> Any: ...


class _Torch:
    """Its own way to say it, since it tells the libraries that it is linked with."""

    user_api, filepath = "openmp", "torch"

    @property
    def num_threads(self) -> int:
        return int(sys.modules["torch"].get_num_threads())

    def set_num_threads(self, num_threads: int) -> None:
        sys.modules["torch"].set_num_threads(num_threads)


@dataclass
class _Libraries:
    """Those of this process. BLAS has one number of threads for all of it: whoever is last gives it back.

    OpenMP has one for each thread that calls it, so that each gives back its own.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    inside: int = 0
    variables: dict[str, str | None] = field(default_factory=dict)  # before the first came
    before: dict[str, int] = field(default_factory=dict)  # threads by file, then
    modules: int = 0
    known: tuple[_Library, ...] = ()

    def enter(self) -> dict[str, int]:
        """Have one thread; returns what libraries had for this thread of Python."""
        with self.lock:
            found = self._found()
            mine = {each.filepath: each.num_threads for each in found}
            if not self.inside:
                self.variables, self.before = {name: os.environ.get(name) for name in VARIABLES}, mine
                os.environ |= ONE_THREAD
            self.inside += 1
            for each in found:
                _give(each, 1)
            return mine

    def leave(self, mine: dict[str, int]) -> None:
        """Give back what `enter` told; what was loaded meanwhile gets what it would have had."""
        with self.lock:
            self.inside -= 1
            asked = self.variables["OMP_NUM_THREADS"] or ""
            usual = int(asked) if asked.isdigit() and int(asked) else os.cpu_count() or 1
            for each in reversed(self._found()):  # torch first: it sets those that it is linked with
                if each.user_api == "openmp":
                    _give(each, mine.get(each.filepath, 1 if self.inside else usual))
                elif not self.inside:
                    _give(each, self.before.get(each.filepath, usual))
            if not self.inside:
                for name, value in self.variables.items():
                    os.environ.pop(name, None)
                    if value is not None:
                        os.environ[name] = value

    def _found(self) -> tuple[_Library, ...]:
        """Looking for them takes longer than small tasks do: done again only if there may be new ones."""
        from threadpoolctl import ThreadpoolController

        if self.modules != len(sys.modules):
            torch = (_Torch(),) if hasattr(sys.modules.get("torch"), "set_num_threads") else ()
            self.known = (*ThreadpoolController().lib_controllers, *torch)
            self.modules = len(sys.modules)
        return self.known


def _give(library: _Library, threads: int) -> None:
    """From 3.8 on, threadpoolctl lets only one thread of Python set those of OpenBLAS, and says nothing to the others."""
    free = getattr(library, "clear_controlling_thread", None)
    if free is not None:
        free(force=True)
    library.set_num_threads(threads)
    if free is not None:
        free(force=True)


_HERE = _Libraries()
