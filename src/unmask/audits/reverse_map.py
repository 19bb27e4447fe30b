"""A release as a permutation of the real table plus noise: reverse-mapped sets, and how far ranks moved (ruiz2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from unmask.audits.part import Part
from unmask.audits.plan import SeedPlan, option, takes
from unmask.audits.runner import Runner
from unmask.errors import InputError
from unmask.metrics.permutation import WITHIN, Permutation, permutation
from unmask.metrics.reverse_mapping import ReverseMapping, reverse_mapping
from unmask.results.grid import Cell, Grid
from unmask.results.result import Input, Result, describe_input
from unmask.simulation.executors import Executor, Progress, no_progress
from unmask.stream import stream
from unmask.tables.read import read_table
from unmask.tables.table import Table

MOVED = (
    "set", "column", "mean displacement", "largest", *(f"within {limit:g} %" for limit in WITHIN), "if columns are shuffled",
)  # fmt: skip
CHANGED = (
    "set", "column", "permutation", "noise", "mean noise", "change of rank correlations", "largest change",
)  # fmt: skip
REAL_VALUES = (
    "A reverse-mapped set consists of values of the real table, each column in another order. Publish it only where the values "
    "by themselves may be published: rare and extreme ones are all in it."
)


@dataclass(frozen=True, kw_only=True)
class ReverseMapPlan(SeedPlan):
    """What `unmask reverse-map` does."""

    aligned: bool = option(
        False,
        help="Row i of each synthetic table stems from row i of the real one (sanitised, perturbed, partly synthetic).",
    )


@dataclass(frozen=True, eq=False)
class ReverseMapped:
    """What came out: the sets, each with its permutation and noise, and the report on them."""

    sets: tuple[Table, ...]  # reverse-mapped: every margin exactly that of the real table
    mappings: tuple[ReverseMapping, ...]
    result: Result


@takes(ReverseMapPlan)
def reverse_map(
    real: Any,
    synthetic: Any,
    *,
    schema: Any = None,
    workers: int | Executor | None = None,
    progress: Progress = no_progress,
    **choices: Any,
) -> ReverseMapped:
    """Express one synthetic table, or a list of them, as permutations of the real columns plus noise.

    Tables are paths, frames (pandas, polars, pyarrow) or Tables. `choices` are the fields of `ReverseMapPlan`: aligned, seed.
    """
    ready = ReverseMap.of(ReverseMapPlan.of(choices), real=real, synthetic=synthetic, schema=schema)
    return ready.run(Runner.of(workers, progress=progress))


@dataclass(frozen=True, eq=False)
class ReverseMap:
    """A plan and the tables that it is about."""

    plan: ReverseMapPlan
    real: Table
    synthetic: tuple[Table, ...]

    @classmethod
    def of(cls, plan: ReverseMapPlan, *, real: Any, synthetic: Any, schema: Any = None) -> ReverseMap:
        """Read the tables, all under the schema of the real one."""
        given = list(synthetic) if isinstance(synthetic, list | tuple) else [synthetic]
        if not given:
            raise InputError("There is no synthetic table to map. Give at least one.")
        table = read_table(real, schema)
        sets = tuple(read_table(each, table.schema, unlisted="note") for each in given)
        for place, each in enumerate([table, *sets]):
            if len(each) == 0:
                name = f"synthetic table {place}" if place else "real table"
                raise InputError(f"The {name} has no rows, so it has no ranks. Give it at least one.")
        return cls(plan, table, sets)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        many = len(self.synthetic) > 1
        named = [(f"synthetic {place}" if many else "synthetic", each) for place, each in enumerate(self.synthetic, 1)]
        return tuple(describe_input(role, each) for role, each in [("real", self.real), *named])

    def run(self, runner: Runner) -> ReverseMapped:
        """Set by set."""
        mappings: list[ReverseMapping] = []
        measured: list[Permutation] = []
        for place, table in enumerate(self.synthetic):
            runner.progress(place, len(self.synthetic))
            rng = stream(self.plan.seed, "reverse map", str(place))
            mapping = reverse_mapping(self.real, table, rng=rng)
            mappings.append(mapping)
            measured.append(permutation(self.real, mapping, aligned=self.plan.aligned, workers=runner.threads, rng=rng))
        runner.progress(len(self.synthetic), len(self.synthetic))
        told = Part(grids=_grids(measured), notes=self._notes(measured))
        result = told.told(self.plan.expected("reverse-map", self.inputs), None)
        plain = tuple(replace(mapping.release, notes=()) for mapping in mappings)
        return ReverseMapped(plain, tuple(mappings), result)

    def _notes(self, measured: Sequence[Permutation]) -> tuple[str, ...]:
        rows, notes = len(self.real), [note for table in (self.real, *self.synthetic) for note in table.notes]
        for place, table in enumerate(self.synthetic, 1):
            if len(table) != rows:
                how = "was subsampled" if len(table) > rows else "was filled up with rows drawn from it"
                notes.append(f"Set {place} has {len(table):,} rows and {how}, to have the {rows:,} of the real table.")
        if self.plan.aligned:
            notes.append("Rows are paired with the real rows that they stem from, in order.")
        else:
            notes.append(
                "Rows stem from nobody: each real record is paired with the rows whose ranks are nearest to its own (sum of "
                "the differences, mean over ties). Row-aligned releases are declared with --aligned."
            )
        if (paired := measured[0].records) < rows:
            notes.append(f"{paired:,} of {rows:,} records, drawn at random, were paired; the mapping is of all rows.")
        return (*notes, REAL_VALUES)


def _grids(measured: Sequence[Permutation]) -> tuple[Grid, ...]:
    moved: list[tuple[Cell, ...]] = []
    changed: list[tuple[Cell, ...]] = []
    for place, each in enumerate(measured, 1):
        for one in each.columns:
            moved.append((place, one.column, *_rounded(one.displacement, one.largest, *one.within, one.shuffled)))
            changed.append(
                (
                    place, one.column,
                    *_rounded(one.permutation, one.noise, one.mean_noise, one.relation, one.largest_relation),
                )
            )  # fmt: skip
    return (
        Grid("displacement", "How far ranks moved (shares of the rows; shares of the records within some of them)",
             MOVED, tuple(moved)),
        Grid("noise", "How much of the change is permutation, how much is noise that protects nobody", CHANGED, tuple(changed)),
    )  # fmt: skip


def _rounded(*values: float) -> tuple[Cell, ...]:
    return tuple(None if value != value else float(f"{value:.4g}") for value in values)
