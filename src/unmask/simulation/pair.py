"""One run of the claim's game: toss the coin, fit on D or D', publish, and take down what an attacker would look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from unmask.attacks.claim.likelihood import PairLikelihood
from unmask.attacks.claim.outputs import Mapped, TableReader, array_features, digest, finite, model_features
from unmask.errors import GeneratorError
from unmask.generators._generator import Generator
from unmask.generators.claim import Claim
from unmask.simulation.release import check_release
from unmask.simulation.task import Arrays, Task
from unmask.stream import stream
from unmask.tables.table import Table
from unmask.threats.pairs import Pair

COIN = "coin"


@dataclass(frozen=True)
class Mechanism:
    """A bare mechanism: any function of a table and a random stream that returns numbers."""

    name: ClassVar[str] = "mechanism"

    call: Callable[[Table, np.random.Generator], Any]
    claim: Claim | None = None


@dataclass(frozen=True)
class PairTask(Task):
    """One run of an audit; `who` is the generator under audit or a control, `pair` the number of its pair."""

    who: str = "audit"
    pair: int = 0

    @property
    def id(self) -> str:
        return f"{self.who}-pair{self.pair}-{self.index:06d}"


@dataclass(frozen=True, eq=False)
class PairSetting:
    """All that a worker needs to play any run."""

    seed: int
    generator: Generator | Mechanism
    pair: Pair
    rows: int  # to ask for: the same for D and D'
    white_box: bool = True

    @cached_property
    def likelihood(self) -> PairLikelihood:
        return PairLikelihood(self.pair)

    @cached_property
    def reader(self) -> TableReader:
        return TableReader(self.pair)

    def play(self, task: PairTask) -> Arrays:
        """The coin of a run and what can be seen of its output, as named numbers and two fingerprints."""
        coin = coin_of(self.seed, task)
        table = self.pair.inside if coin else self.pair.outside
        seen, prints = self.look(table, stream(self.seed, task.id))
        return {
            "coin": np.array(coin),
            "names": np.array(list(seen)),
            "values": np.array(list(seen.values()), dtype=np.float64),
            "prints": np.array(prints),
        }

    def look(self, table: Table, rng: np.random.Generator) -> tuple[Mapped, tuple[str, str]]:
        """What an attacker sees of one release, and fingerprints of the release and of its measurements."""
        if isinstance(self.generator, Mechanism):
            array = np.asarray(self.generator.call(table, rng))
            if not np.issubdtype(array.dtype, np.number) and array.dtype != np.bool_:
                raise GeneratorError(f"The mechanism returned an array of type {array.dtype}. It must return numbers.")
            return array_features(array.astype(np.float64).ravel()), (digest(array), "")
        model = self.generator.fit(table, rng)
        synthetic = model.sample(self.rows, rng)
        check_release(
            synthetic, self.pair.inside
        )  # any number of rows: that it depends on the data is a leak to be seen
        seen = self.reader.read(synthetic) | self.reader.read_order(synthetic)
        prints = (digest(synthetic.codes, synthetic.numbers), "")
        if self.white_box:
            measurements = tuple(getattr(model, "measurements", ()))
            seen |= model_features(self.reader, self.likelihood, model, measurements)
            prints = (prints[0], digest(*(m.counts for m in measurements)) if measurements else "")
        return {name: finite(value) for name, value in seen.items()}, prints


def coin_of(seed: int, task: Task, word: str = COIN) -> bool:
    """Whether the target is in: a fair coin of its own stream, so that it is known even if the run fails."""
    return bool(stream(seed, task.id, word).integers(2))


def seen_in(outcome: Arrays) -> tuple[Mapped, tuple[str, str]]:
    """What a finished run showed: named numbers and fingerprints."""
    first, second = outcome["prints"].tolist()
    return dict(zip(outcome["names"].tolist(), outcome["values"].tolist(), strict=True)), (first, second)
