"""Versions of what is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def version_of(name: str) -> str:
    """The installed version of a package; "unknown" where its source is used without being installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
