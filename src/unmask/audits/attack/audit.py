"""The audit of a generator: play the game many times, attack every release, compare with the truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from unmask import generators as generator_list
from unmask.attacks.record_linkage import RecordLinkage
from unmask.audits.attack.budget import within_time
from unmask.audits.attack.choice import Chosen, choose_attacks, prepared
from unmask.audits.attack.effective import effective_part
from unmask.audits.attack.export import export_scores
from unmask.audits.attack.judges import LIKELIHOOD, LINKAGE, Bench, Played, Scored
from unmask.audits.attack.plan import AttackPlan
from unmask.audits.attack.result import part_of, records_of
from unmask.audits.attack.usefulness import Usefulness
from unmask.audits.attack.words import delta_for
from unmask.audits.part import Part
from unmask.audits.plan import takes
from unmask.audits.runner import Runner, Say, silent
from unmask.errors import GeneratorError, UnmaskError
from unmask.generators._generator import Generator, claim_for
from unmask.generators._possible import Belief
from unmask.generators.raw import Raw
from unmask.results.result import Input, NotTested, Result, describe_input
from unmask.simulation.executors import Executor, Progress, no_progress
from unmask.simulation.target import TargetSetting, static_view
from unmask.simulation.target_pool import Draws, draws_of, pool_of
from unmask.simulation.task import Task, Whose, tasks_for
from unmask.stream import stream
from unmask.tables.read import read_table
from unmask.tables.table import Table
from unmask.threats.game import Game, Ground, check_targets, deal, lay_ground
from unmask.threats.knowledge import Access, Data, Placement
from unmask.threats.targets import Targets, choose
from unmask.utility.utility_game import UtilityGame


@takes(AttackPlan)
def attack(
    generator: str | Generator,
    population: Any,
    *,
    schema: Any = None,
    out: str | Path | None = None,
    workers: int | Executor | None = None,
    time_budget: float | None = None,
    scores: str | Path | None = None,
    progress: Progress = no_progress,
    say: Say = silent,
    **choices: Any,
) -> Result:
    """Attack a generator: for each target, can its presence (or its secret) be told from the releases?

    `choices` are the fields of `AttackPlan`, such as targets, goal, knowledge, access, attacks, shadows, tests, seed. With
    `out`, every draw is kept there and an interrupted run continues. `time_budget` (seconds) lowers shadows and tests.
    `scores` is a file for the raw scores of all attacks (.npz).
    """
    runner = Runner.of(workers, out=out, time_budget=time_budget, progress=progress, say=say)
    plan = AttackPlan.of({"generator": generator_list.text_of(generator), **choices})
    kept = Path(scores) if scores else None
    return AttackAudit(plan, plan.made(generator), read_table(population, schema), kept).run(runner)


@dataclass(frozen=True, eq=False)
class AttackAudit:
    """A plan, the generator that it names, and the people to play with."""

    plan: AttackPlan
    generator: Generator
    population: Table
    scores: Path | None = None  # a file for the raw scores of all attacks

    @classmethod
    def of(cls, plan: AttackPlan, *, population: Any, schema: Any = None, scores: Path | None = None) -> AttackAudit:
        """Read what the plan is about."""
        return cls(plan, plan.made(), read_table(population, schema), scores)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        return (describe_input("population", self.population),)

    def expected(self) -> Result:
        return self.plan.expected("attack", self.inputs)

    def run(self, runner: Runner) -> Result:
        """Draw every release once, let all attacks look at it, and judge them."""
        setting, targets, chosen = self.set_up()
        (population,) = self.inputs
        store, plan = runner.store(self.plan, {"population": population.digest}), self.plan
        if runner.seconds is not None:
            plan = within_time(plan, runner, setting, store)
        tasks = tasks_of(plan, len(targets))
        published = [replace(task, whose=Whose.RAW) for task in tasks if task.whose is Whose.TEST]
        total = len(tasks) + len(published)
        runner.showing(0, total).draw(setting, tasks, store)
        raw = raw_setting(setting)
        reads = runner if setting.analyst else runner.here()  # record linkage alone is too small to be sent
        reads.showing(len(tasks), total).draw(raw, published, store)
        shadow, test = (draws_of(setting, tasks, store, whose) for whose in (Whose.SHADOW, Whose.TEST))
        _check_draws(test)
        scored, refused = score_all(setting, chosen, shadow, test)
        raws = draws_of(raw, published, store, Whose.RAW)
        delta = delta_for(plan.delta, self.generator.claim)
        played = Played(plan, setting, targets, shadow, test, raws, plan.confidence, delta)
        useful = None if self.utility_game is None else Usefulness(self.utility_game, played)
        if self.scores is not None:
            export_scores(self.scores, played, scored, self.utility_game)
        bench = Bench.of(played, scored)
        claim = claim_for(self.generator.claim, self.population.schema)
        part = part_of(bench, claim, self.population.notes) + effective_part(bench, claim)
        part += Part(not_tested=refused, notes=plan.domain_notes)
        records = records_of(bench)
        if useful is not None:
            part, records = part + useful.part(), useful.with_columns(records)
        return part.told(replace(self.expected(), plan=plan.to_plain()), records)

    @cached_property
    def targets(self) -> Targets:
        """Whom to attack."""
        found = choose(self.plan.targets, self.population, stream(self.plan.seed, "targets"))
        check_targets(self.population, found.rows, self.plan.game)
        return found

    @cached_property
    def utility_game(self) -> UtilityGame | None:
        """Whose label an analyst predicts, and what it is; None if nobody asked for it."""
        plan = self.plan
        if plan.utility_label is None:
            return None
        return UtilityGame.of(self.population, self.targets.rows, plan.utility_label, plan.utility_people)

    def set_up(self) -> tuple[TargetSetting, Targets, Chosen]:
        """Whom to attack, from whom tables are drawn, and by which attacks: fixed before the first draw."""
        plan, game, useful = self.plan, self.plan.game, self.utility_game
        delta_for(plan.delta, self.generator.claim)  # refuses one that makes no sense before anything is drawn
        targets, apart = self.targets, () if useful is None else useful.rows.ravel().tolist()
        ground = lay_ground(self.population, targets.rows, game, stream(plan.seed, "ground"), apart=apart)
        if game.data is Data.NONE:
            ground = replace(ground, reference=_stand_ins(self.generator, ground, game, plan))
        chosen = choose_attacks(plan.attacks, game, shadows=plan.shadows)
        setting = TargetSetting(
            seed=plan.seed,
            game=game,
            ground=ground,
            generator=self.generator,
            features=chosen.features,
            belief=Belief.of(plan.possible, learnt_domain=plan.domain == "learnt"),
            releases=plan.releases_per_fit,
            analyst=useful,
        )
        setting, refused = prepared(setting, chosen)
        return setting, targets, replace(chosen, not_tested=chosen.not_tested + refused)


def tasks_of(plan: AttackPlan, targets: int) -> tuple[Task, ...]:
    """The attacker's own releases, and those under attack."""
    shadows = plan.shadows if Access.SHADOWS in plan.game.allowed else 0
    return tasks_for(shadows, plan.tests, targets, isolate=plan.isolate_targets)


