"""Which groups must not be told: those of few people, and as many more as it takes that nobody finds them by subtraction."""

from __future__ import annotations

from collections.abc import Sequence

from unmask.metrics.legal import SMALLEST_GROUP


def hidden_places(sizes: Sequence[float], smallest: int = SMALLEST_GROUP) -> frozenset[int]:
    """Places of the groups to leave out of a table that divides people by one thing.

    All under ten go, then the next larger ones, until those left out hold ten people together: whoever knows the total
    learns only their sum.
    """
    hidden: list[int] = []
    for place in sorted(range(len(sizes)), key=lambda place: sizes[place]):
        together = sum(sizes[other] for other in hidden)
        if sizes[place] >= smallest and (not hidden or together >= smallest):
            break
        hidden.append(place)
    return frozenset(hidden)
