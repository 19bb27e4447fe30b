"""Differencing (ganev2023, appendix H): people whose rows the attacker knows, in whole or but for some columns.

One call tells whether a row is in the train table; of a row with unknown columns every completion that distances do not exclude
is asked about. The same number of holdout people stands beside them.
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
from unmask.tables.matching import count_matches
from unmask.tables.table import Table
from unmask.threats.oracle import Rules

ACQUAINTANCE = "A customer who may have rows judged by IMS, DCR and NNDR, and knows the rows of some people."
HIDDEN = 3  # columns at most, one more at a time, where the plan names none
MOST = 5_000  # completions of one person, where the plan names no columns
COLUMNS = (
    "unknown columns", "completions each", "train people", "record told", "record told alone", "holdout people",
    "holdout people taken for train", "rows read each",
)  # fmt: skip


def check_unknown(plan: ReconstructPlan, table: Table) -> None:
    """Whether the columns that the plan calls unknown are there, and something is left that is known."""
    for name in plan.unknown:
        if name not in table.schema.names:
            raise ParameterError(f"--unknown: there is no column '{name}'. There are: {', '.join(table.schema.names)}.")
    if len(set(plan.unknown)) >= len(table.schema.names):
        raise ParameterError("--unknown: every column is unknown, so nothing is known of anybody. Leave one out.")


def people_part(plan: ReconstructPlan, deployment: Deployment, rules: Rules, confidence: float) -> Part:
    """Membership of some people of train and of holdout, and their unknown columns."""
    rng = stream(plan.seed, "differencing")
    train, holdout = deployment.train, deployment.holdout
    strangers = holdout.take(np.flatnonzero(count_matches(holdout, train) == 0))  # a twin in train is no mistake
    count = min(plan.differencing, len(train), len(strangers))
    if not count:
        return Part(not_tested=(NotTested("differencing", "every holdout record has a twin in the train table.", ""),))
    inside, outside = (table.codes[np.sort(rng.permutation(len(table))[:count])] for table in (train, strangers))
    oracle = deployment.provider(rules)
    try:
        reader = Reader(oracle, find_padding(oracle, rng))
    except InputError as problem:
        return Part(not_tested=(NotTested("differencing", str(problem), "Give another --holdout, or another --seed."),))
    told, mistaken = members(reader, inside), members(reader, outside)
    rows = [
        _completed(reader, (inside, outside), columns) for columns in _unknown(plan, train, rng) if not reader.spent
    ]
    grid = Grid(
        "differencing", "People known but for some columns: what one question after another tells", COLUMNS, tuple(rows),
        Section.ATTACKS,
    )  # fmt: skip
    silent = int((told == UNKNOWN).sum() + (mistaken == UNKNOWN).sum())
    notes = (f"Of {silent} of {2 * count} people the oracle did not say whether they are members.",) if silent else ()
    found = _membership(plan, told, mistaken, confidence)
    return Part(findings=(found,), grids=(grid,) if rows else (), notes=notes)


def _membership(plan: ReconstructPlan, told: np.ndarray, mistaken: np.ndarray, confidence: float) -> Finding:
    ours, theirs = ((int((each == 1).sum()), len(each)) for each in (told, mistaken))
    gain = difference(ours, theirs, confidence=confidence)
    severity = plan.policy.severity(max(0.0, gain.low))
    told_apart = severity is not Severity.NONE
    advice = "Answer no questions about rows that customers choose." if told_apart else advice_for(severity)
    return Finding(
        "differencing",
        f"{ours[0]} of {ours[1]} people whose rows are known were told to be in the train table, by one question each "
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


def _completed(reader: Reader, people: tuple[np.ndarray, np.ndarray], columns: tuple[int, ...]) -> tuple[Cell, ...]:
    """A line of the table: records that were told for train people, and holdout people who were taken for one."""
    before = reader.read
    inside, outside = ([complete(reader, row, columns) for row in rows] for rows in people)
    right = [(found.rows == row).all(axis=1).any() for found, row in zip(inside, people[0], strict=True)]
    alone = [hit and len(found.rows) == 1 for hit, found in zip(right, inside, strict=True)]
    wrong = [(found.rows == row).all(axis=1).any() for found, row in zip(outside, people[1], strict=True)]
    names = ", ".join(reader.oracle.schema.names[place] for place in columns)
    each = (reader.read - before) / (len(inside) + len(outside))
    return (names, inside[0].of, len(right), sum(map(int, right)), sum(map(int, alone)), len(wrong), sum(map(int, wrong)),
            round(each, 1))  # fmt: skip
