"""Secrets by matching the keys: the CAP family, and numbers as the mean over rows with similar keys (hittmeir2020)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.audits.part import Part, together
from unmask.audits.release.case import HOW_TO_GET_A_HOLDOUT, REDO, Case, Check, Family
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.release.tables import Release
from unmask.metrics._key_subsets import MOST_KEYS
from unmask.metrics.cap_continuous import ContinuousCap, Errors, Neighbourhood, Scaling, Spread, Weights, cap_continuous
from unmask.metrics.cap_over_keys import cap_over_keys
from unmask.results.figures import figure
from unmask.results.grid import Cell, Grid, Role, Series
from unmask.results.policy import Severity
from unmask.results.result import Finding, NotTested
from unmask.stats import Estimate
from unmask.stream import stream
from unmask.tables.matching import By, group_ids

MOST_PAIRS = 50_000_000  # of distinct keys, real and published, in one search: a third of a second
FEWEST = 500  # records that are attacked however large the release is
MANY = 20_000  # people; where there are more, nearest keys are looked for of some of them
MOST_GENERALISED = 2_000  # so many

NUMERIC = Family("numeric secrets", 0.02, lambda release: len(numeric_secrets(release)))

CAP_HEADS = (
    "secret", "key length", "keys", "measure", "real people", "sd over keys", "on real data", "holdout", "always the mode",
    "gain", "low", "high",
)  # fmt: skip
CAP_ROLES = (*[Role.TEXT] * 9, Role.ESTIMATE, Role.LOW, Role.HIGH)
NUMBER_HEADS = (
    "secret", "key length", "keys", "radius", "attack on", "MAE", "sd of MAE", "MAPE", "sd of MAPE", "R2", "sd of R2",
)  # fmt: skip
GAIN_HEADS = ("secret", "key length", "radius", "people", "gain over the mean", "low", "high", "closeness")
GAIN_ROLES = (*[Role.TEXT] * 4, Role.ESTIMATE, Role.LOW, Role.HIGH, Role.TEXT)
HOLDER = "Someone who holds the release and knows some columns of a person guesses a number from the rows with similar columns."


def known_keys(release: Release) -> list[str]:
    """The columns that an attacker may know, without those that are guessed."""
    return [key for key in release.schema.keys if key not in release.guessed]


def numeric_secrets(release: Release) -> list[str]:
    """The named secrets that are numbers, where there are keys to guess them from."""
    named = release.schema.secrets if known_keys(release) else ()
    return [secret for secret in named if release.schema.column(secret).is_numeric]


def matching_part(case: Case) -> Part:
    """Every secret from all keys of the lengths asked for."""
    schema, keys = case.release.schema, known_keys(case.release)
    if not schema.secrets or not keys:
        lacking = (
            "no secret is named" if not schema.secrets else "no key is named: nobody said what an attacker may know"
        )
        remedy = "Name secrets with --secret and keys with --key, or mark them in the schema."
        return Part(not_tested=(NotTested("secrets guessed from keys", lacking, remedy),))
    lengths = _lengths(case.plan, keys)
    caps = [_caps(case, secret, keys, length) for secret in schema.secrets for length in lengths]
    grid = Grid(
        "cap",
        "Correct attribution of secrets from the keys (CAP)",
        CAP_HEADS,
        tuple(row for rows, _ in caps for row in rows),
        roles=CAP_ROLES,
        detail=True,
    )
    notes = tuple(note for _, told in caps for note in told)
    secrets = numeric_secrets(case.release)
    runs = {secret: _runs(case, secret, keys, lengths) for secret in secrets}
    numbers = [_numbers(case, secret, found) for secret, found in runs.items()]
    everything = [run for found in runs.values() for run in found]
    rows = tuple(row for run in everything for row in _error_rows(run))
    gains = tuple(row for run in everything for row in _gain_rows(run))
    tables = (
        grid,
        Grid("continuous cap", "Numeric secrets guessed from the keys", NUMBER_HEADS, rows, detail=True),
        Grid(
            "numeric gains", "How much closer such guesses are than the mean", GAIN_HEADS, gains, roles=GAIN_ROLES, detail=True
        ),
    )  # fmt: skip
    too_long = tuple(
        NotTested(
            f"keys of length {length}", f"there are {len(keys)} keys", "name more with --key, or ask for shorter ones"
        )
        for length in dict.fromkeys(case.plan.key_lengths)
        if length > len(keys)
    )
    shown = tuple(each for each in tables if each.rows)
    return Part(grids=shown, notes=notes, not_tested=too_long) + together(numbers)


def _lengths(plan: ReleasePlan, keys: Sequence[str]) -> list[int]:
    asked = [length for length in dict.fromkeys(plan.key_lengths) if length <= len(keys)]
    return asked or [len(keys)]


def _caps(case: Case, secret: str, keys: list[str], length: int) -> tuple[list[tuple[Cell, ...]], tuple[str, ...]]:
    release, plan = case.release, case.plan
    found = cap_over_keys(
        release.real, release.synthetic, keys=keys, secret=secret, length=length, holdout=release.holdout, by=By.CODES,
        most_generalised=MOST_GENERALISED if len(release.real) > MANY else None, confidence=plan.confidence, workers=case.workers,
        rng=stream(plan.seed, "cap", secret, str(length)),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            secret, length, len(found.keys), one.name, *_rounded(one.mean, one.deviation, one.original, one.holdout),
            round(found.mode.value, 4), *_interval(one.excess),
        )
        for one in found.measures
        if one.real is not None
    ]  # fmt: skip
    return rows, tuple(f"CAP of {secret}: {note}" for note in found.notes if "drawn at random" in note)


@dataclass(frozen=True, eq=False)
class _Run:
    """One numeric secret, one length, one neighbourhood."""

    length: int
    radius: float
    found: ContinuousCap


def _runs(case: Case, secret: str, keys: list[str], lengths: list[int]) -> list[_Run]:
    radii = (math.inf, *dict.fromkeys(case.plan.radii))
    return [
        _Run(length, radius, _guessed(case, secret, keys, length, radius)) for length in lengths for radius in radii
    ]


def _numbers(case: Case, secret: str, runs: list[_Run]) -> Part:
    first = runs[0].found  # what leads was chosen before anything was seen: the first length, an infinite radius
    notes = tuple(dict.fromkeys(f"{secret} from keys: {note}" for run in runs for note in run.found.notes))
    column = np.full(len(case.release.real), np.nan)
    if first.gain is not None:
        truth = case.release.real.numbers[:, case.release.schema.numeric.index(case.release.schema.position(secret))]
        dummy = np.abs(truth[first.rows] - np.nanmean(_published(case, secret)))
        column[first.rows] = dummy - first.absolute_errors
    return Part(
        findings=_finding(case, secret, runs[0]),
        series=tuple(
            each
            for length in dict.fromkeys(run.length for run in runs)
            for each in _sweep(secret, [run for run in runs if run.length == length])
        ),
        notes=notes,
        columns=((f"{secret} from keys: closer than the mean by", column),),
    )


def _published(case: Case, secret: str) -> np.ndarray:
    table = case.release.synthetic
    return table.numbers[:, table.schema.numeric.index(table.schema.position(secret))]


def _guessed(case: Case, secret: str, keys: list[str], length: int, radius: float) -> ContinuousCap:
    release, plan = case.release, case.plan
    asked, offered = (len(np.unique(group_ids(table, columns=keys)[0])) for table in (release.real, release.synthetic))
    tried = min(MOST_KEYS, math.comb(len(keys), length))
    many = asked * offered * tried > MOST_PAIRS and radius > 0
    return cap_continuous(
        release.real, release.synthetic, keys=keys, secret=secret, length=length,
        how=Neighbourhood(radius, Weights(plan.weights), Scaling(plan.scaling)), holdout=release.holdout,
        most_records=max(FEWEST, int(MOST_PAIRS / (offered * tried))) if many else None,
        confidence=plan.confidence, workers=case.workers, rng=stream(plan.seed, "continuous cap", secret, str(length)),
    )  # fmt: skip


def _error_rows(run: _Run) -> list[tuple[Cell, ...]]:
    found = run.found
    flat = Errors(math.nan, math.nan, math.nan)
    sides = [
        ("the release", found.synthetic),
        ("the real table itself (original)", found.original),
        ("nothing: the mean of the release (dummy)", Spread(found.mean_predictor, flat)),
        ("nothing: the mean of the real table", Spread(found.original_mean_predictor, flat)),
        *([("the release, holdout people", found.holdout)] if found.holdout else []),
    ]
    return [
        (
            found.secret, run.length, len(found.keys), _radius(run.radius), side,
            *_rounded(mean.mae, off.mae, mean.mape, off.mape, mean.r2, off.r2),
        )
        for side, spread in sides
        for mean, off in [(spread.mean, spread.deviation)]
    ]  # fmt: skip


def _gain_rows(run: _Run) -> list[tuple[Cell, ...]]:
    gain, closeness = run.found.gain, run.found.closeness
    rows: list[tuple[Cell, ...]] = []
    if gain is not None and closeness is not None:
        for people in ("real", "holdout", "excess"):
            value, share = getattr(gain, people), getattr(closeness, people)
            if value is not None:
                name = {"real": "real people", "holdout": "holdout people", "excess": "the difference"}[people]
                rows.append(
                    (run.found.secret, run.length, _radius(run.radius), name, *_interval(value), round(share.value, 4))
                )
    return rows


def _finding(case: Case, secret: str, run: _Run) -> tuple[Finding, ...]:
    """How close guesses are, for real people and for others."""
    closeness = run.found.closeness
    if closeness is None:
        return ()
    control, severity = closeness.holdout, Severity.NONE
    if closeness.excess is not None:
        low = closeness.excess_at(case.strict(NUMERIC)).low
        severity = case.plan.policy.severity(max(0.0, low))
    against = f", {control.value:.2f} for people who are not in the data" if control is not None else ""
    estimate = figure(closeness.excess or closeness.real)
    return (
        Finding(
            f"numeric secret {secret}",
            f"{secret} guessed from keys: closeness {closeness.real.value:.2f} for real people{against} "
            "(1 = exact, 0.5 = no closer than the mean)",
            HOLDER,
            "inferring",
            severity,
            estimate,
            None,
            None if control is None else figure(control),
            REDO if severity.rank else (case.unproven(estimate) if closeness.excess else HOW_TO_GET_A_HOLDOUT),
        ),
    )


def _sweep(secret: str, runs: list[_Run]) -> tuple[Series, ...]:
    """The error by radius, where several were asked for."""
    finite = sorted((run for run in runs if math.isfinite(run.radius)), key=lambda run: run.radius)
    if len(finite) < 2:
        return ()
    whole = next(run.found for run in runs if math.isinf(run.radius))
    x = tuple(run.radius for run in finite)
    lines = {
        "the release": tuple(run.found.synthetic.mean.mae for run in finite),
        "the real table itself": tuple(run.found.original.mean.mae for run in finite),
        "holdout people": tuple(run.found.holdout.mean.mae for run in finite if run.found.holdout is not None),
        "the mean": (whole.mean_predictor.mae,) * len(x),
        "the release, all rows": (whole.synthetic.mean.mae,) * len(x),
    }
    length = runs[0].length
    return tuple(
        Series(
            f"radius/{secret}, keys of length {length}/{name}", f"Error of {secret} by radius, {name}",
            "radius (standard deviations)", "mean absolute error", x, tuple(round(value, 6) for value in y),
        )
        for name, y in lines.items()
        if len(y) == len(x)
    )  # fmt: skip


def _radius(radius: float) -> Cell:
    return "all rows" if math.isinf(radius) else "equal keys" if radius == 0 else float(radius)


def _rounded(*values: float) -> tuple[float, ...]:
    return tuple(round(float(value), 4) for value in values)


def _interval(estimate: Estimate | None) -> tuple[float, float, float]:
    if estimate is None:
        return (float("nan"),) * 3
    return round(estimate.value, 4), round(estimate.low, 4), round(estimate.high, 4)


def _seconds(case: Case) -> float:
    if not known_keys(case.release):
        return 0.0
    return len(case.release.schema.secrets) * max(1, len(case.plan.key_lengths)) * (2.0 + 3e-6 * sum(case.sizes[:3]))


MATCHING = Check("secrets guessed from keys", matching_part, (NUMERIC,), seconds=_seconds)
