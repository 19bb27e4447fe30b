"""Attributes in the coin game: how much better each secret is guessed for people who are in than for the same people left out.

Success without a person is what the population teaches about them; only what comes on top is about themselves. Guesses learn from
no coins, so all runs count; evidence about single people is judged as in `everyone_evidence`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unmask.attacks.everyone.features import Family
from unmask.attacks.everyone.scorer import Block, RatioScorer
from unmask.attacks.everyone.secret_guess import STEPS, SecretGuess, by_unit
from unmask.audits.coin_pool import FEWEST, CoinPool
from unmask.audits.draws import open_draws
from unmask.audits.everyone_audited import Extra
from unmask.audits.everyone_evidence import judge, of_other_runs
from unmask.audits.everyone_people import People, judge_people
from unmask.audits.everyone_plan import EveryonePlan
from unmask.audits.judge import Policy, figure, in_100
from unmask.audits.mechanism_words import advice_for
from unmask.audits.result import Cell, Exposure, Figure, Finding, Grid, NotTested, Severity
from unmask.simulation.coin_draw import coin_tasks
from unmask.simulation.executor import Progress, run_tasks
from unmask.simulation.secret_draw import SecretSetting, draw_secrets
from unmask.simulation.store import Arrays, Failed
from unmask.simulation.task import stream
from unmask.stats import Estimate, jackknife

HEADS = (
    "secret", "right with", "right without", "difference", "low", "high", "people listed", "listed with the coins of other runs",
    "always the same guess",
)  # fmt: skip
THREAT = "Someone who holds one release, knows everything about a person but '{secret}'{drawn}, and wants to know that."
DRAWN = " (drawn anew for everybody in each run)"


@dataclass(frozen=True, eq=False)
class Guesses:
    """The guesses of one secret in all runs of a pool."""

    guess: SecretGuess
    members: np.ndarray  # runs x units
    right: np.ndarray  # runs x units
    fit: np.ndarray  # runs x units x STEPS
    asked: np.ndarray  # units that have a coin and a secret
    redrawn: bool
    failures: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.guess.column.name + (", drawn anew" if self.redrawn else "")


@dataclass(frozen=True, eq=False)
class Gain:
    """Success over people, each of whom counts the same."""

    inside: Estimate
    outside: Estimate
    difference: Estimate
    of_unit: (
        np.ndarray
    )  # difference of each unit; nan where it was not asked about, or in, or out of, fewer than two runs


@dataclass(frozen=True, eq=False)
class Outcome:
    """What was found out about one secret."""

    guesses: Guesses
    gain: Gain
    certain: float  # lower bound of the difference that holds for all secrets at once
    people: People
    control: People  # the same with the coins of other runs


def attributes(
    plan: EveryonePlan, pool: CoinPool, *, directory: Path | None, workers: int, progress: Progress
) -> Extra:
    """Guess every secret of the plan in the releases of this pool and, if asked, in pools where the secret is drawn anew."""
    names = tuple(dict.fromkeys(plan.secrets))
    if not names:
        return Extra()
    guesses = [SecretGuess.of(pool.setting.candidates, name) for name in names]
    played = guess_all(pool, guesses)
    failed = 0
    if plan.redraw_secrets:
        second = [redraw(plan, pool, guess, workers, progress, directory) for guess in guesses]
        failed = sum(len(each.failures) for each in second)
        played += second
    fine = [each for each in played if each.asked.any() and len(each.members) >= FEWEST]
    outcomes = [judge_attribute(plan, each, tests=len(fine)) for each in fine]
    return Extra(
        findings=tuple(_finding(plan, outcome) for outcome in outcomes),
        grids=(_grid(outcomes),) if outcomes else (),
        notes=tuple(_notes(outcomes, played)),
        not_tested=tuple(_not_tested(plan, played)),
        columns=tuple(column for outcome in outcomes for column in _columns(outcome)),
        failed_tasks=failed,
    )


def guess_all(pool: CoinPool, guesses: list[SecretGuess]) -> list[Guesses]:
    """Every secret in every release of the pool; each release is read once."""
    units, coined = pool.setting.features.units, pool.setting.game.coined
    found: list[list[Any]] = [[] for _ in guesses]
    for run in range(len(pool)):
        synthetic = pool.synthetic(run)
        for place, guess in enumerate(guesses):
            found[place].append(by_unit(guess.guess(synthetic, guess.truth), guess.truth, units))
    return [
        Guesses(
            guess,
            pool.members,
            np.stack([each.right for each in runs]),
            np.stack([each.fit for each in runs]),
            coined & (np.bincount(units.of_row[~np.isnan(guess.truth)], minlength=units.count) > 0),
            redrawn=False,
        )
        for guess, runs in zip(guesses, found, strict=True)
    ]


def redraw(
    plan: EveryonePlan, pool: CoinPool, guess: SecretGuess, workers: int, progress: Progress, directory: Path | None
) -> Guesses:
    """A pool of its own for one secret, resumed like the first."""
    first, name = pool.setting, guess.column.name
    setting = SecretSetting(plan.seed, first.game, first.features.units, guess, first.generator, first.synthetic_rows)
    identity = {
        "audit": "everyone", "redrawn": name, "generator": plan.generator, "settings": list(plan.settings), "seed": plan.seed,
        "coins": "independent" if first.game.partners is None else "paired", "synthetic_rows": first.synthetic_rows,
        "candidates": guess.candidates.digest(),
    }  # fmt: skip
    place = None if directory is None else directory / f"draws-{_file_name(name, guess.position)}"
    store = open_draws(place, identity, option="--pool or --out")
    tasks = coin_tasks(plan.runs)
    run_tasks(setting, tasks, store, work=draw_secrets, workers=workers, progress=progress)
    done: list[Arrays] = []
    failures = []
    for outcome in map(store.get, tasks):
        if isinstance(outcome, Failed):
            failures.append(outcome.message)
        elif outcome is not None:
            done.append(outcome)
    units = first.game.units
    arrays = {
        key: np.stack([each[key] for each in done]) if done else np.zeros((0, units))
        for key in ("members", "right", "fit")
    }
    return Guesses(guess, asked=first.game.coined, redrawn=True, failures=tuple(failures), **arrays)


def _file_name(name: str, position: int) -> str:
    """The name of a column where it makes a plain file name, else its number."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name) else f"column-{position}"


