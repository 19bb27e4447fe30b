"""Identifying texts of real people in a release: ids, names, addresses, numbers of telephones, notes.

No attack looks at such columns, since every value is another. What matters is whether the very texts of real people are
published. Two explanations are ruled out before that is called a leak: that texts of this format meet by chance, and that the
release draws from what the population knows, in which case it meets people of the holdout as often.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import betainc, pdtrc

from unmask.metrics._chance import expected_matches, is_code, is_random
from unmask.metrics._passages import is_prose, passages
from unmask.stats.labels import fisher

MOST = 20_000  # texts whose format is looked at
MARGIN = 3  # times what chance explains: how dense numbers are is an estimate

FILLERS = (
    "na",
    "nan",
    "null",
    "none",
    "nil",
    "missing",
    "unknown",
    "unspecified",
    "test",
    "dummy",
    "empty",
    "blank",
    "tbd",
)

_SIGNS = re.compile(r"[\W_]+")
_WHOLE = re.compile(r"^\s*([+-]?\d+)\.0+\s*$")


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
    p_format: float | None  # of "no more than texts of this format by chance"
    p_holdout: float | None  # of "no more than people of the holdout"
    p_again: float | None  # of "no more than texts of real people and holdout meet each other"; None for names
    published: np.ndarray  # real people who do
    pairs: int = 0  # of people who share a text that nobody else has

    @property
    def p_population(self) -> float | None:
        """Of "the release draws from what the population knows".

        Where it meets people of the holdout too, they tell how often that is. Where it meets none, there may be too few of them
        to tell; then it counts as well how seldom real people and holdout share a text among themselves.
        """
        if self.p_holdout is None:
            return self.p_again
        if self.p_again is None:
            return self.p_holdout
        met = self.theirs is not None and self.theirs[0] > 0
        return min(1.0, 2 * (self.p_holdout if met else min(self.p_holdout, self.p_again)))

    @property
    def p_value(self) -> float | None:
        """Both explanations must fail; None where neither can be judged.

        Random tokens that nobody shares need no holdout, unless it is met as well (hashes of what many people have).
        """
        if not self.mine[0]:
            return 1.0
        met = self.theirs is not None and self.theirs[0] > 0
        if self.random and not met and not self.pairs:
            return self.p_format
        known = [p for p in (self.p_format, self.p_population) if p is not None]
        return max(known) if self.p_population is not None else None


def verbatim(real: OwnTexts, published: Sequence[str], holdout: OwnTexts | None = None) -> Verbatim:
    """Compare the texts of real people, and of the holdout, with those of a release.

    Texts are equal if their letters and digits are, whatever stands between them; leading zeros of numbers do not count. A
    text that several people of real table and holdout share identifies nobody and is not counted.
    """
    sides = [real] if holdout is None else [real, holdout]
    some = [text for text in real.texts[:MOST] if text]
    prose = is_prose(some) and not is_code([canonical(text) for text in some])
    marks = _passage_marks(sides, published) if prose else _text_marks(sides, published)
    (mine, shown), *held = (_of_people(side, *mark) for side, mark in zip(sides, marks.of_sides, strict=True))
    theirs = held[0][0] if held else None
    by_chance, random = (None, False) if prose else _format(real, published)
    p_format = None if by_chance is None else _at_least(mine[0], MARGIN * by_chance)
    p_holdout = fisher(mine, theirs) if theirs is not None and mine[1] and theirs[1] else None
    p_again = _again(mine[0], marks.pairs, sides, len(published)) if prose or by_chance is not None else None
    return Verbatim(mine, theirs, prose, by_chance, random, p_format, p_holdout, p_again, shown, marks.pairs)


def _again(hits: int, pairs: int, sides: Sequence[OwnTexts], rows: int) -> float:
    """P-value of so many hits, given how many pairs of people share a text that nobody else has.

    Good and Turing: of n draws, those that come once come again among m more about 2m/(n - 1) times as often as there are
    pairs among the n. Both counts are about Poisson, so that given their sum the hits are binomial.
    """
    people = sum(side.people for side in sides)
    ratio = 2 * rows / max(1, people - 1) * sides[0].people / people
    return float(betainc(hits, pairs + 1, ratio / (1 + ratio))) if hits else 1.0


def _at_least(count: int, mean: float) -> float:
    """How probable so many or more are under a Poisson law."""
    return float(pdtrc(count - 1, mean)) if count else 1.0


def met(one: OwnTexts, other: OwnTexts, *, least: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two tables whose codes stand in the other table too; none if chance explains it or they are names.

    Codes that several people of a table have do not count, nor do fewer than a share `least` of the other's.
    """
    mine, theirs = ([canonical(text) for text in side.texts] for side in (one, other))
    known, held = _of_one_person(mine, one), _of_one_person(theirs, other)
    both = set(known) & set(held)
    code = is_code(known) or is_random(known)  # names are shared by people, and so are some telephones
    if (
        not both
        or not code
        or len(both) < least * len(held)
        or _at_least(len(both), expected_matches(known, held)) > level
    ):
        both = set()
    return np.array([text in both for text in mine]), np.array([text in both for text in theirs])


