"""The plan of a comparison of mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unmask.audits.attack.plan import AttackPlan
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.plan import Plan, option
from unmask.errors import ParameterError
from unmask.generators import is_code
from unmask.threats.knowledge import FEWEST_RUNS, Coins, Goal

ATTACKS = (
    "record-linkage", "closest-record", "marginal-ratio", "linkage-weights", "queries", "trained-distance",
    "synthetic-predictor", "closest-votes", "linear",
)  # fmt: skip
FEWEST_TESTS = 16  # releases under attack that show anything


@dataclass(frozen=True, kw_only=True)
class ComparePlan(Plan):
    """What `unmask compare` does. One choice for all mechanisms: nothing but the mechanism differs."""

    without: ClassVar[tuple[str, ...]] = ("policy",)

    generators: tuple[str, ...] = option(
        (),
        help="Mechanisms, at least two: raw sanitiser:k=10 privbayes:epsilon=1 module:Class 'command: ...'.",
        names=("--generator",),
        code=is_code,
        grows=True,
    )
    targets: str = option(
        "rare:5+random:5",
        help="Whom to attack under all mechanisms: 5, unlikely:5@1000, rare:5+random:5, rows:17,42 (0-based).",
    )
    secret: str | None = option(None, help="Also guess this column of the targets: the attribute game.", grows=True)
    label: str | None = option(
        None, help="Column to predict, after training on synthetic rows.", shown="none", grows=True
    )
    attacks: tuple[str, ...] = option(
        ATTACKS,
        help="Attacks that a mechanism must withstand; its own shadows choose the one that is judged. May be repeated.",
        shown="nine that cost little",
        code=AttackPlan.__dataclass_fields__["attacks"].metadata["option"].code,
    )
    shadows: int = option(100, help="Releases of each mechanism that the attacker learns from.", least=20, grows=True)
    tests: int = option(300, help="Releases of each mechanism that are judged.", least=FEWEST_TESTS, grows=True)
    repeats: int = option(
        20, help="Fresh tables, fits and releases by which utility, copies and cost are measured.", least=3, grows=True
    )
    runs: int = option(
        32,
        help=f"Fits of the coin game about everybody, from {FEWEST_RUNS}; 0 leaves it out.",
        least=0,
        grows=True,
    )
    people: int = option(1000, help="People of the coin game, drawn at random.", least=20)
    train_rows: int = option(1000, help="Rows of each real table.", least=20)
    synthetic_rows: int | None = option(None, help="Rows of each release.", least=1, shown="train rows")
    releases_per_fit: int = option(
        1,
        help="Releases of each fit, of which --shadows and --tests then are the numbers; intervals are over fits.",
        least=1,
    )
    domain: str = option(
        "public",
        help="Ranges and categories: those of the schema, or read off each training table, which voids claims.",
        choices=("public", "learnt"),
    )
    confidence: float = option(
        0.95, help="Of every interval, and of all differences together.", least=0.5, share=True, grows=True
    )

    def check(self) -> None:
        if 0 < self.runs < FEWEST_RUNS:
            raise ParameterError(f"--runs is {self.runs}; use 0 for none, or a whole number from {FEWEST_RUNS}.")
        twice = {name for name in self.generators if self.generators.count(name) > 1}
        if twice:
            raise ParameterError(f"'{min(twice)}' is named twice. Name each mechanism once.")

    def attack(self, goal: Goal, generator: str) -> AttackPlan:
        """The game of one mechanism: but for the mechanism the same for all."""
        return AttackPlan(
            generator=generator,
            targets=self.targets,
            goal=str(goal),
            secret=self.secret if goal is Goal.ATTRIBUTE else None,
            attacks=self.attacks,
            shadows=self.shadows,
            tests=self.tests,
            releases_per_fit=self.releases_per_fit,
            train_rows=self.train_rows,
            synthetic_rows=self.synthetic_rows,
            domain=self.domain,
            confidence=self.confidence,
            seed=self.seed,
        )

    def everyone(self, generator: str) -> EveryonePlan:
        """The coin game of one mechanism: each person is in or not, whatever it claims, so that all share the coins."""
        return EveryonePlan(
            generator=generator,
            runs=self.runs,
            subsample=self.people,
            coins=str(Coins.INDEPENDENT),
            releases_per_fit=self.releases_per_fit,
            domain=self.domain,
            confidence=self.confidence,
            seed=self.seed,
        )
