"""What is wrong with the files of a pool, in words: each kind once, with the names of all files that have it."""

from __future__ import annotations

from collections.abc import Sequence

Problem = tuple[str, str]  # a file, as the user sees it in the pool, and what is wrong with it


def in_words(problems: Sequence[Problem]) -> str:
    """One paragraph for each kind of problem, with the names of all files that have it."""
    kinds: dict[str, list[str]] = {}
    for name, text in problems:
        kinds.setdefault(text, []).append(name)
    return "\n".join(f"{names_of(list(dict.fromkeys(names)))}: {text}" for text, names in kinds.items())


def names_of(names: Sequence[str]) -> str:
    """File names; runs that follow each other as "first to last"."""
    told, start = [], 0
    for place in range(1, len(names) + 1):
        if place < len(names) and _follows(names[place - 1], names[place]):
            continue
        first, last = names[start], names[place - 1]
        between = " to " if place - start > 2 else ", "
        told.append(first if place - start == 1 else f"{first}{between}{last.rpartition('/')[2]}")
        start = place
    return ", ".join(told)


def _follows(one: str, other: str) -> bool:
    numbers = [name.rpartition("run-")[2].removesuffix(".csv") for name in (one, other)]
    same_folder = one.rpartition("/")[0] == other.rpartition("/")[0]
    return same_folder and all(n.isdigit() for n in numbers) and int(numbers[1]) == int(numbers[0]) + 1
