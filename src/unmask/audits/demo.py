"""The demonstration: the bundled data described, and how near two random halves of it are to each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.audits.describe import describe
from unmask.audits.result import Cell, Grid, Result, Series
from unmask.datasets import adult
from unmask.tables.distance import Gower, Hamming, Metric, nearest
from unmask.tables.table import Table

ROWS = 10_000
PERCENTILES = (0, 5, 25, 50, 75, 95, 100)


def demo(*, seed: int = 0, workers: int = 1) -> Result:
    """Describe 10,000 people of Adult, then measure how far each of one half is from the nearest of the other half."""
    rng = np.random.default_rng(seed)
    people = adult()
    people = people.take(np.sort(rng.choice(len(people), ROWS, replace=False)))
    first, second = people.split(0.5, seed=seed)
    distances = {
        "Hamming (columns that differ)": _to_nearest(first, second, Hamming(), workers),
        "Gower (0 = equal, 1 = unlike)": _to_nearest(first, second, Gower(), workers),
    }
    lines: list[tuple[Cell, ...]] = [
        (name, *(round(float(value), 4) for value in np.percentile(found, PERCENTILES)), f"{(found == 0).mean():.1%}")
        for name, found in distances.items()
    ]
    grid = Grid(
        "halves",
        "Two random halves: distance of each person in one to the nearest in the other",
        ("distance", *(f"{percent} %" for percent in PERCENTILES), "exact matches"),
        tuple(lines),
    )
    gower = distances["Gower (0 = equal, 1 = unlike)"]
    shares, edges = np.histogram(gower, bins=40)
    series = Series(
        "halves", "Distance to the nearest person of the other half", "Gower distance", "people",
        tuple(map(float, edges[:-1])), tuple(map(float, shares)),
    )  # fmt: skip
    described = describe(people, seed=seed, workers=workers)
    note = (
        "Neither half was made from the other, yet some people have an exact twin there and most a near one: "
        "a synthetic table that is 'not too close' to the real one proves nothing, nor does one that is close. "
        "Only a comparison with people who were never shown to the generator does."
    )
    return replace(
        described,
        audit="demo",
        plan={"rows": ROWS},
        grids=(*described.grids, grid),
        series=(series,),
        notes=(*described.notes, note),
    )


def _to_nearest(queries: Table, candidates: Table, metric: Metric, workers: int) -> np.ndarray:
    return nearest(queries, candidates, metric=metric, workers=workers).distances[:, 0]
