"""The words of a threat model: what the attacker wants, knows of the data and of the generator, and how the game is dealt."""

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


class Placement(StrEnum):
    """What happens to the size of the real table when a target is in it."""

    REPLACE = "replace"  # a target takes the place of another person: the size is constant
    APPEND = "append"  # a target comes on top


class ShadowTables(StrEnum):
    """Which tables the attacker's own releases are made from."""

    COINS = "coins"  # drawn anew for each, with a coin for every target
    PAIRED = "paired"  # each twice, with a target and without it: as Stadler et al. (2022) train


class SecretValues(StrEnum):
    """Which value of the secret the targets have in the attribute game."""

    TRUE = "true"  # their own
    UNIFORM = "uniform"  # drawn anew each time, so that chance is 1 / levels and all above it is leakage


class Coins(StrEnum):
    """Whose absence the coin decides on: the two ways are the two kinds of neighbours that claims are about."""

    INDEPENDENT = "independent"  # each unit is in or not: add-remove
    PAIRED = "paired"  # one of each two units is in, so the size is constant: replace


FEWEST_RUNS = 8  # of the coin game: with fewer, nothing can be learnt and then judged


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


class ScoresShown(StrEnum):
    """Which scores an answer holds where all tests pass."""

    ALL = "all"  # IMS, mean and 5th percentile of DCR and NNDR
    MEAN = "mean"  # IMS and the means
    PERCENTILE = "percentile"  # IMS and the 5th percentiles
    NONE = "none"  # pass or fail alone
