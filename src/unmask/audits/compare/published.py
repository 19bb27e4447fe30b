"""Fresh real tables, a fit of every mechanism to each, and what is measured of the releases: utility, copies, groups, cost."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from unmask.audits.compare.entrants import Entrant, folder_of
from unmask.audits.compare.measures import Publication, ReleaseMeasure, dummy_of, measured, measures_for, score_of
from unmask.audits.compare.plan import ComparePlan
from unmask.audits.compare.target_games import in_folder
from unmask.audits.runner import Runner
from unmask.generators._generator import Generator
from unmask.generators.claim import Claim
from unmask.simulation.gather import gather
from unmask.simulation.release import check_release, release_words
from unmask.simulation.store import Store
from unmask.simulation.task import Arrays, Task, Whose
from unmask.stream import stream
from unmask.tables.table import Table
from unmask.tables.units import SMALLEST_GROUP
from unmask.threats.game import Ground
from unmask.utility.marginals import marginals, variations
from unmask.utility.prediction import answers
from unmask.utility.subgroups import dividing, group_sizes

MOST_OTHERS = 2_000  # people whom models are tested with
FEWEST_CONTROLS = 30  # people beside a real table, below which nothing is said about them
MOST_DIVIDING = 3  # columns by which people are divided
FRESH = "fresh people"  # the yardstick: other real people instead of a release


@dataclass(frozen=True)
class PeopleGroup:
    """People with one value of a column."""

    column: str
    code: int
    people: int  # of those from whom real tables are drawn


@dataclass(frozen=True, eq=False)
class OtherPeople:
    """No mechanism but the yardstick of all: rows of other real people, as many as asked for."""

    name: ClassVar[str] = FRESH
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim | None] = None

    people: Table

    def fit(self, table: Table, rng: np.random.Generator | None) -> OtherPeople:
        return self

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        return self.people.take(rng.choice(len(self.people), rows, replace=len(self.people) < rows))


@dataclass(frozen=True, eq=False)
class PublicationSetting:
    """All that a worker needs to publish and measure. A task of one number has the same real table under every mechanism."""

    plan: ComparePlan
    generator: Generator
    people: Table  # from whom real tables are drawn
    others: Table  # who are in none of them
    measures: tuple[ReleaseMeasure, ...]
    groups: tuple[PeopleGroup, ...]

    def play(self, task: Task) -> Arrays:
        """Means over the releases of one fit, and the cost in CPU seconds."""
        plan, rng = self.plan, stream(self.plan.seed, task.id, "table")
        rows = rng.choice(len(self.people), plan.train_rows, replace=False)
        real, control = self.people.take(rows), self._control(rows, stream(plan.seed, task.id, "control"))
        fitting = stream(plan.seed, task.id, "fit")
        began = time.process_time()
        model = self.generator.fit(real, fitting)
        fitted = time.process_time()
        wanted = plan.synthetic_rows or plan.train_rows
        releases = [
            model.sample(wanted, stream(plan.seed, *words, "sample"))
            for words in release_words(task, plan.releases_per_fit)
        ]
        sampled = time.process_time()
        found, by_group = [], []
        for release in releases:
            check_release(release, self.people, wanted, row_level=self.generator.row_level)
            it = Publication(real, release, self.others, plan.label, plan.seed, control)
            found.append(measured(it, self.measures))
            by_group.append([_within(real, release, group) for group in self.groups])
        return {
            "measures": np.mean(found, axis=0),
            "groups": np.mean(by_group, axis=0).reshape(len(self.groups)),
            "label": self._yardsticks(it),
            "empty": np.array(sum(not len(release) for release in releases)),
            "seconds": np.array([fitted - began, (sampled - fitted) / len(releases)]),
        }

    def _control(self, rows: np.ndarray, rng: np.random.Generator) -> Table | None:
        """As many people who might as well have been in the real table; None if there are too few."""
        rest = np.setdiff1d(np.arange(len(self.people)), rows)
        return self.people.take(rng.permutation(rest)[: len(rows)]) if len(rest) >= FEWEST_CONTROLS else None

    def _yardsticks(self, it: Publication) -> np.ndarray:
        """What the dummy and real rows reach: the same for all mechanisms, so that one of them is enough."""
        asked = self.plan.label is not None and isinstance(self.generator, OtherPeople)
        return np.array([dummy_of(it), score_of(it, it.real)] if asked else [np.nan, np.nan])


def _within(real: Table, synthetic: Table, group: PeopleGroup) -> float:
    """What is kept of the other columns within a group: 1 - mean total variation; NaN where a real table has too few of it."""
    position = real.schema.position(group.column)
    mine, theirs = (table.take(table.codes[:, position] == group.code) for table in (real, synthetic))
    rest = [(place,) for place in range(len(real.schema.columns)) if place != position]
    if len(mine) < SMALLEST_GROUP or not rest:
        return float("nan")
    if not len(theirs):
        return 0.0
    return float(1 - variations(marginals(mine, rest), marginals(theirs, rest)).mean())


@dataclass(frozen=True, eq=False)
class Published:
    """What was measured, by mechanism: draws x measures. Draws are those that every mechanism has."""

    measures: tuple[ReleaseMeasure, ...]
    values: Mapping[str, np.ndarray]
    fresh: np.ndarray  # the same of the yardstick
    groups: tuple[PeopleGroup, ...]
    by_group: Mapping[str, np.ndarray]  # draws x groups
    fresh_by_group: np.ndarray
    label: np.ndarray  # draws x (dummy, after real rows)
    seconds: Mapping[str, np.ndarray]  # draws x (fit, sample)
    failures: tuple[str, ...]
    empty: Mapping[str, tuple[int, int]]  # releases without a row, of how many
    is_number: bool = False  # the label

    def of(self, name: str, measure: ReleaseMeasure) -> np.ndarray:
        """One measure of one mechanism, draw by draw."""
        return np.asarray(self.values[name][:, self.measures.index(measure)])

    def has(self, measure: ReleaseMeasure) -> bool:
        return measure in self.measures

    @property
    def silent(self) -> tuple[str, ...]:
        """Mechanisms that publish nothing in most releases: what they hide is no merit, so they are compared in nothing."""
        return tuple(name for name, (none, every) in self.empty.items() if 2 * none > every)


def settings_of(plan: ComparePlan, entrants: Sequence[Entrant], ground: Ground) -> dict[str, PublicationSetting]:
    """One setting for each mechanism, and one for the yardstick."""
    order = stream(plan.seed, "others").permutation(len(ground.reference))
    tested = min(MOST_OTHERS, len(order) // 2)
    others, rest = _with_label(ground.reference.take(order[:tested]), plan.label), ground.reference.take(order[tested:])
    people = replace(ground.people, persons=None)
    first = (*((plan.label,) if plan.label else ()), *people.schema.keys)
    groups = tuple(
        PeopleGroup(column, code, size)
        for column in dividing(people, first, MOST_DIVIDING)
        for code, size in group_sizes(people, column).items()
        if code < people.schema.column(column).listed
    )
    chosen = measures_for(plan.label)
    made = {one.name: one.generator for one in entrants} | {FRESH: OtherPeople(replace(rest, persons=None))}
    return {
        name: PublicationSetting(plan, each, people, replace(others, persons=None), chosen, groups)
        for name, each in made.items()
    }


def _with_label(table: Table, label: str | None) -> Table:
    if label is None:
        return table
    column, found = table.schema.column(label), answers(table, label)
    return table.take(~np.isnan(found) if column.is_numeric else found < column.listed)


def publication_tasks(plan: ComparePlan) -> tuple[Task, ...]:
    """One fresh table each."""
    return tuple(Task(Whose.RUN, index) for index in range(plan.repeats))


def store_of(plan: ComparePlan, one: Entrant, runner: Runner, population: str) -> Store:
    """Where the draws of one mechanism are kept. All that changes one is its identity; a label adds a measure."""
    kept: dict[str, Any] = {"audit": "compare", "generator": one.name, "population": population}
    kept |= {"label": plan.label, "measures": [each.name for each in measures_for(plan.label)], "counted": ["empty"]}
    part = f"published-{folder_of(plan.label)}" if plan.label is not None else "published"
    return in_folder(runner, one, part).store(replace(plan, generators=()), kept)


def published_of(
    settings: Mapping[str, PublicationSetting], stores: Mapping[str, Store], tasks: Sequence[Task], kept: Sequence[str]
) -> Published:
    """Gather what was drawn, of the draws that all of these mechanisms have."""
    found = {name: gather(tasks, store) for name, store in stores.items() if name in (*kept, FRESH)}
    common = [task for task in tasks if all(task in set(each.tasks) for each in found.values())]

    def stacked(name: str, array: str) -> np.ndarray:
        arrays = dict(found[name].done)
        return np.array([arrays[task][array] for task in common])

    any_of = next(iter(settings.values()))
    return Published(
        any_of.measures,
        {name: stacked(name, "measures") for name in kept},
        stacked(FRESH, "measures"),
        any_of.groups,
        {name: stacked(name, "groups") for name in kept},
        stacked(FRESH, "groups"),
        stacked(FRESH, "label"),
        {name: stacked(name, "seconds") for name in kept},
        tuple(failure for each in found.values() for failure in each.failures),
        {name: (int(stacked(name, "empty").sum()), len(common) * any_of.plan.releases_per_fit) for name in kept},
        (label := any_of.plan.label) is not None and any_of.people.schema.column(label).is_numeric,
    )
