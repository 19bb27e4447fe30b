"""The pool of the coin game after it was drawn: who was in each run, and what each release says about everybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from unmask.attacks.everyone.usual import Block
from unmask.errors import GeneratorError
from unmask.simulation.coin import CoinSetting, members_of
from unmask.simulation.gather import gather
from unmask.simulation.release import release_name
from unmask.simulation.store import Store
from unmask.simulation.task import Arrays, Failed, Task
from unmask.tables.table import Table
from unmask.threats.knowledge import FEWEST_RUNS

KEPT = 10**9  # bytes of features that stay in memory; beyond, they are read again from the store


@dataclass(frozen=True, eq=False)
class CoinPool:
    """Runs that did not fail, numbered from 0 in the order of their tasks."""

    setting: CoinSetting
    tasks: tuple[Task, ...]
    store: Store
    members: np.ndarray  # runs x units
    failures: tuple[str, ...]
    failed_places: np.ndarray  # numbers of the planned runs that published nothing
    failed: np.ndarray  # their coins: runs x units
    _kept: dict[int, Block] = field(default_factory=dict, repr=False)

    @classmethod
    def gather(
        cls, setting: CoinSetting, tasks: Sequence[Task], store: Store, planned: Sequence[Task] | None = None
    ) -> CoinPool:
        """Collect the runs; what failed is counted with its reason. `planned` are more than `tasks` where others draw them."""
        found = gather(tasks, store, ("members",))
        if len(found) < FEWEST_RUNS:
            reason = found.failures[0] if found.failures else "there were no others"
            raise GeneratorError(
                f"Only {len(found)} runs could be drawn; at least {FEWEST_RUNS} are needed. The first reason: {reason}\n"
                "Try the generator by itself first: unmask synthesize."
            )
        silent = [task for task in planned or tasks if task not in set(found.tasks)]
        coins = [members_of(setting.seed, setting.game, task) for task in silent]
        failed = np.stack(coins) if coins else np.zeros((0, setting.game.units), dtype=bool)
        places = np.array([task.index for task in silent], dtype=np.int64)
        return cls(setting, found.tasks, store, found.stacked("members"), found.failures, places, failed)

    def __len__(self) -> int:
        return len(self.tasks)

    def load(self, run: int) -> Block:
        """Counts and values of everybody in one run; of several releases the sum of the counts and the mean of the values."""
        if run in self._kept:
            return self._kept[run]
        starts = [release_name(place) for place in range(self.setting.releases)]
        arrays = self._arrays(run, *(f"{start}{name}" for start in starts for name in ("counts", "values")))
        block = arrays["counts"], arrays["values"]
        if len(starts) > 1:
            counts = np.sum([arrays[f"{start}counts"] for start in starts], axis=0, dtype=np.uint32)
            values = np.mean([arrays[f"{start}values"] for start in starts], axis=0, dtype=np.float32)
            block = np.asarray(counts), np.asarray(values)
        if (len(self._kept) + 1) * sum(part.nbytes for part in block) <= KEPT:
            self._kept[run] = block
        return block

    def synthetic(self, run: int) -> Table:
        """The first release of one run."""
        arrays = self._arrays(run, "synthetic/codes", "synthetic/numbers")
        like = self.setting.candidates
        return replace(like, codes=np.asfortranarray(arrays["synthetic/codes"]),
                       numbers=np.asfortranarray(arrays["synthetic/numbers"]), persons=None, notes=())  # fmt: skip

    def _arrays(self, run: int, *names: str) -> Arrays:
        arrays = self.store.get(self.tasks[run], names)
        if arrays is None or isinstance(arrays, Failed):
            raise GeneratorError(f"The draw {self.tasks[run].id} is gone. Run the same command again.")
        return arrays
