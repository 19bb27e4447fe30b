"""Whom to attack: at random, or those whom each paper holds to be most exposed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from unmask.errors import ParameterError
from unmask.tables.distance import Gower, nearest
from unmask.tables.table import Table

NEIGHBOURS = 5
MOST_ROWS = 50_000  # beyond this many people, isolation is measured against a random part of them


class TargetChoice(StrEnum):
    """How targets are chosen."""

    RANDOM = "random"
    RARE = "rare"  # Groundhog: a rare category, or a number outside the 95 % quantile
    UNLIKELY = "unlikely"  # TAPAS: the lowest likelihood under independent columns
    ISOLATED = "isolated"  # the largest mean Gower distance to the 5 nearest
    ACHILLES = "achilles"  # the largest mean cosine distance to the 5 nearest (Meeus 2023)
    ROWS = "rows"  # named by the user


@dataclass(frozen=True, eq=False)
class Targets:
    """Rows of the population, and the group in which each is reported."""

    rows: np.ndarray
    groups: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)


def choose(text: str, population: Table, rng: np.random.Generator) -> Targets:
    """Targets from text: `5` (isolated), `unlikely:5`, `rows:44591,39435`; several joined by `+`, as in `rare:5+random:5`.

    `unlikely:5@1000` takes the least likely of 1,000 random people (Houssiau et al. 2022), by what everybody's values say.
    Nobody is chosen twice: a row that an earlier part took is skipped by the later ones.
    """
    rows: list[int] = []
    groups: list[str] = []
    for part in text.split("+"):
        choice, count, named, sample = _parse(part)
        found = named if named is not None else _ranked(choice, population, rng)
        if sample is not None:
            if sample > len(population):
                raise ParameterError(f"'{part}': the population has {len(population):,} rows, fewer than {sample:,}.")
            found = found[np.isin(found, rng.choice(len(population), sample, replace=False))]
        fresh = [int(row) for row in found if int(row) not in set(rows)]
        if named is None and len(fresh) < count:
            raise ParameterError(f"There are only {len(fresh)} {choice} targets, not {count}. Ask for fewer.")
        fresh = fresh[:count]
        rows += fresh
        groups += [str(choice)] * len(fresh)
    return Targets(np.array(rows, dtype=np.int64), tuple(groups))


def _parse(text: str) -> tuple[TargetChoice, int, np.ndarray | None, int | None]:
    """How, how many, the rows that are named, and of how many random people."""
    name, sign, rest = text.strip().partition(":")
    try:
        if not sign:
            return TargetChoice.ISOLATED, int(name), None, None
        choice = TargetChoice(name)
        if choice is TargetChoice.ROWS:
            rows = np.array([int(row) for row in rest.split(",")])
            return choice, len(rows), rows, None
        count, of, sample = rest.partition("@")
        if of and (choice is TargetChoice.RANDOM or int(sample) < 1):
            raise ValueError
        return choice, int(count), None, int(sample) if of else None
    except ValueError:
        ways = ", ".join(f"{choice}:5" for choice in TargetChoice if choice is not TargetChoice.ROWS)
        raise ParameterError(f"'{text}' names no targets. Write 5, {ways}, unlikely:5@1000, or rows:17,42.") from None


def _ranked(choice: TargetChoice, population: Table, rng: np.random.Generator) -> np.ndarray:
    """All rows, or all that qualify, the most exposed first."""
    if choice is TargetChoice.RANDOM:
        return rng.permutation(len(population))
    if choice is TargetChoice.RARE:
        return _rare(population, rng)
    score = {
        TargetChoice.UNLIKELY: lambda: -independent_log_likelihood(population),
        TargetChoice.ISOLATED: lambda: isolation(population, rng),
        TargetChoice.ACHILLES: lambda: achilles(population, rng),
    }[choice]()
    return np.argsort(-score, kind="stable")


def independent_log_likelihood(table: Table) -> np.ndarray:
    """Log-likelihood of each row if columns were independent, with the table's own frequencies (numbers by bin)."""
    total = np.zeros(len(table))
    for position, column in enumerate(table.schema.columns):
        codes = table.codes[:, position]
        counts = np.bincount(codes, minlength=column.code_count)
        total += np.log(counts[codes] / len(table))
    return total


