"""The comparison of mechanisms: the same people, targets and coins for all of them, and what each hides and keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from unmask.audits.compare.axes import Contrasts, axes_of
from unmask.audits.compare.budget import within_time
from unmask.audits.compare.entrants import Entrant, Given, entrants_of, names_of
from unmask.audits.compare.finished import Folder, compare_finished, read_folder, refuse_choices
from unmask.audits.compare.jobs import CompareJob, draw_all
from unmask.audits.compare.losers import group_figures, group_losses, target_losses
from unmask.audits.compare.plan import ComparePlan
from unmask.audits.compare.published import FRESH, Published, publication_tasks, published_of, settings_of, store_of
from unmask.audits.compare.sentences import (
    certainty_answer,
    dominance_answers,
    empty_words,
    loser_answers,
    price_answers,
    short_answer,
    teaching_answers,
)
from unmask.audits.compare.tables import SideBySide, answers_grid, grids_of, records_of
from unmask.audits.compare.target_games import GamePlayed, GameTable
from unmask.audits.compare.whole_table import WholeTable, coin_settings, coin_store, short_of_runs, whole_table_of
from unmask.audits.part import Part
from unmask.audits.plan import takes
from unmask.audits.runner import Runner, Say, silent
from unmask.errors import GeneratorError, ParameterError
from unmask.results.result import Cost, Input, NotTested, Result, describe_input
from unmask.simulation.coin import coin_tasks
from unmask.simulation.draws import failures_in_words
from unmask.simulation.executors import Executor, Progress, no_progress
from unmask.simulation.store import Store
from unmask.tables.read import read_table
from unmask.tables.schema import quoted
from unmask.tables.table import Table
from unmask.threats.knowledge import Goal
from unmask.utility.prediction import MOST_CLASSES

LATE = "the time budget does not pay for it"
ROWS_AGAIN = "leave it out; or let it drop less (sanitiser: fewer keys, a smaller k or rare), or use more --train-rows"
YARDSTICK = Entrant(FRESH, None)  # type: ignore[arg-type]  # has a folder and a name; its generator is made on the way


@takes(ComparePlan)
def compare(
    generators: Given,
    population: Any,
    *,
    schema: Any = None,
    out: str | Path | None = None,
    workers: int | Executor | None = None,
    time_budget: float | None = None,
    progress: Progress = no_progress,
    say: Say = silent,
    **choices: Any,
) -> Result:
    """Compare mechanisms: what each hides, what it keeps, what it costs, with intervals of the differences.

    `generators` are texts such as "privbayes:epsilon=1", generators, or a mapping from names to either; a path names a folder of
    finished releases, of which only what needs no fitting is measured. `choices` are the fields of `ComparePlan`, such as
    targets, secret, label, shadows, tests, repeats, runs, seed. With `out`, every draw is kept there and an interrupted run
    continues.
    """
    runner = Runner.of(workers, out=out, time_budget=time_budget, progress=progress, say=say)
    if isinstance(generators, str | Path):
        return CompareAudit.of(ComparePlan.of(choices), population=population, schema=schema, releases=generators).run(
            runner
        )
    plan = ComparePlan.of({"generators": names_of(generators), **choices})
    return CompareAudit(plan, read_table(population, schema), entrants_of(plan, generators)).run(runner)


@dataclass(frozen=True, eq=False)
class CompareAudit:
    """A plan, the mechanisms that it names, and the people to play with; or a folder of finished releases."""

    plan: ComparePlan
    population: Table
    entrants: tuple[Entrant, ...] = ()
    folder: Folder | None = None

    def __post_init__(self) -> None:
        for name, column in (("--secret", self.plan.secret), ("--label", self.plan.label)):
            if column is not None and column not in self.population.schema.names:
                raise ParameterError(
                    f"{name} {column}: there is no such column. There are: {quoted(self.population.schema.names)}."
                )
        label = self.plan.label
        if (
            label is not None
            and not (found := self.population.schema.column(label)).is_numeric
            and found.listed > MOST_CLASSES
        ):
            raise ParameterError(
                f"--label {label}: it has {found.listed:,} categories; at most {MOST_CLASSES} are predicted."
            )

    @classmethod
    def of(cls, plan: ComparePlan, *, population: Any, schema: Any = None, releases: Any = None) -> CompareAudit:
        """Read what the plan is about."""
        if releases is None:
            made = entrants_of(plan)
            return cls(plan, read_table(population, schema), made)
        if plan.generators:
            raise ParameterError(
                "Finished releases and generators are two comparisons: give --releases or --generators."
            )
        refuse_choices(plan)
        real = read_table(population, schema)
        return cls(plan, real, folder=read_folder(Path(releases), real))

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        people = describe_input("population", self.population)
        return (people, *(self.folder.inputs if self.folder is not None else ()))

    def expected(self) -> Result:
        return self.plan.expected("compare", self.inputs)

    def run(self, runner: Runner) -> Result:
        """Draw everything, then compare every two mechanisms on what they share."""
        if self.folder is not None:
            part = compare_finished(self.plan, self.population, self.folder, runner)
            return part.told(self.expected(), None)
        played = self._drawn(runner)
        found, not_tested = played.found()
        part = part_of(found, played.plan) + Part(
            notes=(*self.population.notes, *played.plan.attack(Goal.MEMBERSHIP, "any").domain_notes),
            not_tested=not_tested,
        )
        result = part.told(
            replace(self.expected(), plan=played.plan.to_plain()), records_of(found.games, found.confidence)
        )
        return replace(result, costs=_costs(found.published))

    def _drawn(self, runner: Runner) -> Drawn:
        plan, entrants, digest = self.plan, self.entrants, self.inputs[0].digest
        goals = (Goal.MEMBERSHIP, *((Goal.ATTRIBUTE,) if plan.secret is not None else ()))
        tables = [GameTable.of(plan, goal, entrants, self.population) for goal in goals]
        ground = next(iter(tables[0].settings.values())).ground
        measured = settings_of(plan, entrants, ground)
        coins = coin_settings(plan, entrants, self.population) if plan.runs else {}
        stores: dict[tuple[str, str], Store] = {}
        for one in entrants:
            for table in tables:
                stores[str(table.goal), one.name] = table.store(one, runner, digest)
            if coins:
                stores["everyone", one.name] = coin_store(plan, one, coins[one.name], runner, digest)
        for one in (*entrants, YARDSTICK):
            stores["published", one.name] = store_of(plan, one, runner, digest)

        def jobs(chosen: ComparePlan) -> list[CompareJob]:
            made = [CompareJob("published", name, each, publication_tasks(chosen)) for name, each in measured.items()]
            for table in tables:
                tasks = table.resized(chosen).tasks
                made += [CompareJob(str(table.goal), name, each, tasks) for name, each in table.settings.items()]
            made += [
                CompareJob("everyone", name, each, coin_tasks(chosen.runs))
                for name, each in coins.items()
                if chosen.runs
            ]
            return made

        chosen = plan if runner.seconds is None else within_time(plan, runner, jobs, stores)
        draw_all(jobs(chosen), stores, runner)
        return Drawn(self, chosen, [table.resized(chosen) for table in tables], jobs, stores, runner)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Everything that was drawn, by part and mechanism."""

    audit: CompareAudit
    plan: ComparePlan
    tables: Sequence[GameTable]
    jobs: Callable[[ComparePlan], list[CompareJob]]
    stores: dict[tuple[str, str], Store]
    runner: Runner

    def found(self) -> tuple[SideBySide, tuple[NotTested, ...]]:
        """Judge it all; mechanisms that any part leaves out are compared in none."""
        plan, names = self.plan, [one.name for one in self.audit.entrants]
        games = [
            table.played({name: self.stores[str(table.goal), name] for name in names}, self.runner)
            for table in self.tables
        ]
        judged = [{one.name for one in game.guessed} for game in games]
        kept = [name for name in names if all(name in each for each in judged)]
        todo = self.jobs(plan)
        settings = {job.name: job.setting for job in todo if job.part == "published"}
        stores = {name: self.stores["published", name] for name in (*kept, FRESH)}
        published = published_of(settings, stores, publication_tasks(plan), kept)
        _check(published, kept)
        compared = [name for name in kept if name not in published.silent]
        coins = {job.name: job.setting for job in todo if job.part == "everyone" and job.name in compared}
        runs = {name: self.stores["everyone", name] for name in coins}
        table = whole_table_of(plan, coins, runs, coin_tasks(plan.runs)) if coins else None
        games = [replace(game, guessed=tuple(one for one in game.guessed if one.name in compared)) for game in games]
        raw = frozenset(one.name for one in games[0].guessed if one.is_raw)
        axes = axes_of(games, table, published, plan.label, plan.confidence)
        contrasts = Contrasts.of(axes, compared, plan.confidence, raw)
        figures = group_figures(published, compared, self.audit.population.schema, plan.confidence)
        entrants = tuple(one for one in self.audit.entrants if one.name in kept)
        found = SideBySide(entrants, tuple(games), table, published, contrasts, figures, plan.label, plan.confidence)
        missing = [
            *self._not_tested(published),
            *self._without_table(table, short_of_runs(runs, coin_tasks(plan.runs))),
        ]
        return found, (*(each for game in games for each in game.not_tested), *missing)

    def _without_table(self, table: WholeTable | None, short: dict[str, int]) -> list[NotTested]:
        """Why there is nothing on everybody."""
        if table is not None:
            return []
        more = "use --runs 32, or more time"
        if not self.audit.plan.runs or not self.plan.runs:
            return [NotTested("everybody", LATE if self.audit.plan.runs else "it was not asked for", more)]
        if not short:
            return [NotTested("everybody", "too few runs were published by all", more)]
        told = ", ".join(f"{name} published rows in {runs} of {self.plan.runs} runs" for name, runs in short.items())
        return [NotTested("everybody", f"{told}, which is too few", ROWS_AGAIN)]

    def _not_tested(self, published: Published) -> list[NotTested]:
        plan = self.plan
        missing = [
            NotTested(name, "it published no rows in {:,} of {:,} releases".format(*published.empty[name]), ROWS_AGAIN)
            for name in published.silent
        ]
        if plan.secret is None:
            missing.append(NotTested("attribute", "no secret was named", "use --secret COLUMN"))
        if plan.label is None:
            missing.append(NotTested("prediction", "no column to predict was named", "use --label COLUMN"))
        return missing


