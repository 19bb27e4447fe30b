"""The best few matches of each person among the rows of a large table, without looking at most rows: as `best_match` does.

A row that could take a place among the best so far is found in the list of some value that the person has, heaviest first. It
may stand in several lists, and counts in the first. Of equal matches the lowest row numbers are kept, however they are found.
"""

from __future__ import annotations

import numpy as np

from unmask.compiled import njit
from unmask.tables.search.best_match import (
    MOST_COLUMNS,
    MOST_PEOPLE,
    NONE,
    ROWS,
    TOGETHER,
    Asked,
    _add_units,
    _asked,
    _largest,
    _sorted_rows,
    _weighed,
)

FEWEST_ROWS = 50_000  # of a table: fewer are looked at one by one in no time, and need no further loops


class BestMatches:
    """People whose best matches are looked for block by block."""

    def __init__(self, people: np.ndarray, weights: np.ndarray) -> None:
        """Codes (people x columns), of which anything below 0 is no value, and what agreements are worth, 0 or more."""
        self._known = tuple(np.unique(codes[codes >= 0]) for codes in people.T)
        self._asked: Asked = _asked(people, weights, self._known)

    @staticmethod
    def pays(people: np.ndarray, rows: int) -> bool:
        """Whether so many rows are worth the sorting; sorted copies of wide tables are not."""
        return rows >= FEWEST_ROWS and people.shape[1] <= MOST_COLUMNS and len(people) <= MOST_PEOPLE

    def keep(self, offered: np.ndarray, first: int, own: np.ndarray, rows: np.ndarray, scores: np.ndarray) -> None:
        """Put the best of some rows (codes, the first of which has the number `first`) among the best so far, best first.

        `own` is the number of each person's own row, which is passed over. All places must be taken already, and by rows of lower
        numbers.
        """
        for low in range(0, len(offered), ROWS):
            some = _sorted_rows(offered[low : low + ROWS], self._known)
            _keep(self._asked, some, first + low, own, rows, scores)


@njit(nogil=True, cache=True)
def _keep(asked, some, offset, own, rows, scores):
    width, last = asked.codes.shape[1], rows.shape[1] - 1
    sums = np.empty(some.order.shape[1], dtype=np.uint16)
    for person in range(own.size):
        codes, unit, order = asked.codes[person], asked.unit[person], asked.order[person]
        before = scores[person, last]  # rows that are worth no more come too late
        for rank in range(width):
            if asked.rest[person, rank] <= before:
                break
            by = np.int64(order[rank])
            if codes[by] == NONE:
                continue
            first, end = some.starts[by, codes[by]], some.starts[by, codes[by] + 1]
            if first == end:
                continue
            columns = some.columns[by]
            part = sums[: -(-(end - first) // TOGETHER) * TOGETHER]
            part[:] = 0
            _add_units(columns, codes, asked.units[person], first, part)
            if _largest(part) * unit <= before:
                continue
            for at in range(end - first):
                if part[at] * unit <= before:
                    continue
                row = offset + some.order[by, first + at]
                again = row == own[person]
                for heavier in range(rank):
                    column = np.int64(order[heavier])
                    again |= columns[column, first + at] == codes[column]
                if again:
                    continue
                score = _weighed(columns, codes, asked.weights[person], first + at)
                place = last
                if score < scores[person, place] or (score == scores[person, place] and row > rows[person, place]):
                    continue
                while place > 0 and (
                    scores[person, place - 1] < score
                    or (scores[person, place - 1] == score and rows[person, place - 1] > row)
                ):
                    scores[person, place] = scores[person, place - 1]
                    rows[person, place] = rows[person, place - 1]
                    place -= 1
                scores[person, place], rows[person, place] = score, row
