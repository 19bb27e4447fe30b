"""Correct attribution probability: what a synthetic table says about the secret of someone whose keys are known.

For a record with keys q and secret t, s(q) synthetic rows match the keys and s(t, q) the secret too. N records.

    CAP     mean of s(t,q)/s(q) over the records with a match      Elliot 2014; Taub et al. 2018; hittmeir2020, section III
    0-CAP   the same, a record without a match scoring 0           Taub et al. 2018
    GCAP    the same among all rows at the least Hamming distance  Hittmeir, Mayer, Ekelhart 2020 (CODASPY); as in sdmetrics
    DCAP    sum of s(t,q)/s(q) over N                              synthpop 1.9 `disclosure`, Appendix 2: the number of 0-CAP
    DiSCO   share of records whose matches all have one secret,    Raab, Nowok, Dibben 2024; synthpop 1.9 `disclosure`
            and it is theirs (disclosive in synthetic, correct in original)
    TCAP    DiSCO records among those whose matches all agree      Taub, Elliot 2019; Little et al. 2022; synthpop's code (its
                                                                   vignette prints another denominator: all matched records)

Every measure comes with the same attack on the real table itself (an upper bound; synthpop's CAPd and Dorig), on holdout
records (what the population teaches about people who were never in the data), and with two guesses that ignore keys and
synthetic table alike. What counts is the excess over the holdout: a high value alone may be nothing but a useful table.

Equal means equal: numbers by value or by bin (`by`), missing equals missing, a value that the schema does not list equals
nothing. By hashing, in O(rows x columns); only records without a match need distances, for GCAP (records x distinct keys).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.errors import InputError, ParameterError
from unmask.metrics._nearest_keys import Candidates, shares_at_nearest
from unmask.metrics._shares import difference_of_shares, mean_of_shares
from unmask.stats.results import Estimate
from unmask.tables.matching import By, group_ids, shared_columns
from unmask.tables.schema import quoted
from unmask.tables.table import Table
from unmask.tables.units import units


@dataclass(frozen=True, eq=False)
class Matches:
    """What the synthetic table says about each record; higher scores mean that the secret is given away more surely."""

    found: np.ndarray  # synthetic rows with the record's keys
    correct: np.ndarray  # of these, the rows with its secret
    agree: np.ndarray  # whether there are matches and all have one secret (bool)
    generalised: np.ndarray | None  # GCAP; None = not asked for, NaN = this record was not drawn for it

    @property
    def cap(self) -> np.ndarray:
        """Share of the matches that have the record's secret; NaN without a match."""
        return np.divide(self.correct, self.found, out=np.full(len(self.found), np.nan), where=self.found > 0)

    @property
    def zero_cap(self) -> np.ndarray:
        """The same; 0 without a match."""
        return self.correct / np.maximum(self.found, 1)

    @property
    def disclosed(self) -> np.ndarray:
        """Whether all matches have one secret, and it is the record's (DiSCO)."""
        return self.agree & (self.correct == self.found)

    def scores(self, name: str) -> np.ndarray:
        """The scores of one measure; NaN for records that it leaves out."""
        if name == "GCAP" and self.generalised is None:
            raise ParameterError("GCAP was not computed. Ask for it with generalised=True.")
        return {
            "CAP": lambda: self.cap,
            "0-CAP": lambda: self.zero_cap,
            "DCAP": lambda: self.zero_cap,
            "GCAP": lambda: self.generalised,
            "DiSCO": lambda: self.disclosed.astype(np.float64),
            "TCAP": lambda: np.where(self.agree, self.disclosed.astype(np.float64), np.nan),
        }[name]()  # type: ignore[return-value]


NAMES = ("CAP", "0-CAP", "GCAP", "DCAP", "DiSCO", "TCAP")


@dataclass(frozen=True)
class Measure:
    """One measure on the real records, beside its upper bound and its control. None = no record defines it."""

    name: str
    real: Estimate | None
    original: Estimate | None  # the same attack on the real table itself
    holdout: Estimate | None  # the same attack on people who were never in the data
    excess: Estimate | None  # real minus holdout: what being in the data adds

    def scaled(self, baseline: float) -> float | None:
        """The value on a scale from guessing (0) to certainty (1), negative if worse than guessing (Little et al. 2022)."""
        return None if self.real is None or baseline >= 1 else (self.real.value - baseline) / (1 - baseline)


