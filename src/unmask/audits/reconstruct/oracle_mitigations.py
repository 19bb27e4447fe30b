"""What each mitigation would have done: the same attack on the first rounds, with the oracle changed in one thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unmask.audits.reconstruct.oracle_game import Block, Reconstruction, attacked
from unmask.audits.reconstruct.oracle_rounds import Deployment
from unmask.audits.reconstruct.plan import ReconstructPlan, Searching
from unmask.errors import InputError
from unmask.metrics.filters import Filter, OutlierFilter, SimilarityFilter
from unmask.metrics.similarity import Distance
from unmask.results.grid import Cell, Grid, Section
from unmask.tables.regions import Region
from unmask.threats.knowledge import ScoresShown
from unmask.threats.oracle import Rules, table_of

ROUNDS = 10  # of the attacker, for each
MOST_ROWS = 50_000  # of them: a table of millions would take hours with all its mitigations


@dataclass(frozen=True)
class Mitigation:
    """One thing that a provider could change."""

    name: str
    rules: Rules = Rules()
    filters: tuple[Filter, ...] = ()
    costs: str = ""  # what it takes away from honest customers


TRIED = (
    Mitigation("none"),
    Mitigation("scores with 2 decimals", Rules(decimals=2)),
    Mitigation("scores with 1 decimal", Rules(decimals=1)),
    Mitigation("5th percentiles only", Rules(shown=ScoresShown.PERCENTILE)),
    Mitigation("pass or fail only", Rules(shown=ScoresShown.NONE), costs="scores"),
    Mitigation("1,000 calls", Rules(calls=1000), costs="calls"),
    Mitigation("100 calls", Rules(calls=100), costs="calls"),
    Mitigation("noise, epsilon 1 a call", Rules(epsilon=1.0), costs="scores that mean anything"),
    Mitigation("noise, epsilon .1 a call", Rules(epsilon=0.1), costs="scores that mean anything"),
    Mitigation("similarity filter", filters=(SimilarityFilter(distance=Distance.HAMMING),), costs="a few rows"),
    Mitigation("outlier filter", filters=(OutlierFilter(distance=Distance.HAMMING),), costs="the rows of rare people"),
)

Share = Callable[[Reconstruction], float]


def mitigations_grid(
    plan: ReconstructPlan, deployment: Deployment, blocks: Sequence[Block], region: Region | None, share: Share
) -> Grid:
    """A line for each: the share of the wanted records that is rebuilt all the same, and what the oracle was asked for."""
    rows: list[tuple[Cell, ...]] = []
    plan = replace(plan, search=Searching.GUIDED)
    codes, rounds = (np.concatenate(each) for each in zip(*blocks, strict=True))
    kept = np.flatnonzero(rounds < ROUNDS)[:MOST_ROWS]
    first = codes[kept], rounds[kept]
    for each in TRIED:
        oracle = deployment.provider(each.rules, ())
        try:
            outcome = attacked(plan, oracle, [_filtered(first, each.filters, deployment)], region)
        except InputError:
            rows.append((each.name, None, oracle.cost.calls, oracle.cost.rows, "no padding row passes"))
            continue
        rows.append((each.name, round(share(outcome), 4), outcome.cost.calls, outcome.cost.rows, each.costs))
    return Grid(
        "mitigations",
        f"What would have helped: the same attack after {min(ROUNDS, plan.rounds)} rounds",
        ("the provider's answer", "share rebuilt", "calls", "rows sent", "what customers lose"),
        tuple(rows),
        Section.ATTACKS,
    )


def _filtered(block: Block, filters: tuple[Filter, ...], deployment: Deployment) -> Block:
    codes, rounds = block
    for each in filters:
        dropped = each.clean(deployment.train, table_of(deployment.train.schema, codes)).dropped
        codes, rounds = np.delete(codes, dropped, axis=0), np.delete(rounds, dropped)
    return codes, rounds
