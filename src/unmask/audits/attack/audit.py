"""The audit of a generator: play the game many times, attack every release, compare with the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unmask import attacks as attack_list
from unmask import generators as generator_list
from unmask.attacks._attack import Attack, FeatureSet, ReleaseAttack, ShadowAttack
from unmask.attacks.record_linkage import RecordLinkage
from unmask.simulation.draws import DRAWS, open_draws
from unmask.audits.attack.judges import Played, Scored
from unmask.audits.attack.result import build_result
from unmask.audits.attack.plan import GROWING, AttackPlan
from unmask.results.result import NotTested, Result
from unmask.errors import GeneratorError, UnmaskError
from unmask.generators._generator import Generator
from unmask.generators.raw import Raw
from unmask.simulation.target import Setting, static_view
from unmask.simulation.executors.local import Progress, no_progress, run_tasks
from unmask.simulation.target_pool import Draws, gather, pool_of
from unmask.simulation.store import Store
from unmask.simulation.task import Whose, tasks_for
from unmask.stream import stream
from unmask.tables.read import read_table
from unmask.tables.table import Table
from unmask.threats.game import Game, Ground, Placement, deal, lay_ground
from unmask.threats.knowledge import Access, Data
from unmask.threats.targets import choose

LINKAGE = "record-linkage"  # the attack on raw data, with which privacy gain is compared


def attack(
    generator: str | Generator,
    population: Any,
    *,
    schema: Any = None,
    out: str | Path | None = None,
    workers: int = 1,
    progress: Progress = no_progress,
    **choices: Any,
) -> Result:
    """Attack a generator: for each target, can its presence (or its secret) be told from the releases?

    `choices` are the fields of `AttackPlan`, such as targets, goal, knowledge, access, attacks, shadows, tests, seed.
    With `out`, every draw is kept there and an interrupted run continues.
    """
    text = generator if isinstance(generator, str) else repr(generator)
    plan = AttackPlan(generator=text, **choices)
    chosen = generator_list.parse(plan.generator, plan.settings) if isinstance(generator, str) else generator
    table = read_table(population, schema)
    return run(plan, chosen, table, out=Path(out) if out else None, workers=workers, progress=progress)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The attacks of a run: by kind, with those that cannot run and why."""

    release: dict[str, ReleaseAttack]
    shadow: dict[str, ShadowAttack]
    not_tested: tuple[NotTested, ...]

    @property
    def features(self) -> tuple[FeatureSet, ...]:
        """Every feature set that some attack needs, once."""
        found = {feature.key: feature for attack in self.shadow.values() for feature in attack.features}
        return tuple(found.values())


def run(
    plan: AttackPlan, generator: Generator, population: Table, *, out: Path | None, workers: int, progress: Progress
) -> Result:
    """Carry out a plan."""
    game = plan.game
    targets = choose(plan.targets, population, stream(plan.seed, "targets"))
    ground = lay_ground(population, targets.rows, game, stream(plan.seed, "ground"))
    if game.data is Data.NONE:
        ground = replace(ground, reference=_stand_ins(generator, ground, game, plan))
    chosen = choose_attacks(plan.attacks, game, shadows=plan.shadows)
    setting = Setting(
        seed=plan.seed,
        game=game,
        ground=ground,
        generator=generator,
        features=chosen.features,
        prior=tuple(generator_list.parse(text) for text in plan.possible),
    )
    setting, chosen = _prepared(setting, chosen)
    store = _open_store(out, plan, population)
    shadows = plan.shadows if Access.SHADOWS in game.allowed else 0
    tasks = tasks_for(shadows, plan.tests, len(targets), isolate=game.isolate_targets)
    raw_tasks = [replace(task, whose=Whose.RAW) for task in tasks if task.whose is Whose.TEST]
    total = len(tasks) + len(raw_tasks)
    run_tasks(setting, tasks, store, workers=workers, progress=lambda done, _: progress(done, total))
    raw = _raw_setting(setting)
    run_tasks(raw, raw_tasks, store, workers=1, progress=lambda done, _: progress(len(tasks) + done, total))
    shadow, test = gather(setting, tasks, store, Whose.SHADOW), gather(setting, tasks, store, Whose.TEST)
    published = gather(raw, raw_tasks, store, Whose.RAW)
    _check_draws(test)
    scored, not_tested = _score(setting, chosen, shadow, test, plan)
    return build_result(
        Played(plan, setting, targets, shadow, test, published), scored, tuple(not_tested), generator, population
    )


