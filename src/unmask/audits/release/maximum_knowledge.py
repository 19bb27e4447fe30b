"""What many sets tell an attacker who knows the rest of the table."""

from __future__ import annotations

from unmask.audits.part import Part
from unmask.audits.release.case import Case, Check
from unmask.metrics.attribute_scenario import attribute_scenario
from unmask.results.grid import Cell, Grid
from unmask.stats import Estimate
from unmask.stream import stream

MOST_ROWS = 20_000  # searches of everybody against everybody stop being quick beyond
KNOWN_HEADS = ("secret", "sets", "range holds the truth", "share of the ranks in the range", "gain over the holdout")


def maximum_knowledge_part(case: Case) -> Part:
    """Every secret by rank linkage on all other columns."""
    rows = tuple(row for secret in case.release.schema.secrets for row in _scenario_rows(case, secret))
    if not rows:
        return Part()
    title = "An attacker who knows all ranks but the secret's"
    return Part(grids=(Grid("maximum knowledge", title, KNOWN_HEADS, rows, detail=True),))


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


MAXIMUM_KNOWLEDGE = Check("maximum knowledge", maximum_knowledge_part)
