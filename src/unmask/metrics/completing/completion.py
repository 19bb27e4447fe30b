"""How far a release completes the records of real people, of holdout people, and what could be guessed without it.

    real       the attack on people of the real table
    control    the same attack on holdout people, whom the generator never saw: what the population teaches
    memory     real less control: what being in the data adds
    baseline   everybody completed without the release: the same attack with the other half of the people, real and holdout
               alike, in its place; even guesses of real people without a holdout

A number is right if its bin is. A record is completed if all hidden columns are. Tests count values and records that the baseline
has not right as well: where real table and holdout differ a little, what the population gives differs. Of a person with several
rows one is attacked. Tests take people for independent: households and repeated rows need a person column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unmask.errors import ParameterError
from unmask.metrics.completing.combined import COMBINED, Guess, guesses
from unmask.metrics.completing.domains import MOST_VALUES
from unmask.metrics.completing.published import PublishedRows
from unmask.metrics.completing.scores import Weighed, dealt_p_value, rarity
from unmask.metrics.legal import NO_HOLDOUT, Attempts, check_tables
from unmask.metrics.singling_out import evenly_drawn
from unmask.stats import Estimate
from unmask.stats.labels import fisher_within
from unmask.tables.schema import Schema, quoted
from unmask.tables.table import Table, concatenate
from unmask.tables.units import one_row_each

MOST_COLUMNS = 30  # that are known, and that are completed
MOST_PAIRS = 4_000_000_000  # of people and published rows: some seconds
MOST_CELLS = 4_000_000  # of people and values of hidden columns, on a side: some hundred megabytes in all
FEWEST = 500  # people on either side who are attacked however large the release is
PLANTED = 0.1  # of the published rows
FEWEST_PLANTED = 50


@dataclass(frozen=True, eq=False)
class Completed:
    """Which guesses of one attack were right."""

    right: np.ndarray  # people x hidden columns
    whole: np.ndarray  # whether all columns of the likeliest record were

    def take(self, people: slice | np.ndarray) -> Completed:
        """Some of the people."""
        return Completed(self.right[people], self.whole[people])

    def beyond(self, other: Completed) -> Completed:
        """Less what another attack has right as well."""
        return Completed(self.right & ~other.right, self.whole & ~other.whole)


@dataclass(frozen=True, eq=False)
class Completion:
    """The attacks, by name, on real people, who stand first, and on holdout people. `combined` is the one that counts."""

    known: tuple[str, ...]
    hidden: tuple[str, ...]
    rows: np.ndarray  # of the real table
    control_rows: np.ndarray  # of the holdout
    people: Table  # who is attacked
    weights: np.ndarray  # people x hidden columns: how rare the true value is
    attacks: Mapping[str, Completed]
    baseline: Completed  # of everybody; of real people without a holdout
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
        found = self.baseline.take(self._members)
        return self._weighed(found, self.weights[self._members], column).share(self.confidence)

    def memory(
        self, attack: str = COMBINED, *, column: str | None = None, confidence: float | None = None
    ) -> Estimate | None:
        """Real people less holdout people; None without a holdout: it was not measured, which is not zero."""
        if not len(self.control_rows):
            return None
        people = self._weighed(self.attacks[attack], self.weights, column)
        return people.take(self._members).minus(people.take(self._others), confidence or self.confidence)

    def beyond_the_population(self, attack: str = COMBINED) -> Completed:
        """What is completed, and not without the release as well; without a holdout all that is completed."""
        found = self.attacks[attack]
        return found.beyond(self.baseline) if len(self.control_rows) else found

    def certain_memory(self, confidence: float) -> Estimate | None:
        """As `memory`, of values that the population does not give: what a severity may rest on."""
        if not len(self.control_rows):
            return None
        people = self._weighed(self.beyond_the_population(), self.weights, None)
        return people.take(self._members).minus(people.take(self._others), confidence)

    def p_value(
        self, rng: np.random.Generator, *, strata: np.ndarray | None = None, level: float = 0.05
    ) -> float | None:
        """Of "real people are completed no better than holdout people", by values that the population does not give; exact.

        None without a holdout. Labels are dealt within `strata` of everybody attacked. `level` is what it is to be compared with.
        """
        if not len(self.control_rows):
            return None
        people = self._weighed(self.beyond_the_population(), self.weights, None)
        return dealt_p_value(people, len(self.rows), rng, strata=strata, level=level)

    def records(self, attack: str = COMBINED) -> tuple[Attempts, Attempts | None]:
        """Whose whole records were completed, and not without the release as well: real people, and holdout people."""
        whole = self.beyond_the_population(attack).whole
        return Attempts(whole[self._members]), Attempts(whole[self._others]) if len(self.control_rows) else None

    def records_p_value(self, *, strata: np.ndarray | None = None) -> float | None:
        """Of "no more records of real people than of holdout people are completed" (Fisher); None without a holdout."""
        if not len(self.control_rows):
            return None
        whole = self.beyond_the_population().whole
        place = np.zeros(len(whole)) if strata is None else strata
        return fisher_within(whole, np.arange(len(whole)) < len(self.rows), place)


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
    found = {
        name: _judged(each, truth)
        for name, each in guesses(people, PublishedRows.whole(synthetic), asked, hidden, rng).items()
    }
    if holdout is None:
        even = evenly_drawn(real.schema, len(rows), rng).select(hidden).codes.astype(np.int64)
        blind, notes = Guess(even, even), (*notes, NO_HOLDOUT)
    else:
        blind = _of_each_other(people, asked, hidden, rng)
    return Completion(
        tuple(asked), tuple(hidden), rows, others, people, rarity(truth), found, _judged(blind, truth), confidence, notes
    )  # fmt: skip


def planted(found: Completion, release: Table, rng: np.random.Generator) -> tuple[np.ndarray, Completed]:
    """The same attack after rows of some holdout people were put in place of random published ones: who, and what is right now.

    One published row in ten, and at least 50 people, if there are as many.
    """
    people, members, others = found.people, len(found.rows), len(found.control_rows)
    count = min(others, max(FEWEST_PLANTED, round(PLANTED * len(release))))
    chosen = members + np.sort(rng.choice(others, count, replace=False))
    grown = PublishedRows.replaced(release, rng.permutation(len(release))[:count], people.take(chosen))
    guess = guesses(people, grown, list(found.known), list(found.hidden), rng)[COMBINED]
    truth = people.select(found.hidden).codes.astype(np.int64)
    return chosen, _judged(guess, truth).take(chosen)


def _of_each_other(people: Table, known: list[str], hidden: list[str], rng: np.random.Generator) -> Guess:
    """The best guess without the release: either half of the people in its place for the other one, whoever is a member."""
    halves, width = rng.permutation(len(people)) % 2, (len(people), len(hidden))
    columns, whole = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int64)
    for half in range(2):
        asked, taught = (people.take(np.flatnonzero(side)) for side in (halves == half, halves != half))
        guess = guesses(asked, PublishedRows.whole(taught), known, hidden, rng)[COMBINED]
        columns[halves == half], whole[halves == half] = guess.columns, guess.whole
    return Guess(columns, whole)


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
