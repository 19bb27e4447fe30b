"""Finished releases in a folder: what needs no fitting is compared; the rest is said to be unknown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from unmask.audits.compare.axes import UTILITY, CompareAxis, Contrasts
from unmask.audits.compare.measures import COPIES, MEASURES, Publication, ReleaseMeasure, measured
from unmask.audits.compare.plan import ComparePlan
from unmask.audits.compare.sentences import Answer, short_answer, signed
from unmask.audits.compare.tables import answers_grid, contrast_grids, three
from unmask.audits.part import Part
from unmask.audits.plan import choices_of
from unmask.audits.runner import Runner
from unmask.errors import InputError, ParameterError
from unmask.results.figures import percent
from unmask.results.grid import Cell, Grid, Section
from unmask.results.result import Input, NotTested, describe_input
from unmask.stats.results import Assumption, Estimate
from unmask.stream import stream
from unmask.tables.encode import Unlisted
from unmask.tables.read import encode_frame, read_frame
from unmask.tables.schema import quoted
from unmask.tables.table import Table
from unmask.utility.comparison import DRAWS, resampled

APPLIES = ("generators", "label", "confidence", "seed")  # choices of a plan that mean something to finished releases
ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet")
UTILITY_MEASURES = tuple(each for each in MEASURES if each.is_utility and not each.needs_label)
NEEDS_FITTING = NotTested(
    "privacy of the targets, everybody, cost",
    "finished releases were given, and these need many fits of a mechanism",
    "name the mechanisms with --generators; for one release there is `unmask audit real.csv synthetic.csv --holdout holdout.csv`",
)
NEEDS_PEOPLE = NotTested(
    "prediction",
    "it needs people of whom no release knows",
    "use `unmask utility real.csv synthetic.csv --holdout holdout.csv --label`",
)


@dataclass(frozen=True, eq=False)
class Folder:
    """Releases by name; several tables are sets of one release."""

    releases: Mapping[str, tuple[Table, ...]]

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(
            describe_input(name if len(sets) == 1 else f"{name} {place}", table)
            for name, sets in self.releases.items()
            for place, table in enumerate(sets, start=1)
        )


def refuse_choices(plan: ComparePlan) -> None:
    """A choice that means nothing here is not passed over."""
    for choice in choices_of(ComparePlan):
        if choice.name not in APPLIES and getattr(plan, choice.name) != choice.default:
            raise ParameterError(
                f"{choice.asked} is a choice for mechanisms (--generators); this run is about finished releases (--releases). "
                "Leave it out."
            )


def read_folder(folder: Path, population: Table) -> Folder:
    """A file is a release; a folder in it is a release of several sets."""
    if not folder.is_dir():
        raise InputError(
            f"{folder}: this is no folder. Name one that holds a file, or a folder of files, for each release."
        )
    found: dict[str, tuple[Table, ...]] = {}
    for path in sorted(folder.iterdir()):
        files = (
            [each for each in sorted(path.iterdir()) if _is_table(each)] if path.is_dir() else [path] * _is_table(path)
        )
        name = path.name if path.is_dir() else path.name.partition(".")[0]
        if files and name in found:
            raise InputError(f"{folder}: two releases are called '{name}'. Give each a name of its own.")
        if files:
            found[name] = tuple(_read(each, population) for each in files)
    if len(found) < 2:
        here = "one release is" if found else "no releases are"
        raise InputError(
            f"{folder}: {here} here; a comparison needs two or more tables ({', '.join(ENDINGS)}), or folders of them."
        )
    return Folder(found)


def _is_table(path: Path) -> bool:
    return path.is_file() and path.name.lower().endswith(ENDINGS)


def _read(path: Path, population: Table) -> Table:
    frame, schema = read_frame(path), population.schema
    if gone := [name for name in schema.names if name not in frame.held.columns]:
        raise InputError(
            f"{path.name}: this release has other columns than the population: {quoted(gone)} "
            f"{'is' if len(gone) == 1 else 'are'} missing.\nCompare releases of one table; `unmask audit` looks at the columns "
            "that two tables share."
        )
    chosen = frame.held[list(schema.names)]
    table = encode_frame(replace(frame, held=chosen), schema, unlisted=Unlisted.NOTE)
    if not len(table):
        raise InputError(f"{path.name}: this release has no rows.")
    return table


@dataclass(frozen=True, eq=False)
class SetsMean:
    """A mean over sets (or one set) with its standard error and degrees of freedom."""

    value: np.ndarray
    error: np.ndarray
    degrees: int
    n: int
    method: str

    def at(self, place: int, confidence: float) -> Estimate:
        reach = float(stdtrit(self.degrees, 0.5 + confidence / 2)) * float(self.error[place])
        value = float(self.value[place])
        return Estimate(value, (value - reach, value + reach), confidence, self.method, Assumption.MODEL_BASED, self.n)


def compare_finished(plan: ComparePlan, population: Table, folder: Folder, runner: Runner) -> Part:
    """Utility of every release beside the population it was made of, and copies."""
    spreads: dict[str, SetsMean] = {}
    rows: list[tuple[Cell, ...]] = []
    for done, (name, sets) in enumerate(folder.releases.items()):
        runner.progress(done, len(folder.releases))
        spreads[name] = _spread(plan, name, population, sets)
        copied = COPIES.of(Publication(population, sets[0], None, None, plan.seed))
        for place, each in enumerate(UTILITY_MEASURES):
            rows.append(
                (
                    name,
                    each.title,
                    *three(spreads[name].at(place, plan.confidence)),
                    spreads[name].n,
                    spreads[name].method,
                )
            )
        rows.append(
            (
                name,
                "unique real rows that stand in it (how many by chance is not known)",
                round(copied, 4),
                None,
                None,
                len(sets[0]),
                "count",
            )
        )
    runner.progress(len(folder.releases), len(folder.releases))
    axes = [
        _axis(spreads, place, each, plan.confidence)
        for place, each in enumerate(UTILITY_MEASURES)
        if each.name == "two-way"
    ]
    contrasts = Contrasts.of(axes, tuple(spreads), plan.confidence)
    heads = ("release", "what", "value", "low", "high", "n", "method")
    grid = Grid(
        "compare/finished", "What is left of the real table (1 = all of it)", heads, tuple(rows), Section.UTILITY
    )
    grids = (answers_grid(_answers(contrasts)), grid, *contrast_grids(contrasts))
    notes = tuple(dict.fromkeys(note for sets in folder.releases.values() for table in sets for note in table.notes))
    missing = (NEEDS_FITTING, *((NEEDS_PEOPLE,) if plan.label is not None else ()))
    return Part(grids=grids, notes=(*population.notes, *notes), not_tested=missing)


def _spread(plan: ComparePlan, name: str, real: Table, sets: tuple[Table, ...]) -> SetsMean:
    """Over sets; of one set over samples of its rows."""
    values = np.array([_measures(plan, real, each) for each in sets])
    if len(sets) > 1:
        error = values.std(axis=0, ddof=1) / math.sqrt(len(sets))
        return SetsMean(values.mean(axis=0), error, len(sets) - 1, len(sets), "Student t over sets")
    rng = stream(plan.seed, "resampled", name)
    drawn = np.array([_measures(plan, real, resampled(sets[0], rng=rng)) for _ in range(DRAWS)])
    method = f"bootstrap of rows ({DRAWS}), Student t"
    return SetsMean(values[0], drawn.std(axis=0, ddof=1), DRAWS - 1, len(sets[0]), method)


def _measures(plan: ComparePlan, real: Table, release: Table) -> np.ndarray:
    return measured(Publication(real, release, None, None, plan.seed), UTILITY_MEASURES)


def _axis(spreads: Mapping[str, SetsMean], place: int, measure: ReleaseMeasure, confidence: float) -> CompareAxis:
    def between(one: str, other: str, sure: float) -> Estimate:
        """Releases are drawn independently of each other, given the real table: errors add as squares."""
        first, second = spreads[one], spreads[other]
        degrees = min(first.degrees, second.degrees)
        reach = float(stdtrit(degrees, 0.5 + sure / 2)) * math.hypot(first.error[place], second.error[place])
        value = float(first.value[place] - second.value[place])
        method = f"two independent releases, {first.method}"
        return Estimate(
            value, (value - reach, value + reach), sure, method, Assumption.MODEL_BASED, min(first.n, second.n)
        )

    of = {name: each.at(place, confidence) for name, each in spreads.items()}
    return CompareAxis(measure.name, f"{measure.title} kept", UTILITY, of, between)


def _answers(contrasts: Contrasts) -> list[Answer]:
    (axis,) = contrasts.axes
    ordered = sorted(contrasts.names, key=lambda name: -axis.of[name].value)
    told = "; ".join(f"{name} {signed(axis.of[name])}" for name in ordered)
    return [
        short_answer(contrasts),
        ("What do they keep?", f"{axis.title[:1].upper()}{axis.title[1:]}: {told}."),
        (
            "What do they hide?",
            "Not measured: finished releases were given, and what a mechanism hides shows in many fits of it. Which release to "
            "prefer cannot be said from what it keeps.",
        ),
        (
            "How sure is this?",
            f"All {contrasts.count} differences hold together with {percent(contrasts.confidence)} confidence (Bonferroni). "
            "What is independent: the sets of a release, or the rows of its one set; the real table is taken as given.",
        ),
    ]
