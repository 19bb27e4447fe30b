"""Does a part fit what is left of a time budget? Estimated beforehand, in seconds of a common machine times the pace of this."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from unmask.audits.release.case import Case, Check
from unmask.audits.runner import Runner
from unmask.tables.distance import nearest
from unmask.tables.table import Table

RESERVE = 0.05  # of the budget: for what comes after the last part
FOR_TELLING = 0.8  # of what is left, for the parts without which nothing is known
FEWEST_PEOPLE = 500  # on either side: fewer show hardly anything
MATCHED = 20_000  # rows, and
ASKED = 200  # people, by which the pace is taken
PAIR = 0.45e-9  # seconds of a comparison of two rows of 15 columns on a common machine
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
    def started(cls, runner: Runner, case: Case) -> Clock:
        """The pace is taken only where there is a budget."""
        return cls(runner) if runner.seconds is None else cls(runner, _pace(case.release.synthetic))

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


def _pace(table: Table) -> float:
    """How long a small search takes here and now, as a multiple of what it takes on a common machine."""
    rows = table.take(np.arange(min(len(table), MATCHED)))
    people = rows.take(np.arange(min(len(rows), ASKED)))
    nearest(people.take([0]), rows.take([0]))  # compiles, or loads what was compiled
    began = time.perf_counter()
    nearest(people, rows)
    pairs = len(people) * len(rows) * max(1.0, len(table.schema.columns) / 15)
    return max(0.5, (time.perf_counter() - began - 0.005) / max(PAIR * pairs, 1e-4))
