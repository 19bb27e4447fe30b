"""The oracle: what a provider of synthetic data lets customers ask, and all that a reconstruction attack sees (ganev2023).

The provider holds a train and a holdout table and a fitted generator. A customer may draw synthetic rows and may have rows of
their choice judged: IMS, DCR and NNDR, pass or fail, and the scores if all three pass. Rows may be added and removed at will,
since augmentation is a selling point. Put the metrics of another product behind `Oracle` to attack them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unmask.errors import ParameterError
from unmask.tables.schema import Schema
from unmask.tables.table import Table
from unmask.threats.knowledge import ScoresShown


@dataclass(frozen=True)
class Rules:
    """What every customer knows of the answers. An attacker knows them too."""

    shown: ScoresShown = ScoresShown.ALL
    decimals: int | None = None  # scores are rounded to so many; None: as they are
    calls: int | None = None  # calls that are answered; None: all
    epsilon: float | None = None  # of each call: Laplace noise on every score and on the limits of the tests

    def __post_init__(self) -> None:
        if self.shown not in list(ScoresShown):
            raise ParameterError(f"'{self.shown}' are no scores; choose one of {', '.join(ScoresShown)}.")
        object.__setattr__(self, "shown", ScoresShown(self.shown))
        if self.decimals is not None and not 0 <= self.decimals <= 12:
            raise ParameterError(f"decimals is {self.decimals}; use 0 to 12, or leave it out.")
        if self.calls is not None and self.calls < 0:
            raise ParameterError(f"The limit of calls is {self.calls}; use 0 or more, or leave it out.")
        if self.epsilon is not None and not self.epsilon > 0:
            raise ParameterError(f"The epsilon of a call is {self.epsilon}; use a number above 0, or leave it out.")


@dataclass(frozen=True, eq=False)
class Answers:
    """What came of calls, one after the other. A score that is not shown is NaN."""

    passed: np.ndarray  # bool: all three tests
    ims: np.ndarray
    dcr: np.ndarray  # 5th percentile
    nndr: np.ndarray
    dcr_mean: np.ndarray
    nndr_mean: np.ndarray

    def __len__(self) -> int:
        return len(self.passed)


@dataclass(frozen=True)
class CallCount:
    """What an oracle was asked for so far."""

    calls: int
    rows: int  # that were sent, padding included


class Oracle(Protocol):
    """All that an attacker can reach. An oracle that also has `ask_padded(codes, padding, copies)` is asked faster."""

    @property
    def schema(self) -> Schema:
        """The public domain."""
        ...

    @property
    def rules(self) -> Rules:
        """What every customer knows of the answers."""
        ...

    @property
    def cost(self) -> CallCount:
        """What was asked so far."""
        ...

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        """Synthetic rows; filters may leave fewer."""
        ...

    def ask(self, rows: Table) -> Answers | None:
        """One call: the answer, or None where the calls are used up."""
        ...


def table_of(schema: Schema, codes: np.ndarray) -> Table:
    """Rows of the attacker's choice as a table; a number is the lower end of its bin."""
    codes = np.asfortranarray(codes, dtype=schema.code_type)
    numbers = np.empty((len(codes), len(schema.numeric)), order="F")
    for place, position in enumerate(schema.numeric):
        low = np.append(schema.columns[position].edges[:-1], np.nan)
        numbers[:, place] = low[np.minimum(codes[:, position], len(low) - 1)]
    return Table(schema, codes, numbers)


def ask_each(oracle: Oracle, codes: np.ndarray, padding: np.ndarray, copies: int) -> Answers:
    """A call for each row: that row with copies of the padding. Fewer answers where the calls are used up."""
    fast = getattr(oracle, "ask_padded", None)
    if fast is not None:
        answers: Answers = fast(codes, padding, copies)
        return answers
    return one_by_one(oracle, codes, padding, copies)


def one_by_one(oracle: Oracle, codes: np.ndarray, padding: np.ndarray, copies: int) -> Answers:
    """The same through `ask` alone: what an attacker of a foreign product does."""
    found = []
    for row in codes:
        sent = np.concatenate([row[None], np.repeat(padding[None], copies, axis=0)])
        answer = oracle.ask(table_of(oracle.schema, sent))
        if answer is None:
            break
        found.append(answer)
    return stacked(found)


def stacked(answers: list[Answers]) -> Answers:
    """Answers one after the other."""
    names = ("ims", "dcr", "nndr", "dcr_mean", "nndr_mean")
    none = np.empty(0)
    passed = np.concatenate([np.empty(0, dtype=bool), *(each.passed for each in answers)])
    return Answers(passed, *(np.concatenate([none, *(getattr(each, name) for each in answers)]) for name in names))
