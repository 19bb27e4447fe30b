"""Pictures of what was rebuilt that give no record away; true pictures only of data that somebody declared public."""

from __future__ import annotations

import numpy as np

from unmask.results.grid import Cell, Grid, GridKind, Section, Series, SeriesKind
from unmask.stream import stream
from unmask.tables.table import Table

POINTS = 250  # of each kind
JITTER = 0.3  # standard deviations of a component
SIDE = 8
SHOWN = 4  # pictures


def map_series(train: Table, rebuilt: np.ndarray, seed: int) -> tuple[Series, ...]:
    """Real and rebuilt records on two principal components of the real ones.

    The points are a sample and every one is moved at random, by far more than records differ; what the components are made of
    stands nowhere. The map shows whether what was rebuilt covers the table, and not where anybody is.
    """
    sizes = train.schema.sizes
    numbers = np.concatenate(
        [np.eye(size)[np.minimum(train.codes[:, at], size - 1)] for at, size in enumerate(sizes)], 1
    )
    centre = numbers.mean(axis=0)
    _, _, axes = np.linalg.svd(numbers - centre, full_matrices=False)
    both = np.concatenate([np.eye(size)[np.minimum(rebuilt[:, at], size - 1)] for at, size in enumerate(sizes)], 1)
    rng = stream(seed, "map")
    found = []
    for name, rows in (("real", numbers), ("rebuilt", both)):
        chosen = rng.permutation(len(rows))[:POINTS]
        places = (rows[chosen] - centre) @ axes[:2].T
        scale = np.maximum(((numbers - centre) @ axes[:2].T).std(axis=0), 1e-9)
        moved = (places / scale + JITTER * rng.standard_normal(places.shape)).round(2)
        found.append(
            Series(
                f"map/{name}", "Real and rebuilt records", "first component, moved at random",
                "second component, moved at random", tuple(moved[:, 0].tolist()), tuple(moved[:, 1].tolist()),
                SeriesKind.SCATTER, Section.RISK,
            )
        )  # fmt: skip
    return tuple(found)


def pictures(rebuilt: np.ndarray) -> tuple[Grid, ...]:
    """The first rebuilt records as pictures of 8 x 8 pixels: the last 64 columns."""
    grids = []
    for place, row in enumerate(rebuilt[:SHOWN]):
        pixels = row[-SIDE * SIDE :].reshape(SIDE, SIDE)
        lines: tuple[tuple[Cell, ...], ...] = tuple(
            (str(number + 1), *(int(value) for value in line)) for number, line in enumerate(pixels)
        )
        columns = ("", *(str(number + 1) for number in range(SIDE)))
        title = f"Rebuilt picture {place + 1} (public data)"
        grids.append(Grid(f"picture {place + 1}", title, columns, lines, Section.RISK, GridKind.HEAT, detail=True))
    return tuple(grids)
