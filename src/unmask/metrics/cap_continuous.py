"""Attribute disclosure of a number: radius nearest neighbour regression on the synthetic table (hittmeir2020).

CAP asks for equal keys and equal secrets, which numbers rarely have. Here the attacker predicts the secret as the mean over
the synthetic rows within a radius of the known keys (`Neighbourhood`: radius, weights, by whose spread keys are standardised).
Without a row inside the radius the prediction is the mean of the secret, and the record is counted in `lonely`.

MAE in the unit of the secret, MAPE in per cent of the true value (records with a true value of 0 left out), R2 = 1 - squared
error / squared spread of the true values: 0 = no better than their mean, 1 = exact; lower MAE and higher R2 mean more
disclosure. For every key of a given length out of `keys`; mean and population standard deviation over the keys. Beside it the
same attack on the real table itself (*Original*, an upper bound) and the mean of the searched table (*Dummy*, what needs no key).

*Gain*: how much smaller the mean absolute error is than that of the dummy, as a share of the latter; per record the mean over the
keys, so that intervals (Student, Welch) are over people. What the population teaches about anybody is the gain of holdout people;
where the two are compared, both are standardised by all of them together: by its own mean and spread, each side would share an
error that no interval over people sees (it covered 80 % instead of 95).

*Closeness*: d / (d + e) with e the error of a guess and d that of the dummy, mean over the keys: 1 = exact, one half = no closer
than the mean. It is a number from 0 to 1 for everybody, and so what a verdict can rest on. Here, and for *closer*, keys are
standardised by the release on both sides, so that equal keys are equal: that is where copies give people away.

Cost: number of keys x distinct real keys x distinct synthetic keys, in memory proportional to the rows. sdmetrics' version
sums over all rows and divides by the number inside the radius, so its predictions leave the range of the data; ours cannot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unmask.errors import ParameterError
from unmask.metrics._gains import difference_of_gains, mean_of_gains
from unmask.metrics._key_subsets import KeySubsets, key_subsets
from unmask.metrics._neighbour_mean import (
    Neighbourhood,
    Predictions,
    Scale,
    Scaling,
    Weights,
    numbers_of,
    predict,
)
from unmask.metrics._shares import difference_of_shares, mean_of_shares
from unmask.metrics.cap import check
from unmask.stats.auc import auc
from unmask.stats.results import Estimate
from unmask.tables.matching import shared_columns
from unmask.tables.table import Table
from unmask.tables.units import units

__all__ = [
    "ContinuousCap", "Errors", "GainOverMean", "Neighbourhood", "Scaling", "Spread", "Versus", "Weights", "cap_continuous",
    "errors", "predict",
]  # fmt: skip


@dataclass(frozen=True)
class Errors:
    """How far predictions are off, over all records with a known secret; NaN where a measure is undefined."""

    mae: float
    mape: float
    r2: float


@dataclass(frozen=True)
class Spread:
    """Errors over all keys: mean and population standard deviation."""

    mean: Errors
    deviation: Errors


@dataclass(frozen=True, eq=False)
class Versus:
    """A share of each person: its mean on real people, on holdout people, and what the first have over the second."""

    real: Estimate
    holdout: Estimate | None = None
    excess: Estimate | None = None
    shares: tuple[np.ndarray, ...] = ()  # of real people, and of holdout people
    units: tuple[np.ndarray | None, ...] = ()

    def excess_at(self, confidence: float) -> Estimate:
        """The excess of shares with an interval of another confidence; there must be a holdout."""
        return difference_of_shares(
            *self.shares, attack_units=self.units[0], control_units=self.units[1], confidence=confidence
        )


@dataclass(frozen=True)
class GainOverMean:
    """1 - MAE / MAE of the mean predictor: on real people, on holdout people, and the difference; None without holdout."""

    real: Estimate
    holdout: Estimate | None = None
    excess: Estimate | None = None


@dataclass(frozen=True, eq=False)
class ContinuousCap:
    """Predictions of one numeric secret from every key of one length."""

    secret: str
    keys: tuple[tuple[str, ...], ...]
    how: Neighbourhood
    synthetic: Spread
    original: Spread  # the same attack on the real table itself: the most that could be disclosed
    mean_predictor: Errors  # always the mean of the secret in the synthetic table
    original_mean_predictor: Errors  # always its mean in the real table
    holdout: Spread | None  # the same attack on people who were never in the data
    gain: GainOverMean | None  # over all keys; None if the mean is right for everybody, or no secret is known
    closeness: Versus | None  # 1 = exact, one half = no closer than the mean; None as above
    closer: Estimate | None  # chance that a real record is predicted closer than a holdout one; 0.5 = no leak
    by_key: tuple[Errors, ...]  # the synthetic table, key by key
    rows: np.ndarray  # the real rows that were attacked
    absolute_errors: np.ndarray  # of each of these, mean over the keys; NaN where its secret is missing
    lonely: int  # predictions (records x keys) without a synthetic row inside the radius
    notes: tuple[str, ...]


def cap_continuous(
    real: Table,
    synthetic: Table,
    *,
    keys: Sequence[str],
    secret: str,
    length: int | None = None,
    how: Neighbourhood = Neighbourhood(),
    holdout: Table | None = None,
    most_records: int | None = None,
    confidence: float = 0.95,
    workers: int = 1,
    rng: np.random.Generator | None = None,
) -> ContinuousCap:
    """How closely keys of this `length` out of `keys` (None = all of them) give a numeric secret away.

    `rng` draws `most_records` people of either side where there are more, and keys where there are very many; both are noted.
    """
    check(real, synthetic, keys, [secret], holdout)
    if not real.schema.column(secret).is_numeric:
        raise ParameterError(f"'{secret}' is categorical; use unmask.metrics.cap for it, or choose a numeric secret.")
    chosen = key_subsets([column.name for column in shared_columns([real], keys)], length, rng=rng)
    attack = _Attacked.of(real, secret, most_records, rng)
    control = None if holdout is None else _Attacked.of(holdout, secret, most_records, rng)
    runs = attack.guesses(synthetic, chosen, how, (real,), workers)
    upper = attack.guesses(real, chosen, how, (real,), workers)
    exact = replace(how, scaling=Scaling.RELEASE)
    by_release = runs if how == exact else attack.guesses(synthetic, chosen, exact, (real,), workers)
    fair, others, others_by_release = runs, list[Predictions](), list[Predictions]()
    if holdout is not None and control is not None:
        if how != exact:
            fair = attack.guesses(synthetic, chosen, how, (real, holdout), workers)
        others = control.guesses(synthetic, chosen, how, (real, holdout), workers)
        others_by_release = others if how == exact else control.guesses(synthetic, chosen, exact, (holdout,), workers)
    mean = float(np.nanmean(numbers_of(synthetic, secret)))
    by_key = tuple(errors(attack.truth, run.values) for run in runs)
    lonely = sum(int(run.lonely.sum()) for run in runs)
    closer = None
    if control is not None:
        absolute = _mean_absolute(attack.truth, by_release), _mean_absolute(control.truth, others_by_release)
        closer = _closer(*absolute, confidence)
    return ContinuousCap(
        secret,
        chosen.chosen,
        how,
        _spread(list(by_key)),
        _spread([errors(attack.truth, run.values) for run in upper]),
        errors(attack.truth, np.full(len(attack.truth), mean)),
        errors(attack.truth, np.full(len(attack.truth), np.nanmean(numbers_of(real, secret)))),
        None if control is None else _spread([errors(control.truth, run.values) for run in others]),
        _gain(_Pair(attack, fair, control, others, mean), confidence),
        _closeness(_Pair(attack, by_release, control, others_by_release, mean), confidence),
        closer,
        by_key,
        attack.rows,
        _mean_absolute(attack.truth, runs),
        lonely,
        _notes(attack, chosen, lonely, holdout),
    )


@dataclass(frozen=True, eq=False)
class _Attacked:
    """People to attack: some rows of a table, whose keys are standardised as those of the whole table."""

    table: Table
    rows: np.ndarray
    people: Table
    secret: str
    truth: np.ndarray
    persons: np.ndarray | None

    @classmethod
    def of(cls, table: Table, secret: str, most: int | None, rng: np.random.Generator | None) -> _Attacked:
        rows = np.arange(len(table))
        if most is not None and most < len(table):
            if rng is None:
                raise ParameterError(f"There are {len(table):,} records, more than {most:,}. Pass rng to draw some.")
            rows = np.sort(rng.choice(len(table), most, replace=False))
        people = table if len(rows) == len(table) else table.take(rows)
        persons = None if table.persons is None else units(table).of_row[rows]
        return cls(table, rows, people, secret, numbers_of(people, secret), persons)

    def guesses(
        self, searched: Table, keys: KeySubsets, how: Neighbourhood, like: tuple[Table, ...], workers: int
    ) -> list[Predictions]:
        """Guesses from each key, with the people standardised as all rows of `like` are."""
        return [
            predict(
                self.people, searched, keys=key, secret=self.secret, how=how, scale=Scale.of(key, *like), workers=workers
            )
            for key in keys.chosen
        ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Pair:
    """Real people and, unless there are none, holdout people, with guesses from every key."""

    attack: _Attacked
    runs: list[Predictions]
    control: _Attacked | None
    others: list[Predictions]
    mean: float  # of the secret in the release

    @property
    def sides(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        """For each side the errors (keys x records) of those whose secret is known, those of the mean, and who they are."""
        found = []
        for side, runs in ((self.attack, self.runs), (self.control, self.others)):
            if side is not None:
                known = ~np.isnan(side.truth)
                truth = side.truth[known]
                off = np.array([np.abs(run.values[known] - truth) for run in runs])
                persons = None if side.persons is None else side.persons[known]
                found.append((off, np.abs(truth - self.mean), persons))
        return found

    @property
    def is_open(self) -> bool:
        """Whether there is something to guess on either side."""
        return all(len(dummy) and dummy.mean() > 0 for _, dummy, _ in self.sides)


def _gain(pair: _Pair, confidence: float) -> GainOverMean | None:
    if not pair.is_open:
        return None
    values, persons = [], []
    for off, dummy, who in pair.sides:
        less = dummy - off.mean(axis=0)
        gain = less.mean() / dummy.mean()
        values.append(gain + (less - gain * dummy) / dummy.mean())  # a ratio of means: its residuals, for the interval
        persons.append(who)
    means = [mean_of_gains(each, who, confidence=confidence) for each, who in zip(values, persons, strict=True)]
    if len(means) == 1:
        return GainOverMean(means[0])
    excess = difference_of_gains(*values, attack_units=persons[0], control_units=persons[1], confidence=confidence)
    return GainOverMean(means[0], means[1], excess)


def _closeness(pair: _Pair, confidence: float) -> Versus | None:
    if not pair.is_open:
        return None
    shares = tuple(
        np.divide(np.broadcast_to(dummy, total.shape), total, out=np.full(total.shape, 0.5), where=total > 0).mean(
            axis=0
        )
        for off, dummy, _ in pair.sides
        for total in [off + dummy]
    )
    persons = tuple(who for _, _, who in pair.sides)
    means = [mean_of_shares(each, who, confidence=confidence) for each, who in zip(shares, persons, strict=True)]
    if len(means) == 1:
        return Versus(means[0])
    both = Versus(means[0], means[1], None, shares, persons)
    return replace(both, excess=both.excess_at(confidence))


def errors(truth: np.ndarray, predicted: np.ndarray) -> Errors:
    """MAE, MAPE (per cent) and R2 over the records whose true value is known."""
    known = ~np.isnan(truth)
    truth, gaps = truth[known], (predicted - truth)[known]
    if len(truth) == 0:
        return Errors(math.nan, math.nan, math.nan)
    nonzero = truth != 0
    mape = float(np.mean(np.abs(gaps[nonzero] / truth[nonzero])) * 100) if nonzero.any() else math.nan
    total = float(np.square(truth - truth.mean()).sum())
    r2 = math.nan if truth.min() == truth.max() else 1 - float(np.square(gaps).sum()) / total
    return Errors(float(np.abs(gaps).mean()), mape, r2)


def _mean_absolute(truth: np.ndarray, runs: list[Predictions]) -> np.ndarray:
    return np.mean([np.abs(run.values - truth) for run in runs], axis=0)


def _closer(real: np.ndarray, holdout: np.ndarray, confidence: float) -> Estimate | None:
    real, holdout = real[~np.isnan(real)], holdout[~np.isnan(holdout)]
    return auc(-real, -holdout, confidence=confidence) if len(real) and len(holdout) else None


def _spread(found: list[Errors]) -> Spread:
    rows = np.array([[one.mae, one.mape, one.r2] for one in found])
    return Spread(Errors(*map(float, rows.mean(axis=0))), Errors(*map(float, rows.std(axis=0))))


def _notes(attack: _Attacked, keys: KeySubsets, lonely: int, holdout: Table | None) -> tuple[str, ...]:
    truth = attack.truth
    known = truth[~np.isnan(truth)]
    notes = [keys.note] if keys.note else []
    if len(attack.rows) < len(attack.table):
        notes.append(f"{len(truth):,} of {len(attack.table):,} real records were attacked, drawn at random.")
    if len(known) < len(truth):
        notes.append(f"{len(truth) - len(known):,} real records have no value of the secret and are left out.")
    if zeros := int((known == 0).sum()):
        notes.append(f"MAPE leaves out {zeros:,} records whose true value is 0.")
    if len(known) and known.min() == known.max():
        notes.append("The secret is constant in the real table, so R2 is undefined.")
    if lonely:
        asked = len(truth) * len(keys.chosen)
        notes.append(f"{lonely:,} of {asked:,} predictions had no synthetic row inside the radius and took the mean.")
    if holdout is None:
        notes.append(
            "Without holdout records, what the release adds cannot be separated from what the population teaches."
        )
    return tuple(notes)
