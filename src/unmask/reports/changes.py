"""What has changed from one run to another: per criterion and per finding."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.reports import words
from unmask.results.grid import Cell, Grid
from unmask.results.result import Finding, Result
from unmask.results.state import DOUBT

HEADS = ("what", "before", "after", "change", "in short", "intervals")


def changes_of(before: Result, after: Result) -> Grid:
    """The worst finding of each criterion, then every finding that one of the runs has."""
    rows = [*_criteria(before, after), *_findings(before, after)]
    return Grid("changes", "What has changed", HEADS, tuple(rows))


def in_short(before: Result, after: Result) -> str:
    """The verdicts, one after the other."""
    old, new = words.badge_of(before), words.badge_of(after)
    return f"{old.label} before and after." if old == new else f"{old.label} before, {new.label} after."


def _criteria(before: Result, after: Result) -> Iterator[tuple[Cell, ...]]:
    for criterion in words.CRITERIA:
        pair = [_worst(result, criterion.name) for result in (before, after)]
        if any(pair):
            yield (f"{criterion.title}, worst finding", *_cells(pair[0], before, pair[1], after))


def _findings(before: Result, after: Result) -> Iterator[tuple[Cell, ...]]:
    sides = [{finding.name: finding for finding in result.findings} for result in (before, after)]
    for name in {**sides[0], **sides[1]}:
        yield (name, *_cells(sides[0].get(name), before, sides[1].get(name), after))


def _worst(result: Result, criterion: str) -> Finding | None:
    found = [one for one in result.findings if words.kind(one) == criterion and one.name != DOUBT]
    return words.worst_of(found) if found else None


def _cells(old: Finding | None, before: Result, new: Finding | None, after: Result) -> tuple[Cell, ...]:
    shown = (_shown(old, before), _shown(new, after))
    if old is None or new is None:
        return (*shown, None, "gone" if new is None else "new", None)
    if words.kind(old) == "dp claim":
        answer = _order(new.severity.rank - old.severity.rank)
        return (*shown, _signed(new.estimate.low - old.estimate.low), answer, "bounds have no upper end")
    if (old.control is None) != (new.control is None):
        return (*shown, None, "not comparable", "one of them had no control")
    was, now = old.estimate, new.estimate
    apart = now.low > was.high or now.high < was.low
    answer = _order(now.value - was.value) if apart else "not told apart"
    return (*shown, _signed(now.value - was.value), answer, "apart" if apart else "overlap")


def _order(difference: float) -> str:
    return "worse" if difference > 0 else "better" if difference < 0 else "same"


def _signed(difference: float) -> str:
    return f"{difference:+.3f}"


def _shown(finding: Finding | None, result: Result) -> str | None:
    if finding is None:
        return None
    return f"{words.finding_badge(finding, result).shape} {words.interval(finding.estimate)}"
