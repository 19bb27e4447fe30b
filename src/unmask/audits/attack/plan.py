"""The plan of an attack on a generator."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.audits.generator_plan import GeneratorPlan
from unmask.audits.plan import option
from unmask.errors import ParameterError
from unmask.generators import is_code
from unmask.threats.knowledge import Box, Data, Goal, Placement, SecretValues, ShadowTables
from unmask.threats.rules import Game


def _is_attack_code(text: str) -> bool:
    from unmask import attacks  # with its arrays, which help does without

    return attacks.is_code(text)


@dataclass(frozen=True, kw_only=True)
class AttackPlan(GeneratorPlan):
    """What `unmask attack` does. Sizes may grow between runs of one directory; everything else is fixed."""

    targets: str = option(
        "5",
        help="Whom to attack: 5, unlikely:5@1000, rare:5+random:5, rows:17,42 (0-based).",
        shown="5 isolated ones",
    )
    goal: str = option("membership", help="What the attacker wants.", choices=tuple(Goal))
    knowledge: str = option("auxiliary", help="What the attacker knows of the data.", choices=tuple(Data))
    access: str = option("black-box", help="What the attacker knows of the generator.", choices=tuple(Box))
    attacks: tuple[str, ...] = option(
        ("all",),
        help="Attack with parameters, as in queries:order=1; may be repeated.",
        shown="all",
        code=_is_attack_code,
    )
    secret: str | None = option(None, help="Attribute goal: the column to be guessed.")
    secret_values: str = option(
        "true",
        help="Secrets of the targets: their own, or uniform: drawn anew for each release.",
        choices=tuple(SecretValues),
    )
    tolerance: float | None = option(
        None,
        help="Numeric secrets: how near counts as right.",
        least=1e-300,
        grows=True,
        shown="1/4 of the middle half",
    )
    shadows: int = option(200, help="Releases that the attacker learns from.", least=0, grows=True)
    tests: int = option(100, help="Releases that are judged.", least=2, grows=True)
    releases_per_fit: int = option(
        1,
        help="Releases of each fit, of which --shadows and --tests then are the numbers; intervals are over fits.",
        least=1,
    )
    train_rows: int = option(1000, help="Rows of each real table.", least=1)
    synthetic_rows: int | None = option(None, help="Rows of each release.", least=1, shown="train rows")
    shadow_tables: str = option(
        "coins",
        help="Tables of the attacker's own releases: drawn anew with coins, or each twice, with a target and without.",
        choices=tuple(ShadowTables),
    )
    prior: float = option(0.5, help="Probability that a target is in.", share=True)
    placement: str = option("replace", help="Targets replace another person, or come on top.", choices=tuple(Placement))
    isolate_targets: bool = option(False, help="Play each target alone (dearer).")
    reference_rows: int | None = option(
        None, help="Auxiliary knowledge: people whom the attacker holds.", least=1, shown="half of the population"
    )
    reference_overlaps: bool = option(False, help="They may be in the real table, too; else they never are.")
    refit: bool = option(
        True, help="Knowledge none: stand-ins from a generator refitted on a release, else from the generator itself."
    )
    possible: tuple[str, ...] = option(
        (),
        help="Uncertain-box: a generator that the attacker holds possible, as in "
        "privbayes:epsilon=loguniform(0.1,10) or mst:epsilon=1@0.3; may be repeated.",
        code=is_code,
    )
    confidence: float = option(0.95, help="Of every interval.", least=0.5, share=True, grows=True)
    delta: float | None = option(
        None, help="At which epsilon is bounded.", least=0, most=0.5, grows=True, shown="the claim's own, else 0"
    )

    utility_label: str | None = option(
        None,
        help="Play the utility game, too: this category of people like the targets, predicted after training on each release.",
    )
    utility_people: int = option(
        5, help="Utility game: people like each target, who are in no real table.", least=1, most=64
    )

    def check(self) -> None:
        if self.utility_label is not None and self.goal != Goal.MEMBERSHIP:
            raise ParameterError(
                "The utility game is about targets that are in the data or not: leave out --goal attribute."
            )
        if self.access == Box.UNCERTAIN and not self.possible:
            raise ParameterError(
                "An uncertain box needs what the attacker holds possible, such as --possible privbayes:epsilon=1."
            )
        _ = self.game  # has checks of its own

    @property
    def game(self) -> Game:
        """The game that this plan plays."""
        return Game(
            goal=Goal(self.goal),
            data=Data(self.knowledge),
            box=Box(self.access),
            rows=self.train_rows,
            synthetic_rows=self.synthetic_rows or self.train_rows,
            prior=self.prior,
            placement=Placement(self.placement),
            secret=self.secret,
            secret_values=SecretValues(self.secret_values),
            isolate_targets=self.isolate_targets,
            reference_rows=self.reference_rows,
            reference_overlaps=self.reference_overlaps,
            shadow_tables=ShadowTables(self.shadow_tables),
        )
