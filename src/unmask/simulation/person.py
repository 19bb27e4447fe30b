"""One run of the exact game: a fair coin says whether one person is in; everybody else is. Fit, publish, take down."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unmask.attacks.claim.likelihood import PairLikelihood
from unmask.attacks.claim.outputs import IMPOSSIBLE, TableReader, digest
from unmask.attacks.everyone.features import Features
from unmask.attacks.everyone.subset_counts import count_keys, keys
from unmask.generators._generator import Generator
from unmask.simulation.pair import coin_of
from unmask.simulation.release import check_release
from unmask.simulation.task import Arrays, Task, Whose
from unmask.stream import stream
from unmask.tables.table import Table, concatenate
from unmask.tables.units import Units
from unmask.threats.pairs import Pair

ROWS = "rows"  # how many there are says that somebody is missing, not who
RATIO, LIKELIHOOD = "likelihood ratio", "log-likelihood of target"


@dataclass(frozen=True)
class PersonTask(Task):
    """A run about one unit. More runs, or more people, leave the others as they are."""

    @property
    def id(self) -> str:
        return f"confirm-unit{self.target or 0:06d}-{self.index:06d}"


def person_task(unit: int, index: int) -> PersonTask:
    """Run number `index` about a unit."""
    return PersonTask(Whose.TEST, index, unit)


@dataclass(frozen=True, eq=False)
class OneUnit(Features):
    """The features of the pool for one unit alone: what depends on the others is counted once, for the whole table."""

    around: np.ndarray  # how many rows of other units share each row's cell (rows x sets)
    table_rows: int

    @cached_property
    def others(self) -> np.ndarray:
        return self.around

    @cached_property
    def _weights(self) -> np.ndarray:
        return (self.table_rows / (self.others + 1.0)).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Person:
    """One unit: the tables with and without it, and what is looked at in a release."""

    pair: Pair
    features: OneUnit

    @classmethod
    def of(cls, features: Features, real: Table, own: np.ndarray, instead: np.ndarray | None) -> Person:
        """`own` and `instead` are rows of the real table: of the unit, and of the one that takes its place.

        Without `instead` the unit is added or removed. With it, a copy of the other unit takes its place under its name: the
        other one is in both tables, so that what is told apart is this unit, and the number of people is constant.
        """
        target = real.take(own)
        rest = np.setdiff1d(np.arange(len(real)), own)
        outside, other = real.take(rest), None
        if instead is not None:
            other = real.take(instead)
            if other.persons is not None and target.persons is not None:
                other = replace(other, persons=np.full(len(other), target.persons[0], dtype=target.persons.dtype))
            outside = concatenate([outside, other])
        asked = keys(target, features.subsets)
        # Of a unit's own rows none counts as another's.
        around = count_keys(asked, keys(real, features.subsets)).astype(np.int64) - count_keys(asked, asked)
        plan = replace(features.plan, white_box=False)  # that is read from the pair, which says more
        unit = Units(np.zeros(len(target), dtype=np.int64), 1, None)
        exact = features.exact.about(target, unit) if features.exact else None
        one = OneUnit(plan, target, unit, features.subsets, exact, around, len(real))
        return cls(Pair("one person", real, outside, target, other), one)

    @cached_property
    def reader(self) -> TableReader:
        return TableReader(self.pair)

    @cached_property
    def likelihood(self) -> PairLikelihood:
        return PairLikelihood(self.pair)


@dataclass(frozen=True, eq=False)
class PersonSetting:
    """All that a worker needs to play any run. Sent to each worker once."""

    seed: int
    generator: Generator
    synthetic_rows: int  # the same with and without the person
    white_box: bool
    people: Mapping[int, Person]  # by unit

    def play(self, task: PersonTask) -> Arrays:
        """Named numbers, the features of the pool, and a fingerprint of the release."""
        person = self.people[task.target or 0]
        table = person.pair.inside if coin_of(self.seed, task) else person.pair.outside
        rng = stream(self.seed, task.id, "release")
        model = self.generator.fit(table.take(rng.permutation(len(table))), rng)  # a row's place tells nothing
        synthetic = model.sample(self.synthetic_rows, rng)
        check_release(synthetic, table, self.synthetic_rows, row_level=self.generator.row_level)
        seen = {name: value for name, value in person.reader.read(synthetic).items() if name != ROWS}
        if self.white_box:
            if measurements := tuple(getattr(model, "measurements", ())):
                seen[RATIO] = person.likelihood.ratio(measurements)
            if (likelihood := getattr(model, "log_likelihood", None)) is not None:
                seen[LIKELIHOOD] = float(np.maximum(likelihood(person.pair.target), IMPOSSIBLE).sum())
        counts, values = person.features.compute(synthetic)
        return {
            "names": np.array(list(seen)),
            "seen": np.array([value if math.isfinite(value) else 0.0 for value in seen.values()]),
            "counts": counts[0].astype(np.float64),
            "values": values[0].astype(np.float64),
            "print": np.array(digest(synthetic.codes, synthetic.numbers)),
        }
