"""The plan of a release audit."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.audits.plan import Plan, option


@dataclass(frozen=True, kw_only=True)
class CheckPlan(Plan):
    """What `unmask check` does."""

    columns: tuple[str, ...] = option(
        (), help="Column to examine; may be repeated.", names=("--column",), shown="all that the tables have in common"
    )
    confidence: float = option(0.95, help="Of every interval.", least=0.5, share=True)


@dataclass(frozen=True, kw_only=True)
class ReleasePlan(CheckPlan):
    """What `unmask audit` does."""

    secrets: tuple[str, ...] = option(
        (), help="Column that nobody should learn; may be repeated.", names=("--secret",), shown="schema, or all"
    )
    keys: tuple[str, ...] = option(
        (), help="Column that an attacker may know; may be repeated.", names=("--key",), shown="schema"
    )
    key_lengths: tuple[int, ...] = option(
        (), help="Try all keys of so many columns out of the keys; may be repeated.", names=("--key-length",), least=1,
        shown="all columns together",
    )  # fmt: skip
    radii: tuple[float, ...] = option(
        (), help="Guess numbers from rows within so many standard deviations too, 0 = equal keys; may be repeated.",
        names=("--radius",), least=0, shown="all rows, by distance",
    )  # fmt: skip
    weights: str = option("distance", help="How rows around a key are averaged.", choices=("distance", "equal"))
    scaling: str = option("each", help="By whose spread keys are standardised.", choices=("each", "release"))
    aligned: bool = option(
        False, help="Row i of each synthetic table stems from row i of the real one (sanitised, perturbed)."
    )
    synthesised: tuple[str, ...] = option(
        (), help="Column that was synthesised, where the others are real and rows are aligned; may be repeated.",
        shown="none",
    )  # fmt: skip
    attempts: int = option(1000, help="Attempts per legal criterion.", least=10)
    people: int = option(
        5_000,
        help="People on either side, real and holdout, whom attacks look at one by one, where there are more.",
        least=20,
    )
    utility: bool = option(False, help="Also measure what the release is still good for.", grows=True)
    people_rate: float = option(0.10, help="Expected share of wrong names among people named as at risk.", share=True)
