"""The utility game in the audit of a generator: what the targets' presence does for others who are like them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unmask.audits.attack.judges import Played
from unmask.audits.part import Part
from unmask.results.grid import Cell, Grid, Role, Section
from unmask.results.result import Records
from unmask.simulation.target import UTILITY_GAME
from unmask.simulation.target_pool import Draws
from unmask.stats import Estimate
from unmask.utility.utility_game import UtilityGame, UtilityOutcome, judge_utility

COLUMNS = ("utility advantage", "utility low", "utility high", "utility advantage on raw data")  # of records.csv


@dataclass(frozen=True, eq=False)
class Usefulness:
    """A utility game that was played on the releases of an attack, and on the real tables themselves."""

    game: UtilityGame
    played: Played

    def outcome(self, draws: Draws, positions: np.ndarray) -> UtilityOutcome | None:
        """The advantage of some targets for the people who are like them, over releases or real tables."""
        right = draws.scores[UTILITY_GAME][:, positions]  # draws x targets x people
        asked = np.broadcast_to(draws.active[:, positions, None], right.shape)
        members = np.broadcast_to(draws.members[:, positions, None], right.shape)
        return judge_utility(
            right[asked],
            members[asked],
            draws.fits[np.nonzero(asked)[0]],
            prior=self.played.setting.game.prior,
            confidence=self.played.confidence,
        )

    def part(self) -> Part:
        """A line per group of targets: the release beside the real table."""
        played, rows = self.played, []
        for group in played.groups:
            positions = played.in_group(group)
            found, raw = self.outcome(played.test, positions), self.outcome(played.published, positions)
            if found is not None and raw is not None:
                rows.append(
                    (group, self.game.rows[positions].size, *_cells(found), *_cells(raw), *_method(found.advantage))
                )
        heads = (
            "targets", "people asked about", "advantage", "low", "high", "right with", "right without",
            "advantage on raw data", "raw low", "raw high", "raw right with", "raw right without", "method", "n",
        )  # fmt: skip
        drawn = (Role.ESTIMATE, Role.LOW, Role.HIGH)
        roles = (Role.TEXT, Role.TEXT, *drawn, Role.TEXT, Role.TEXT, Role.CLAIM, *[Role.TEXT] * 6)
        title = f"Utility game: what the targets' presence adds to right predictions of {self.game.label} for people like them"
        grid = Grid("utility/game", title, heads, tuple(rows), Section.UTILITY, roles=roles)
        return Part(grids=(grid,) if rows else (), notes=(self._note,))

    @property
    def _note(self) -> str:
        each = self.game.rows.shape[1]
        people = "person" if each == 1 else f"{each:,} people"
        return (
            f"Utility game: a {self.game.learner.name} learnt '{self.game.label}' from each release and was asked about the "
            f"{people} nearest to each target, who are in no real table. An advantage that is there on raw data and not in the "
            "release was lost with the target's traces."
        )

    def with_columns(self, records: Records) -> Records:
        """The same for each target, beside every attack on it."""
        played = self.played
        cells = {}
        for place, row in enumerate(played.targets.rows):
            found, raw = (self.outcome(draws, np.array([place])) for draws in (played.test, played.published))
            three = (None,) * 3 if found is None else _cells(found)[:3]
            cells[int(row)] = (*three, None if raw is None else _cells(raw)[0])
        rows = tuple((*line, *cells[int(str(line[0]))]) for line in records.rows)
        return replace(records, columns=(*records.columns, *COLUMNS), rows=rows)


def _cells(outcome: UtilityOutcome) -> tuple[Cell, ...]:
    found = outcome.advantage
    figures = (found.value, found.low, found.high, outcome.with_target.value, outcome.without_target.value)
    return tuple(round(float(each), 4) for each in figures)


def _method(found: Estimate) -> tuple[Cell, ...]:
    return found.method, found.n
