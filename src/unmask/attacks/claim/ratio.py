"""The likelihood ratio of what a model measured, in regions that were fixed before the first run."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.attacks.claim._attack import ABSTAIN, History, Record, Seen
from unmask.attacks.claim.likelihood import Planned


@dataclass(frozen=True)
class Ratio:
    """The likelihood ratio of the measurements, in planned regions."""

    name: str
    words: str
    planned: Planned
    weight: float = 1.0

    def guess(self, seen: Seen, prints: tuple[str, str]) -> int:
        return self.planned.lines.guess(seen["likelihood ratio"]) if "likelihood ratio" in seen else ABSTAIN

    def learn(self, past: History) -> Record | None:
        return None

    def prior(self) -> Record | None:
        return self.planned.right, self.planned.bets

    def watch(self, prints: tuple[str, str], coin: bool) -> None:
        """A planned attack remembers nothing."""
