"""Scores of an attack as charts: ROC curves, and histograms that show how two sides differ, and nobody's score.

The edges are round numbers, those beyond the last bins count in them, and bins of fewer than ten scores of a side are joined
with their neighbours. So heights are shares per bin of equal width: a joined bin shows the mean over its width.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from unmask.results.grid import Series, SeriesKind
from unmask.stats import LOG_GRID, roc_curve, roc_on_grid
from unmask.tables.units import SMALLEST_GROUP

BINS = 24
TAIL = 0.01  # share of all scores on either end that may lie beyond the last edge
ROUNDING = 1e-9  # of the largest score: what differs by less is equal
FAR = 8  # interquartile ranges beyond the quartiles: what lies farther is "beyond" too, however much it is


def distance_histograms(name: str, sides: Mapping[str, np.ndarray], distance: str) -> Iterator[Series]:
    """The same for distances: a series `distances/<name>/<side>` for each side."""
    for one in score_histograms(name, sides, "rows"):
        place = one.name.partition("/")[2]
        yield replace(one, name=f"distances/{place}", x_label=distance, kind=SeriesKind.DISTANCES)


def score_histograms(
    attack: str, sides: Mapping[str, np.ndarray], what: str = "people", *, each: int = 1
) -> Iterator[Series]:
    """A series `histogram/<attack>/<side>` for each side; none if a side has too few scores or all scores are one.

    Where a person has up to `each` scores, a bin must hold ten times as many: then at least ten people are in it.
    """
    smallest = SMALLEST_GROUP * each
    finite = {side: scores[np.isfinite(scores)] for side, scores in sides.items()}
    if min(map(len, finite.values())) < smallest:
        return
    edges = round_edges(np.concatenate(list(finite.values())))
    if edges is None:
        return
    for side, scores in finite.items():
        counts, kept = joined(np.histogram(np.clip(scores, edges[0], edges[-1]), edges)[0], edges, smallest)
        widths = np.diff(kept) / (edges[1] - edges[0])
        shares = counts / widths / len(scores)
        yield Series(
            f"histogram/{attack}/{side}", f"{attack}: {side}", "score", f"share of {what} per bin",
            (*_plain(kept),), (*_plain(shares), 0.0), SeriesKind.HISTOGRAM,
        )  # fmt: skip


def roc_series(attack: str, members: np.ndarray, others: np.ndarray) -> Series:
    """The ROC curve of an attack on a logarithmic grid of false positive rates."""
    rates = roc_on_grid(roc_curve(members, others))
    return Series(
        f"roc/{attack}", f"ROC of {attack}", "false positive rate", "true positive rate",
        tuple(float(fpr) for fpr in LOG_GRID), tuple(round(float(rate), 6) for rate in rates), SeriesKind.ROC,
    )  # fmt: skip


def round_edges(scores: np.ndarray) -> np.ndarray | None:
    """About BINS bins of equal width between the tails, with edges of two digits; None if there is nothing between them."""
    low, first, third, high = np.quantile(scores, [TAIL, 0.25, 0.75, 1 - TAIL])
    if (reach := FAR * (third - first)) > 0:
        low, high = max(low, first - reach), min(high, third + reach)
    if not high > low:
        low, high = scores.min(), scores.max()
    if not high - low > ROUNDING * max(abs(low), abs(high)):
        return None
    step = float(f"{(high - low) / BINS:.1e}")
    return np.asarray(np.arange(np.floor(low / step), np.floor(high / step) + 2) * step)


def joined(counts: np.ndarray, edges: np.ndarray, smallest: int) -> tuple[np.ndarray, np.ndarray]:
    """Counts and edges after bins were joined until each holds nobody or at least ten.

    From both ends towards the highest bin, so that few people far out stay far out.
    """
    top = int(np.argmax(counts))
    left, over = _gathered(counts[:top], smallest)
    right, under = _gathered(counts[:top:-1], smallest)
    sizes = [*left, over + 1 + under, *right[::-1]]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    return np.add.reduceat(counts, ends[:-1]), edges[ends]


def _gathered(counts: np.ndarray, smallest: int) -> tuple[list[int], int]:
    """How many bins go together, in order, and how many are left over at the end."""
    sizes, held, bins = [], 0, 0
    for count in counts:
        held, bins = held + int(count), bins + 1
        if held == 0 or held >= smallest:
            sizes.append(bins)
            held, bins = 0, 0
    return sizes, bins


def _plain(values: np.ndarray) -> list[float]:
    return [float(f"{value:.6g}") for value in values]
