"""Differencing (ganev2023, appendix H): people whose rows the attacker knows, in whole or but for some columns.

One call tells whether a row is in the train table; of a row with unknown columns every completion that distances do not exclude
is asked about. The same number of holdout people stands beside them: one whose row somebody in the train table has is taken for
a member, and one who agrees with somebody in what is known is given that record.
"""

from __future__ import annotations

import math

import numpy as np

from unmask.attacks.reconstruction.differencing import complete, members
from unmask.attacks.reconstruction.padding import UNKNOWN, Reader, find_padding
from unmask.audits.advice import advice_for
from unmask.audits.part import Part
from unmask.audits.reconstruct.oracle_rounds import Deployment
from unmask.audits.reconstruct.plan import ReconstructPlan
from unmask.errors import InputError, ParameterError
from unmask.results.figures import figure
from unmask.results.grid import Cell, Grid, Section
from unmask.results.policy import Severity
from unmask.results.result import Finding, NotTested
from unmask.stats import clopper_pearson, difference
from unmask.stream import stream
from unmask.tables.table import Table
from unmask.tables.units import one_row_each
from unmask.threats.oracle import Rules

ACQUAINTANCE = "A customer who may have rows judged by IMS, DCR and NNDR, and knows the rows of some people."
HIDDEN = 3  # columns at most, one more at a time, where the plan names none
MOST = 5_000  # completions of one person, where the plan names no columns
COLUMNS = (
    "unknown columns", "completions each", "train people", "record told", "record told alone", "holdout people",
    "holdout people given a record", "rows read each",
)  # fmt: skip


def check_unknown(plan: ReconstructPlan, table: Table) -> None:
    """Whether the columns that the plan calls unknown are there, and something is left that is known."""
    for name in plan.unknown:
        if name not in table.schema.names:
            raise ParameterError(f"--unknown: there is no column '{name}'. There are: {', '.join(table.schema.names)}.")
    if len(set(plan.unknown)) >= len(table.schema.names):
        raise ParameterError("--unknown: every column is unknown, so nothing is known of anybody. Leave one out.")


def people_part(plan: ReconstructPlan, deployment: Deployment, rules: Rules, confidence: float) -> Part:
    """Membership of some people of train and of holdout, and their unknown columns.

    They are asked about in turn, so that a limit of calls meets both sides alike; who was not asked does not count.
    """
    rng = stream(plan.seed, "differencing")
    sides = [_some(table, plan.differencing, rng) for table in (deployment.train, deployment.holdout)]
    count = min(len(side) for side in sides)
    inside, outside = (side[:count] for side in sides)
    oracle = deployment.provider(rules)
    try:
        reader = Reader(oracle, find_padding(oracle, rng))
    except InputError as problem:
        return Part(not_tested=(NotTested("differencing", str(problem), "Give another --holdout, or another --seed."),))
    answers = members(reader, np.stack([inside, outside], axis=1).reshape(2 * count, -1))
    told, mistaken = answers[::2], answers[1::2]
    columns = _unknown(plan, deployment.train, rng)
    rows = [line for each in columns if (line := _completed(reader, (inside, outside), each)) is not None]
    grid = Grid(
        "differencing", "People known but for some columns: what one question after another tells", COLUMNS, tuple(rows),
        Section.ATTACKS,
    )  # fmt: skip
    silent = int((answers == UNKNOWN).sum())
    notes = (f"Of {silent} of {2 * count} people the oracle did not say whether they are members.",) if silent else ()
    found = _membership(plan, told, mistaken, confidence)
    return Part(findings=(found,), grids=(grid,) if rows else (), notes=notes)


def _some(table: Table, count: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of so many random people, one of each."""
    rows = one_row_each(table, rng)
    chosen: np.ndarray = table.codes[rng.permutation(rows)[:count]]
    return chosen


def _membership(plan: ReconstructPlan, told: np.ndarray, mistaken: np.ndarray, confidence: float) -> Finding:
    """Holdout people with a twin in the train table count as mistakes: their rows are there, and they are not."""
    ours, theirs = ((int((each == 1).sum()), len(each)) for each in (told, mistaken))
    gain = difference(ours, theirs, confidence=confidence)
    severity = plan.policy.severity(max(0.0, gain.low))
    told_apart = severity is not Severity.NONE
    advice = "Answer no questions about rows that customers choose." if told_apart else advice_for(severity)
    return Finding(
        "differencing",
        f"{ours[0]} of {ours[1]} people whose rows are known were told to be in the train table, by a question each "
        f"({theirs[0]} of {theirs[1]} holdout people)",
        ACQUAINTANCE,
        "membership",
        severity,
        figure(gain),
        None,
        figure(clopper_pearson(*theirs, confidence=confidence)),
        advice,
    )


def _unknown(plan: ReconstructPlan, train: Table, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """The plan's columns, one more at a time; else random ones, as long as there are few completions."""
    schema = train.schema
    if plan.unknown:
        named = tuple(schema.names.index(name) for name in dict.fromkeys(plan.unknown))
        return [named[: last + 1] for last in range(len(named))]
    order = tuple(int(each) for each in rng.permutation(len(schema.columns))[: min(HIDDEN, len(schema.columns) - 1)])
    tried = [order[: last + 1] for last in range(len(order))]
    return [each for each in tried if math.prod(int(size) for size in schema.sizes[list(each)]) <= MOST]


def _completed(
    reader: Reader, people: tuple[np.ndarray, np.ndarray], columns: tuple[int, ...]
) -> tuple[Cell, ...] | None:
    """A line of the table: records that were told for train people, and holdout people for whom somebody's record was."""
    before, inside, outside = reader.read, [], []
    for ours, theirs in zip(*people, strict=True):
        found = [complete(reader, row, columns) for row in (ours, theirs)]
        if reader.spent:
            break
        inside.append((ours, found[0]))
        outside.append(found[1])
    if not inside:
        return None
    right = [bool((found.rows == row).all(axis=1).any()) for row, found in inside]
    alone = [hit and len(found.rows) == 1 for hit, (_, found) in zip(right, inside, strict=True)]
    wrong = sum(len(found.rows) > 0 for found in outside)
    names = ", ".join(reader.oracle.schema.names[place] for place in columns)
    each = round((reader.read - before) / (2 * len(inside)), 1)
    return (names, outside[0].of, len(right), sum(right), sum(alone), len(outside), wrong, each)
