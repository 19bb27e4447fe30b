"""Secrets by matching: CAP from the keys, and what many sets tell an attacker who knows the rest of the table."""

from __future__ import annotations

from unmask.audits.part import Part
from unmask.audits.release.case import Case, Check
from unmask.metrics.attribute_scenario import attribute_scenario
from unmask.metrics.cap import cap
from unmask.metrics.cap_continuous import cap_continuous
from unmask.results.grid import Cell, Grid, Role
from unmask.stats import Estimate
from unmask.stream import stream
from unmask.tables.matching import By

MOST_ROWS = 20_000  # searches of everybody against everybody stop being quick beyond

CAP_HEADS = ("secret", "measure", "real people", "on real data", "holdout", "always the mode", "gain", "low", "high")
CAP_ROLES = (*[Role.TEXT] * 6, Role.ESTIMATE, Role.LOW, Role.HIGH)
KNOWN_HEADS = ("secret", "sets", "range holds the truth", "share of the ranks in the range", "gain over the holdout")
NUMBER_HEADS = ("secret", "attack on", "MAE", "MAPE", "R2", "closer than holdout")


def matching_part(case: Case) -> Part:
    """Every secret, three ways; none without secrets and keys."""
    schema = case.release.schema
    keys = [key for key in schema.keys if key not in case.release.guessed]
    if not schema.secrets or not keys:
        return Part()
    caps: list[tuple[Cell, ...]] = []
    known: list[tuple[Cell, ...]] = []
    numbers: list[tuple[Cell, ...]] = []
    for secret in schema.secrets:
        caps += _cap_rows(case, secret, keys)
        known += _scenario_rows(case, secret)
        numbers += _continuous_rows(case, secret, keys)
    grids = (
        Grid(
            "cap",
            "Correct attribution of secrets from the keys (CAP)",
            CAP_HEADS,
            tuple(caps),
            roles=CAP_ROLES,
            detail=True,
        ),
        Grid(
            "maximum knowledge",
            "An attacker who knows all ranks but the secret's",
            KNOWN_HEADS,
            tuple(known),
            detail=True,
        ),
        Grid("continuous cap", "Numeric secrets predicted from the keys", NUMBER_HEADS, tuple(numbers), detail=True),
    )
    return Part(grids=tuple(grid for grid in grids if grid.rows))


def _cap_rows(case: Case, secret: str, keys: list[str]) -> list[tuple[Cell, ...]]:
    release = case.release
    found = cap(
        release.real, release.synthetic, keys=keys, secrets=[secret], holdout=release.holdout, by=By.CODES,
        confidence=case.plan.confidence, workers=case.workers, generalised=len(release.real) <= MOST_ROWS,
    )  # fmt: skip
    return [
        (
            secret, measure.name, *(_value(e) for e in (measure.real, measure.original, measure.holdout)),
            round(found.mode.value, 4), *_interval(measure.excess),
        )
        for measure in found.measures
        if measure.real is not None
    ]  # fmt: skip


def _continuous_rows(case: Case, secret: str, keys: list[str]) -> list[tuple[Cell, ...]]:
    """A numeric secret as the distance-weighted mean of its values around the keys, beside the bounds of that attack."""
    release = case.release
    if not release.schema.column(secret).is_numeric or len(release.real) > MOST_ROWS:
        return []
    found = cap_continuous(
        release.real, release.synthetic, keys=keys, secret=secret, holdout=release.holdout,
        confidence=case.plan.confidence, workers=case.workers,
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


def _scenario_rows(case: Case, secret: str) -> list[tuple[Cell, ...]]:
    release = case.release
    if len(release.real) > MOST_ROWS:
        return []
    found = attribute_scenario(
        release.real, release.sets, attribute=secret, holdout=release.holdout, confidence=case.plan.confidence,
        workers=case.workers, rng=stream(case.plan.seed, "maximum knowledge", secret),
    )  # fmt: skip
    return [(secret, risk.sets, _value(risk.contains), _value(risk.width), _value(risk.excess)) for risk in found.risks]


def _value(estimate: Estimate | None) -> float:
    return round(estimate.value, 4) if estimate is not None else float("nan")


def _interval(estimate: Estimate | None) -> tuple[float, float, float]:
    if estimate is None:
        return (float("nan"),) * 3
    return round(estimate.value, 4), round(estimate.low, 4), round(estimate.high, 4)


MATCHING = Check("matching and maximum knowledge", matching_part)
