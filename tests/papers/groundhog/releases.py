"""Releases whose use Groundhog measures (section 6.3): real tables from one half of a population, and what is made of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tests.papers.groundhog.shared import SANITISER
from unmask.generators import parse
from unmask.tables.table import Table

BUDGETS = (10, 1, 0.1)
MECHANISMS = ("raw", SANITISER, "bayesnet", *(f"privbayes:epsilon={each:g}" for each in BUDGETS))  # of the paper
OURS = ("independent", "cart")
RISK = "RISK_MORTALITY"
CHARGES = ("TOTAL_CHARGES", "TOTAL_CHARGES_ACCOMM", "TOTAL_CHARGES_ANCIL")


@dataclass(frozen=True, eq=False)
class Halves:
    """People to draw real tables from, and people to test with: the paper has another year for these."""

    train: Table
    test: Table

    @classmethod
    def of(cls, population: Table, seed: int, tested: int = 5000) -> "Halves":
        order = np.random.default_rng([seed, 8]).permutation(len(population))
        cut = len(population) // 2
        return cls(population.take(order[:cut]), population.take(order[cut : cut + tested]))


def releases(
    halves: Halves, rows: int, repeats: int, seed: int, mechanisms: Sequence[str] = (*MECHANISMS, *OURS)
) -> Iterator[tuple[int, str, Table]]:
    """Of each real table one release by every mechanism; `raw` is the table itself."""
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, rows, repeat])
        real = halves.train.take(rng.choice(len(halves.train), rows, replace=False))
        for words in mechanisms:
            own = np.random.default_rng([seed, rows, repeat, 1])
            yield repeat, words, parse(words).fit(real, own).sample(rows, own)


def short(words: str) -> str:
    """A mechanism as tables and charts name it."""
    return "sanitiser" if words == SANITISER else words.replace(":epsilon=", " ")
