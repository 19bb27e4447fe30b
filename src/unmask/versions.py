"""Versions of what is installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

CHANGE_NUMBERS = ("unmask", "numpy", "scipy", "pandas", "scikit-learn", "numba", "torch")
UNKNOWN = "unknown"  # not installed, or used without being installed


def version_of(name: str) -> str:
    """The installed version of a package; "unknown" where its source is used without being installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return UNKNOWN


def that_change_numbers() -> dict[str, str]:
    """The versions of what takes part in a draw: processes that work on one run must have the same."""
    return {name: version_of(name) for name in CHANGE_NUMBERS}


def difference(theirs: Mapping[str, str]) -> str:
    """What is installed here in another version than there, in words; empty if nothing is."""
    mine = that_change_numbers()
    other = {
        name: told
        for name, told in theirs.items()
        if mine.get(name) not in (None, told) and UNKNOWN not in (told, mine[name])
    }
    return ", ".join(f"{name} {mine[name]} instead of {told}" for name, told in other.items())
