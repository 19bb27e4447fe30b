"""The rules of a game: which threat model, and how large the tables are. They load no arrays, so that plans can check them."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.errors import ParameterError
from unmask.threats.knowledge import Access, Box, Data, Goal, Placement, SecretValues, ShadowTables, allowed


@dataclass(frozen=True)
class Game:
    """A threat model and the sizes of the tables. Every field goes into the result."""

    goal: Goal = Goal.MEMBERSHIP
    data: Data = Data.AUXILIARY
    box: Box = Box.BLACK
    rows: int = 1000  # of the real table
    synthetic_rows: int = 1000
    prior: float = 0.5  # probability that a target is in the real table
    placement: Placement = Placement.REPLACE
    secret: str | None = None  # attribute game: the column
    secret_values: SecretValues = SecretValues.TRUE
    isolate_targets: bool = False  # one target at a time, as the papers do
    reference_rows: int | None = None  # of the attacker's reference; None: half of the population
    reference_overlaps: bool = False  # people of the reference may be in the real table
    shadow_tables: ShadowTables = ShadowTables.COINS

    def __post_init__(self) -> None:
        if self.rows < 1 or self.synthetic_rows < 1:
            raise ParameterError("The real and the synthetic table need at least one row each.")
        if not 0 < self.prior < 1:
            raise ParameterError(f"The prior of membership is {self.prior}; it must lie between 0 and 1.")
        if (self.goal is Goal.ATTRIBUTE) != (self.secret is not None):
            raise ParameterError(
                "The attribute game needs a secret column: name one with --secret."
                if self.secret is None
                else "A secret column is for the attribute game: add --goal attribute."
            )
        if self.data is not Data.AUXILIARY and (self.reference_rows is not None or self.reference_overlaps):
            raise ParameterError(
                f"With {self.data} knowledge the reference is settled: its size and overlap are for --knowledge auxiliary."
            )
        if self.reference_rows is not None and self.reference_rows < self.rows and Access.SHADOWS in self.allowed:
            raise ParameterError(
                f"A reference of {self.reference_rows:,} rows gives no shadow tables of {self.rows:,} rows.\n"
                "Use more --reference-rows, fewer --train-rows, or --access no-box."
            )

    @property
    def allowed(self) -> frozenset[Access]:
        """What the attacker may see."""
        return allowed(self.data, self.box)

    @property
    def name(self) -> str:
        """Averaged over real tables, or with this one fixed: the two answer different questions."""
        return "seeded" if self.data is Data.EXACT else "traditional"
