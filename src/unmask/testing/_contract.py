"""What both contracts share: errors, reports, and small checks."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from unmask.tables.table import Table


class ContractError(AssertionError):
    """A generator or attack does not keep its contract: the message says which part, on which table."""


@dataclass(frozen=True)
class Refused:
    """A table that a generator or attack says it cannot handle, and its reason."""

    case: str
    reason: str


@dataclass(frozen=True)
class Checked:
    """What was checked without fault, and what was refused."""

    subject: str
    cases: tuple[str, ...]
    refused: tuple[Refused, ...]

    def __str__(self) -> str:
        lines = [f"{self.subject}: keeps the contract on {', '.join(self.cases)}."]
        return "\n".join(lines + [f"  refuses {refusal.case}: {refusal.reason}" for refusal in self.refused])


def global_state() -> object:
    state = np.random.get_state(legacy=False)  # noqa: NPY002
    return random.getstate(), state["state"]["pos"], state["state"]["key"].tobytes()


def equal(first: Table, second: Table) -> bool:
    return np.array_equal(first.codes, second.codes) and np.array_equal(first.numbers, second.numbers, equal_nan=True)


def require(holds: object, otherwise: str) -> None:
    if not holds:
        raise ContractError(f"{otherwise}.")


# The little tables. Domains are wider than the data, as public domains are.