def _of_one_person(texts: Sequence[str], column: OwnTexts) -> list[str]:
    """The texts that one person alone has."""
    people: dict[str, set[int]] = {}
    for text, person in zip(texts, column.person.tolist(), strict=True):
        people.setdefault(text, set()).add(person)
    return sorted(text for text, who in people.items() if text and len(who) == 1)


def canonical(text: str) -> str:
    """Letters and digits alone, of whole numbers without what a spreadsheet adds or drops; "" for what stands for no text."""
    text = _SIGNS.sub("", _WHOLE.sub(r"\1", unicodedata.normalize("NFKC", text)).casefold())
    text = text.lstrip("0") if text.isdigit() else text
    return "" if text in FILLERS or (len(text) > 3 and len(set(text)) == 1) else text


@dataclass(frozen=True, eq=False)
class TextMarks:
    """Of each row of each side: whether it has a text of its own and whether that is published; and how many pairs share one."""

    of_sides: list[tuple[np.ndarray, np.ndarray]]
    pairs: int


def _text_marks(sides: Sequence[OwnTexts], published: Sequence[str]) -> TextMarks:
    """A text belongs to one person alone, or not; and is published, or not."""
    texts = np.concatenate([np.array([canonical(text) for text in side.texts], dtype=object) for side in sides])
    keys, known = pd.factorize(texts)
    often = _people_per(keys, _persons_of(sides))[keys]
    there = texts != ""
    released = pd.Index(known).isin({canonical(text) for text in published} - {""})[keys]
    pairs = len(np.unique(keys[there & (often == 2)]))
    return TextMarks(_split(sides, there & (often == 1), released), pairs)


def _passage_marks(sides: Sequence[OwnTexts], published: Sequence[str]) -> TextMarks:
    """A row has a passage that no other person has, or not; and one such passage is published, or not."""
    found = passages(*(side.texts for side in sides), published)
    begins = np.cumsum([0, *(len(side.texts) for side in sides)])
    rows = np.concatenate([text_of + begin for (_, text_of), begin in zip(found, begins[:-1], strict=False)])
    hashes = np.concatenate([each for each, _ in found[:-1]])
    keys, persons = np.unique(hashes, return_inverse=True)[1], _persons_of(sides)
    often = _people_per(keys, persons[rows])[keys]
    has, shown = np.zeros(begins[-1], dtype=bool), np.zeros(begins[-1], dtype=bool)
    has[rows[often == 1]] = True
    shown[rows[(often == 1) & np.isin(hashes, found[-1][0])]] = True
    sharing = len(np.unique(persons[rows[often == 2]]))
    return TextMarks(_split(sides, has, shown), (sharing + 1) // 2)


def _persons_of(sides: Sequence[OwnTexts]) -> np.ndarray:
    """The person of each row, with numbers of their own on every side."""
    before = np.cumsum([0, *(side.people for side in sides)])
    return np.concatenate([side.person + begin for side, begin in zip(sides, before, strict=False)])


def _people_per(keys: np.ndarray, persons: np.ndarray) -> np.ndarray:
    """How many people have each key."""
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    everybody = int(persons.max()) + 1
    pairs = np.unique(keys.astype(np.int64) * everybody + persons)
    return np.bincount(pairs // everybody, minlength=keys.max() + 1)


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