def choose_attacks(texts: Sequence[str], game: Game, *, shadows: int) -> Chosen:
    """Attacks by name; those that this threat model does not allow are listed with the reason."""
    names = attack_list.names() if tuple(texts) == ("all",) else tuple(texts)
    release: dict[str, ReleaseAttack] = {}
    shadow: dict[str, ShadowAttack] = {}
    refused = []
    for text in names:
        found = attack_list.parse(text)
        if reason := _obstacle(found, game, shadows):
            refused.append(NotTested(text, *reason))
        elif isinstance(found, ShadowAttack):
            shadow[text] = found
        else:
            release[text] = found
    return Chosen(release, shadow, tuple(refused))


def _obstacle(attack: Attack, game: Game, shadows: int) -> tuple[str, str] | None:
    """Why an attack cannot run in this game, and what would enable it."""
    if game.goal not in attack.goals:
        return f"it is no {game.goal} attack", f"use --goal {' or '.join(sorted(attack.goals))}"
    if lacking := sorted(attack.needs - game.allowed):
        return f"the attacker does not have {', '.join(lacking)}", "allow more with --access or --knowledge"
    if isinstance(attack, ShadowAttack) and shadows < 2:
        return "there are no shadow releases to learn from", "use --shadows 200"
    return None


def _prepared(setting: Setting, chosen: Chosen) -> tuple[Setting, Chosen]:
    """Attacks after the work that is the same for every release; one that fails is listed as not tested."""
    ready: dict[str, ReleaseAttack] = {}
    refused = list(chosen.not_tested)
    for name, found in chosen.release.items():
        try:
            rng = stream(setting.seed, "prepare", name)
            ready[name] = found.prepare(static_view(setting), setting.masked, setting.secret, rng)
        except UnmaskError as problem:
            refused.append(NotTested(name, str(problem), "see the reason"))
    return replace(setting, attacks=ready), replace(chosen, release=ready, not_tested=tuple(refused))


def _raw_setting(setting: Setting) -> Setting:
    """The same game with the real table published, and the attack that reads it."""
    linkage = RecordLinkage().prepare(
        static_view(setting), setting.masked, setting.secret, stream(setting.seed, LINKAGE)
    )
    return replace(setting, generator=Raw(), features=(), prior=(), attacks={LINKAGE: linkage})


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


def _open_store(out: Path | None, plan: AttackPlan, population: Table) -> Store:
    """The draws of this plan; a directory that holds draws of another plan is refused, and the field is named."""
    identity = plan.to_plain() | {"seed": plan.seed, "population": population.digest()}
    fixed = {name: value for name, value in identity.items() if name not in GROWING}
    return open_draws(out / DRAWS if out else None, fixed)


def _check_draws(test: Draws) -> None:
    if len(test) < 2:
        reason = test.failures[0] if test.failures else "there were none"
        raise GeneratorError(f"No release could be drawn, so there is nothing to attack. The first reason: {reason}")


def _score(
    setting: Setting, chosen: Chosen, shadow: Draws, test: Draws, plan: AttackPlan
) -> tuple[list[Scored], list[NotTested]]:
    """Scores of every attack on the releases under attack, and on the shadows where those set its threshold."""
    scored, refused = [], list(chosen.not_tested)
    for name in chosen.release:
        if name in test.scores and name not in shadow.problems:
            scored.append(Scored(name, test.scores[name], shadow.scores.get(name)))
        else:
            reason = test.problems.get(name) or shadow.problems.get(name, "it gave no scores")
            refused.append(NotTested(name, f"it failed: {reason}", "see the reason"))
    if chosen.shadow and len(shadow) >= 2:
        pool, blind = pool_of(setting, shadow), pool_of(setting, test).blind()
        for name, found in chosen.shadow.items():
            try:
                fitted = found.fit(pool, stream(plan.seed, "fit", name))
            except UnmaskError as problem:
                refused.append(NotTested(name, str(problem), "see the reason"))
                continue
            scored.append(Scored(name, fitted.score(blind), None))
    return scored, refused
