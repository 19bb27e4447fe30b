"""The games about targets: every mechanism on the same tables and coins, against the attack that its shadows chose.

A draw of one number deals the same people to all mechanisms, since a stream depends on seed and task alone. Each mechanism meets
the attack that does best against it on the last third of the attacker's own releases, after learning from the others: no
release that is judged has a say. `raw` is the real table published, read by record linkage: what there is to lose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unmask.audits.attack.audit import AttackAudit, raw_setting, score_all, tasks_of
from unmask.audits.attack.choice import Chosen, prepared
from unmask.audits.attack.judges import LINKAGE, MATCH, Played, Scored, membership_guesses, success_of
from unmask.audits.compare.entrants import Entrant
from unmask.audits.compare.plan import ComparePlan
from unmask.audits.runner import Runner
from unmask.errors import GeneratorError, ParameterError
from unmask.generators.raw import Raw
from unmask.results.result import NotTested
from unmask.simulation.gather import gather
from unmask.simulation.store import MemoryStore, Store
from unmask.simulation.target import TargetSetting
from unmask.simulation.target_pool import Draws, draws_of
from unmask.simulation.task import Task, Whose
from unmask.stats.cases import Cases
from unmask.stats.paired import paired_gain
from unmask.stats.results import Assumption, Estimate
from unmask.tables.table import Table
from unmask.threats.knowledge import Goal
from unmask.threats.targets import Targets

LEARNT = 2 / 3  # of the attacker's own fits, before one of the attacks is chosen on the rest
FAILING = 0.5  # of its draws: a mechanism that fails more often is left out


@dataclass(frozen=True, eq=False)
class Met:
    """What the chosen attack made of one mechanism: releases x targets, guessed "in", or the secret guessed right."""

    name: str
    attack: str
    right: np.ndarray
    is_raw: bool = False  # the real table itself, published


@dataclass(frozen=True, eq=False)
class GamePlayed:
    """A game after all mechanisms went through it. Releases are those that every mechanism published."""

    goal: Goal
    targets: Targets
    members: np.ndarray  # releases x targets: the coins, the same for all
    fits: np.ndarray  # the fit of each release: what is independent
    prior: float
    raw: np.ndarray  # releases x targets, for the published real table
    guessed: tuple[Met, ...]
    not_tested: tuple[NotTested, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def every(self) -> np.ndarray:
        return np.arange(len(self.targets))

    def advantage(self, one: Met, positions: np.ndarray, confidence: float) -> Estimate:
        """What the attack gains from people's presence, on these targets."""
        members, cases = self._cases(positions)
        return cases.gain(one.right[:, positions].ravel(), members, confidence=confidence)

    def gain(self, one: Met, positions: np.ndarray, confidence: float) -> Estimate:
        """Privacy gain: what is gained from the real table less what is gained from the release, on the same coins."""
        if one.is_raw and np.array_equal(one.right, self.raw):
            return Estimate(0.0, (0.0, 0.0), confidence, "by definition", Assumption.EXACT, len(np.unique(self.fits)))
        return self._difference(self.raw, one.right, positions, confidence)

    def between(self, one: Met, other: Met, positions: np.ndarray, confidence: float) -> Estimate:
        """Privacy gain of the one less that of the other."""
        return self._difference(other.right, one.right, positions, confidence)

    def _difference(self, first: np.ndarray, second: np.ndarray, positions: np.ndarray, confidence: float) -> Estimate:
        members, cases = self._cases(positions)
        one, other = (each[:, positions].ravel() for each in (first, second))
        return paired_gain(one, other, members, cases=cases, confidence=confidence)

    def _cases(self, positions: np.ndarray) -> tuple[np.ndarray, Cases]:
        members = self.members[:, positions]
        return members.ravel(), Cases.of(self.fits.repeat(len(positions)), members.size, self.prior)


