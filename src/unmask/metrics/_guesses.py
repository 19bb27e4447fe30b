"""Guesses of a secret: from the nearest synthetic rows, from a model that the user brings, or from a whole table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from unmask.errors import ParameterError
from unmask.tables.distance import nearest_in_order
from unmask.tables.encode import Unlisted
from unmask.tables.table import Table, concatenate

MOST_SPREAD = 64  # categories that get a feature each; columns with more enter by their code

# An estimator with `fit(features, secrets)` and `predict(features)`, such as scikit-learn's; or a function
# (keys of the synthetic rows, their secrets, keys of the people) -> one guess for each person, in their order.
# A function gets frames of plain values; an estimator gets `features`, and the code of a category as its secret.
Model = Callable[[pd.DataFrame, pd.Series, pd.DataFrame], ArrayLike] | Any


@dataclass(frozen=True, eq=False)
class Guesses:
    """Secrets of people, known or guessed: codes, and numbers (NaN = missing) where the secret is one."""

    codes: np.ndarray
    numbers: np.ndarray | None

    def __len__(self) -> int:
        return len(self.codes)

    def typical(self, people: int) -> Guesses:
        """The most frequent category, or the median (missing if most are): the same guess for everyone."""
        if self.numbers is None:
            return Guesses(np.full(people, np.bincount(self.codes).argmax()), None)
        guess = _medians(self.numbers[None, :])
        return Guesses(np.zeros(people, dtype=np.int64), np.repeat(guess, people))


def of_table(table: Table, secret: str) -> Guesses:
    """The secrets that a table holds."""
    position = table.schema.position(secret)
    numeric = table.schema.columns[position].is_numeric
    numbers = table.numbers[:, table.schema.numeric.index(position)] if numeric else None
    return Guesses(table.codes[:, position], numbers)


def of_neighbours(
    people: Sequence[Table],
    release: Table,
    order: np.ndarray,
    *,
    secret: str,
    keys: Sequence[str],
    k: int,
    workers: int,
) -> list[Guesses]:
    """The most frequent secret of the k nearest rows (the nearest one's, if several are); for numbers the median.

    Of rows that are equally near the first in a random `order` counts. Several tables of people are looked for in one search.
    """
    everyone = concatenate([Table(part.schema, part.codes, part.numbers) for part in people])
    rows = nearest_in_order(everyone, release, order, k=k, columns=keys, workers=workers)
    known = of_table(release, secret)
    if known.numbers is not None:
        return _divided(Guesses(known.codes[rows[:, 0]], _medians(known.numbers[rows])), people)
    votes = known.codes[rows]
    support = (votes[:, :, None] == votes[:, None, :]).sum(axis=2)
    return _divided(Guesses(votes[np.arange(len(votes)), support.argmax(axis=1)], None), people)


def _divided(guesses: Guesses, people: Sequence[Table]) -> list[Guesses]:
    """Guesses about several tables of people, one below the other, table by table."""
    ends = np.cumsum([len(part) for part in people])[:-1]
    codes = np.split(guesses.codes, ends)
    numbers = [None] * len(codes) if guesses.numbers is None else np.split(guesses.numbers, ends)
    return [Guesses(*each) for each in zip(codes, numbers, strict=True)]


def of_model(
    model: Model, people: Sequence[Table], release: Table, *, secret: str, keys: Sequence[str], rng: np.random.Generator
) -> list[Guesses]:
    """Guesses of a user's model for several tables of people. It is fitted once, and never sees their secrets."""
    everyone = concatenate([part.select(keys) for part in people])
    if hasattr(model, "fit") and hasattr(model, "predict"):
        found = _of_estimator(model, everyone, release, secret=secret, keys=keys, rng=rng)
    elif callable(model):
        rows = release.to_pandas()
        given = model(rows[list(keys)], rows[secret], everyone.to_pandas()[list(keys)])
        frame = pd.DataFrame({secret: _one_each(given, len(everyone))})
        column = release.select([secret])
        found = of_table(
            Table.from_pandas(
                frame, column.schema.with_columns(column.schema.columns, person=None), unlisted=Unlisted.NOTE
            ),
            secret,
        )
    else:
        raise ParameterError(f"model is {model!r}; give a function, or an estimator with fit and predict.")
    return _divided(found, people)


def features(table: Table, keys: Sequence[str]) -> np.ndarray:
    """What an estimator sees: 0/1 for each code of a category, numbers on their public range, and whether they are missing.

    A missing number stands at the middle of its range. Categories with very many values are given by their code.
    """
    parts = []
    for key in keys:
        position = table.schema.position(key)
        column = table.schema.columns[position]
        if column.is_numeric:
            numbers = table.numbers[:, table.schema.numeric.index(position)]
            scaled = (numbers - column.lower) / ((column.upper - column.lower) or 1.0)
            parts += [np.nan_to_num(scaled, nan=0.5)[:, None], np.isnan(numbers)[:, None]]
        elif column.code_count <= MOST_SPREAD:
            parts.append(table.codes[:, position, None] == np.arange(column.code_count))
        else:
            parts.append(table.codes[:, position, None])
    return np.concatenate(parts, axis=1, dtype=np.float64, casting="unsafe")


def _of_estimator(
    model: Any, people: Table, release: Table, *, secret: str, keys: Sequence[str], rng: np.random.Generator
) -> Guesses:
    from sklearn.base import clone  # here, since it takes a second

    estimator = clone(model)
    seeds = {name: int(rng.integers(2**31)) for name, value in estimator.get_params().items() if _unseeded(name, value)}
    estimator.set_params(**seeds)
    known = of_table(release, secret)
    answers = known.codes.astype(np.int64) if known.numbers is None else known.numbers
    there = np.flatnonzero(~np.isnan(answers))
    if len(there) == 0:
        return Guesses(np.zeros(len(people), dtype=np.int64), np.full(len(people), np.nan))
    if (answers[there] == answers[there[0]]).all():  # many classifiers refuse a single class
        guesses = np.full(len(people), answers[there[0]])
    else:
        estimator.fit(features(release.take(there), keys), answers[there])
        guesses = np.asarray(_one_each(estimator.predict(features(people, keys)), len(people)))
    if known.numbers is None:
        return Guesses(guesses.astype(np.int64), None)
    return Guesses(np.zeros(len(people), dtype=np.int64), guesses.astype(np.float64))


def _unseeded(name: str, value: object) -> bool:
    return value is None and (name == "random_state" or name.endswith("__random_state"))


def _one_each(guesses: ArrayLike, people: int) -> np.ndarray | pd.Series:
    """Guesses by position: whatever index they come with is dropped."""
    plain = guesses.reset_index(drop=True) if isinstance(guesses, pd.Series) else np.asarray(guesses)
    if plain.shape != (people,):
        raise ParameterError(f"The model gave guesses of shape {plain.shape} for {people:,} people. Give one for each.")
    return plain


def _medians(numbers: np.ndarray) -> np.ndarray:
    """The median of each row's values present; missing where most are."""
    missing = np.isnan(numbers)
    mostly = 2 * missing.sum(axis=1) > numbers.shape[1]
    return np.where(mostly, np.nan, np.nanmedian(np.where(mostly[:, None], 0.0, numbers), axis=1))
