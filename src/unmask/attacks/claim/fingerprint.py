"""Outputs that come again and again: noise from a fixed seed."""

from __future__ import annotations

from dataclasses import dataclass, field

from unmask.attacks.claim._attack import ABSTAIN, IN, OUT, History, Record, Seen


@dataclass
class Fingerprint:
    """An output that came at least twice, and from one side only."""

    name: str
    words: str
    place: int  # 0 = the release, 1 = its measurements
    weight: float = 1.0
    times: dict[str, list[int]] = field(default_factory=dict)

    def guess(self, seen: Seen, prints: tuple[str, str]) -> int:
        out, inside = self.times.get(prints[self.place], (0, 0))
        if not prints[self.place] or (out > 0) == (inside > 0) or out + inside < 2:
            return ABSTAIN
        return IN if inside else OUT

    def learn(self, past: History) -> Record | None:
        return None

    def prior(self) -> Record | None:
        return None

    def watch(self, prints: tuple[str, str], coin: bool) -> None:
        self.times.setdefault(prints[self.place], [0, 0])[int(coin)] += 1