@dataclass(frozen=True, eq=False)
class Cap:
    """The CAP family for one set of keys and secrets."""

    keys: tuple[str, ...]
    secrets: tuple[str, ...]  # several are guessed jointly
    measures: tuple[Measure, ...]
    marginal: Estimate  # guess at random by the real table's frequencies (synthpop's baseCAPd)
    mode: Estimate  # always guess the most frequent value of the real table
    real: Matches  # per record
    holdout: Matches | None
    notes: tuple[str, ...]

    def measure(self, name: str) -> Measure:
        """The measure of that name."""
        if name not in (names := [measure.name for measure in self.measures]):
            raise ParameterError(f"There is no measure '{name}' here. Measures: {quoted(names)}.")
        return self.measures[names.index(name)]


def cap(
    real: Table,
    synthetic: Table,
    *,
    keys: Sequence[str],
    secrets: Sequence[str],
    holdout: Table | None = None,
    by: By = By.VALUES,
    generalised: bool = True,
    most_generalised: int | None = None,
    confidence: float = 0.95,
    workers: int = 1,
    rng: np.random.Generator | None = None,
) -> Cap:
    """How well the keys of real people give their secrets away, with baselines and control.

    GCAP needs distances: where there are more than `most_generalised` records of a side, so many are drawn by `rng` for it.

    Intervals treat records (persons, where declared) as independent draws, given the table they are matched with. For the
    holdout that is exact; for real records it holds if the release does not depend on them, which is what an excess refutes.
    """
    check(real, synthetic, keys, secrets, holdout)
    tables = [real, synthetic] + ([] if holdout is None else [holdout])
    groups = _Groups.of(tables, keys, secrets, by, digits=generalised)
    some = _some(len(real), most_generalised, rng)
    of_real = groups.match(0, 1, workers, some)
    of_original = groups.match(0, 0, workers, some)
    of_holdout = None
    if holdout is not None:
        of_holdout = groups.match(2, 1, workers, _some(len(holdout), most_generalised, rng))
    persons = _persons(real), None if holdout is None else _persons(holdout)
    measures = tuple(
        _measure(name, of_real, of_original, of_holdout, persons, confidence)
        for name in NAMES
        if generalised or name != "GCAP"
    )
    counts = np.bincount(groups.secrets[0])[groups.secrets[0]]
    return Cap(
        tuple(keys),
        tuple(secrets),
        measures,
        mean_of_shares(counts / len(real), persons[0], confidence=confidence),
        mean_of_shares(groups.secrets[0] == groups.secrets[0][counts.argmax()], persons[0], confidence=confidence),
        of_real,
        of_holdout,
        (*_notes(of_real, of_holdout, synthetic), *_drawn_note(some)),
    )


