"""Passages of texts: so many words in a row, as hashes, and whose they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

WORDS = 8  # of a passage: shorter ones are idioms
PROSE = 6  # words of a typical text from which on a column is prose

_WORD = re.compile(r"\w+")
_DIGITS = re.compile(
    r"\d+"
)  # numbers count as a sign that there is one: subject 0042 after 0041 is no passage of its own


def is_prose(texts: Sequence[str]) -> bool:
    """Whether a column holds sentences: the median text has several words."""
    return bool(texts) and float(np.median([len(_WORD.findall(text)) for text in texts])) >= PROSE


def passages(*sides: Iterable[str]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each side the hash of every passage, and the place of the text that it stands in; a shorter text is one passage."""
    words = [[_WORD.findall(_DIGITS.sub("0", text.casefold())) for text in side] for side in sides]
    codes, _ = pd.factorize(np.array([word for side in words for text in side for word in text], dtype=object))
    mixed = _mixed(codes.astype(np.uint64))
    found, begin = [], 0
    for side in words:
        lengths = np.array([len(text) for text in side], dtype=np.int64)
        end = begin + int(lengths.sum())
        text_of = np.repeat(np.arange(len(side)), lengths)
        long, short = _windows(mixed[begin:end], text_of), _short(mixed[begin:end], lengths)
        found.append((np.concatenate([long[0], short[0]]), np.concatenate([long[1], short[1]])))
        begin = end
    return found


def _windows(mixed: np.ndarray, text_of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    count = len(mixed) - WORDS + 1
    if count <= 0:
        return np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    hashes = np.zeros(count, dtype=np.uint64)
    for place in range(WORDS):
        hashes = _mixed(hashes + mixed[place : place + count])
    whole = text_of[:count] == text_of[WORDS - 1 :]  # a passage ends in the text in which it begins
    return hashes[whole], text_of[:count][whole]


def _short(mixed: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Texts with fewer words than a passage, as they are: they stand in a release only as whole texts."""
    chosen = np.flatnonzero((lengths > 0) & (lengths < WORDS))
    begins = np.cumsum(lengths) - lengths
    hashes = _mixed(lengths[chosen].astype(np.uint64) + np.uint64(WORDS))
    for place in range(WORDS - 1):
        there = lengths[chosen] > place
        hashes[there] = _mixed(hashes[there] + mixed[begins[chosen][there] + place])
    return hashes, chosen


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Numbers far apart for numbers close together (the last steps of splitmix64); sums wrap around."""
    with np.errstate(over="ignore"):
        numbers = numbers + np.uint64(0x9E3779B97F4A7C15)
        numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(numbers ^ (numbers >> np.uint64(31)))
