"""How far a release completes the records of real people, of holdout people, and what could be guessed without it.

    real       the attack on people of the real table
    control    the same attack on holdout people, whom the generator never saw: what the population teaches
    memory     real less control: what being in the data adds
    baseline   real people completed without the release: by a network of the holdout people, or by even guesses without any

A number is right if its bin is. A record is completed if all hidden columns are. Of a person with several rows one is attacked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unmask.errors import ParameterError
from unmask.metrics.completion.combined import COMBINED, Guess, guesses, of_population
from unmask.metrics.completion.domains import MOST_VALUES
from unmask.metrics.completion.scores import Weighed, dealt_p_value, rarity
from unmask.metrics.legal import NO_HOLDOUT, Attempts, check_tables
from unmask.metrics.singling_out import evenly_drawn
from unmask.stats import Estimate
from unmask.stats.labels import fisher
from unmask.tables.schema import Schema, quoted
from unmask.tables.table import Table, concatenate
from unmask.tables.units import one_row_each

MOST_COLUMNS = 30  # that are known, and that are completed
MOST_PAIRS = 1_000_000_000  # of people and published rows
MOST_CELLS = 4_000_000  # of people and values of hidden columns, on a side: some hundred megabytes in all
FEWEST = 500  # people on either side who are attacked however large the release is


@dataclass(frozen=True, eq=False)
class Completed:
    """Which guesses of one attack were right."""

    right: np.ndarray  # people x hidden columns
    whole: np.ndarray  # whether all columns of the likeliest record were

    def take(self, people: slice) -> Completed:
        """Some of the people."""
        return Completed(self.right[people], self.whole[people])


@dataclass(frozen=True, eq=False)
class Completion:
    """The attacks, by name, on real people, who stand first, and on holdout people. `combined` is the one that counts."""

    known: tuple[str, ...]
    hidden: tuple[str, ...]
    rows: np.ndarray  # of the real table
    control_rows: np.ndarray  # of the holdout
    weights: np.ndarray  # people x hidden columns: how rare the true value is
    attacks: Mapping[str, Completed]
    baseline: Completed  # of real people
    confidence: float
    notes: tuple[str, ...] = ()

    @property
    def _members(self) -> slice:
        return slice(0, len(self.rows))

    @property
    def _others(self) -> slice:
        return slice(len(self.rows), None)

    def _weighed(self, found: Completed, weights: np.ndarray, column: str | None) -> Weighed:
        places = slice(None) if column is None else [self.hidden.index(column)]
        weight = weights[:, places]
        return Weighed((found.right[:, places] * weight).sum(axis=1), weight.sum(axis=1))

    def share(self, attack: str = COMBINED, *, column: str | None = None) -> Estimate:
        """Of what is hidden of real people, by rarity, the share completed; of one column or of all."""
        people = self._weighed(self.attacks[attack], self.weights, column)
        return people.take(self._members).share(self.confidence)

    def control(self, attack: str = COMBINED, *, column: str | None = None) -> Estimate | None:
        """The same of holdout people; None without a holdout."""
        if not len(self.control_rows):
            return None
        return self._weighed(self.attacks[attack], self.weights, column).take(self._others).share(self.confidence)

    def without_release(self, *, column: str | None = None) -> Estimate:
        """The same of real people without the release."""
        return self._weighed(self.baseline, self.weights[self._members], column).share(self.confidence)

    def memory(
        self, attack: str = COMBINED, *, column: str | None = None, confidence: float | None = None
    ) -> Estimate | None:
        """Real people less holdout people; None without a holdout: it was not measured, which is not zero."""
        if not len(self.control_rows):
            return None
        people = self._weighed(self.attacks[attack], self.weights, column)
        return people.take(self._members).minus(people.take(self._others), confidence or self.confidence)

    def p_value(self, rng: np.random.Generator) -> float | None:
        """Of "real people are completed no better than holdout people", exact; None without a holdout."""
        if not len(self.control_rows):
            return None
        return dealt_p_value(self._weighed(self.attacks[COMBINED], self.weights, None), len(self.rows), rng)

    def records(self, attack: str = COMBINED) -> tuple[Attempts, Attempts | None]:
        """Whose whole records were completed: real people, and holdout people."""
        whole = self.attacks[attack].whole
        return Attempts(whole[self._members]), Attempts(whole[self._others]) if len(self.control_rows) else None

    @property
    def records_p_value(self) -> float | None:
        """Of "no more records of real people than of holdout people are completed" (Fisher); None without a holdout."""
        mine, theirs = self.records()
        if theirs is None:
            return None
        (a, n), (c, m) = mine.counts, theirs.counts
        return fisher((int(a), int(n)), (int(c), int(m)))


def completion(
    real: Table,
    synthetic: Table,
    *,
    known: Sequence[str],
    holdout: Table | None = None,
    attempts: int = 2_500,
    confidence: float = 0.95,
    rng: np.random.Generator,
) -> Completion:
    """Complete all columns but the known ones from the release, for at most `attempts` people on either side."""
    check_tables(real, synthetic, holdout=holdout, attempts=attempts)
    most = max(
        1, min(attempts, max(FEWEST, min(MOST_PAIRS // (2 * len(synthetic)), MOST_CELLS // _cells(real, known))))
    )
    rows = _some(one_row_each(real, rng), most, rng)
    others = np.empty(0, dtype=np.int64) if holdout is None else _some(one_row_each(holdout, rng), most, rng)
    sides = [real.take(rows)] + ([] if holdout is None else [holdout.take(others)])
    people = concatenate([Table(side.schema, side.codes, side.numbers) for side in sides])
    asked, hidden, notes = _columns(people, known, rng)
    truth = people.select(hidden).codes.astype(np.int64)
    found = {name: _judged(each, truth) for name, each in guesses(people, synthetic, asked, hidden, rng).items()}
    members = people.take(np.arange(len(rows)))
    if holdout is None:
        even = evenly_drawn(real.schema, len(rows), rng).select(hidden).codes.astype(np.int64)
        blind, notes = Guess(even, even), (*notes, NO_HOLDOUT)
    else:
        blind = of_population(members, holdout, asked, hidden)
    return Completion(
        tuple(asked), tuple(hidden), rows, others, rarity(truth), found, _judged(blind, truth[: len(rows)]), confidence, notes
    )  # fmt: skip


def likely_known(schema: Schema, rng: np.random.Generator) -> tuple[str, ...]:
    """What a plain attacker may know: the keys of the schema; where there are none, a random half of what is no secret."""
    if keys := tuple(name for name in schema.keys if name not in schema.secrets):
        return keys
    names = [name for name in schema.names if name not in schema.secrets]
    count = min(len(names), max(1, len(schema.names) // 2))
    chosen = set(rng.choice(len(names), count, replace=False).tolist())
    return tuple(name for place, name in enumerate(names) if place in chosen)


def _columns(
    people: Table, known: Sequence[str], rng: np.random.Generator
) -> tuple[list[str], list[str], tuple[str, ...]]:
    """What is known and what is completed, each at most `MOST_COLUMNS`, and what there is to say about it."""
    schema = people.schema
    if isinstance(known, str):
        raise ParameterError(f"known is the text '{known}'; give a list of names, such as ['{known}'].")
    for name in known:
        schema.position(name)
    if not known:
        raise ParameterError("Nothing is known about people, so nothing can be completed from it. Name a known column.")
    varied = [name for place, name in enumerate(schema.names) if len(np.unique(people.codes[:, place])) > 1]
    hidden = [name for name in schema.names if name not in known]
    if not hidden:
        raise ParameterError("All columns are known, so nothing is left to complete. Name fewer known columns.")
    notes = []
    if constant := [name for name in hidden if name not in varied]:
        notes.append(f"Everybody has the same value in {quoted(constant)}: nothing to complete there.")
    hidden = [name for name in hidden if name in varied]
    if not hidden:
        raise ParameterError(f"Everybody has the same value in {quoted(constant)}, so nothing is left to complete.")
    chosen = []
    for names, word in ((list(dict.fromkeys(known)), "known"), (hidden, "completed")):
        if len(names) > MOST_COLUMNS:
            places = np.sort(rng.choice(len(names), MOST_COLUMNS, replace=False))
            notes.append(f"Of {len(names)} columns to be {word} {MOST_COLUMNS}, drawn at random, are.")
            names = [names[place] for place in places]
        chosen.append(names)
    return chosen[0], chosen[1], tuple(notes)


def _cells(people: Table, known: Sequence[str]) -> int:
    """Values that hidden columns may have, at most."""
    sizes = [min(column.code_count, MOST_VALUES + 1) for column in people.schema.columns if column.name not in known]
    return max(1, sum(sorted(sizes)[-MOST_COLUMNS:]))


def _judged(guess: Guess, truth: np.ndarray) -> Completed:
    return Completed(guess.columns == truth, (guess.whole == truth).all(axis=1))


def _some(rows: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))
