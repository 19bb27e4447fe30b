"""SearchAttack of ReconSyn (ganev2023, algorithm 1): repair near misses column by column.

For each row of the history that is near enough, nearest first: alter each column once; columns whose alteration does not take
the row further away are still wrong. For each of those try all values. After each column the row becomes the candidate whose
distance fell (read literally, the printed algorithm never closes a distance above 1). Rows that were asked about before, or
that the locator does not hold, are dropped, as printed.

Rows are worked on in waves of `WAVE`, all with the same step at a time; within a wave no row is asked about twice.
"""

from __future__ import annotations

import numpy as np

from unmask.attacks.reconstruction.asked_rows import AskedRows
from unmask.attacks.reconstruction.padding import Reader
from unmask.attacks.reconstruction.sample import Rebuilt, nothing
from unmask.tables.regions import Region

WAVE = 1024


def search_attack(reader: Reader, history: AskedRows, *, distance: int, region: Region | None) -> Rebuilt:
    """Every record that greedy repair of rows at most `distance` away finds."""
    sizes = reader.oracle.schema.sizes
    near = np.flatnonzero((history.distances > 0) & (history.distances <= distance))
    near = near[np.argsort(history.distances[near], kind="stable")]
    starts, gaps = history.codes[near].copy(), history.distances[near].copy()
    found = nothing(len(sizes), starts.dtype)
    for low in range(0, len(starts), WAVE):
        if reader.spent:
            break
        found += _wave(
            reader, history, region, starts[low : low + WAVE].copy(), gaps[low : low + WAVE].astype(np.int64)
        )
    return found


def _wave(reader: Reader, history: AskedRows, region: Region | None, rows: np.ndarray, gaps: np.ndarray) -> Rebuilt:
    """One step at a time for all rows of a wave; `rows` and `gaps` are changed."""
    sizes = reader.oracle.schema.sizes
    columns = len(sizes)
    found = nothing(columns, rows.dtype)
    altered = np.repeat(rows, columns, axis=0)
    place = np.tile(np.arange(columns), len(rows))
    each = np.arange(len(altered))
    altered[each, place] = (altered[each, place] + 1) % sizes[place]
    more, distances, asked = _ask(reader, history, altered)
    found += more
    wrong = np.zeros((len(rows), columns), dtype=bool)
    wrong[asked // columns, place[asked]] = (distances >= 0) & (distances <= gaps[asked // columns])
    for column in range(columns):
        active = np.flatnonzero(wrong[:, column] & (gaps > 0))
        if not len(active):
            continue
        tried = np.repeat(rows[active], sizes[column], axis=0)
        tried[:, column] = np.tile(np.arange(sizes[column]), len(active))
        owner = np.repeat(active, sizes[column])
        if region is not None:
            inside = region.holds(tried)
            tried, owner = tried[inside], owner[inside]
        more, distances, asked = _ask(reader, history, tried)
        found += more
        owner, tried = owner[asked], tried[asked]
        for at in np.flatnonzero((distances >= 0) & (distances < gaps[owner])):
            if distances[at] < gaps[owner[at]]:
                rows[owner[at]], gaps[owner[at]] = tried[at], distances[at]
    return found


def _ask(reader: Reader, history: AskedRows, codes: np.ndarray) -> tuple[Rebuilt, np.ndarray, np.ndarray]:
    """Read what is new: records among it, distances, and which of the rows were asked about."""
    fresh = history.fresh(codes)
    before = reader.read
    distances = reader.distances(codes[fresh])
    history.add(codes[fresh], distances)
    at = np.flatnonzero(distances == 0)
    return Rebuilt(codes[fresh[at]], np.full(len(at), -1), before + 1 + at), distances, fresh
