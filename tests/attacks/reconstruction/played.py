"""A provider with its oracle, ready to be asked."""

from dataclasses import dataclass

import numpy as np

from unmask import generators
from unmask.attacks.reconstruction.asked_rows import AskedRows
from unmask.attacks.reconstruction.guided_search import Likelihoods
from unmask.attacks.reconstruction.padding import Reader, find_padding
from unmask.attacks.reconstruction.sample import candidates, sample_attack
from unmask.datasets import gaussian
from unmask.simulation.provider import Provider
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table
from unmask.threats.oracle import Rules


def small(rows: int, sizes: tuple[int, ...], seed: int) -> Table:
    """Categories with frequencies falling like 1/rank."""
    rng = np.random.default_rng(seed)
    schema = Schema(
        tuple(Column(f"c{at}", Kind.CATEGORICAL, values=tuple(range(size))) for at, size in enumerate(sizes))
    )
    columns = []
    for size in sizes:
        frequency = 1 / np.arange(1, size + 1)
        columns.append(rng.choice(size, rows, p=frequency / frequency.sum()))
    codes = np.asfortranarray(np.column_stack(columns).astype(schema.code_type))
    return Table(schema, codes, np.empty((rows, 0)))


@dataclass(frozen=True)
class Fresh:
    """Draws from the true normal distribution: no memory of anybody."""

    limit: float
    bins: int

    def sample(self, rows, rng):
        return gaussian(2, rows, seed=int(rng.integers(2**31)), limit=self.limit, bins=self.bins)


def provider_of(generator, train, holdout, *, rules=None, filters=(), seed=1):
    rng = np.random.default_rng(seed)
    model = generators.parse(generator).fit(train, rng) if isinstance(generator, str) else generator
    return Provider(model, train, holdout, rng, rules=rules or Rules(), filters=filters)


@dataclass
class Game:
    """SampleAttack was played; searches may follow."""

    oracle: Provider
    reader: Reader
    history: AskedRows
    sampled: np.ndarray
    drawn: np.ndarray

    @property
    def likelihoods(self):
        return Likelihoods.of(self.oracle.schema, self.drawn[:20_000])


def sampled(oracle, *, rows, rounds, region=None, seed=1):
    rng = np.random.default_rng(seed)
    reader, history = Reader(oracle, find_padding(oracle, rng)), AskedRows(oracle.schema, rng)
    streams = [np.random.default_rng([seed, each]) for each in range(rounds)]
    codes, of_round = candidates(oracle, rows, streams, region)
    found = sample_attack(reader, history, codes, of_round)
    return Game(oracle, reader, history, found.codes, codes)


def rows_of(codes):
    return {tuple(row) for row in np.asarray(codes).tolist()}


def share(found, train, targets=None):
    """The share of train rows (duplicates counted) whose record was found."""
    known = rows_of(found)
    rows = train.codes if targets is None else train.codes[targets]
    return float(np.mean([tuple(row) in known for row in rows.tolist()]))
