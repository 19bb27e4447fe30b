"""Who pays under each mechanism: the targets that stay exposed, and the groups whose columns are served worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.audits.compare.axes import mean_of
from unmask.audits.compare.published import PeopleGroup, Published
from unmask.audits.compare.target_games import GamePlayed, Met
from unmask.metrics.legal import value_text
from unmask.results.small_groups import hidden_places, place_text
from unmask.stats.results import Estimate
from unmask.tables.schema import Origin, Schema
from unmask.threats.knowledge import Goal


@dataclass(frozen=True, eq=False)
class TargetLoss:
    """The targets of one game under one mechanism; intervals hold for all targets, mechanisms and games together."""

    name: str
    goal: Goal
    targets: int
    exposed: int  # whose advantage is surely above 0
    least: Estimate  # the lowest privacy gain of a target
    by_group: tuple[tuple[str, Estimate], ...]


def target_losses(games: Sequence[GamePlayed], confidence: float) -> tuple[TargetLoss, ...]:
    """Every mechanism in every game; the error is shared by all statements about targets and their kinds."""
    statements = sum(len(game.guessed) * (2 * len(game.targets) + len(set(game.targets.groups))) for game in games)
    strict = 1 - (1 - confidence) / max(1, statements)
    return tuple(_target_loss(game, one, strict) for game in games for one in game.guessed)


def _target_loss(game: GamePlayed, one: Met, confidence: float) -> TargetLoss:
    places = [
        np.array([place]) for place in game.every if game.members[:, place].any() and not game.members[:, place].all()
    ]
    gains = [game.gain(one, place, confidence) for place in places]
    exposed = sum(game.advantage(one, place, confidence).low > 0 for place in places)
    groups = []
    for name in dict.fromkeys(game.targets.groups):
        inside = np.array([place for place, group in enumerate(game.targets.groups) if group == name])
        groups.append((name, game.gain(one, inside, confidence)))
    return TargetLoss(
        one.name, game.goal, len(game.targets), exposed, min(gains, key=lambda each: each.value), tuple(groups)
    )


@dataclass(frozen=True, eq=False)
class GroupLoss:
    """The group that surely loses most under one mechanism; `worst` is None if none surely loses."""

    name: str
    worst: str | None
    people: int
    loss: Estimate


@dataclass(frozen=True, eq=False)
class GroupFigure:
    """What one group loses under one mechanism beyond what a fresh sample loses; intervals hold together."""

    name: str
    group: PeopleGroup
    value: str  # of the column, in words that may be shared
    loss: Estimate

    @property
    def told(self) -> str:
        return f"{self.group.column} {self.value}"


def group_figures(
    published: Published, names: Sequence[str], schema: Schema, confidence: float
) -> tuple[GroupFigure, ...]:
    """All groups that may be told, under all of these mechanisms; the error is shared by all of them."""
    shown = _told(published.groups)
    strict = 1 - (1 - confidence) / max(1, len(shown) * len(names))
    found = []
    for name in names:
        values = published.by_group[name]
        for place in shown:
            loss = published.fresh_by_group[:, place] - values[:, place]
            if np.count_nonzero(~np.isnan(loss)) >= 3:
                group = published.groups[place]
                found.append(
                    GroupFigure(
                        name, group, _words(schema, group), mean_of(loss, strict, "Student t over draws, paired")
                    )
                )
    return tuple(found)


def group_losses(figures: Sequence[GroupFigure]) -> tuple[GroupLoss, ...]:
    """The worst group of each mechanism."""
    found = []
    for name in dict.fromkeys(each.name for each in figures):
        worst = max((each for each in figures if each.name == name), key=lambda each: each.loss.low)
        sure = worst.loss.low > 0
        found.append(GroupLoss(name, worst.told if sure else None, worst.group.people, worst.loss))
    return tuple(found)


def _told(groups: Sequence[PeopleGroup]) -> list[int]:
    """Places of groups that may be told: none under ten, and none that is found by subtraction."""
    shown: list[int] = []
    for column in dict.fromkeys(group.column for group in groups):
        places = [place for place, group in enumerate(groups) if group.column == column]
        hidden = hidden_places([groups[place].people for place in places])
        shown += [place for which, place in enumerate(places) if which not in hidden]
    return shown


def _words(schema: Schema, group: PeopleGroup) -> str:
    """The value if the schema is public, else its place in the schema, the same everywhere."""
    column = schema.column(group.column)
    return value_text(column, group.code) if schema.origin is Origin.PUBLIC else place_text(group.code, column.listed)
