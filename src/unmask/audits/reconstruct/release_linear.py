"""A secret column, solved for from the counts of a release."""

from __future__ import annotations

import math

import numpy as np

from unmask.audits.part import Part
from unmask.audits.release.case import HOW_TO_GET_A_HOLDOUT, REDO, Case, Family, words
from unmask.audits.release.exposure import of_attempts
from unmask.errors import ParameterError
from unmask.metrics.legal import NO_HOLDOUT
from unmask.metrics.linear_reconstruction import ENOUGH, FEWEST, LinearReconstruction, linear_reconstruction
from unmask.results.figures import figure
from unmask.results.grid import Cell, Grid, Section
from unmask.results.policy import Severity
from unmask.results.result import Facts, Finding, NotTested
from unmask.stats.labels import fisher
from unmask.stream import stream

LINEAR = Family("linear reconstruction", 0.5, lambda release: len(release.schema.secrets))
HEADS = (
    "secret", "people", "equations", "real people", "holdout", "memory", "low", "high", "most frequent value",
    "rows with equal columns",
    "error, share of the range", "error, holdout",
)  # fmt: skip
UNPLANTED = (
    "Linear reconstruction: no leak was planted for it, so not even a leak of everybody's secret is known to be visible. "
    "That it finds nothing says nothing."
)
MORE_PEOPLE = (
    f"Give a larger holdout, of which {ENOUGH} people or more share what the people solved for share (the notes say what), "
    "or name fewer columns as known."
)


def linear_part(case: Case, secret: str, known: tuple[str, ...], order: int) -> Part:
    """One secret, of real people and of holdout people."""
    release, name = case.release, f"linear reconstruction of {secret}"
    try:
        found = linear_reconstruction(
            release.real, release.sets, secret=secret, known=known or None, holdout=release.holdout, order=order,
            confidence=case.plan.confidence, rng=stream(case.plan.seed, "linear", secret),
        )  # fmt: skip
    except ParameterError as problem:  # a secret of one value, nothing that is known
        return Part(not_tested=(NotTested(name, str(problem), "name another secret, or what is known"),))
    hit = np.full(len(release.real), np.nan)
    hit[found.rows] = found.right
    title = f"{secret} solved for from cells of {min(order, len(found.known))} known columns"
    grid = Grid(name, title, HEADS, (_row(found),), Section.ATTACKS)
    notes = tuple(f"{name}: {note}" for note in found.notes if note != NO_HOLDOUT)  # which is said already
    columns = ((f"{secret} solved for", hit),)
    return Part((_finding(case, name, found),), (grid,), notes=notes, columns=columns) + _no_control(case, name, found)


def _no_control(case: Case, name: str, found: LinearReconstruction) -> Part:
    """What is said where memory was not measured; with too few people of a holdout the verdict is no answer."""
    if found.control is not None:
        return Part()
    what = f"{name} against a control"
    if case.release.holdout is None:
        reason = "there is no holdout, so memory cannot be told from what the population teaches"
        return Part(not_tested=(NotTested(what, reason, HOW_TO_GET_A_HOLDOUT),))
    few = len(found.control_rows)
    reason = f"{few or 'no'} {'person' if few == 1 else 'people'} of the holdout can be compared, fewer than {FEWEST}"
    unknown = f"{name.capitalize()} was not measured against a control: {reason}."
    return Part(not_tested=(NotTested(what, reason, MORE_PEOPLE),), facts=Facts(inconclusive=(unknown,)))


def _row(found: LinearReconstruction) -> tuple[Cell, ...]:
    memory, control = found.memory, found.control
    cells = (memory.value, memory.low, memory.high) if memory else (None,) * 3
    return (
        found.secret, len(found.rows), found.equations, round(float(found.right.mean()), 4),
        None if control is None else round(float(control.successes.mean()), 4),
        *(None if cell is None else round(cell, 4) for cell in cells), round(found.baseline.value, 4),
        round(found.lookup.value, 4),
        *(None if math.isnan(error) else round(error, 4) for error in (found.error, found.control_error)),
    )  # fmt: skip


def _finding(case: Case, name: str, found: LinearReconstruction) -> Finding:
    confidence, mine, theirs = case.plan.confidence, found.attack, found.control
    severity, memory = Severity.NONE, found.memory
    if theirs is not None:
        (a, n), (c, m) = mine.counts, theirs.counts
        if fisher((int(a), int(n)), (int(c), int(m))) <= case.error(LINEAR):
            severity = case.plan.policy.severity(max(mine.minus(theirs, case.strict(LINEAR)).low, 1e-9))
    against = (
        f", {words(theirs.rate(confidence).value)} of people who are not in the data" if theirs is not None else ""
    )
    rate = mine.rate(confidence)
    estimate = figure(memory or rate)
    solved = f"{len(found.rows):,} real people solved for"
    how_to_measure = HOW_TO_GET_A_HOLDOUT if case.release.holdout is None else MORE_PEOPLE
    return Finding(
        name,
        f"{found.secret} solved for from the counts of the release: right for {words(rate.value)} of the {solved}{against}",
        f"Someone who holds the release and knows {len(found.known)} columns of everybody in the data solves for {found.secret}.",
        "reconstruction",
        severity,
        estimate,
        figure(found.baseline),
        None if theirs is None else figure(theirs.rate(confidence)),
        REDO if severity.rank else (case.unproven(estimate) if memory else how_to_measure),
        of_attempts(mine, theirs, confidence),
    )