def matches(
    records: Table,
    synthetic: Table,
    *,
    keys: Sequence[str],
    secrets: Sequence[str],
    by: By = By.VALUES,
    generalised: bool = False,
    workers: int = 1,
) -> Matches:
    """What the synthetic table says about each of these records, without baselines and intervals."""
    check(records, synthetic, keys, secrets, None)
    return _Groups.of([records, synthetic], keys, secrets, by, digits=generalised).match(0, 1, workers)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Group numbers of keys and secrets for each table, comparable across tables."""

    keys: list[np.ndarray]
    secrets: list[np.ndarray]
    digits: list[np.ndarray] | None  # of each key column by itself: columns x rows

    @classmethod
    def of(cls, tables: list[Table], keys: Sequence[str], secrets: Sequence[str], by: By, *, digits: bool) -> _Groups:
        found = [group_ids(*tables, columns=[key], by=by) for key in keys] if digits else []
        return cls(
            group_ids(*tables, columns=keys, by=by),
            group_ids(*tables, columns=secrets, by=by),
            [np.stack([column[place] for column in found]) for place in range(len(tables))] if digits else None,
        )

    def match(self, records: int, candidates: int, workers: int, some: np.ndarray | None = None) -> Matches:
        """The rows of one table looked up in another; `some` of them by distance too (None = all)."""
        keys, secrets = self.keys[records], self.secrets[records]
        size = max(int(ids.max(initial=0)) for ids in self.secrets) + 1
        groups = max(int(ids.max(initial=0)) for ids in self.keys) + 1
        found = np.bincount(self.keys[candidates], minlength=groups)[keys]
        pairs = self.keys[candidates] * size + self.secrets[candidates]
        distinct, counts = np.unique(pairs, return_counts=True)
        place = np.searchsorted(distinct, keys * size + secrets).clip(max=len(distinct) - 1)
        correct = np.where(distinct[place] == keys * size + secrets, counts[place], 0)
        agree = np.bincount(distinct // size, minlength=groups)[keys] == 1
        exact = None
        if self.digits is not None:
            exact = np.where(found > 0, correct / np.maximum(found, 1), np.nan)
            lost = found == 0
            if some is not None:
                exact[~some] = np.nan
                lost &= some
            self._complete(exact, lost, records, candidates, workers)
        return Matches(found, correct, agree, exact)

    def _complete(self, shares: np.ndarray, lost: np.ndarray, records: int, candidates: int, workers: int) -> None:
        """GCAP of the records without a match."""
        if self.digits is not None and lost.any():
            pool = Candidates.of(self.digits[candidates], self.keys[candidates], self.secrets[candidates])
            digits, keys, secrets = self.digits[records][:, lost], self.keys[records][lost], self.secrets[records][lost]
            shares[lost] = shares_at_nearest(pool, digits, keys, secrets, workers=workers)


def _some(rows: int, most: int | None, rng: np.random.Generator | None) -> np.ndarray | None:
    """Which records are looked up by distance; None = all."""
    if most is None or rows <= most:
        return None
    if rng is None:
        raise ParameterError(f"There are {rows:,} records, more than the {most:,} for GCAP. Pass rng to draw some.")
    chosen = np.zeros(rows, dtype=bool)
    chosen[rng.choice(rows, most, replace=False)] = True
    return chosen


def _measure(
    name: str,
    real: Matches,
    original: Matches,
    holdout: Matches | None,
    persons: tuple[np.ndarray | None, np.ndarray | None],
    confidence: float,
) -> Measure:
    def defined(found: Matches | None, units: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        scores = np.empty(0) if found is None else found.scores(name)
        kept = ~np.isnan(scores)
        return scores[kept], None if units is None else units[kept]

    attack, attack_units = defined(real, persons[0])
    control, control_units = defined(holdout, persons[1])
    upper, upper_units = defined(original, persons[0])
    return Measure(
        name,
        mean_of_shares(attack, attack_units, confidence=confidence) if len(attack) else None,
        mean_of_shares(upper, upper_units, confidence=confidence) if len(upper) else None,
        mean_of_shares(control, control_units, confidence=confidence) if len(control) else None,
        difference_of_shares(
            attack, control, attack_units=attack_units, control_units=control_units, confidence=confidence
        )
        if len(attack) and len(control)
        else None,
    )


def _persons(table: Table) -> np.ndarray | None:
    return None if table.persons is None else units(table).of_row


def check(real: Table, synthetic: Table, keys: Sequence[str], secrets: Sequence[str], holdout: Table | None) -> None:
    """Rows on all sides, the same columns, and none that is both known and secret."""
    for name, table in (("real", real), ("synthetic", synthetic), ("holdout", holdout)):
        if table is not None and len(table) == 0:
            raise InputError(f"The {name} table has no rows, so nothing can be matched. Give it at least one row.")
    tables = [table for table in (real, synthetic, holdout) if table is not None]
    known, unknown = (shared_columns(tables, names) for names in (keys, secrets))
    if both := [column.name for column in known if column in unknown]:
        raise ParameterError(f"{quoted(both)} is a key and a secret at once. What is known is not secret: remove one.")


def _drawn_note(some: np.ndarray | None) -> tuple[str, ...]:
    if some is None:
        return ()
    return (
        f"GCAP is of {int(some.sum()):,} of {len(some):,} real records, drawn at random, since it needs distances.",
    )


def _notes(real: Matches, holdout: Matches | None, synthetic: Table) -> tuple[str, ...]:
    rows = len(real.found)
    notes = [f"{int((real.found > 0).sum()):,} of {rows:,} real records have their keys in the synthetic table."]
    if not (real.found > 0).any():
        notes.append("No record has a match, so CAP and TCAP are undefined. Use fewer keys, or compare numbers by bin.")
    elif not real.agree.any():
        notes.append("No matches agree on one secret, so TCAP is undefined.")
    if holdout is None:
        notes.append(
            "Without holdout records, what the release adds cannot be separated from what the population teaches."
        )
    else:
        notes.append(
            "CAP and TCAP average over matched records only, which are other people in real and holdout; "
            "0-CAP, DCAP, DiSCO and GCAP average over all."
        )
    if unlisted := synthetic.unlisted_rows:
        notes.append(
            f"{unlisted:,} synthetic rows hold values outside the schema; an unlisted category matches nothing."
        )
    return tuple(notes)
