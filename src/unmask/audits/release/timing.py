"""Does a part fit what is left of a time budget? Estimated beforehand, in seconds of a common machine times the pace of this."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from unmask.audits.release.case import Case, Check
from unmask.audits.runner import Runner
from unmask.tables.search.agreement import best_agreement

RESERVE = 0.05  # of the budget: for what comes after the last part
FOR_TELLING = 0.8  # of what is left, for the parts without which nothing is known
FEWEST_PEOPLE = 500  # on either side: fewer show hardly anything
MATCHED, ASKED, WIDTH = 20_000, 200, 15  # rows, people and columns by which the pace is taken, and
TIMES = 3  # how often
PAIR = 1.3e-9  # seconds that a person and a row of them take on a common machine, all told
TELLING_COST = 1.0  # seconds from which on a part tells about the pace


@dataclass
class Clock:
    """What is left, and how fast this machine is now: it changes as parts are done, so this is no frozen value."""

    runner: Runner
    pace: float = 1.0
    expected: float = 0.0  # seconds of the parts so far, as estimated
    spent: float = 0.0  # and as they were
    notes: list[str] = field(default_factory=list)

    @classmethod
    def started(cls, runner: Runner) -> Clock:
        """The pace is taken only where there is a budget."""
        return cls(runner) if runner.seconds is None else cls(runner, _pace())

    @property
    def left(self) -> float:
        """Seconds that parts may still take."""
        if self.runner.seconds is None:
            return float("inf")
        return (1 - RESERVE) * self.runner.seconds - (time.monotonic() - self.runner.began)

    def fitted(self, case: Case, checks: tuple[Check, ...]) -> Case:
        """The case with as many people as these checks have time for: halved until they do."""
        real, _, held, _ = case.sizes
        asked = people = min(case.plan.people, max(real, held))  # no table has more
        while people // 2 >= FEWEST_PEOPLE and self._seconds(case, checks) > FOR_TELLING * self.left:
            people //= 2
            case = replace(case, plan=replace(case.plan, people=people))
        if people < asked:
            self.notes.append(
                f"To keep the time budget {people:,} people on either side were looked at one by one, not {asked:,}: leaks have "
                f"to be about {asked / people:.0f} times as large to be seen."
            )
        return case

    def refuses(self, case: Case, check: Check) -> str:
        """Why a part is not begun; "" if it is."""
        if self.runner.is_late or self.left <= 0:
            return "the time budget was used up"
        if (cost := self._seconds(case, (check,))) > self.left:
            return f"it would take about {cost:,.0f} s, and {self.left:,.0f} s of the time budget were left"
        return ""

    def done(self, case: Case, check: Check, began: float) -> None:
        """Learn from a part that was begun at a time."""
        if (cost := check.seconds(case)) >= TELLING_COST and self.runner.seconds is not None:
            self.expected += cost
            self.spent += time.monotonic() - began
            self.pace = max(self.pace / 2, self.spent / self.expected)

    def _seconds(self, case: Case, checks: tuple[Check, ...]) -> float:
        return self.pace * sum(check.seconds(case) for check in checks)


def _pace() -> float:
    """How long a small search takes here and now, as a multiple of what it takes on a common machine: the best of some."""
    rng = np.random.default_rng(0)
    people, rows = (rng.integers(0, 100, (count, WIDTH), dtype=np.int32) for count in (ASKED, MATCHED))
    weights = np.ones(people.shape, dtype=np.float32)
    best_agreement(people[:2], weights[:2], rows)  # compiles, or loads what was compiled
    times = []
    for _ in range(TIMES):
        began = time.perf_counter()
        best_agreement(people, weights, rows)
        times.append(time.perf_counter() - began)
    return max(0.5, min(times) / (PAIR * ASKED * MATCHED))
