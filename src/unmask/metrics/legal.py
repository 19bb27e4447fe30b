"""What the three criteria of WP29 (singling out, linking, inferring) have in common: an attack, a baseline and a control.

A rate alone says little: a useful table lets an attacker guess right about people who were never in it. So every attack
stands beside a baseline that never sees the synthetic table, and beside the same attack on holdout people, the control.

    attack a, control c     shares of attempts that succeed, Wilson intervals; an attempt without a guess has failed
    difference              a - c with the interval of Newcombe (MOVER of Wilson limits): what verdicts use
    risk                    R = (a - c)/(1 - c) with se^2 = (se_a/(1-c))^2 + ((1-a) se_c/(1-c)^2)^2 (anonymeter's); not at c = 1
    p-value                 of "the attack succeeds no more often than its control": the level at which that interval ends at 0

Article 29 Working Party, Opinion 05/2014 on anonymisation techniques; Giomi et al. 2023 (anonymeter).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from unmask.errors import InputError, ParameterError
from unmask.stats.intervals import difference, difference_limits, excess_risk, wilson, wilson_limits
from unmask.stats.multiplicity import Listing, holm
from unmask.stats.results import Assumption, Estimate
from unmask.tables.schema import Column, text_of
from unmask.tables.table import Table
from unmask.tables.units import SMALLEST_GROUP
from unmask.tables.units import units as units_of

FARTHEST = 8.0  # standard deviations; p-values below 1e-15 are all alike

NO_HOLDOUT = (
    "Without holdout records, what the release adds cannot be separated from what the population teaches. "
    "Set some people aside before training next time."
)
ALWAYS = "The control already succeeds always, so the risk (a - c)/(1 - c) is undefined; read the difference."
NO_BETTER = "The attack does no better than guessing without the synthetic table."


@dataclass(frozen=True, eq=False)
class Attempts:
    """Which attempts succeeded. `units` says which attempts are not independent (None = all are)."""

    successes: np.ndarray  # bool
    units: np.ndarray | None = None  # attempts of one unit count as one draw

    def __post_init__(self) -> None:
        if len(self.successes) == 0:
            raise ParameterError("There are no attempts to judge. Attack at least one record.")

    @property
    def counts(self) -> tuple[float, float]:
        """Successes and attempts; with units, those of as many independent attempts as would be equally precise.

        That is n_eff = m (1 - m)/V with V the variance of the mean m between units (survey practice: Kott and Carr 1997).
        """
        total = len(self.successes)
        if self.units is None:
            return int(self.successes.sum()), total
        mean, of_attempt = float(self.successes.mean()), np.unique(self.units, return_inverse=True)[1]
        size = float(of_attempt.max() + 1)
        if 0 < mean < 1:
            between = np.square(np.bincount(of_attempt, weights=self.successes - mean)).sum()
            size = min(float(total), mean * (1 - mean) * total**2 / between) if between > 0 else float(total)
        return mean * size, size

    def rate(self, confidence: float) -> Estimate:
        """The share that succeeded."""
        if self.units is None:
            return wilson(int(self.successes.sum()), len(self.successes), confidence=confidence)
        low, high = wilson_limits(*self.counts, confidence=confidence)
        return self._estimate(float(self.successes.mean()), low, high, confidence, "Wilson, effective n", 0)

    def minus(self, control: Attempts, confidence: float) -> Estimate:
        """The share that succeeded less that of the control."""
        (a, n_a), (c, n_c) = self.counts, control.counts
        if self.units is None and control.units is None:
            return difference((int(a), int(n_a)), (int(c), int(n_c)), confidence=confidence)
        low, high = difference_limits(a, n_a, c=c, n_c=n_c, confidence=confidence)
        value = float(self.successes.mean() - control.successes.mean())
        method = "Newcombe (MOVER, Wilson, effective n)"
        return self._estimate(value, low, high, confidence, method, len(control.successes))

    def _estimate(self, value: float, low: Any, high: Any, confidence: float, method: str, others: int) -> Estimate:
        interval = (min(value, float(low)), max(value, float(high)))
        return Estimate(value, interval, confidence, method, Assumption.MODEL_BASED, len(self.successes) + others)

    def risk(self, control: Attempts, confidence: float) -> Estimate | None:
        """The share of the control's failures in which the attack succeeds; None if the control never fails."""
        if control.successes.all():
            return None
        found = excess_risk(self.counts, control.counts, confidence=confidence)  # type: ignore[arg-type]
        return replace(found, n=len(self.successes) + len(control.successes))


@dataclass(frozen=True, eq=False)
class Criterion:
    """One attack with its baseline and its control; positive differences mean that being in the data makes it easier.

    `rows` are the attacked rows of the real table and `successes` says for each whether it was hit; the same for the control.
    """

    name: str
    attack: Estimate
    baseline: Estimate  # never sees the synthetic table
    control: Estimate | None  # None = no holdout
    difference: Estimate | None  # attack - control
    risk: Estimate | None  # (attack - control)/(1 - control); None = no holdout, or the control never fails
    p_value: float | None  # one-sided, of "no better than the control"
    rows: np.ndarray
    successes: np.ndarray
    control_rows: np.ndarray
    control_successes: np.ndarray
    notes: tuple[str, ...] = field(kw_only=True, default=())

    @property
    def beats_control(self) -> bool:
        """Whether the whole interval of the difference is above 0: this attack by itself, no other one considered."""
        return self.difference is not None and self.difference.low > 0


