"""What was noticed about a table, as a sentence for people and a code for programs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """What follows from it."""

    NOTE = "note"  # nothing has to be done
    QUESTION = "question"  # somebody may have made a mistake
    STOPS = "stops"  # nothing can be examined until it is put right


@dataclass(frozen=True)
class Noticed:
    """One thing."""

    code: str  # stays the same from version to version, other than the sentence
    sentence: str
    columns: tuple[str, ...] = ()  # that it is about; none: the table as a whole
    level: Level = Level.NOTE


def sentences(noticed: tuple[Noticed, ...]) -> tuple[str, ...]:
    """For people alone."""
    return tuple(each.sentence for each in noticed)