@dataclass(frozen=True, eq=False)
class GameTable:
    """A game before it is played: one setting for each mechanism, alike but for the mechanism."""

    plan: ComparePlan
    goal: Goal
    targets: Targets
    chosen: Chosen
    settings: dict[str, TargetSetting]
    refused: tuple[NotTested, ...]

    @classmethod
    def of(cls, plan: ComparePlan, goal: Goal, entrants: Sequence[Entrant], population: Table) -> GameTable:
        """Choose targets and lay the ground once; prepare the attacks against each mechanism."""
        first = entrants[0]
        audit = AttackAudit(plan.attack(goal, first.name), first.generator, population)
        setting, targets, chosen = audit.set_up()
        if not chosen.release and not chosen.shadow:
            raise ParameterError(
                f"None of these attacks plays the {goal} game: {', '.join(plan.attacks)}. Name others."
            )
        settings: dict[str, TargetSetting] = {}
        refused: list[NotTested] = []
        for one in entrants:
            settings[one.name], more = prepared(replace(setting, generator=one.generator, attacks=None), chosen)
            refused += [replace(each, name=f"{one.name}: {each.name}") for each in more]
        return cls(plan, goal, targets, chosen, settings, tuple(refused))

    def resized(self, plan: ComparePlan) -> GameTable:
        """The same with other numbers of releases."""
        return replace(self, plan=plan)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Of each mechanism."""
        return tasks_of(self.plan.attack(self.goal, "any"), len(self.targets))

    def store(self, one: Entrant, runner: Runner, population: str) -> Store:
        """Where the draws of one mechanism are kept; those of another plan are refused."""
        return in_folder(runner, one, str(self.goal)).store(
            self.plan.attack(self.goal, one.name), {"population": population}
        )

    def played(self, stores: dict[str, Store], runner: Runner) -> GamePlayed:
        """Judge every mechanism on the releases that all of them published."""
        tests = [task for task in self.tasks if task.whose is Whose.TEST]
        found = {name: gather(tests, store, ("members",)) for name, store in stores.items()}
        out = {name: each.failures[0] for name, each in found.items() if len(each) < (1 - FAILING) * len(tests)}
        kept = [name for name in stores if name not in out]
        if len(kept) < 2:
            first = next(iter(out.values()), "there were none")
            raise GeneratorError(
                f"Fewer than two mechanisms published enough to be compared. The first reason: {first}"
            )
        common = [task for task in tests if all(task in set(found[name].tasks) for name in kept)]
        if len(common) < 2:
            raise GeneratorError(
                "The mechanisms have fewer than two releases in common: too many of their fits failed."
            )
        draws = {name: draws_of(self.settings[name], common, stores[name], Whose.TEST) for name in kept}
        one = draws[kept[0]]
        raw = self._raw(common, runner).repeat(one.releases, axis=0)
        guessed: list[Met] = []
        refused = [*self.refused, *(left_out(name, reason) for name, reason in out.items())]
        for name in kept:
            met = self._guessed(name, stores[name], draws[name], raw)
            (refused if isinstance(met, NotTested) else guessed).append(met)  # type: ignore[arg-type]
        prior = self.settings[kept[0]].game.prior
        failures = tuple(each for name in kept for each in found[name].failures)
        return GamePlayed(
            self.goal, self.targets, one.members, one.fits, prior, raw, tuple(guessed), tuple(refused), failures
        )

    def _guessed(self, name: str, store: Store, test: Draws, raw: np.ndarray) -> Met | NotTested:
        """The attack that does best on the attacker's own last releases, on those under attack; raw meets record linkage."""
        setting = self.settings[name]
        shadow = draws_of(setting, self.tasks, store, Whose.SHADOW)
        early = shadow.fits < round(LEARNT * (shadow.fits.max(initial=0) + 1))
        tried, late = shadow.take(early), shadow.take(~early)
        scored, _ = score_all(setting, self.chosen, tried, late)
        worth = {each.name: _worth(self._right(each, setting, tried, late), late.members) for each in scored}
        if not worth:
            return NotTested(f"{name}: {self.goal}", "no attack gave scores against it", "name other --attacks")
        is_raw = isinstance(setting.generator, Raw)
        if is_raw and LINKAGE in worth:
            return Met(name, LINKAGE, raw, is_raw)
        won = max(worth, key=lambda each: worth[each])
        only = replace(self.chosen, shadow={won: self.chosen.shadow[won]} if won in self.chosen.shadow else {})
        final = next((each for each in score_all(setting, only, shadow, test)[0] if each.name == won), None)
        if final is None:
            return NotTested(
                f"{name}: {self.goal}", f"{won} failed on the releases under attack", "name other --attacks"
            )
        return Met(name, won, self._right(final, setting, shadow, test), is_raw)

    def _right(self, attack: Scored, setting: TargetSetting, shadow: Draws, test: Draws) -> np.ndarray:
        played = self._as_played(setting, shadow, test)
        if self.goal is Goal.MEMBERSHIP:
            scores, thresholds, _ = membership_guesses(played, attack)
            return np.asarray(scores >= thresholds[None, :])
        return success_of(played, attack.test, test.secrets, attack.name)[0]

    def _as_played(self, setting: TargetSetting, shadow: Draws, test: Draws) -> Played:
        plan = self.plan.attack(self.goal, "any")
        return Played(plan, setting, self.targets, shadow, test, test, plan.confidence)

    def _raw(self, tests: Sequence[Task], runner: Runner) -> np.ndarray:
        """Record linkage on the published real tables of the same draws."""
        setting = raw_setting(next(iter(self.settings.values())))
        store = MemoryStore()
        runner.here().unwatched().draw(setting, tests, store)
        draws = draws_of(setting, tests, store, Whose.TEST)
        scores = draws.scores[LINKAGE]
        if self.goal is Goal.MEMBERSHIP:
            return np.asarray(scores >= MATCH)
        return success_of(self._as_played(setting, draws, draws), scores, draws.secrets, "raw")[0]


def _worth(right: np.ndarray, members: np.ndarray) -> float:
    if members.all() or not members.any():
        return 0.0
    return float(right[members].mean() - right[~members].mean())


def left_out(name: str, reason: str) -> NotTested:
    """A mechanism that fails more often than not; never its message, which may quote values of a table."""
    kind = reason.partition(":")[0]
    return NotTested(name, f"most of its fits failed ({kind})", "try it by itself first: `unmask synthesize`")


def in_folder(runner: Runner, one: Entrant, part: str) -> Runner:
    """The same runner, with the draws of one part of one mechanism in a folder of their own."""
    return replace(runner, draws=None if runner.draws is None else Path(runner.draws) / one.folder / part)