@dataclass(frozen=True)
class Group:
    """The risk of the people who share one value of a column."""

    value: str
    attack: Estimate
    control: Estimate | None  # None = nobody of the holdout has the value
    difference: Estimate | None
    small: bool  # too few people to be shown


def p_value(attack: Attempts, control: Attempts) -> float:
    """One-sided p-value of "the attack succeeds no more often than its control".

    The level at which the lower limit of `minus` reaches 0, so that p-values and intervals tell one story.
    """
    (a, n_a), (c, n_c) = attack.counts, control.counts
    if a * n_c <= c * n_a:
        return 1.0
    low, high = 0.0, FARTHEST
    for _ in range(60):
        z = (low + high) / 2
        limit, _ = difference_limits(a, n_a, c=c, n_c=n_c, confidence=float(2 * ndtr(z) - 1))
        low, high = (z, high) if limit > 0 else (low, z)
    return float(ndtr(-low))


def judged(attack: Attempts, baseline: Estimate, control: Attempts | None, *, confidence: float) -> dict[str, Any]:
    """The fields of a `Criterion` that follow from the attempts; its notes among them."""
    rate = attack.rate(confidence)
    notes = [NO_BETTER] if rate.value <= baseline.value else []
    if control is None:
        compared: dict[str, Any] = dict.fromkeys(("control", "difference", "risk", "p_value"))
        notes.append(NO_HOLDOUT)
    else:
        compared = {
            "control": control.rate(confidence),
            "difference": attack.minus(control, confidence),
            "risk": attack.risk(control, confidence),
            "p_value": p_value(attack, control),
        }
        notes += [ALWAYS] if compared["risk"] is None else []
    return {"attack": rate, "baseline": baseline, **compared, "notes": tuple(notes)}


def persons(table: Table, rows: np.ndarray) -> np.ndarray | None:
    """The person of each of these rows; None where every row is a unit of its own."""
    return None if table.persons is None else units_of(table).of_row[rows]


def chosen_rows(table: Table, attempts: int, rng: np.random.Generator) -> np.ndarray:
    """The records to attack, in table order: all, or a random choice without repetition."""
    if len(table) <= attempts:
        return np.arange(len(table))
    return np.sort(rng.choice(len(table), attempts, replace=False))


def check_tables(
    real: Table, synthetic: Table, *, holdout: Table | None, attempts: int, reference: Table | None = None
) -> None:
    """Rows on all sides, one schema, and at least one attack."""
    given = (("real", real), ("synthetic", synthetic), ("holdout", holdout), ("reference", reference))
    for name, table in given:
        if table is None:
            continue
        if len(table) == 0:
            raise InputError(f"The {name} table has no rows, so nothing can be attacked. Give it at least one row.")
        if table.schema.columns != real.schema.columns:
            raise InputError(f"The {name} table has other columns than the real one. Encode both against one schema.")
    if attempts < 1:
        raise ParameterError(f"attempts is {attempts}; attack at least one record.")


def over_secrets(criteria: Sequence[Criterion], *, confidence: float = 0.95) -> Listing | None:
    """Which of many attacks beat their controls, all at once (Holm): with probability `confidence` none is listed wrongly.

    None if nothing could be compared. Attacks without a control count as p-values of 1.
    """
    if not any(criterion.control for criterion in criteria):
        return None
    return holm([1.0 if c.p_value is None else c.p_value for c in criteria], confidence=confidence)


def groups(
    criterion: Criterion, real: Table, *, column: str, holdout: Table | None = None, confidence: float = 0.95
) -> tuple[Group, ...]:
    """The risk for each value (or bin) of a column, over the attacked records that have it.

    The n of a group is the number of its attacked records, on both sides. Values that no attacked record has are left out.
    """
    place = real.schema.position(column)
    codes, control_codes = real.codes[criterion.rows, place], np.empty(0, dtype=real.codes.dtype)
    if holdout is not None:
        if len(criterion.control_rows) == 0:
            raise ParameterError("This attack had no holdout, so groups have none either. Leave holdout out.")
        control_codes = holdout.codes[criterion.control_rows, place]
    people = persons(real, criterion.rows)
    others = None if holdout is None else persons(holdout, criterion.control_rows)
    found = []
    for code in np.unique(codes):
        mine, theirs = codes == code, control_codes == code
        attack = Attempts(criterion.successes[mine], None if people is None else people[mine])
        control = None
        if theirs.any():
            control = Attempts(criterion.control_successes[theirs], None if others is None else others[theirs])
        found.append(
            Group(
                value_text(real.schema.columns[place], int(code)),
                attack.rate(confidence),
                None if control is None else control.rate(confidence),
                None if control is None else attack.minus(control, confidence),
                _people(attack) < SMALLEST_GROUP,
            )
        )
    return tuple(found)


def value_text(column: Column, code: int) -> str:
    """A code in words: the category, the range of a bin, or "missing"."""
    if code < column.listed:
        if not column.is_numeric:
            return text_of(column.values[code])
        return f"{column.edges[code]:g} to {column.edges[code + 1]:g}"
    if column.missing and code == column.missing_code:
        return "missing"
    if code == column.unlisted_code:
        return "not in the schema"
    return column.groups[code - column.size - 1][0]


def _people(attempts: Attempts) -> int:
    return len(attempts.successes) if attempts.units is None else len(np.unique(attempts.units))