def judge_attribute(plan: EveryonePlan, guesses: Guesses, *, tests: int) -> Outcome:
    """Success with and without everybody, and the list of people whose secret shows; `tests` questions share the error."""
    strict = 1 - (1 - plan.confidence) / max(tests, 1)
    other = of_other_runs(guesses.members, stream(plan.seed, "control", guesses.name))
    return Outcome(
        guesses,
        gain_of(guesses, plan.confidence),
        gain_of(guesses, strict).difference.low,
        _people(plan, guesses, guesses.members),
        _people(plan, guesses, other),
    )


def _people(plan: EveryonePlan, guesses: Guesses, members: np.ndarray) -> People:
    """As for membership, with the fit of the true secret as the only features."""

    def load(run: int) -> Block:
        return np.empty((members.shape[1], 0), dtype=np.uint16), guesses.fit[run]

    judged = judge(load, members, families=(Family.VALUE,) * len(STEPS), scorer=RatioScorer())
    return judge_people(judged, guesses.asked, rate=plan.rate, confidence=plan.confidence)


def gain_of(guesses: Guesses, confidence: float) -> Gain:
    """Each person's share of right guesses with them minus that without, averaged; intervals by leaving out each run."""
    members, right = guesses.members, guesses.right.astype(np.float64)
    runs = len(members)
    inside, outside = members.sum(axis=0), (~members).sum(axis=0)
    # Two on either side, so that a difference is left when any run is taken out.
    chosen = guesses.asked & (inside >= 2) & (outside >= 2)
    hits, others = np.where(members, right, 0).sum(axis=0), np.where(members, 0, right).sum(axis=0)

    def shares(run: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        own = np.zeros(len(inside)) if run is None else members[run].astype(np.float64)
        rest = np.zeros(len(inside)) if run is None else 1 - own
        left = np.zeros(len(inside)) if run is None else right[run]
        return (
            ((hits - own * left) / np.maximum(inside - own, 1))[chosen],
            ((others - rest * left) / np.maximum(outside - rest, 1))[chosen],
        )

    def means(run: int | None = None) -> tuple[float, float, float]:
        share_in, share_out = (float(share.mean()) if share.size else 0.0 for share in shares(run))
        return share_in, share_out, share_in - share_out

    without = np.array([means(run) for run in range(runs)])
    values = means()

    def estimate(place: int, least: float) -> Estimate:
        n = runs * int(chosen.sum())
        return jackknife(values[place], without[:, place], n=n, confidence=confidence, limits=(least, 1.0))

    of_unit = np.full(len(inside), np.nan)
    with_them, without_them = shares()
    of_unit[chosen] = with_them - without_them
    return Gain(estimate(0, 0.0), estimate(1, 0.0), estimate(2, -1.0), of_unit)


def _finding(plan: EveryonePlan, outcome: Outcome) -> Finding:
    guesses, gain = outcome.guesses, outcome.gain
    name, listed, asked = guesses.guess.column.name, int(outcome.people.listed.sum()), int(guesses.asked.sum())
    severity = Policy().severity(max(0.0, outcome.certain))
    if listed and severity is Severity.NONE:
        severity = Severity.LOW
    about = f"Drawn anew for everybody, '{name}'" if guesses.redrawn else f"Their '{name}'"
    baseline = _same_guess(guesses)
    return Finding(
        name=f"everyone/attribute/{guesses.name}",
        title=(
            f"{about} is guessed right in {in_100(gain.inside.value)} releases made with them, "
            f"{in_100(gain.outside.value)} made without"
        ),
        threat=THREAT.format(secret=name, drawn=DRAWN if guesses.redrawn else ""),
        criterion="attribute",
        severity=severity,
        estimate=figure(gain.difference),
        baseline=Figure(baseline, baseline, baseline, 1.0, "always the same guess", asked),
        control=figure(gain.outside),
        advice=advice_for(severity),
        exposure=Exposure(
            attacked=asked,
            hit=listed,
            above=Figure(listed, math.floor((1 - plan.rate) * listed), asked, 1 - plan.rate, "e-BH", asked),
            undefined="the risk of the most exposed person is not bounded for attributes",
        ),
    )


def _same_guess(guesses: Guesses) -> float:
    """Success of the best guess that is the same for all; of a redrawn secret, what chance gives."""
    guess, column = guesses.guess, guesses.guess.column
    if not guesses.redrawn:
        return guess.most_frequent()
    if not column.is_numeric:
        return 1 / column.listed
    if column.is_integral:
        return min(1.0, (math.floor(2 * guess.tolerance) + 1) / (column.upper - column.lower + 1))
    return min(1.0, 2 * guess.tolerance / (column.upper - column.lower))


def _grid(outcomes: list[Outcome]) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    for outcome in outcomes:
        gain, difference = outcome.gain, outcome.gain.difference
        found = (gain.inside.value, gain.outside.value, difference.value, difference.low, difference.high)
        rows.append((
            outcome.guesses.name, *(round(float(value), 4) for value in found), int(outcome.people.listed.sum()),
            int(outcome.control.listed.sum()), round(_same_guess(outcome.guesses), 4),
        ))  # fmt: skip
    return Grid("attributes", "Secrets guessed with the person in the data, and without", HEADS, tuple(rows))


def _notes(outcomes: list[Outcome], played: list[Guesses]) -> Iterator[str]:
    if not outcomes:
        return
    yield (
        "Secrets are guessed by the synthetic rows that are most alike in all other columns. How often that is right without a "
        "person is what the population teaches; the difference is what their own record adds."
    )
    if any(outcome.guesses.guess.column.is_numeric for outcome in outcomes):
        yield "A number is guessed right within a quarter of its interquartile range."
    listed = sum(int(outcome.control.listed.sum()) for outcome in outcomes)
    yield f"With the coins of other runs, the guesses of secrets list {listed} people."
    if any(guesses.redrawn for guesses in played):
        yield (
            "Where a secret is drawn anew for everybody, it says nothing about the population: whatever is guessed beyond chance "
            "was learnt about single people."
        )
    failures = [failure for guesses in played for failure in guesses.failures]
    if failures:
        kinds = ", ".join(sorted({failure.partition(":")[0] for failure in failures}))
        yield f"{len(failures)} runs with secrets drawn anew failed and are part of no number ({kinds})."


def _not_tested(plan: EveryonePlan, played: list[Guesses]) -> Iterator[NotTested]:
    for guesses in played:
        if not guesses.asked.any():
            yield NotTested(guesses.name, "nobody has a value to be guessed", "name another column with --secret")
        elif len(guesses.members) < FEWEST:
            yield NotTested(guesses.name, f"only {len(guesses.members)} runs could be drawn, {FEWEST} are needed",
                            "see the reasons in the directory of the draws")  # fmt: skip
    if not plan.redraw_secrets:
        yield NotTested("secrets drawn anew", "it was not asked for, and costs as many fits again for each secret",
                        "use --redraw-secrets")  # fmt: skip


def _columns(outcome: Outcome) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """What records.csv says about each unit."""
    name, people, asked = outcome.guesses.name, outcome.people, outcome.guesses.asked
    gains = outcome.gain.of_unit
    yield f"{name}: gain", tuple(None if math.isnan(gain) else round(float(gain), 4) for gain in gains)
    yield (
        f"{name}: log10 e-value",
        tuple(
            round(float(log_e) / math.log(10), 4) if known else None
            for log_e, known in zip(people.log_e, asked, strict=True)
        ),
    )
    yield f"{name}: listed", tuple(bool(flag) for flag in people.listed)
