"""What crosses the border to a foreign generator: frames without person ids out, checked frames in."""

from __future__ import annotations

import json
import random
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from unmask.errors import GeneratorError, InputError, ParameterError, UnmaskError
from unmask.tables.read import read_frame
from unmask.tables.schema import Schema
from unmask.tables.table import Table


def without_persons(table: Table) -> Table:
    """The table without person ids: a foreign generator would learn them as a column."""
    return replace(table, schema=replace(table.schema, person=None), persons=None)


def empty(schema: Schema) -> Table:
    """A table of no rows."""
    codes = np.empty((0, len(schema.columns)), dtype=schema.code_type, order="F")
    return Table(schema, codes, np.empty((0, len(schema.numeric)), order="F"))


def table_from(source: Any, schema: Schema, rows: int, who: str, *, where: str = "synthetic table") -> Table:
    """Encode what a foreign generator returned; it must have the columns, the values and the rows asked for."""
    try:
        loaded = read_frame(source)
        frame = _without(loaded.frame, [*schema.identifiers, *([schema.person] if schema.person else [])])
        plain = replace(schema, person=None)
        table = Table.from_pandas(frame, plain, where=where, from_file=loaded.from_file)
    except InputError as problem:
        raise GeneratorError(f"{who} returned something that does not follow the schema.\n{problem}") from None
    if len(table) != rows:
        raise GeneratorError(f"{who} returned {len(table):,} rows; {rows:,} were asked for.")
    return replace(table, schema=schema)


def _without(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    return frame.drop(columns=[name for name in names if name in frame.columns])


def settings_text(settings: Any, who: str) -> str:
    """Parameters of a foreign class as JSON text, which compares, hashes, pickles and prints; from a dict or such a text."""
    try:
        plain = json.loads(settings) if isinstance(settings, str) else settings
        if not isinstance(plain, Mapping) or not all(isinstance(name, str) for name in plain):
            raise ValueError("it is not a mapping from names to values")
        return json.dumps(dict(plain), sort_keys=True)
    except (TypeError, ValueError) as problem:
        raise ParameterError(
            f"{who}: the parameters {settings!r} cannot be used: {problem}.\n"
            'Give plain values (numbers, text, true/false, none, lists) by name, such as {"epochs": 10}.'
        ) from None


def seed_from(rng: np.random.Generator | None) -> int:
    """A whole number for software that takes seeds: 0 to 2^31 - 1 fits every seed field we know."""
    if rng is None:
        raise ParameterError("Foreign generators need an rng to be seeded from. Pass numpy.random.default_rng(seed).")
    return int(rng.integers(2**31))


_STATE = threading.RLock()  # the global state of random, numpy and torch belongs to one thread at a time


@contextmanager
def global_seed(seed: int) -> Iterator[None]:
    """Seed the global state of random, numpy and (where loaded) torch, and put the old states back afterwards.

    Foreign code draws from global state. What draws elsewhere (its own generator, a GPU) is out of reach. Of several threads, as
    a dask worker has them, one is served at a time: they would take each other's numbers.
    """
    with _STATE:
        yield from _seeded(seed)


def _seeded(seed: int) -> Iterator[None]:
    torch = sys.modules.get("torch")
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    torch_before = torch.get_rng_state() if torch else None
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    if torch:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
        if torch:
            torch.set_rng_state(torch_before)


@contextmanager
def blamed(who: str, what: str) -> Iterator[None]:
    """Turn whatever foreign code raises into an error that names it."""
    try:
        yield
    except UnmaskError:
        raise
    except Exception as problem:
        raise GeneratorError(f"{who}: {what} failed with {type(problem).__name__}: {problem}") from problem
