"""The CAP family for every key of a length out of the columns that an attacker may know (the way of hittmeir2020, section VI).

Each measure is taken for every key; mean and population standard deviation over the keys are reported. Intervals are over people:
each person's score is the mean over the keys that define it, so that a person counts once however many keys there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.metrics._key_subsets import key_subsets
from unmask.metrics._shares import difference_of_shares, mean_of_shares
from unmask.metrics.cap import NAMES, Cap, Matches, cap
from unmask.stats.results import Estimate
from unmask.tables.matching import By, shared_columns
from unmask.tables.table import Table
from unmask.tables.units import units


@dataclass(frozen=True)
class KeyMeasure:
    """One measure over all keys. NaN and None where no key defines it."""

    name: str
    mean: float  # over the keys, on real people
    deviation: float  # over the keys
    original: float  # mean over the keys of the same attack on the real table itself
    holdout: float  # mean over the keys, on people who were never in the data
    real: Estimate | None  # mean over people of their mean over keys
    excess: Estimate | None  # that minus the same of holdout people


@dataclass(frozen=True, eq=False)
class CapOverKeys:
    """The CAP family over all keys of one length."""

    secret: str
    keys: tuple[tuple[str, ...], ...]
    measures: tuple[KeyMeasure, ...]
    mode: Estimate  # always guess the most frequent value of the real table
    notes: tuple[str, ...]


def cap_over_keys(
    real: Table,
    synthetic: Table,
    *,
    keys: Sequence[str],
    secret: str,
    length: int | None = None,
    holdout: Table | None = None,
    by: By = By.VALUES,
    most_generalised: int | None = None,
    confidence: float = 0.95,
    workers: int = 1,
    rng: np.random.Generator,
) -> CapOverKeys:
    """CAP, 0-CAP, GCAP, DCAP, DiSCO and TCAP for every key of this `length` (None = all columns at once)."""
    tables = [real, synthetic] if holdout is None else [real, synthetic, holdout]
    chosen = key_subsets([column.name for column in shared_columns(tables, keys)], length, rng=rng)
    found: list[Cap] = []
    scores: dict[tuple[str, int], _Sum] = {}
    for key in chosen.chosen:
        one = cap(
            real, synthetic, keys=key, secrets=[secret], holdout=holdout, by=by, most_generalised=most_generalised,
            confidence=confidence, workers=workers, rng=rng,
        )  # fmt: skip
        found.append(one)
        for side, matched in enumerate((one.real, one.holdout)):
            if matched is not None:
                for name in NAMES:
                    scores.setdefault((name, side), _Sum.empty(matched)).add(matched.scores(name))
    persons = [None if table is None or table.persons is None else units(table).of_row for table in (real, holdout)]
    drawn = [note for note in found[0].notes if "drawn at random" in note]
    return CapOverKeys(
        secret,
        chosen.chosen,
        tuple(_measure(name, found, scores, persons, confidence) for name in NAMES),
        found[0].mode,
        tuple(dict.fromkeys([*([chosen.note] if chosen.note else []), *(drawn if len(found) > 1 else found[0].notes)])),
    )


@dataclass(frozen=True, eq=False)
class _Sum:
    """Scores added up over keys, where a key defines them."""

    total: np.ndarray
    count: np.ndarray

    @classmethod
    def empty(cls, matched: Matches) -> _Sum:
        return cls(np.zeros(len(matched.found)), np.zeros(len(matched.found), dtype=np.int64))

    def add(self, scores: np.ndarray) -> None:
        defined = ~np.isnan(scores)
        self.total[defined] += scores[defined]
        self.count[defined] += 1

    def shares(self, persons: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        """Means of those whom some key defines, and who they are."""
        defined = self.count > 0
        return self.total[defined] / self.count[defined], None if persons is None else persons[defined]


def _measure(
    name: str,
    found: list[Cap],
    scores: dict[tuple[str, int], _Sum],
    persons: list[np.ndarray | None],
    confidence: float,
) -> KeyMeasure:
    def over_keys(side: str) -> np.ndarray:
        values = [getattr(one.measure(name), side) for one in found]
        return np.array([each.value for each in values if each is not None])

    values, original, holdout = (over_keys(side) for side in ("real", "original", "holdout"))
    attack, attack_units = scores[name, 0].shares(persons[0])
    control, control_units = scores[name, 1].shares(persons[1]) if (name, 1) in scores else (np.empty(0), None)
    excess = None
    if len(attack) and len(control):
        excess = difference_of_shares(
            attack, control, attack_units=attack_units, control_units=control_units, confidence=confidence
        )
    return KeyMeasure(
        name,
        *(float(values.mean()), float(values.std())) if len(values) else (np.nan, np.nan),
        float(original.mean()) if len(original) else np.nan,
        float(holdout.mean()) if len(holdout) else np.nan,
        mean_of_shares(attack, attack_units, confidence=confidence) if len(attack) else None,
        excess,
    )
