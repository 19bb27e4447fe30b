"""Who is dominated, and what privacy costs: as far as the intervals go, and no further."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.audits.compare.axes import PRIVACY, UTILITY, CompareAxis, Contrast, Contrasts
from unmask.stats.results import Estimate


@dataclass(frozen=True, eq=False)
class Dominance:
    """A mechanism that another one beats. Clearly: on both sides; else on one, and the other side is not told apart."""

    loser: str
    winner: str
    wins: tuple[Contrast, ...]  # the axes on which the winner is clearly better
    clearly: bool


def dominated(contrasts: Contrasts) -> tuple[Dominance, ...]:
    """Every mechanism that another one beats, with the one that beats it on most axes."""
    found = []
    for loser in contrasts.names:
        beaten = [made for winner in contrasts.names if winner != loser and (made := _beats(contrasts, winner, loser))]
        if beaten:
            found.append(max(beaten, key=lambda each: (each.clearly, len(each.wins))))
    return tuple(found)


def _beats(contrasts: Contrasts, winner: str, loser: str) -> Dominance | None:
    """Never where the loser is clearly better in anything, and never by the real table itself."""
    if winner in contrasts.raw or not (contrasts.on(PRIVACY) and contrasts.on(UTILITY)):
        return None
    every = [contrasts.get(axis, winner, loser) for axis in contrasts.axes]
    wins = tuple(each for each in every if each.sign > 0)
    if not wins or any(each.sign < 0 for each in every):
        return None
    return Dominance(loser, winner, wins, clearly={each.axis.side for each in wins} == {PRIVACY, UTILITY})


def unproven(contrasts: Contrasts) -> tuple[tuple[str, str], ...]:
    """Mechanisms of which no axis of privacy tells that they hide more than the real table, with the name of that."""
    axes = contrasts.on(PRIVACY)
    return tuple(
        (name, raw)
        for raw in contrasts.names
        for name in contrasts.names
        if raw in contrasts.raw and name not in contrasts.raw and axes
        if all(contrasts.get(axis, name, raw).sign <= 0 for axis in axes)
    )


def alike(contrasts: Contrasts) -> tuple[tuple[str, str], ...]:
    """Every two that are not told apart in anything."""
    pairs = dict.fromkeys((one, other) for _, one, other in contrasts.each)
    return tuple(
        (one, other)
        for one, other in pairs
        if all(contrasts.get(axis, one, other).sign == 0 for axis in contrasts.axes)
    )


def front(across: CompareAxis, up: CompareAxis, names: Sequence[str]) -> tuple[str, ...]:
    """Mechanisms whose values no other beats on both axes, the least private first: by values, whatever the intervals."""

    def better(one: str, other: str) -> bool:
        gains = [axis.of[one].value - axis.of[other].value for axis in (across, up)]
        return min(gains) >= 0 and max(gains) > 0

    kept = [name for name in names if not any(better(other, name) for other in names)]
    return tuple(sorted(kept, key=lambda name: (across.of[name].value, -up.of[name].value)))


@dataclass(frozen=True, eq=False)
class Price:
    """What a step towards more privacy costs: both differences, and the cost of a tenth of privacy gain."""

    start: str
    end: str
    privacy: Estimate
    utility: Estimate  # lost
    per_tenth: tuple[float, float, float] | None  # value, low, high; None where the step in privacy is not clear


def price(contrasts: Contrasts, axes: tuple[CompareAxis, CompareAxis], start: str, end: str) -> Price:
    """From one mechanism to a more private one, on an axis of privacy and one of utility.

    The box of both intervals, which hold together: the least that can be lost over the most that can be gained, and back.
    """
    across, up = axes
    gained = contrasts.get(across, end, start).estimate
    lost = contrasts.get(up, start, end).estimate
    if gained.low <= 0:
        return Price(start, end, gained, lost, None)
    ends = [0.1 * value / step for value in (lost.low, lost.high) for step in (gained.low, gained.high)]
    return Price(start, end, gained, lost, (0.1 * lost.value / gained.value, min(ends), max(ends)))
