"""The words of every report. Terminal, HTML and Markdown say the same thing because they take it from here."""

from __future__ import annotations

import math

from unmask.results.figures import frequency, in_words, interval, more_in_100, number, percent, rounded, short
from unmask.results.grid import Cell
from unmask.results.result import Exposure
from unmask.results.verdict import (
    CRITERIA,
    SHAPES,
    Badge,
    Question,
    Verdict,
    attack_rate,
    badge_of,
    by_question,
    finding_badge,
    kind,
    measure,
    plural,
    sentence,
    title_of,
    verdict,
    worst_of,
)  # fmt: skip

__all__ = [  # noqa: RUF022 - by subject
    "Verdict", "verdict", "title_of", "CRITERIA", "Question", "kind", "SHAPES", "worst_of", "measure", "attack_rate",
    "Badge", "badge_of", "finding_badge", "by_question",
    "frequency", "in_words", "interval", "more_in_100", "number", "percent", "rounded", "short", 
    "plural", "sentence", "exposed", "cell_text",
]  # fmt: skip


def exposed(found: Exposure) -> tuple[str, str]:
    """The risk of the most exposed record, and how many records are above tolerance."""
    risk, many = f"not defined: {found.undefined}", f"not defined; {found.hit:,} of {found.attacked:,} were hit"
    if (worst := found.worst) is not None:
        risk = f"{number(worst.value)} ({number(worst.low)} to {number(worst.high)})"
    if (above := found.above) is not None:
        low, high = round(above.low), round(above.high)
        many = f"{round(above.value):,}" + (f" ({low:,} to {high:,})" if low < high else "") + f" of {found.attacked:,}"
    return risk, many


def cell_text(cell: Cell) -> str:
    """A cell of a table as text."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return "" if math.isnan(cell) else "∞" if cell == math.inf else f"{cell:.4g}"
    return cell
