"""One run of the coin game with everybody's secret drawn anew: what is learnt then is about persons, not about the population."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from unmask.attacks.everyone.secret_guess import SecretGuess, by_unit, secrets_in
from unmask.generators._generator import Generator
from unmask.simulation.release import check_release
from unmask.simulation.task import Arrays, Task
from unmask.stream import stream
from unmask.tables.table import Table
from unmask.tables.units import Units
from unmask.threats.coins import CoinGame


@dataclass(frozen=True, eq=False)
class SecretSetting:
    """All that a worker needs for any run. Sent to each worker once."""

    seed: int
    game: CoinGame
    units: Units
    guess: SecretGuess
    generator: Generator
    synthetic_rows: int

    def play(self, task: Task) -> Arrays:
        """Who was in, whether each unit's secret was guessed right, and how well the release fits it.

        Coins and secrets have streams of their own, apart from those of the first pool.
        """
        candidates, name = self.guess.candidates, self.guess.column.name
        members = self.game.deal(stream(self.seed, task.id, "secret", name, "coins"))
        drawn = redrawn(
            candidates, self.guess.position, self.units, stream(self.seed, task.id, "secret", name, "values")
        )
        rng = stream(self.seed, task.id, "secret", name, "release")
        model = self.generator.fit(drawn.take(rng.permutation(self.units.rows(members))), rng)
        synthetic = model.sample(self.synthetic_rows, rng)
        check_release(synthetic, candidates, self.synthetic_rows, row_level=self.generator.row_level)
        truth = secrets_in(drawn, self.guess.position)
        guessed = by_unit(self.guess.guess(synthetic, truth), truth, self.units)
        return {"members": members, "right": guessed.right, "fit": guessed.fit}


def redrawn(candidates: Table, position: int, units: Units, rng: np.random.Generator) -> Table:
    """The same people with new secrets: uniform over the listed values, or over the public range of numbers.

    All rows of a unit get the same one.
    """
    column = candidates.schema.columns[position]
    codes, numbers = candidates.codes.copy(order="F"), candidates.numbers.copy(order="F")
    if column.is_numeric:
        drawn = _uniform(column.lower, column.upper, column.is_integral, units.count, rng)
        numbers[:, candidates.schema.numeric.index(position)] = drawn[units.of_row]
        codes[:, position] = column.bin_of(drawn)[units.of_row]
    else:
        codes[:, position] = rng.integers(0, column.listed, units.count)[units.of_row]
    return replace(candidates, codes=codes, numbers=numbers)


def _uniform(lower: float, upper: float, integral: bool, count: int, rng: np.random.Generator) -> np.ndarray:
    if integral:
        return rng.integers(int(lower), int(upper) + 1, count).astype(np.float64)
    return rng.uniform(lower, upper, count)
