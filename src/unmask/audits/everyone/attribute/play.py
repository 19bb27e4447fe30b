"""Secrets guessed in every run of a pool, and in pools of their own where everybody's secret is drawn anew."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from unmask.attacks.everyone.secret_guess import SecretGuess, by_unit
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.runner import Runner
from unmask.simulation.coin import coin_tasks
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.draws import open_draws
from unmask.simulation.gather import gather
from unmask.simulation.secret import SecretSetting


@dataclass(frozen=True, eq=False)
class SecretGuesses:
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


def guess_all(pool: CoinPool, guesses: list[SecretGuess]) -> list[SecretGuesses]:
    """Every secret in every release of the pool; each release is read once."""
    units, coined = pool.setting.features.units, pool.setting.game.coined
    found: list[list[Any]] = [[] for _ in guesses]
    for run in range(len(pool)):
        synthetic = pool.synthetic(run)
        for place, guess in enumerate(guesses):
            found[place].append(by_unit(guess.guess(synthetic, guess.truth), guess.truth, units))
    return [
        SecretGuesses(
            guess,
            pool.members,
            np.stack([each.right for each in runs]),
            np.stack([each.fit for each in runs]),
            coined & (np.bincount(units.of_row[~np.isnan(guess.truth)], minlength=units.count) > 0),
            redrawn=False,
        )
        for guess, runs in zip(guesses, found, strict=True)
    ]


def redraw(plan: EveryonePlan, pool: CoinPool, guess: SecretGuess, runner: Runner) -> SecretGuesses:
    """A pool of its own for one secret, resumed like the first."""
    first, name = pool.setting, guess.column.name
    setting = SecretSetting(plan.seed, first.game, first.features.units, guess, first.generator, first.synthetic_rows)
    identity = {
        "audit": "everyone", "redrawn": name, "generator": plan.generator, "settings": list(plan.settings), "seed": plan.seed,
        "coins": "independent" if first.game.partners is None else "paired", "synthetic_rows": first.synthetic_rows,
        "candidates": guess.candidates.digest(),
    }  # fmt: skip
    store = open_draws(None if runner.draws is None else runner.draws / folder_of(guess), identity)
    tasks = coin_tasks(plan.runs)
    runner.draw(setting, tasks, store)
    found = gather(tasks, store)
    arrays = {key: found.stacked(key, (0, first.game.units)) for key in ("members", "right", "fit")}
    return SecretGuesses(guess, asked=first.game.coined, redrawn=True, failures=found.failures, **arrays)


def folder_of(guess: SecretGuess) -> str:
    """Where the draws of a secret lie: its number, which no other column has, and its name where that makes a file name."""
    name = guess.column.name
    return f"draws-{guess.position}" + (f"-{name}" if re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name) else "")
