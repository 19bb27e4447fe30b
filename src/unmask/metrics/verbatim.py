"""Identifying texts of real people in a release: ids, names, addresses, numbers of telephones, notes.

No attack looks at such columns, since every value is another. What matters is whether the very texts of real people are
published. Two explanations are ruled out before that is called a leak: that texts of this format meet by chance, and that the
release draws from what the population knows, in which case it meets people of the holdout as often.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import poisson

from unmask.metrics._chance import expected_matches, is_code, is_random
from unmask.metrics._passages import is_prose, passages
from unmask.stats.labels import fisher

MOST = 20_000  # texts whose format is looked at

_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, eq=False)
class OwnTexts:
    """An identifying column of one table: a text for each row ("" where there is none), and whose row it is."""

    texts: np.ndarray
    person: np.ndarray  # number of the person of each row

    @property
    def people(self) -> int:
        return int(self.person.max()) + 1 if len(self.person) else 0


@dataclass(frozen=True, eq=False)
class Verbatim:
    """How many people have a text that nobody else has and that stands in the release."""

    mine: tuple[int, int]  # real people who do, and real people with such a text
    theirs: tuple[int, int] | None  # the same of the holdout
    prose: bool  # looked for in passages, not in whole texts
    by_chance: float | None  # published texts that chance would make equal to real ones; None: the format does not say
    random: bool  # tokens that nobody meets by chance
    p_format: float | None  # of "no more than by chance"
    p_holdout: float | None  # of "no more than people of the holdout"
    published: np.ndarray  # real people who do
    unrepeatable: int = 0  # of prose: real people whose whole text is published, most passages of which nobody else has

    @property
    def p_value(self) -> float | None:
        """Both explanations must fail; None where neither can be judged. Random tokens need no holdout."""
        if not self.mine[0]:
            return 1.0
        if self.random or self.p_holdout is None:
            return self.p_format
        return self.p_holdout if self.p_format is None else max(self.p_format, self.p_holdout)


def verbatim(real: OwnTexts, published: Sequence[str], holdout: OwnTexts | None = None) -> Verbatim:
    """Compare the texts of real people, and of the holdout, with those of a release.

    OwnTexts are equal if their letters and digits are, whatever stands between them; leading zeros of numbers do not count. A
    text that several people of real table and holdout share identifies nobody and is not counted.
    """
    sides = [real] if holdout is None else [real, holdout]
    prose = is_prose([text for text in real.texts[:MOST] if text])
    marks = _passage_marks(sides, published) if prose else _text_marks(sides, published)
    hits = [_of_people(side, *mark) for side, mark in zip(sides, marks, strict=True)]
    (mine, shown), theirs = hits[0], hits[1][0] if holdout is not None else None
    by_chance, random = (None, False) if prose else _format(real, published)
    p_format = None if by_chance is None else float(poisson.sf(mine[0] - 1, by_chance))
    p_holdout = fisher(mine, theirs) if theirs is not None and mine[1] and theirs[1] else None
    odd = _unrepeatable(real, published) if prose else 0
    return Verbatim(mine, theirs, prose, by_chance, random, p_format, p_holdout, shown, odd)


def canonical(text: str) -> str:
    """Letters and digits alone."""
    text = _SIGNS.sub("", text.casefold())
    return text.lstrip("0") if text.isdigit() else text


def _text_marks(sides: Sequence[OwnTexts], published: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each row of each side: whether its text belongs to one person alone, and whether it is published."""
    texts = [np.array([canonical(text) for text in side.texts], dtype=object) for side in sides]
    keys, known = pd.factorize(np.concatenate(texts))
    alone = _alone(keys, _persons_of(sides)) & (np.concatenate(texts) != "")
    released = pd.Index(known).isin({canonical(text) for text in published} - {""})[keys]
    return _split(sides, alone, released)


def _passage_marks(sides: Sequence[OwnTexts], published: Sequence[str]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each row: whether it has a passage that no other person has, and whether one such passage is published."""
    found = passages(*(side.texts for side in sides), published)
    begins = np.cumsum([0, *(len(side.texts) for side in sides)])
    rows = np.concatenate([text_of + begin for (_, text_of), begin in zip(found, begins[:-1], strict=False)])
    keys = np.unique(np.concatenate([hashes for hashes, _ in found[:-1]]), return_inverse=True)[1]
    alone = _alone(keys, _persons_of(sides)[rows])
    released = np.isin(np.concatenate([hashes for hashes, _ in found[:-1]]), found[-1][0])
    has, shown = np.zeros(begins[-1], dtype=bool), np.zeros(begins[-1], dtype=bool)
    has[rows[alone]] = True
    shown[rows[alone & released]] = True
    return _split(sides, has, shown)


def _unrepeatable(real: OwnTexts, published: Sequence[str]) -> int:
    """People whose whole text is published though it is no template: nobody shares half of its passages."""
    ((hashes, rows),) = passages(real.texts)
    keys = np.unique(hashes, return_inverse=True)[1]
    own, all_of = (
        np.bincount(rows, weights=w, minlength=len(real.texts)) for w in (_alone(keys, real.person[rows]), None)
    )
    released = {canonical(text) for text in published}
    whole = np.array([canonical(text) in released for text in real.texts], dtype=bool)
    return len(np.unique(real.person[whole & (2 * own > all_of)]))


def _persons_of(sides: Sequence[OwnTexts]) -> np.ndarray:
    """The person of each row, with numbers of their own on every side."""
    before = np.cumsum([0, *(side.people for side in sides)])
    return np.concatenate([side.person + begin for side, begin in zip(sides, before, strict=False)])


def _alone(keys: np.ndarray, persons: np.ndarray) -> np.ndarray:
    """Whether one person alone has the key of a row."""
    if not len(keys):
        return np.zeros(0, dtype=bool)
    everybody = int(persons.max()) + 1
    pairs = np.unique(keys.astype(np.int64) * everybody + persons)
    return np.asarray(np.bincount(pairs // everybody, minlength=keys.max() + 1)[keys] == 1)


def _split(sides: Sequence[OwnTexts], has: np.ndarray, shown: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    cuts = np.cumsum([len(side.texts) for side in sides])[:-1]
    return list(zip(np.split(has, cuts), np.split(shown, cuts), strict=True))


def _of_people(side: OwnTexts, has: np.ndarray, shown: np.ndarray) -> tuple[tuple[int, int], np.ndarray]:
    """People with a text of their own who are published, people with such a text; and who is published."""
    able, hit = np.zeros(side.people, dtype=bool), np.zeros(side.people, dtype=bool)
    able[side.person[has]] = True
    hit[side.person[has & shown]] = True
    return (int(hit.sum()), int(able.sum())), hit


def _format(real: OwnTexts, published: Sequence[str]) -> tuple[float | None, bool]:
    """What chance explains of codes and tokens; names and prose have no format to tell by."""
    mine = sorted({canonical(text) for text in real.texts} - {""})
    theirs = sorted({canonical(text) for text in published} - {""})
    random = is_random(mine[:MOST])
    if not mine or not theirs or not (random or is_code(mine[:MOST])):
        return None, False
    return expected_matches(mine, theirs), random