def raw_setting(setting: TargetSetting) -> TargetSetting:
    """The same game with the real table published, and the attacks that read it."""
    secret, readers = setting.secret, {LINKAGE: RecordLinkage()}
    if secret is not None and not secret.levels:
        readers[LIKELIHOOD] = RecordLinkage(unique=True, model="linear")
    ready = {
        name: reader.prepare(static_view(setting), setting.masked, secret, stream(setting.seed, name))
        for name, reader in readers.items()
    }
    return replace(setting, generator=Raw(), features=(), belief=None, attacks=ready, releases=1)


def _stand_ins(generator: Generator, ground: Ground, game: Game, plan: AttackPlan) -> Table:
    """People for an attacker who knows none: drawn from the generator, or from one refitted on a release.

    The release is made from real people without any target, as one that the attacker may have found.
    """
    rng = stream(plan.seed, "stand-ins")
    wanted = max(2 * game.rows, game.synthetic_rows)
    base = replace(game, placement=Placement.APPEND, prior=1e-12)
    real = deal(ground, base, rng, shadow=False).real
    try:
        model = generator.fit(real, rng)
        if plan.refit:
            model = generator.fit(model.sample(game.synthetic_rows, rng), rng)
        people = model.sample(wanted, rng)
    except UnmaskError as problem:
        raise GeneratorError(f"No stand-ins could be drawn for an attacker who knows nobody: {problem}") from None
    if len(people) < game.rows:
        raise GeneratorError(f"The generator gave {len(people)} stand-ins; {game.rows} are needed.")
    return people


def _check_draws(test: Draws) -> None:
    if len(test) < 2:
        reason = test.failures[0] if test.failures else "there were none"
        raise GeneratorError(f"No release could be drawn, so there is nothing to attack. The first reason: {reason}")


def score_all(
    setting: TargetSetting, chosen: Chosen, shadow: Draws, test: Draws
) -> tuple[list[Scored], tuple[NotTested, ...]]:
    """Scores of every attack on the releases under attack, and on the shadows where those set its threshold."""
    scored, refused = [], list(chosen.not_tested)
    for name in setting.attacks or {}:
        if name in test.scores and name not in shadow.problems:
            scored.append(Scored(name, test.scores[name], shadow.scores.get(name)))
        else:
            refused.append(_without_scores(name, test.problems.get(name) or shadow.problems.get(name)))
    if chosen.shadow and len(shadow) >= 2:
        pool, blind = pool_of(setting, shadow), pool_of(setting, test).blind()
        for name, found in chosen.shadow.items():
            try:
                fitted = found.fit(pool, stream(setting.seed, "fit", name))
            except UnmaskError as problem:
                refused.append(NotTested(name, str(problem), "leave it out of --attacks"))
                continue
            scored.append(Scored(name, fitted.score(blind), None))
    return scored, tuple(refused)


def _without_scores(name: str, problem: str | None) -> NotTested:
    if problem is None:  # a new attack in an old directory
        return NotTested(name, "the draws were made before this attack was there", "draw anew: use another --out")
    return NotTested(name, f"it failed: {problem}", "leave it out of --attacks")
