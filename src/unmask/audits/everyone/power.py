"""What an audit of everyone of this size would see, told before it starts and in its result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.audits.everyone.evidence import TWO_PARTS
from unmask.results.state import LEAK, is_seen
from unmask.stats import log_e_value_of_bets

CHANCES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
TRIALS = 400
ENOUGH = 0.8
CERTAIN = 6.0  # evidence of a copy: the scorer never learns to be surer than this from a few dozen runs


@dataclass(frozen=True)
class Power:
    """For each chance that a person's record is copied: how often the list would hold that person."""

    chances: tuple[float, ...]
    seen: tuple[float, ...]
    company: int  # how many leak alike: the more, the lower the threshold of the list

    @property
    def visible(self) -> float | None:
        """The smallest chance that is seen in eight of ten trials; None if not even a certain copy is."""
        enough = [chance for chance, seen in zip(self.chances, self.seen, strict=True) if seen >= ENOUGH]
        return min(enough) if enough else None

    @property
    def sees_copies(self) -> bool:
        """Whether somebody who is copied whenever they are in is listed more often than not."""
        return is_seen(round(TRIALS * self.seen[-1]), TRIALS)


def judged_runs(runs: int) -> int:
    """How many of the runs are bet on."""
    return runs - (runs // 4 if runs >= TWO_PARTS else runs // 2)


def power_of(runs: int, units: int, *, rate: float, company: int = 1) -> Power:
    """Simulate the evidence about a copied person: sure if the copy is there, a little against if it is not."""
    rng = np.random.default_rng(runs)  # not the plan's: what a size can show does not depend on a seed
    threshold = np.log(units / (rate * company))
    seen = []
    for chance in CHANCES:
        members = rng.random((judged_runs(runs), TRIALS)) < 0.5
        copied = members & (rng.random(members.shape) < chance)
        evidence = np.where(copied, CERTAIN, np.log(max(1 - chance, np.exp(-CERTAIN))))
        seen.append(float(np.mean(log_e_value_of_bets(evidence, members) >= threshold)))
    return Power(CHANCES, tuple(seen), company)


def too_few_runs(runs: int, units: int, *, rate: float, more: str) -> tuple[str, ...]:
    """Why nothing can be concluded; empty if people would be listed if 10 % of all were copied whenever they are in."""
    if power_of(runs, units, rate=rate, company=max(1, round(LEAK * units))).sees_copies:
        return ()
    return (
        f"If 10 in 100 people were copied into every release that is made with them, {runs:,} runs would not list them. {more}",
    )


def power_in_words(power: Power, runs: int, *, more: str = "Use more --runs.") -> str:
    """One sentence for the verdict and for the moment before the start; `more` is what to do where runs are too few."""
    who = "a single person" if power.company == 1 else f"each of {power.company:,} people"
    if power.visible is None:
        return f"{runs:,} runs are too few to list {who}, however much leaks; a crowd needs fewer. {more}"
    return (
        f"With {runs:,} runs, {who} whose record is just copied, into {round(100 * power.visible)} in 100 of the releases, "
        "would be seen (on the list in 8 of 10 cases)."
    )
