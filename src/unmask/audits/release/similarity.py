"""IMS, DCR, NNDR and the mean minimal distance: shown because people ask for them, with the warnings that belong to them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.audits.part import Part, SomePeople
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
LARGE = 120_000  # rows of real table and holdout together: of larger ones fewer are asked about, at most
FEWER_PAIRS = 1_000_000_000  # pairs: what is shown are shares and means, and nothing rests on them
FEWEST_ROWS = 500  # that are asked about however large the tables are
MOST_SEARCHED = 250_000  # rows of real table and holdout each


def similarity_part(case: Case) -> Part:
    """Each metric under two distances, on synthetic and on holdout rows."""
    plan = case.plan
    release, drawn = _cut(case.release, stream(plan.seed, "similarity"))
    rows, series = [], []
    notes: list[str] = list(_left_out(case.release, release))
    for distance in (Distance.HAMMING, Distance.GOWER):
        rng = stream(plan.seed, "similarity", distance)
        how = Similarity(distance=distance, repeats=3, confidence=plan.confidence)
        found = how.compare(
            release.real, case.release.synthetic, holdout=release.holdout, most_rows=_most(release), workers=case.workers,
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
    line, nearest = _minimal_distance(case, release, drawn)
    rows.append(line)
    columns = ("metric", "distance", "synthetic", "holdout", "verdict of the metric")
    grid = Grid("similarity", "Similarity scores (passing them proves nothing)", columns, tuple(rows))
    notes += nearest.notes
    return Part(
        grids=(grid,), series=(*series, *nearest.series), notes=tuple(dict.fromkeys(notes)), columns=nearest.columns
    )


def _cut(release: Release, rng: np.random.Generator) -> tuple[Release, np.ndarray | None]:
    """At most MOST_SEARCHED rows of real table and holdout, drawn at random; and which real rows, None if all."""
    real, holdout = release.real, release.holdout
    rows = None
    if len(real) > MOST_SEARCHED:
        rows = np.sort(rng.choice(len(real), MOST_SEARCHED, replace=False))
        real = real.take(rows)
    if holdout is not None and len(holdout) > MOST_SEARCHED:
        holdout = holdout.take(np.sort(rng.choice(len(holdout), MOST_SEARCHED, replace=False)))
    return replace(release, real=real, holdout=holdout), rows


def _left_out(whole: Release, part: Release) -> list[str]:
    sides = [("real", whole.real, part.real)]
    if whole.holdout is not None and part.holdout is not None:
        sides.append(("holdout", whole.holdout, part.holdout))
    told = [f"{len(some):,} of {len(all_):,} {name} rows" for name, all_, some in sides if len(some) < len(all_)]
    if not told:
        return []
    return [
        f"Similarity: {' and '.join(told)}, drawn at random, were searched for near rows; copies are looked for among all of "
        "them elsewhere."
    ]


def _most(release: Release) -> int:
    """How many rows can be asked about, all of real table and holdout being searched."""
    return _asked(release, MOST_PAIRS if _searched(release) <= LARGE else FEWER_PAIRS)


def _most_by_euclid(release: Release) -> int:
    return min(MOST_ROWS, _asked(release, MOST_EUCLID))


def _asked(release: Release, pairs: int) -> int:
    return max(FEWEST_ROWS, pairs // _searched(release))


def _searched(release: Release) -> int:
    held = 0 if release.holdout is None else len(release.holdout)
    return min(MOST_SEARCHED, len(release.real)) + min(MOST_SEARCHED, held)


def _minimal_distance(
    case: Case, release: Release, drawn: np.ndarray | None
) -> tuple[tuple[str, str, float, float, str], Part]:
    """How far synthetic rows are from the nearest real one (hittmeir2020, table VI and figure 2), and who that is.

    `drawn` are the real rows that `release` has, None if all.
    """
    plan = case.plan
    found = minimal_distance(
        release.real, case.release.synthetic, holdout=release.holdout, most_rows=_most_by_euclid(release),
        confidence=plan.confidence, workers=case.workers, rng=stream(plan.seed, "minimal distance"),
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
    if len(found.rows) < len(case.release.synthetic):
        which = "all real ones" if drawn is None else f"{size:,} real ones"
        notes.append(
            f"Minimal distance: {len(found.rows):,} of {len(case.release.synthetic):,} published rows, drawn at random, "
            f"were compared with {which}."
        )
    return row, Part(
        series=tuple(distance_histograms("nearest real row", sides, "distance to the nearest real row")),
        notes=tuple(notes),
        columns=(
            ("published rows nearest to it", _of_rows(case, drawn, np.bincount(found.nearest, minlength=size))),
            ("distance of the nearest of them", _of_rows(case, drawn, np.where(np.isfinite(closest), closest, np.nan))),
        ),
    )


def _of_rows(case: Case, drawn: np.ndarray | None, values: np.ndarray) -> np.ndarray | SomePeople:
    """For records.csv: numbers of all real rows, or of those that were searched."""
    return values if drawn is None else SomePeople(len(case.release.real), drawn, values)


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
    real, held = min(real, MOST_SEARCHED), min(held, MOST_SEARCHED)
    most = _most(case.release)
    asked, others = min(most, published), min(most, held)
    again = 0 if held == real else 3 * min(held, real)  # tables of one size are not compared in parts
    measured = 2 * 0.25e-9 * (asked * (real + min(held, real) + again) + others * (real + again))
    by_euclid = 2e-9 * 2 * _most_by_euclid(case.release) * real
    return 0.5 + width * (measured + by_euclid) + 2e-6 * (real + held)


SIMILARITY = Check("similarity", similarity_part, cost=3, seconds=_seconds)
