"""What we found in your files: read by the command line in a process of its own, kept beside the draft."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unmask.web.drafts import Draft
from unmask.web.forms import VerbForm
from unmask.web.settings import Settings


@dataclass(frozen=True)
class Look:
    """What is known of the files of a draft."""

    state: str  # none (nothing to look at), looking, failed, done
    problem: str = ""
    found: dict[str, Any] = field(default_factory=dict)


class Looks:
    """Files that are being looked over."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def of(self, draft: Draft, form: VerbForm) -> Look:
        return Look("none")

    def correct(self, draft: Draft, form: VerbForm, given: Mapping[str, Sequence[str]]) -> None:
        pass

    def schema(self, draft: Draft) -> Path | None:
        return None

    def copy(self, old: Draft, new: Draft) -> None:
        pass

    def close(self) -> None:
        pass
