"""Notes as people read them: what is said of several things alike is said once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MANY = ("inferring",)  # things of which there is one per column


def merged(notes: Iterable[str]) -> tuple[str, ...]:
    """Notes that say the same of several things, as one: `linking, inferring (7 columns): no better than guessing`."""
    about: dict[tuple[str, bool], list[str]] = {}
    for note in notes:
        head, colon, told = note.partition(": ")
        about.setdefault((told, True) if colon else (note, False), []).append(head)
    return tuple(f"{_listed(heads)}: {told}" if headed else told for (told, headed), heads in about.items())


def _listed(heads: Sequence[str]) -> str:
    """Things in a row; of those that go by column, how many."""
    together: dict[str, list[str]] = {}
    for head in dict.fromkeys(heads):
        many = next((name for name in MANY if head.startswith(f"{name} ")), head)
        together.setdefault(many, []).append(head)
    return ", ".join(
        found[0] if len(found) == 1 else f"{name} ({len(found)} columns)" for name, found in together.items()
    )
