"""Rules that follow from knowing both tables, or from seeing the fitted model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unmask.attacks.claim._attack import ABSTAIN, IN, OUT, History, Record, Seen
from unmask.threats.pairs import Pair

SURE = 3  # right guesses that a static attack is credited with before the first run


@dataclass(frozen=True)
class Static:
    """A rule that follows from the two tables alone."""

    name: str
    words: str
    rule: Callable[[Seen], int]
    weight: float = 1.0

    def guess(self, seen: Seen, prints: tuple[str, str]) -> int:
        return self.rule(seen)

    def learn(self, past: History) -> Record | None:
        return None

    def prior(self) -> Record | None:
        return (SURE, SURE), (SURE, SURE)

    def watch(self, prints: tuple[str, str], coin: bool) -> None:
        """A static attack remembers nothing."""


def static_attacks(pair: Pair) -> list[Static]:
    """The rules that follow from knowing both tables."""
    rows_in, rows_out = pair.sizes
    found = [
        Static("own values", "values or ranges that only the target has appear in the release", _own_values),
        Static("target row", "the target's row appears in the release", lambda seen: IN if _copied(seen) else OUT),
        Static(
            "missing row", "the target's row is missing from the release", lambda seen: OUT if _copied(seen) else IN
        ),
        Static("statistics", "the release is nearer to the counts of one of the two tables", _nearer),
    ]
    if pair.inside.schema.numeric:
        words = "numbers that only the target has appear in the release"
        found.append(Static("own numbers", words, _own_numbers))
    if rows_in != rows_out:
        rule = {rows_in: IN, rows_out: OUT}
        found.append(
            Static("row count", "the number of rows is exact", lambda seen: rule.get(int(seen["rows"]), ABSTAIN))
        )
    return found


def model_attacks(together: tuple[int, int] | None) -> list[Static]:
    """The rules for who sees the fitted model; `together` are the two columns that the target ties together most."""
    found = [Static("bare counts", "counts are published without noise", _unmoved)]
    if together is not None:
        name = f"measured {together[0] + 1},{together[1] + 1}"
        words = "the choice of the columns that are measured together"
        found.append(Static("structure", words, lambda seen: IN if seen.get(name, 0) > 0 else OUT))
    return found


def evidence_attack(epsilon: float, weight: float) -> Static:
    """The model's own likelihood ratio, where it is larger than a true claim lets it be but rarely."""

    def rule(seen: Seen) -> int:
        ratio = seen.get("likelihood ratio", 0.0)
        return IN if ratio > epsilon else OUT if ratio < -epsilon else ABSTAIN

    words = "what the training released is likelier with the target than the noise allows"
    return Static("training", words, rule, weight)


def _unmoved(seen: Seen) -> int:
    return OUT if seen.get("cells as in D'", 0) > 0 else IN


def _own_values(seen: Seen) -> int:
    return IN if seen["columns beyond D'"] > 0 else OUT


def _own_numbers(seen: Seen) -> int:
    if "own numbers" not in seen:
        return ABSTAIN
    return IN if seen["own numbers"] > 0 else OUT


def _copied(seen: Seen) -> bool:
    return seen["target row"] > 0


def _nearer(seen: Seen) -> int:
    return ABSTAIN if seen["nearer to D"] == 0 else IN if seen["nearer to D"] > 0 else OUT
