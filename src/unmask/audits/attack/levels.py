"""What attacks on a secret achieve beyond a right guess: how well the scores of its values rank releases."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unmask.audits.attack.judges import Bench, Played, Scored, tolerance_of
from unmask.audits.score_charts import roc_series, score_histograms
from unmask.results.grid import Cell, Grid, Section, Series
from unmask.stats import Estimate
from unmask.stats.outcomes import LevelOutcome, judge_level
from unmask.tables.schema import Column, Origin

HEADS = ("AUC of the commonest value", "AUC low", "AUC high", "AUC without")
MOST_LEVELS = 20  # that a table lists, commonest first
NOTHING = (float("nan"),) * 3


def level_outcome(played: Played, attack: Scored, positions: np.ndarray, level: int) -> LevelOutcome:
    """The score of one value, over some targets."""
    draws = played.test
    active = draws.active[:, positions]
    return judge_level(
        attack.test[:, positions, level][active],
        draws.secrets[:, positions][active] == level,
        draws.members[:, positions][active],
        confidence=played.confidence,
        releases=draws.fits[np.nonzero(active)[0]],
    )


def commonest_levels(played: Played) -> list[int]:
    """The values of a secret category, commonest among reference people first; none for numbers."""
    secret = played.setting.secret
    if secret is None or not secret.levels:
        return []
    codes = played.setting.ground.reference.codes[:, secret.position]
    counts = np.bincount(codes, minlength=secret.levels)[: secret.levels]
    return [int(level) for level in np.argsort(-counts, kind="stable")]


def ranking_cells(played: Played, attack: Scored, positions: np.ndarray) -> tuple[Cell, ...]:
    """AUC of the commonest value against the rest with its interval, and the same without the person."""
    levels = commonest_levels(played)
    if not levels:
        return (float("nan"),) * 4
    found = level_outcome(played, attack, positions, levels[0])
    return (*_ends(found.with_person), _ends(found.without_person)[0])


def levels_grid(bench: Bench) -> tuple[Grid, ...]:
    """AUC of every value against all others, for each attack and group of targets."""
    played = bench.played
    if not (levels := commonest_levels(played)):
        return ()
    names, rows = _names(played), []
    for group in played.groups:
        positions = played.in_group(group)
        for attack in bench.scored:
            for level in levels[:MOST_LEVELS]:
                found = level_outcome(played, attack, positions, level)
                if found.with_person is not None:
                    ends = (*_ends(found.with_person), _ends(found.without_person)[0])
                    rows.append((attack.name, group, names[level], *ends))
    heads = ("attack", "targets", "value", "AUC", "low", "high", "AUC without")
    title = "Values of the secret, each against all others"
    return (Grid("attacks by value", title, heads, tuple(rows), Section.ATTACKS, detail=True),)


def secret_series(played: Played, attack: Scored) -> Iterator[Series]:
    """ROC and histogram of the score of the commonest value in releases with the person; for numbers, how near guesses were."""
    draws, levels = played.test, commonest_levels(played)
    if levels:
        chosen = draws.active & draws.members
        scores, has = attack.test[:, :, levels[0]][chosen], draws.secrets[chosen] == levels[0]
        if has.all() or not has.any():
            return
        yield roc_series(attack.name, scores[has], scores[~has])
        sides = {"secret is the commonest value": scores[has], "secret is another value": scores[~has]}
    else:
        guess = attack.test[..., 0] if attack.test.ndim == 3 else attack.test
        near = -np.abs(guess - draws.secrets) / tolerance_of(played)
        members = draws.members[draws.active]
        sides = {
            "target in the data": near[draws.active][members],
            "target not in": near[draws.active][~members],
        }
    yield from score_histograms(attack.name, sides, "releases")


def _names(played: Played) -> tuple[str, ...]:
    """Values as the schema lists them; by number where it was read off the data, since a rare one may give somebody away."""
    schema = played.setting.ground.targets.schema
    secret = played.setting.secret
    column: Column = schema.columns[secret.position if secret is not None else 0]
    if schema.origin is not Origin.PUBLIC:
        return tuple(f"value {place + 1}" for place in range(column.size))
    listed = tuple(str(value) for value in column.values[: column.listed])
    return (*listed, *("missing",) * (column.size - len(listed)))


def _ends(found: Estimate | None) -> tuple[float, float, float]:
    if found is None:
        return NOTHING
    value, low, high = (round(float(at), 4) for at in (found.value, found.low, found.high))
    return value, low, high