def isolation(table: Table, rng: np.random.Generator, *, workers: int = 1) -> np.ndarray:
    """Mean Gower distance of each row to its 5 nearest others (of a random part of large tables): higher = more alone."""
    wanted = min(NEIGHBOURS, len(table) - 1)
    if wanted < 1:
        raise ParameterError("One row alone has no neighbours, so nobody can be called isolated.")
    if len(table) <= MOST_ROWS:
        found = nearest(table, table, k=wanted, metric=Gower(), exclude_same_row=True, workers=workers)
        return np.asarray(found.distances.mean(axis=1))
    chosen = np.sort(rng.choice(len(table), MOST_ROWS, replace=False))
    found = nearest(table, table.take(chosen), k=wanted + 1, metric=Gower(), workers=workers)
    itself = chosen[found.rows] == np.arange(len(table))[:, None]
    others = np.sort(np.where(itself, np.inf, found.distances), axis=1)[:, :wanted]
    return np.asarray(others.mean(axis=1))


def achilles(table: Table, rng: np.random.Generator) -> np.ndarray:
    """Mean over the 5 nearest of share_categorical (1 - cos one-hot) + share_numeric (1 - cos scaled numbers).

    The cosine of two one-hot rows is the share of equal categories; numbers are scaled to 0..1 by their public range,
    missing ones to 0.
    """
    schema = table.schema
    numeric = list(schema.numeric)
    categorical = [position for position in range(len(schema.columns)) if position not in numeric]
    lower = np.array([schema.columns[position].lower for position in numeric])
    span = np.array([schema.columns[position].upper for position in numeric]) - lower
    scaled = np.nan_to_num((table.numbers - lower) / np.where(span > 0, span, 1.0))
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    unit_numbers = scaled / np.where(length > 0, length, 1.0)
    candidates = np.sort(rng.choice(len(table), min(len(table), MOST_ROWS), replace=False))
    result = np.empty(len(table))
    wanted = min(NEIGHBOURS, len(candidates) - 1)
    for start in range(0, len(table), 500):
        block = np.arange(start, min(start + 500, len(table)))
        equal = np.zeros((len(block), len(candidates)))
        for position in categorical:
            equal += table.codes[block, position][:, None] == table.codes[candidates, position][None, :]
        distance = len(categorical) - equal + len(numeric) * (1 - unit_numbers[block] @ unit_numbers[candidates].T)
        distance[block[:, None] == candidates[None, :]] = np.inf
        nearest_few = np.partition(distance, wanted - 1, axis=1)[:, :wanted]
        result[block] = nearest_few.mean(axis=1) / len(schema.columns)
    return result


def _rare(table: Table, rng: np.random.Generator) -> np.ndarray:
    """Rows with a category that fewer than 1 in 100 rows have, or a number in the top 5 %, the rarest value first.

    The rarity of a row is the share of rows with the same category, or with as large a number, in its oddest column.
    """
    share = np.ones(len(table))
    rare = np.zeros(len(table), dtype=bool)
    numeric = {position: place for place, position in enumerate(table.schema.numeric)}
    for position, column in enumerate(table.schema.columns):
        if position in numeric:
            numbers = np.nan_to_num(table.numbers[:, numeric[position]], nan=-np.inf)
            here = 1 - np.searchsorted(np.sort(numbers), numbers, side="left") / len(table)
            rare |= here < 0.05
        else:
            counts = np.bincount(table.codes[:, position], minlength=column.code_count)
            here = counts[table.codes[:, position]] / len(table)
            rare |= here < 0.01
        share = np.minimum(share, here)
    order = rng.permutation(np.flatnonzero(rare))  # ties in random order
    return order[np.argsort(share[order], kind="stable")]