def _check(published: Published, kept: Sequence[str]) -> None:
    if len(kept) < 2:
        raise GeneratorError("Fewer than two mechanisms could be judged in every game, so there is nothing to compare.")
    if len(published.fresh) < 2:
        raise GeneratorError(
            "Fewer than two fresh tables were fitted by all mechanisms, so that utility was not measured."
        )
    if len(published.silent) == len(kept):
        raise GeneratorError(f"No mechanism published rows in half of its releases. For each of them: {ROWS_AGAIN}.")


def part_of(found: SideBySide, plan: ComparePlan) -> Part:
    """Sentences first, then what they rest on."""
    contrasts = found.contrasts
    answers = [
        short_answer(contrasts, empty_words(found.published)),
        *dominance_answers(contrasts),
        *price_answers(contrasts),
        *teaching_answers(found.published, contrasts.names, found.label, found.confidence),
        *loser_answers(target_losses(found.games, found.confidence), group_losses(found.figures)),
        certainty_answer(contrasts, _units(found), True),
    ]
    failures = [each for game in found.games for each in game.failures]
    failures += [*found.published.failures, *(found.table.failures if found.table else ())]
    rows = plan.synthetic_rows or plan.train_rows
    notes = [
        f"Every mechanism was fitted to tables of {plan.train_rows:,} rows and published {rows:,} (a sanitiser: what survives).",
        "The attacker holds other people of the population and can run the mechanism. Against each mechanism the attack was "
        "played that did best on the attacker's own releases (raw: record linkage); a better attack may change the order.",
        "Privacy gain: what record linkage gains from the published real table, less what the attack gains from the release, on "
        "the same coins.",
    ]
    if found.table is not None:
        notes.append(
            f"The coin game about everybody fits half of {found.table.people:,} people at a time: smaller tables give more away."
        )
    if failures:
        notes.append(failures_in_words(failures, "fits"))
    return Part(grids=(answers_grid(answers), *grids_of(found)), notes=tuple(notes), failed_tasks=len(failures))


def _units(found: SideBySide) -> list[str]:
    """What is independent, part by part."""
    game: GamePlayed = found.games[0]
    told = [f"{len(np.unique(game.fits)):,} fits under attack, each with its real table and coins"]
    told.append(f"{len(found.published.fresh):,} fresh real tables for utility")
    if found.table is not None:
        judged = len(next(iter(found.table.risks.values())).without)
        told.append(f"{judged:,} judged runs of the coin game")
    return told


def _costs(published: Published) -> tuple[Cost, ...]:
    """Median CPU seconds of a fit and of a release: the first ones compile."""
    costs = []
    for name, seconds in published.seconds.items():
        fit, sample = (round(float(each), 4) for each in np.median(seconds, axis=0))
        costs.append(Cost(name, fit, sample, len(seconds)))
    return tuple(costs)
