"""A comparison as tables of a result: what readers draw, and what they read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unmask.audits.compare.axes import PRIVACY, UTILITY, Contrasts, mean_of, score_title
from unmask.audits.compare.entrants import Entrant
from unmask.audits.compare.losers import GroupFigure
from unmask.audits.compare.measures import LABEL
from unmask.audits.compare.published import FRESH, Published
from unmask.audits.compare.sentences import Answer
from unmask.audits.compare.target_games import GamePlayed
from unmask.audits.compare.whole_table import WholeTable
from unmask.results.grid import Cell, Grid, GridKind, Role, Section
from unmask.results.result import Records
from unmask.stats.results import Assumption, Estimate
from unmask.threats.knowledge import Goal

TRIPLE = (Role.ESTIMATE, Role.LOW, Role.HIGH)


@dataclass(frozen=True, eq=False)
class SideBySide:
    """All that was found, before it is told."""

    entrants: tuple[Entrant, ...]
    games: tuple[GamePlayed, ...]
    table: WholeTable | None
    published: Published
    contrasts: Contrasts
    figures: tuple[GroupFigure, ...]
    label: str | None
    confidence: float


def answers_grid(answers: Sequence[Answer]) -> Grid:
    """The sentences, the most important first."""
    return Grid("answers", "In words", ("question", "answer"), tuple(answers), Section.COMPARED, GridKind.ANSWERS)


def grids_of(found: SideBySide) -> Iterator[Grid]:
    """Every table, those that are drawn at the top first."""
    yield from _tradeoffs(found)
    for game in found.games:
        yield _targets(game, found.confidence)
    yield from _sweeps(found)
    for game in found.games:
        yield _privacy(game, found.confidence)
    yield from _everyone(found)
    yield from _releases(found.published, found.confidence)
    yield _utility(found.published)
    yield from _prediction(found)
    yield from _groups(found.figures)
    yield from contrast_grids(found.contrasts)
    yield _in_detail(found.published, found.confidence)


def _tradeoffs(found: SideBySide) -> Iterator[Grid]:
    """Every measure of utility against the privacy gain in the first game; in the second, against the first measure."""
    contrasts = found.contrasts
    privacy = [axis for axis in contrasts.on(PRIVACY) if axis.name in (Goal.MEMBERSHIP, Goal.ATTRIBUTE)]
    utility = contrasts.on(UTILITY)
    for across, up in [
        (axis, up) for place, axis in enumerate(privacy) for up in (utility if place == 0 else utility[:1])
    ]:
        dummy = (rounded(found.published.label[:, 0].mean()),) if up.name == LABEL.name else ()
        rows = [(name, *three(across.of[name]), *three(up.of[name]), *dummy) for name in contrasts.names]
        heads = (
            "mechanism",
            across.title,
            "low",
            "high",
            up.title,
            "utility low",
            "utility high",
            *["dummy"] * len(dummy),
        )
        title = f"{capital(up.title)}, against the {across.title}"
        name, roles = f"tradeoff/{across.name}/{up.name}", (Role.TEXT, *TRIPLE, *TRIPLE, *[Role.CLAIM] * len(dummy))
        yield Grid(name, title, heads, tuple(rows), Section.COMPARED, GridKind.TRADEOFF, roles)


def _targets(game: GamePlayed, confidence: float) -> Grid:
    """The privacy gain of each target, the same order for all mechanisms: the least protected first. Nobody is named."""
    single = {one.name: [game.gain(one, np.array([place]), confidence).value for place in game.every if _both(game, place)]
              for one in game.guessed}  # fmt: skip
    kinds = [game.targets.groups[place] for place in game.every if _both(game, place)]
    means = np.mean(list(single.values()), axis=0)
    rows: list[tuple[Cell, ...]] = []
    most = max(kinds.count(kind) for kind in kinds)
    for one in game.guessed:
        for kind in dict.fromkeys(kinds):
            inside = sorted((place for place, each in enumerate(kinds) if each == kind), key=lambda place: means[place])
            gains: list[Cell] = [rounded(single[one.name][place]) for place in inside]
            pooled = game.gain(one, np.flatnonzero(np.array(game.targets.groups) == kind), confidence)
            rows.append((one.name, kind, *three(pooled), *gains, *[None] * (most - len(gains))))
    heads = (
        "mechanism",
        "targets",
        "privacy gain",
        "low",
        "high",
        *(f"target {place}" for place in range(1, most + 1)),
    )
    roles = (Role.TEXT, Role.TEXT, *TRIPLE, *[Role.TEXT] * most)
    what = "presence" if game.goal is Goal.MEMBERSHIP else "secret"
    title = f"Privacy gain of each target ({what})"
    return Grid(f"targets/{game.goal}", title, heads, tuple(rows), Section.COMPARED, GridKind.TARGETS, roles)


def _both(game: GamePlayed, place: int) -> bool:
    return bool(game.members[:, place].any() and not game.members[:, place].all())


def _sweeps(found: SideBySide) -> Iterator[Grid]:
    """Mechanisms that differ in epsilon alone: privacy and utility by epsilon."""
    families: dict[tuple[object, ...], list[Entrant]] = {}
    for one in found.entrants:
        if one.family and one.epsilon is not None and math.isfinite(one.epsilon) and one.name in found.contrasts.names:
            families.setdefault(one.family, []).append(one)
    across = found.contrasts.on(PRIVACY)
    for family, members in families.items():
        if len({one.epsilon for one in members}) < 2 or not across:
            continue
        members = sorted(members, key=lambda one: one.epsilon or 0.0)
        axes = (across[0], *found.contrasts.on(UTILITY))
        rows = [(axis.title, one.epsilon, *three(axis.of[one.name])) for axis in axes for one in members]
        roles = (Role.TEXT, Role.BY, *TRIPLE)
        heads = ("what", "epsilon", "value", "low", "high")
        title = f"{family[0]}: privacy and utility by epsilon"
        yield Grid(f"sweep/{family[0]}", title, heads, tuple(rows), Section.COMPARED, GridKind.SWEEP, roles)


def _privacy(game: GamePlayed, confidence: float) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    for one in game.guessed:
        gain, won = game.gain(one, game.every, confidence), game.advantage(one, game.every, confidence)
        rows.append((one.name, one.attack, *three(gain), *three(won), gain.n))
    heads = ("mechanism", "attack that its shadows chose", "privacy gain", "low", "high", "advantage", "advantage low",
             "advantage high", "fits")  # fmt: skip
    title = "Membership of the targets" if game.goal is Goal.MEMBERSHIP else "Secret of the targets"
    return Grid(f"compare/{game.goal}", title, heads, tuple(rows), Section.ATTACKS)


def _everyone(found: SideBySide) -> Iterator[Grid]:
    if found.table is None:
        return
    rows = [
        (name, *three(risk.estimate(found.confidence)), risk.listed, found.table.people, len(risk.without))
        for name, risk in found.table.risks.items()
    ]
    heads = (
        "mechanism",
        "AUC",
        "low",
        "high",
        f"people listed (at most {found.table.rate:g} of them wrong, on average)",
        "of",
        "runs",
    )
    roles = (Role.TEXT, Role.AUC, Role.LOW, Role.HIGH, *[Role.TEXT] * 3)
    title = "Everybody: how well it is told who is in (AUC 0.5: not at all)"
    yield Grid("compare/everyone", title, heads, tuple(rows), Section.ATTACKS, roles=roles)


def _releases(published: Published, confidence: float) -> Iterator[Grid]:
    """What releases themselves give away: copies, and whatever else `MEASURES` has of this kind."""
    for place, each in enumerate(published.measures):
        lines = {**published.values, FRESH: published.fresh}
        if each.is_utility or not _is_measured(lines, place):
            continue
        rows = [(name, *three(mean_of(values[:, place], confidence)), len(values)) for name, values in lines.items()]
        heads, roles = ("mechanism", each.title, "low", "high", "draws"), (Role.TEXT, *TRIPLE, Role.TEXT)
        yield Grid(f"compare/{each.name}", capital(each.title), heads, tuple(rows), Section.ATTACKS, roles=roles)


def _is_measured(lines: Mapping[str, np.ndarray], place: int) -> bool:
    """Whether a measure has a value at all: a table with one number has no correlation."""
    return any(not np.isnan(values[:, place]).all() for values in lines.values())


def _mean(values: np.ndarray) -> Cell:
    known = values[~np.isnan(values)]
    return rounded(float(known.mean())) if len(known) else None


def _utility(published: Published) -> Grid:
    """A line per mechanism, a column per measure; the yardstick last."""
    lines = {**published.values, FRESH: published.fresh}
    measures = [
        each
        for place, each in enumerate(published.measures)
        if each.is_utility and each is not LABEL and _is_measured(lines, place)
    ]
    heads = ("mechanism", *(each.title for each in measures))
    rows = tuple(
        (name, *(_mean(values[:, published.measures.index(each)]) for each in measures))
        for name, values in lines.items()
    )
    return Grid("compare/utility", "What is left of the real table (1 = all of it)", heads, rows, Section.UTILITY)


def _prediction(found: SideBySide) -> Iterator[Grid]:
    """What releases teach about the label, between the dummy and real rows."""
    published = found.published
    if not published.has(LABEL):
        return
    what, rows = score_title(published, found.label), list[tuple[Cell, ...]]()
    for name, values in {**published.values, FRESH: published.fresh}.items():
        scores = values[:, published.measures.index(LABEL)]
        share = share_of(scores, published.label, found.confidence)
        rows.append((name, *three(mean_of(scores, found.confidence)), *three(share)))
    dummy, real = published.label.mean(axis=0)
    rows.append(("real rows", rounded(real), None, None, 1.0, None, None))
    rows.append(("dummy", rounded(dummy), None, None, 0.0, None, None))
    heads = ("mechanism", what, "low", "high", "share of what real rows teach", "share low", "share high")
    yield Grid("compare/label", f"{capital(what)} after training on releases", heads, tuple(rows), Section.UTILITY)


def share_of(scores: np.ndarray, yardsticks: np.ndarray, confidence: float) -> Estimate:
    """The share of what real rows teach beyond the dummy that a release teaches too; unknown where real rows teach nothing."""
    dummy, real = yardsticks.T
    gained, kept = real - dummy, scores - dummy
    whole = mean_of(gained, confidence)
    if not whole.low > 0:
        return Estimate(np.nan, (-np.inf, np.inf), confidence, whole.method, Assumption.MODEL_BASED, whole.n)
    ratio = float(kept.mean()) / whole.value
    rest = mean_of((kept - ratio * gained) / whole.value, confidence)  # its mean is 0
    return Estimate(ratio, (ratio + rest.low, ratio + rest.high), confidence, rest.method, rest.assumption, rest.n)


def _groups(figures: Sequence[GroupFigure]) -> Iterator[Grid]:
    if not figures:
        return
    ordered = sorted(figures, key=lambda each: -each.loss.value)
    rows = [(each.name, each.group.column, each.value, each.group.people, *three(each.loss)) for each in ordered]
    heads = ("mechanism", "column", "group", "people", "lost beyond a fresh sample", "low", "high")
    roles = (Role.BY, Role.BY, Role.GROUP, Role.PEOPLE, *TRIPLE)
    title = "Who pays: marginals lost within groups, beyond what a fresh sample of people loses"
    yield Grid("compare/groups", title, heads, tuple(rows), Section.UTILITY, GridKind.GROUPS, roles, detail=True)


def contrast_grids(contrasts: Contrasts) -> Iterator[Grid]:
    """Every two mechanisms, axis by axis."""
    words = {1: "the first", -1: "the second", 0: "not told apart"}
    for axis in contrasts.axes:
        rows: list[tuple[Cell, ...]] = []
        for (name, one, other), each in contrasts.each.items():
            if name == axis.name:
                rows.append(
                    (f"{one} - {other}", *three(each.estimate), words[each.sign], each.estimate.n, each.estimate.method)
                )
        heads = ("pair", "difference", "low", "high", "better", "n", "method")
        title = (
            f"{capital(axis.title)}: every two mechanisms (above 0: the first is better; all intervals hold together)"
        )
        roles = (Role.TEXT, *TRIPLE, *[Role.TEXT] * 3)
        yield Grid(f"contrasts/{axis.name}", title, heads, tuple(rows), Section.DETAIL, roles=roles, detail=True)


def _in_detail(published: Published, confidence: float) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    for place, each in enumerate(published.measures):
        fresh = rounded(float(published.fresh[:, place].mean()))
        for name, values in published.values.items():
            told = mean_of(values[:, place], confidence)
            rows.append((each.title, name, *three(told), fresh, told.n, told.method))
    heads = ("what", "mechanism", "value", "low", "high", "fresh sample", "n", "method")
    return Grid("compare/measures", "Every measure of releases", heads, tuple(rows), Section.UTILITY, detail=True)


def records_of(games: Sequence[GamePlayed], confidence: float) -> Records:
    """Every target under every mechanism, by row number of the population; intervals each for themselves."""
    rows: list[tuple[Cell, ...]] = []
    for game in games:
        for place, row in enumerate(game.targets.rows):
            if not _both(game, place):
                continue
            for one in game.guessed:
                here = np.array([place])
                figures = (*three(game.gain(one, here, confidence)), *three(game.advantage(one, here, confidence)))
                rows.append((int(row), game.targets.groups[place], str(game.goal), one.name, one.attack, *figures))
    heads = ("row", "group", "goal", "mechanism", "attack", "privacy gain", "low", "high", "advantage", "advantage low",
             "advantage high")  # fmt: skip
    return Records(heads, tuple(sorted(rows, key=lambda row: float(row[5] or 0.0))))


def three(found: Estimate) -> tuple[float | None, float | None, float | None]:
    """A value with its interval."""
    return rounded(found.value), rounded(found.low), rounded(found.high)


def rounded(value: float) -> float | None:
    """Four digits; what is no number is left out."""
    return round(float(value), 4) if math.isfinite(value) else None


def capital(text: str) -> str:
    """With a capital."""
    return text[:1].upper() + text[1:]
