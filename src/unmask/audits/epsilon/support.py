"""Does the release change what can occur in it at all, with the target: values, ranges, number of rows? In words.

This is the leak that Groundhog found in generators that read their domain off the data. It is reported beside the verdict, from
the same runs, and does not decide it: the bounds below know nothing of an early stop. A private generator may show a value a
little more often with the target than without; what counts is more than the claim allows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.attacks.claim._attack import History
from unmask.generators.claim import Claim
from unmask.stats import ErrorCounts, epsilon_from_errors

CONFIDENCE = 0.99  # of all traits together
RARE = 1e-4  # p-value below which "only on one side" is no accident
STARTS = ("rows", "columns beyond D'", "distinct ", "lowest ", "highest ")


@dataclass(frozen=True)
class Support:
    """How often one trait of the release's support occurred with the target and without it."""

    what: str
    with_target: str
    without: str
    changes: bool


def support_of(past: History, claim: Claim) -> list[Support]:
    """One line per trait of the support; `changes` where it depends on the target more than the claim allows."""
    names = [name for name in past.names if name.startswith(STARTS)]
    n_in, n_out = int(past.coins.sum()), int((~past.coins).sum())
    if not names or min(n_in, n_out) < 1:
        return []
    lines = []
    each = 1 - (1 - CONFIDENCE) / (2 * len(names))
    for name in names:
        values = past.values[:, past.names.index(name)]
        hit = values > 0 if name == "columns beyond D'" else values != np.median(values[~past.coins])
        a, b = int(np.sum(hit & past.coins)), int(np.sum(hit & ~past.coins))
        bounds = (
            epsilon_from_errors(ErrorCounts(b, n_out, n_in - a, n_in), confidence=each, delta=claim.delta),
            epsilon_from_errors(ErrorCounts(n_out - b, n_out, a, n_in), confidence=each, delta=claim.delta),
        )
        changes = any(bound.value > claim.epsilon for bound in bounds) or _one_sided(a, n_in, b, n_out)
        lines.append(Support(_words(name), f"{a} of {n_in} runs", f"{b} of {n_out} runs", changes))
    return lines


def _one_sided(a: int, n_in: int, b: int, n_out: int) -> bool:
    """Whether a trait, or its absence, never occurred on one side and is too frequent on the other for chance."""
    from scipy.stats import fisher_exact  # slow to import

    table = np.array([[a, n_in - a], [b, n_out - b]])
    return bool((table == 0).any() and fisher_exact(table)[1] < RARE)


def support_in_words(support: list[Support]) -> str:
    """The verdict of the static check in one sentence."""
    changing = [line for line in support if line.changes]
    if not support:
        return "Support: the output is no table, so ranges, categories and row counts were not compared."
    if not changing:
        return "Support: ranges, categories and number of rows did not depend on the target more than the claim allows."
    parts = [f"{line.what} ({line.with_target} with the target, {line.without} without)" for line in changing]
    return (
        "Support: what can occur in the release changes with the target: " + "; ".join(parts) + ". "
        "A generator that reads its domain, its ranges or its row count off the data gives people away whatever noise it adds; "
        "give it a public schema."
    )


def _words(name: str) -> str:
    if name == "rows":
        return "an unusual number of rows"
    if name == "columns beyond D'":
        return "a value or range that nobody but the target has"
    what, _, column = name.partition(" ")
    return {
        "distinct": f"an unusual number of distinct values in '{column}'",
        "lowest": f"an unusual lowest value in '{column}'",
        "highest": f"an unusual highest value in '{column}'",
    }[what]
