"""One run of the coin game: toss, fit, publish, and take down what the release says about everybody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.attacks.everyone.features import Features
from unmask.errors import GeneratorError
from unmask.generators._generator import Generator
from unmask.simulation.release import check_release, fitted_model, release_name, release_words
from unmask.simulation.task import Arrays, Task, Whose
from unmask.stream import stream
from unmask.tables.table import Table
from unmask.threats.coins import CoinGame
from unmask.threats.view import FittedModel


@dataclass(frozen=True, eq=False)
class CoinSetting:
    """All that a worker needs for any run. Sent to each worker once."""

    seed: int
    game: CoinGame
    features: Features
    generator: Generator
    synthetic_rows: int
    releases: int = 1  # of each fit

    @property
    def candidates(self) -> Table:
        return self.features.candidates

    def play(self, task: Task) -> Arrays:
        """The arrays of one run: members, counts and values of every unit, and the release itself, for other questions.

        Releases after the first have streams of their own, and names of their own: more of them change no other.
        """
        members = members_of(self.seed, self.game, task)
        rng = stream(self.seed, task.id, "release")
        rows = self.features.units.rows(members)
        model = self.generator.fit(self.candidates.take(rng.permutation(rows)), rng)
        arrays: dict[str, np.ndarray] = {}
        for place, words in enumerate(release_words(task, self.releases)):
            again = stream(self.seed, *words) if place else rng  # the first goes on where the fit stopped
            synthetic = model.sample(self.synthetic_rows, again)
            check_release(synthetic, self.candidates, self.synthetic_rows, row_level=self.generator.row_level)
            taken = take_down(self.features, members, synthetic, fitted_model(model))
            arrays |= {f"{release_name(place)}{name}": array for name, array in taken.items()}
        return arrays


def coin_tasks(runs: int) -> tuple[Task, ...]:
    """One task per run; more runs leave the first ones as they are."""
    return tuple(Task(Whose.RUN, index) for index in range(runs))


def members_of(seed: int, game: CoinGame, task: Task) -> np.ndarray:
    """Who is in: known without fitting anything, so that training files can be written for others to fit."""
    return game.deal(stream(seed, task.id, "coins"))


def take_down(features: Features, members: np.ndarray, synthetic: Table, model: FittedModel | None) -> Arrays:
    """What is kept of one run."""
    if len(synthetic) == 0:
        raise GeneratorError("The generator returned no rows.")
    counts, values = features.compute(synthetic, model)
    return {
        "members": members,
        "counts": counts,
        "values": values,
        "synthetic/codes": synthetic.codes,
        "synthetic/numbers": synthetic.numbers,
    }
