"""The three sides of a threat model: what the attacker wants, knows of the data, and knows of the generator."""

from __future__ import annotations

from enum import StrEnum


class Goal(StrEnum):
    """What the attacker wants to know about a target."""

    MEMBERSHIP = "membership"  # was this person in the real table?
    ATTRIBUTE = "attribute"  # what is this person's secret?


class Data(StrEnum):
    """What the attacker knows of the data."""

    AUXILIARY = "auxiliary"  # other people of the same population, none of whom is in the real table
    EXACT = "exact"  # everyone in the real table but the targets: the game of differential privacy
    NONE = "none"  # nothing but the release; stand-ins are drawn from a generator


class Box(StrEnum):
    """What the attacker knows of the generator."""

    NO = "no-box"  # nothing
    BLACK = "black-box"  # may run it on tables of their own
    UNCERTAIN = "uncertain-box"  # may run it, but knows its parameters only up to a prior
    WHITE = "white-box"  # may run it and sees the fitted model


class Access(StrEnum):
    """What a view can hold; an attack lists what it needs."""

    SYNTHETIC = "the synthetic table"
    REFERENCE = "reference people"
    SHADOWS = "shadow releases"
    GENERATOR = "the generator"
    MODEL = "the fitted model"


def allowed(data: Data, box: Box) -> frozenset[Access]:
    """What the attacker holds under this knowledge."""
    held = {Access.SYNTHETIC}
    if data is not Data.NONE:
        held.add(Access.REFERENCE)
    if box is not Box.NO:
        held |= {Access.SHADOWS, Access.GENERATOR, Access.REFERENCE}
    if box is Box.WHITE:
        held.add(Access.MODEL)
    return frozenset(held)
