"""Matching and similarity: tables that people ask for, beside the findings."""

from __future__ import annotations

from unmask.audits.release.plan import (
    ReleasePlan,
    Section,
    secrets_of,
)
from unmask.audits.release.tables import Release
from unmask.results.grid import Cell, Grid, Series
from unmask.metrics.attribute_scenario import attribute_scenario
from unmask.metrics.cap import cap
from unmask.metrics.cap_continuous import cap_continuous
from unmask.metrics.similarity import Comparison, Distance, Similarity
from unmask.stream import stream
from unmask.stats import (
    Estimate,
)
from unmask.tables.matching import By

MOST_ROWS = 20_000  # searches of everybody against everybody stop being quick beyond


def matching_section(release: Release, plan: ReleasePlan, workers: int) -> Section:
    """CAP of each secret from the keys, and what many sets tell an attacker who knows the rest of the table."""
    keys = [key for key in release.schema.keys if key not in secrets_of(release)]
    rows: list[tuple[Cell, ...]] = []
    known: list[tuple[Cell, ...]] = []
    numbers: list[tuple[Cell, ...]] = []
    if release.schema.secrets and keys:
        for secret in release.schema.secrets:
            found = cap(
                release.real, release.synthetic, keys=keys, secrets=[secret], holdout=release.holdout, by=By.CODES,
                confidence=plan.confidence, workers=workers, generalised=len(release.real) <= MOST_ROWS,
            )  # fmt: skip
            for measure in found.measures:
                if measure.real is not None:
                    rows.append((secret, measure.name, *(_value(e) for e in (measure.real, measure.original, measure.holdout)),
                                 round(found.mode.value, 4), *_interval(measure.excess)))  # fmt: skip
            known += _scenario_rows(release, plan, secret, workers)
            numbers += _continuous_rows(release, plan, secret, keys, workers)
    grids = []
    if rows:
        heads = (
            "secret",
            "measure",
            "real people",
            "on real data",
            "holdout",
            "always the mode",
            "gain",
            "low",
            "high",
        )
        grids.append(Grid("cap", "Correct attribution of secrets from the keys (CAP)", heads, tuple(rows), detail=True))
    if known:
        columns = (
            "secret",
            "sets",
            "range holds the truth",
            "share of the ranks in the range",
            "gain over the holdout",
        )
        grids.append(
            Grid(
                "maximum knowledge",
                "An attacker who knows all ranks but the secret's",
                columns,
                tuple(known),
                detail=True,
            )
        )
    if numbers:
        told = ("secret", "attack on", "MAE", "MAPE", "R2", "closer than holdout")
        grids.append(
            Grid("continuous cap", "Numeric secrets predicted from the keys", told, tuple(numbers), detail=True)
        )
    return Section(grids=tuple(grids))


def _continuous_rows(
    release: Release, plan: ReleasePlan, secret: str, keys: list[str], workers: int
) -> list[tuple[Cell, ...]]:
    """A numeric secret as the distance-weighted mean of its values around the keys, beside the bounds of that attack."""
    if not release.schema.column(secret).is_numeric or len(release.real) > MOST_ROWS:
        return []
    found = cap_continuous(
        release.real, release.synthetic, keys=keys, secret=secret, holdout=release.holdout, confidence=plan.confidence,
        workers=workers,
    )  # fmt: skip
    sides = [
        ("the release", found.synthetic.mean),
        ("the real table itself", found.original.mean),
        ("nothing: the mean", found.mean_predictor),
        *([("the release, holdout people", found.holdout.mean)] if found.holdout else []),
    ]
    closer = _value(found.closer)
    return [
        (secret, side, *(round(float(value), 4) for value in (errors.mae, errors.mape, errors.r2)), closer)
        for side, errors in sides
    ]


def _scenario_rows(release: Release, plan: ReleasePlan, secret: str, workers: int) -> list[tuple[Cell, ...]]:
    if len(release.real) > MOST_ROWS:
        return []
    found = attribute_scenario(
        release.real, release.sets, attribute=secret, holdout=release.holdout, confidence=plan.confidence, workers=workers,
        rng=stream(plan.seed, "maximum knowledge", secret),
    )  # fmt: skip
    return [(secret, risk.sets, _value(risk.contains), _value(risk.width), _value(risk.excess)) for risk in found.risks]


def _value(estimate: Estimate | None) -> float:
    return round(estimate.value, 4) if estimate is not None else float("nan")


def _interval(estimate: Estimate | None) -> tuple[float, float, float]:
    if estimate is None:
        return (float("nan"),) * 3
    return round(estimate.value, 4), round(estimate.low, 4), round(estimate.high, 4)


def similarity_section(release: Release, plan: ReleasePlan, workers: int) -> Section:
    """IMS, DCR and NNDR: shown because people ask for them, with the warnings that belong to them."""
    rows, series = [], []
    notes: list[str] = []
    for distance in (Distance.HAMMING, Distance.GOWER):
        rng = stream(plan.seed, "similarity", distance)
        how = Similarity(distance=distance, repeats=3, confidence=plan.confidence)
        found = how.compare(release.real, release.synthetic, holdout=release.holdout, workers=workers, rng=rng)
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
    return Section(grids=(grid,), series=tuple(series), notes=tuple(dict.fromkeys(notes)))


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
                       "share of rows", grid, tuple(round(float(y), 6) for y in shares))
            )  # fmt: skip
    return made
