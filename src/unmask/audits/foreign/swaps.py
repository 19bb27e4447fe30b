"""Synthetic files under wrong names: each is held against the coins of every run.

What a release says about everybody (log ratios) goes with the coins of the run it was made from, and with no others: those are
fair whatever the release, so the sum over units of evidence times coin (+1, -1), divided by its standard deviation, is a
standard normal z for every wrong run. A file that fits another run's coins beyond doubt, and its own badly, is misnamed.

Two kinds of evidence are tried. One learns from the names as they are (from other files than the one in question), and sees
single misnamed files best. The other needs no names: it stays right when all files are shifted by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from unmask.attacks.everyone.scorer import RatioScorer
from unmask.audits.everyone.evidence import Evidence
from unmask.audits.everyone.pooled import per_coin
from unmask.errors import InputError
from unmask.simulation.coin import coin_tasks
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.foreign.pool import file_of
from unmask.simulation.foreign.private import SYNTHETIC, TRAIN, ExportedRun
from unmask.simulation.foreign.words import in_words, names_of

FITS = 6.0  # z of a wrong run: exceeded by chance once in 10^9, and there are runs^2 of them
MISFIT = 3.0
FOLDS = 2
FALLING = ("hamming", "gower", "error")  # features that are smaller for people who are in

ALONE = ("exact", "digits")  # counts of single amounts: a person's own where hardly anybody shares them

Fits = tuple[np.ndarray, ...]  # files x runs, by evidence that learnt from the names, and by evidence that needs none


@dataclass(frozen=True)
class Swap:
    """A file (by its place in the pool) that fits another run (by its number in the export)."""

    run: int
    fits: int
    own: float
    other: float


def check_names(directory: Path, pool: CoinPool, *, runs: Sequence[ExportedRun]) -> tuple[str, ...]:
    """Stop if files carry each other's names: the attack would be blind for them. Returns what is odd, but not certain.

    `runs` are all that were exported, also those without a file.
    """
    every = coin_tasks(len(runs))
    fits = fits_of(pool, np.array([[coin == "1" for coin in run.coins] for run in runs]))
    if swaps := swapped(pool, fits):
        problems = [
            (
                f"{SYNTHETIC}/{file_of(pool.tasks[swap.run])}",
                f"fits the people of {TRAIN}/{file_of(every[swap.fits])} (z {swap.other:.1f}), not those of its own training "
                f"file (z {swap.own:.1f}): swapped, or misnamed.",
            )
            for swap in swaps
        ]
        raise InputError(
            f"{directory}: not attacked, since wrong files would hide leaks.\n{in_words(problems)}\n"
            "Give each synthetic file the name of the training file that it was made from, and repeat the command."
        )
    odd = [file_of(pool.tasks[run]) for run in odd_ones(pool, fits)]
    return () if not odd else (_odd_note(odd),)


def _odd_note(names: Sequence[str]) -> str:
    return (
        f"{names_of(names)}: fits no training file, while the others fit theirs clearly. Was the generator run on other data, or "
        "with other settings? If so, the figures understate the risk."
    )


def swapped(pool: CoinPool, fits: Fits) -> tuple[Swap, ...]:
    """Files that belong to other runs."""
    found: dict[int, Swap] = {}
    for fit in fits:
        for run, own in enumerate(_own(pool, fit).tolist()):
            best = int(fit[run].argmax())
            other = float(fit[run, best])
            if other > FITS and own < MISFIT and (run not in found or other > found[run].other):
                found[run] = Swap(run, best, own, other)
    return tuple(found[run] for run in sorted(found))


def odd_ones(pool: CoinPool, fits: Fits) -> tuple[int, ...]:
    """Files that fit no run, where the other files fit theirs clearly: not certain enough to stop."""
    own = _own(pool, fits[0])
    middle = np.median(own)
    spread = max(1.0, 1.4826 * float(np.median(np.abs(own - middle))))
    return tuple(int(run) for run in np.flatnonzero((own < MISFIT) & (own < middle - 6 * spread)))


def fits_of(pool: CoinPool, coins: np.ndarray) -> Fits:
    """The z of each file against the coins of all exported runs, also of those without a file."""
    learnt = fit_to_coins(_learnt(pool), coins, pool)
    if (_own(pool, learnt) >= MISFIT).all():
        return (learnt,)  # every name is right
    return learnt, fit_to_coins(_nameless(pool), coins, pool)


def _own(pool: CoinPool, fit: np.ndarray) -> np.ndarray:
    return np.array([fit[run, task.index] for run, task in enumerate(pool.tasks)])


def fit_to_coins(log_ratios: np.ndarray, coins: np.ndarray, pool: CoinPool) -> np.ndarray:
    """The z of every pair. Coins are fair and independent, so the variance is exact; a pair of units has one coin."""
    game = pool.setting.game
    evidence = per_coin(Evidence(log_ratios, pool.members), game, game.coined).log_ratios
    tossed = per_coin(Evidence(np.zeros(coins.shape), coins), game, game.coined).members
    scale = np.sqrt((evidence**2).sum(axis=1, keepdims=True))
    return np.asarray(evidence @ (2.0 * tossed - 1).T / np.where(scale > 0, scale, 1.0))


def _learnt(pool: CoinPool) -> np.ndarray:
    """Log ratios of every run by a scorer that learnt from the runs of other folds."""
    found = np.empty(pool.members.shape)
    fold = np.arange(len(pool)) % FOLDS
    for place in range(FOLDS):
        runs = np.flatnonzero(fold != place)
        fitted = RatioScorer().fit(pool.load, runs.tolist(), pool.members[runs], pool.setting.features.groups)
        for run in np.flatnonzero(fold == place):
            found[run] = fitted.score(pool.load(int(run)))
    return found


def _nameless(pool: CoinPool) -> np.ndarray:
    """How much closer than usual each release is to each unit: features against the unit's own mean over all files.

    Full matches, exact amounts, ratios and distances only: counts of a few columns are many and share their noise.
    """
    features = pool.setting.features
    groups = np.array(features.groups)
    widest = np.flatnonzero(np.isin(groups, (groups[-1], *ALONE)))
    sign = np.array([1.0] * len(widest) + [-1.0 if name.startswith(FALLING) else 1.0 for name in features.value_names])

    def telling(run: int) -> np.ndarray:
        counts, others = pool.load(run)
        return np.asarray(np.column_stack([counts[:, widest], others]) * sign)

    shape = (pool.setting.game.units, len(sign))
    mean, variance = np.zeros(shape), np.zeros(shape)
    for run in range(len(pool)):
        mean += telling(run) / len(pool)
    for run in range(len(pool)):
        variance += (telling(run) - mean) ** 2 / len(pool)
    weight = 1 / np.sqrt(np.where(variance > 1e-9, variance, np.inf))
    return np.stack([((telling(run) - mean) * weight).sum(axis=1) for run in range(len(pool))])
