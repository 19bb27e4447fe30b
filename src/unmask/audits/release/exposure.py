"""What an attack on a release means for single records: how exposed the worst one is, and how many are too exposed.

An attack says of each record only whether it was hit. So all records that were hit are equally exposed, and the figures are

    worst record     1 - c/a: the share of the hits that being in the data explains; 0 if nobody was hit (log ratio, Walter 1976)
    above tolerance  n (a - c): the hits beyond what the same attack reaches on people who are not in the data

with a and c the shares of n attacked records and of the control that were hit. Neither says which of the hits they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from unmask.audits.release.tables import Release
from unmask.metrics.legal import Attempts, Criterion, persons
from unmask.results.figures import Figure, listed_above
from unmask.results.grid import Cell, Grid
from unmask.results.result import Exposure, Finding
from unmask.stats import Listing

SHOWN = "criteria"  # the grid that shows them
NO_HOLDOUT = "there is no holdout to compare with"
CONFOUNDED = "real table and holdout differ by themselves"
UNTESTED = f"it was not tested whether {CONFOUNDED}"


def of_criterion(release: Release, found: Criterion, confidence: float) -> Exposure:
    """Singling out, linking and inferring, by record: singling out counts the people whom some predicate isolates."""
    attack = Attempts(found.successes, persons(release.real, found.rows))
    control = None
    if release.holdout is not None:
        control = Attempts(found.control_successes, persons(release.holdout, found.control_rows))
    return of_attempts(attack, control, confidence)


def of_attempts(attack: Attempts, control: Attempts | None, confidence: float) -> Exposure:
    """One attempt per record on either side."""
    attacked, hit = len(attack.successes), int(attack.successes.sum())
    if control is None:
        return Exposure(attacked, hit, undefined=NO_HOLDOUT)
    gap = attack.minus(control, confidence)
    value, low, high = (round(max(0.0, attacked * share), 1) for share in (gap.value, gap.low, gap.high))
    return Exposure(
        attacked,
        hit,
        owed_to_the_data(attack, control, confidence),
        Figure(value, low, high, confidence, gap.method, attacked),
    )


def of_counts(mine: tuple[int, int], theirs: tuple[int, int] | None, confidence: float) -> Exposure:
    """The same from how many were hit, of how many, on either side."""
    attack = Attempts(np.arange(mine[1]) < mine[0])
    control = None if theirs is None else Attempts(np.arange(theirs[1]) < theirs[0])
    return of_attempts(attack, control, confidence)


def owed_to_the_data(attack: Attempts, control: Attempts, confidence: float) -> Figure:
    """The share of the hits that would not have been, had these people not been in the data: 1 - c/a, never below 0."""
    (a, n), (c, m) = attack.counts, control.counts
    if not attack.successes.any():
        return Figure(0.0, 0.0, 0.0, confidence, "nobody was hit", len(attack.successes))
    value = max(0.0, 1 - float(control.successes.mean()) / float(attack.successes.mean()))
    ratio = math.log((a + 0.5) / (n + 0.5)) - math.log((c + 0.5) / (m + 0.5))
    error = math.sqrt(1 / (a + 0.5) - 1 / (n + 0.5) + 1 / (c + 0.5) - 1 / (m + 0.5))
    reach = float(ndtri(0.5 + confidence / 2)) * error
    low, high = (max(0.0, 1 - math.exp(-at)) for at in (ratio - reach, ratio + reach))
    size = len(attack.successes) + len(control.successes)
    return Figure(value, min(value, low), max(value, high), confidence, "share owed to the data (log ratio)", size)


def of_names(listing: Listing, rate: float) -> Exposure:
    """Membership: the people who are named, and how sure the list is that begins with the most exposed one."""
    named, sure = int(listing.rejected.sum()), 1 - float(listing.adjusted.min())
    size = len(listing.rejected)
    return Exposure(
        size,
        named,
        Figure(sure, sure, 1.0, 1 - rate, "1 - smallest adjusted conformal p-value", size),
        listed_above(named, size, rate),
    )


def with_records(grid: Grid, findings: Sequence[Finding]) -> Grid:
    """The table of criteria with what each line means for single records; other tables as they are."""
    if grid.name != SHOWN:
        return grid
    exposures = {finding.name: finding.exposure for finding in findings}
    columns = (*grid.columns, "worst record", "above tolerance", "hit", "attacked")
    return replace(grid, columns=columns, rows=tuple((*row, *_cells(exposures.get(str(row[0])))) for row in grid.rows))


def _cells(exposure: Exposure | None) -> tuple[Cell, ...]:
    if exposure is None:
        return (None,) * 4
    if exposure.worst is None or exposure.above is None:
        return *[f"not defined: {exposure.undefined}"] * 2, exposure.hit, exposure.attacked
    return round(exposure.worst.value, 4), round(exposure.above.value), exposure.hit, exposure.attacked
