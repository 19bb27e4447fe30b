"""Swiss cheese (ganev2023, counter-example 5): a similarity filter leaves holes, and real people sit in their middle.

Of many filtered rows those points are found that are the centre of a ball without any row, as large as the filter's radius, in a
place where the rows around it say that there should be some. Such balls are the Delaunay triangulation's own (the circle of a
triangle holds no other row), so they are listed exactly. For numeric data of two or three columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import Delaunay, cKDTree

from unmask.errors import ParameterError

SLACK = 0.03  # of the radius: a hole is at least so nearly as large as the filter makes them
EXPECTED = 12.0  # rows that a hole should hold, judged by the shell around it, to be none by chance


@dataclass(frozen=True, eq=False)
class Holes:
    """Centres of holes, how large they are, and how many rows each should have held."""

    centres: np.ndarray  # (holes, columns)
    radii: np.ndarray
    expected: np.ndarray


def holes(rows: np.ndarray, radius: float) -> Holes:
    """The holes of a cloud of filtered rows; `radius` is that of the filter, in the unit of the rows.

    Two real rows nearer to each other than twice the radius share a hole; each still has a centre of its own if the rows
    between them were left.
    """
    count, columns = rows.shape
    if columns not in (2, 3):
        raise ParameterError(f"Holes are looked for in two or three columns, not {columns}. Choose some of them.")
    if count <= columns + 1:
        raise ParameterError(f"{count} rows have no holes. Draw more.")
    centres, radii = _empty_balls(rows)
    wide = radii >= (1 - SLACK) * radius
    centres, radii = centres[wide], radii[wide]
    tree = cKDTree(rows)
    shell = tree.query_ball_point(centres, 2 * radius, return_length=True)
    expected = shell / (2**columns - 1)
    inside = (expected >= EXPECTED) & (radii <= 1.5 * radius)
    centres, radii, expected = centres[inside], radii[inside], expected[inside]
    return _one_each(centres, radii, expected, radius)


def _empty_balls(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre and radius of the circle (sphere) through each simplex of the triangulation."""
    corners = rows[Delaunay(rows).simplices]
    first, others = corners[:, 0], corners[:, 1:] - corners[:, :1]
    flat = np.abs(np.linalg.det(others)) < 1e-14
    others = others[~flat]
    right = (others**2).sum(axis=2) / 2
    away = np.linalg.solve(others, right[..., None])[..., 0]
    return first[~flat] + away, np.sqrt((away**2).sum(axis=1))


def _one_each(centres: np.ndarray, radii: np.ndarray, expected: np.ndarray, radius: float) -> Holes:
    """Balls that overlap by more than half are one hole; its centre is the mean of those nearly as large as its largest."""
    kept: list[np.ndarray] = []
    sizes, should = [], []
    left = np.argsort(-radii, kind="stable")
    while len(left):
        first = left[0]
        same = np.linalg.norm(centres[left] - centres[first], axis=1) < radius / 2
        group = left[same]
        kept.append(centres[group].mean(axis=0))
        sizes.append(radii[first])
        should.append(expected[first])
        left = left[~same]
    return Holes(np.array(kept).reshape(-1, centres.shape[1]), np.array(sizes), np.array(should))
