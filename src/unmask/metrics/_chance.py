"""How often texts of one format meet by chance: dense and small formats (1..n, P-00001) always do, random tokens never."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

NEAREST = 50  # real texts around a published one, from which it is read how dense they are there
CHECK = (
    100  # two signs may be check digits, and blocks of numbers may be filled unevenly: so few of the numbers may exist
)
RANDOM_BITS = 60  # of a token that nobody meets by chance, such as a UUID


def expected_matches(real: Sequence[str], published: Sequence[str]) -> float:
    """How many of the published texts chance makes equal to a real one, if each is drawn among its neighbours.

    The share of the numbers around a published text that are real ones is the chance that one drawn there is.
    """
    radix = Radix.of([*real, *published])
    known = sorted({radix.number(text) for text in real})
    return sum(_density(known, radix.number(text)) for text in published)


def is_random(texts: Sequence[str]) -> bool:
    """Whether texts are tokens that nobody meets by chance: of one length, and with many signs at many places."""
    if not texts or len(set(map(len, texts))) != 1:
        return False
    bits = 0.0
    for signs in zip(*texts, strict=True):
        shares = [count / len(texts) for count in Counter(signs).values()]
        if max(shares) <= 0.5:  # a place that was drawn: those that were written have one sign most of the time
            bits -= sum(share * math.log2(share) for share in shares)
    return bits >= RANDOM_BITS


def is_code(texts: Sequence[str]) -> bool:
    """Whether texts are numbers or codes, and no names or prose: half of their signs are digits."""
    signs = "".join(texts)
    return bool(signs) and 2 * sum(map(str.isdigit, signs)) >= len(signs)


@dataclass(frozen=True, eq=False)
class Radix:
    """Texts as whole numbers: each place counts the signs that occur there in any text, so that 1..n is 1..n in any dress."""

    places: tuple[dict[str, int], ...]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Radix:
        longest = max(map(len, texts), default=0)
        columns = zip(*(text.rjust(longest) for text in texts), strict=True)
        return cls(tuple({sign: digit for digit, sign in enumerate(sorted(set(signs)))} for signs in columns))

    def number(self, text: str) -> int:
        number = 0
        for digits, sign in zip(self.places, text.rjust(len(self.places)), strict=True):
            number = number * len(digits) + digits[sign]
        return number


def _density(known: Sequence[int], at: int) -> float:
    """The share of the numbers around a place that are known, as if one number in CHECK existed at all."""
    low = max(0, min(bisect_left(known, at) - NEAREST // 2, len(known) - NEAREST))
    near = known[low : low + NEAREST]
    return min(1.0, CHECK * len(near) / (near[-1] - near[0] + 1)) if near else 0.0
