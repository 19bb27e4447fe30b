"""All parts of a look at utility, and the overview that they share."""

from __future__ import annotations

from collections.abc import Callable

from unmask.audits.part import Part, together
from unmask.audits.utility.case import DRAWN, UtilityCase, UtilityPart, table
from unmask.audits.utility.dependence import DEPENDENCE
from unmask.audits.utility.distributions import MARGINALS, NUMBERS
from unmask.audits.utility.groups import GROUPS
from unmask.audits.utility.learning import PREDICTION, RESEMBLANCE
from unmask.results.grid import Grid, Role
from unmask.results.result import NotTested

MEASURES = (MARGINALS, DEPENDENCE, RESEMBLANCE, PREDICTION, GROUPS, NUMBERS)
LATE = ("the time budget was used up", "raise --time-budget, or leave it out")


def utility_part(
    case: UtilityCase,
    at: Callable[[int], None] = lambda place: None,
    is_late: Callable[[], bool] = lambda: False,
) -> Part:
    """Every measure, the overview first. `at` hears which one begins; once `is_late`, no further one does."""
    parts: list[Part] = []
    skipped: list[NotTested] = []
    for place, measure in enumerate(MEASURES):
        at(place)
        if is_late():
            skipped.append(NotTested(f"utility: {measure.name}", *LATE))
        else:
            parts.append(measure.run(case))
    whole = together(parts)
    return Part(grids=_overview(parts)) + whole + Part(not_tested=tuple(skipped))


def _overview(parts: list[Part]) -> tuple[Grid, ...]:
    rows = [row for part in parts if isinstance(part, UtilityPart) for row in part.overview]
    if not rows:
        return ()
    heads = ("what", "kept", "low", "high", "fresh sample", "n", "method")
    title = "What is left of the real table (1 = all of it; fresh sample: what other real people would score)"
    return (table("utility", title, heads, rows, roles=(Role.TEXT, *DRAWN, Role.TEXT, Role.TEXT)),)
