"""IMS, DCR, NNDR and the mean minimal distance: shown because people ask for them, with the warnings that belong to them."""

from __future__ import annotations

import numpy as np

from unmask.audits.part import Part
from unmask.audits.release.case import Case, Check
from unmask.audits.release.tables import Release
from unmask.audits.score_charts import distance_histograms
from unmask.metrics.similarity import Comparison, Distance, Similarity, minimal_distance
from unmask.results.grid import Grid, Series, SeriesKind
from unmask.stream import stream

MOST_ROWS = 5_000  # rows whose nearest real row is looked for by Euclid
MOST_EUCLID = 500_000_000  # pairs of such rows and real ones
MOST_PAIRS = (
    3_500_000_000  # of rows that are asked about and rows of real table and holdout, by each of the other distances
)
FEWEST_ROWS = 500  # that are asked about however large the tables are


def similarity_part(case: Case) -> Part:
    """Each metric under two distances, on synthetic and on holdout rows."""
    release, plan = case.release, case.plan
    rows, series = [], []
    notes: list[str] = []
    for distance in (Distance.HAMMING, Distance.GOWER):
        rng = stream(plan.seed, "similarity", distance)
        how = Similarity(distance=distance, repeats=3, confidence=plan.confidence)
        found = how.compare(
            release.real, release.synthetic, holdout=release.holdout, most_rows=_most(release, MOST_PAIRS), workers=case.workers,
            rng=rng,
        )  # fmt: skip
        for metric in (found.ims, found.dcr, found.nndr):
            held = metric.holdout.value if metric.holdout else float("nan")
            verdict = "no holdout" if metric.passed is None else "pass" if metric.passed else "fail"
            rows.append((metric.name, str(distance), round(metric.synthetic.value, 4), round(held, 4), verdict))
        if found.share is not None:
            rows.append(
                (
                    "holdout share",
                    str(distance),
                    round(found.share.share.value, 4),
                    0.5,
                    f"p = {found.share.p_value:.3g}",
                )
            )
            notes += found.share.warnings
        series += _distance_series(found, str(distance))
        notes += [*found.warnings, *found.notes]
    line, nearest = _minimal_distance(case)
    rows.append(line)
    columns = ("metric", "distance", "synthetic", "holdout", "verdict of the metric")
    grid = Grid("similarity", "Similarity scores (passing them proves nothing)", columns, tuple(rows))
    notes += nearest.notes
    return Part(
        grids=(grid,), series=(*series, *nearest.series), notes=tuple(dict.fromkeys(notes)), columns=nearest.columns
    )


def _most(release: Release, pairs: int) -> int:
    """How many rows can be asked about, all of real table and holdout being searched."""
    searched = len(release.real) + (0 if release.holdout is None else len(release.holdout))
    return max(FEWEST_ROWS, pairs // searched)


def _minimal_distance(case: Case) -> tuple[tuple[str, str, float, float, str], Part]:
    """How far synthetic rows are from the nearest real one (hittmeir2020, table VI and figure 2), and who that is."""
    release, plan = case.release, case.plan
    found = minimal_distance(
        release.real, release.synthetic, holdout=release.holdout, most_rows=min(MOST_ROWS, _most(release, MOST_EUCLID)),
        confidence=plan.confidence,        workers=case.workers, rng=stream(plan.seed, "minimal distance"),
    )  # fmt: skip
    held = found.holdout_mean.value if found.holdout_mean else float("nan")
    row = ("mean minimal distance", "euclid", round(found.mean.value, 4), round(held, 4), "none: a mean proves nothing")
    sides = {"synthetic rows": found.distances}
    if found.holdout_distances is not None:
        sides["holdout rows"] = found.holdout_distances
    size = len(release.real)
    closest = np.full(size, np.inf)
    np.minimum.at(closest, found.nearest, found.distances)
    notes = list(found.warnings)
    if len(found.rows) < len(release.synthetic):
        notes.append(
            f"Minimal distance: {len(found.rows):,} of {len(release.synthetic):,} published rows, drawn at random, "
            "were compared with all real ones."
        )
    return row, Part(
        series=tuple(distance_histograms("nearest real row", sides, "distance to the nearest real row")),
        notes=tuple(notes),
        columns=(
            ("published rows nearest to it", np.bincount(found.nearest, minlength=size)),
            ("distance of the nearest of them", np.where(np.isfinite(closest), closest, np.nan)),
        ),
    )


def _distance_series(found: Comparison, distance: str) -> list[Series]:
    curves, made = found.dcr_curves, []
    for name, shares in (
        ("synthetic to real", curves.synthetic_to_real),
        ("synthetic to holdout", curves.synthetic_to_holdout),
        ("holdout to real", curves.holdout_to_real),
    ):
        if shares is not None:
            grid = tuple(round(float(x), 6) for x in curves.grid)
            made.append(
                Series(f"ecdf/{distance}/{name}", f"Nearest {distance} distance, {name}", f"{distance} distance",
                       "share of rows", grid, tuple(round(float(y), 6) for y in shares), SeriesKind.ECDF)
            )  # fmt: skip
    return made


def _seconds(case: Case) -> float:
    real, published, held, width = case.sizes
    most = _most(case.release, MOST_PAIRS)
    asked, others = min(most, published), min(most, held)
    by_euclid = min(MOST_ROWS, _most(case.release, MOST_EUCLID))
    measured = 2 * 0.25e-9 * (asked * (real + 4 * min(held, real)) + others * (real + 3 * min(held, real)))
    return 0.5 + width * (measured + 2e-9 * 2 * by_euclid * real) + 2e-6 * (real + published + held)


SIMILARITY = Check("similarity", similarity_part, cost=3, seconds=_seconds)
