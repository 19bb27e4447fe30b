"""What a person decided about a result: decision.json beside it, printed in its report.

It names the result that it is about by digest: a decision does not pass on to another result that takes the place of the first.
"""

from __future__ import annotations

import datetime
import json
import os
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from unmask.errors import ParameterError, RunError
from unmask.files import digest_of_file, parse_json, read_text, shown, write_atomically
from unmask.results.plain import from_plain, to_plain
from unmask.results.progress import utc_now

DECISION, RESULT = "decision.json", "result.json"
VERSION = 1
LONGEST_NAME, LONGEST_REASONS = 200, 2_000  # characters: what a report can show
LARGEST = 100_000  # bytes; more is none of ours


class Publishing(StrEnum):
    """What may happen with a release."""

    PUBLISH = "publish"
    CONDITIONS = "publish with conditions"  # the reasons say which
    DO_NOT = "do not publish"


@dataclass(frozen=True)
class Decision:
    """Who decided what about a result, why and when.

    Without a date it is now, and without a digest it is about the result that it will be written beside.
    """

    reviewer: str
    decision: Publishing
    reasons: str
    date: str = ""  # ISO, a day or a time
    result: str = ""  # SHA-256 of the result.json that it is about
    version: int = VERSION

    def __post_init__(self) -> None:
        object.__setattr__(self, "date", self.date or utc_now())
        if self.decision not in list(Publishing):
            raise ParameterError(f"decision is {_short(self.decision)}; use one of {', '.join(Publishing)}.")
        object.__setattr__(self, "decision", Publishing(self.decision))
        for name, longest in (("reviewer", LONGEST_NAME), ("reasons", LONGEST_REASONS)):
            text = getattr(self, name)
            if not isinstance(text, str) or not text.strip():
                raise ParameterError(f"{name} is missing: a decision says who decided, and why.")
            if len(text) > longest:
                raise ParameterError(f"{name} has {len(text):,} characters; a report shows {longest:,}. Shorten it.")
        try:
            datetime.datetime.fromisoformat(self.date)
        except (TypeError, ValueError):
            raise ParameterError(f"date is {_short(self.date)}; write it as 2026-01-31 (ISO 8601).") from None
        if self.result and not re.fullmatch("[0-9a-f]{64}", self.result):
            raise ParameterError(f"result is {_short(self.result)}; it is the SHA-256 of a result.json.")


@dataclass(frozen=True)
class Decided:
    """A decision as a report shows it beside a result."""

    decision: Decision | None
    is_about_this: bool = True  # and not about a result that stood here before, or elsewhere
    problem: str = ""  # why there is none to show, although there is a file


def write_decision(directory: str | Path, decision: Decision) -> Decision:
    """Keep a decision beside the result that it is about; returns it as it was written, with the digest of that result."""
    digest = _digest(Path(directory))
    if not digest:
        raise RunError(f"{shown(Path(directory))}: there is no {RESULT} here to decide about. Name a finished run.")
    if decision.result not in ("", digest):
        raise RunError(
            f"{shown(Path(directory))}: the result here is no longer the one that the decision is about. Read its report again."
        )
    try:
        read_decision(directory)
    except RunError as problem:  # it may be somebody's own file of that name, or a link to any file
        raise RunError(f"{problem} It is not replaced: remove it, and decide again.") from None
    kept = replace(decision, result=digest)
    text = json.dumps(to_plain(kept), indent=1, ensure_ascii=False) + "\n"
    write_atomically(Path(directory) / DECISION, text)
    return kept


def read_decision(directory: str | Path) -> Decision | None:
    """The decision that is kept in a run directory, if there is one; an error says what is wrong with the file."""
    path = Path(directory) / DECISION
    if not os.path.lexists(path):
        return None
    if not os.path.isfile(path) or os.path.getsize(path) > LARGEST:
        raise RunError(f"{shown(path)}: this is not a decision of unmask.")
    try:
        plain = parse_json(read_text(path, error=RunError), DECISION, error=RunError)
    except FileNotFoundError:  # removed since
        return None
    if not isinstance(plain, dict) or plain.get("version") != VERSION:
        raise RunError(f"{DECISION}: this is not a decision that this version of unmask reads.")
    found: Decision = from_plain(Decision, plain, DECISION)
    if not found.result or not plain["date"]:
        raise RunError(f"{DECISION}: says not when it was made, or about which result. Decide again.")
    return found


def decided(directory: str | Path) -> Decided | None:
    """What a report says of the decision beside a result; None if there is none. A damaged file is no reason to stop."""
    try:
        found = read_decision(directory)
    except RunError as problem:
        return Decided(None, problem=str(problem))
    return None if found is None else Decided(found, found.result == _digest(Path(directory)))


def _digest(directory: Path) -> str:
    return digest_of_file(directory / RESULT) if os.path.isfile(directory / RESULT) else ""


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
