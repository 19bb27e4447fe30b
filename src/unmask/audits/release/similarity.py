"""IMS, DCR and NNDR: shown because people ask for them, with the warnings that belong to them."""

from __future__ import annotations

from unmask.audits.part import Part
from unmask.audits.release.case import Case, Check
from unmask.metrics.similarity import Comparison, Distance, Similarity
from unmask.results.grid import Grid, Series, SeriesKind
from unmask.stream import stream


def similarity_part(case: Case) -> Part:
    """Each metric under two distances, on synthetic and on holdout rows."""
    release, plan = case.release, case.plan
    rows, series = [], []
    notes: list[str] = []
    for distance in (Distance.HAMMING, Distance.GOWER):
        rng = stream(plan.seed, "similarity", distance)
        how = Similarity(distance=distance, repeats=3, confidence=plan.confidence)
        found = how.compare(release.real, release.synthetic, holdout=release.holdout, workers=case.workers, rng=rng)
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
    columns = ("metric", "distance", "synthetic", "holdout", "verdict of the metric")
    grid = Grid("similarity", "Similarity scores (passing them proves nothing)", columns, tuple(rows))
    return Part(grids=(grid,), series=tuple(series), notes=tuple(dict.fromkeys(notes)))


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


SIMILARITY = Check("similarity", similarity_part)
