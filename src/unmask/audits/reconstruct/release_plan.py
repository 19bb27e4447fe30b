"""The plan of a reconstruction from a release."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.audits.plan import Plan, option


@dataclass(frozen=True, kw_only=True)
class ReleaseReconstructionPlan(Plan):
    """What is known, what is solved for, and from which equations."""

    secrets: tuple[str, ...] = option(
        (), help="Column to solve for in a release; may be repeated.", names=("--secret",), shown="schema"
    )
    known: tuple[str, ...] = option(
        (), help="Column that the attacker of a release knows; may be repeated.", shown="keys of the schema, or a random half"
    )  # fmt: skip
    order: int = option(3, help="Known columns that an equation is about.", least=1, most=10)
    columns: tuple[str, ...] = option(
        (), help="Column of a release to examine; may be repeated.", names=("--column",), shown="all in common"
    )
    confidence: float = option(0.95, help="Of every interval.", least=0.5, share=True)
