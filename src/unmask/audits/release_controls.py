"""Is the audit sound? A blind baseline, permuted membership, and planted copies on this very data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.audits.classifier import separate
from unmask.audits.release_membership import People, Scores
from unmask.simulation.task import stream
from unmask.stats import Estimate, auc, difference
from unmask.tables.matching import count_matches
from unmask.tables.table import Table

RATES = (0.0, 0.01, 0.03, 0.10)
TRIALS = 10
SEEN = 8  # of TRIALS
MOST_PEOPLE = 20_000


def blind_auc(people: People, holdout: Table, seed: int, *, confidence: float) -> Estimate:
    """How well real people are told from the holdout by a classifier that never sees the release.

    Two folds, each scored by the classifier that was trained on the other. Above one half the two tables differ by
    themselves, and no difference in scores can be put down to the release.
    """
    rng = stream(seed, "blind")
    members, others = rng.permutation(len(people.members)), rng.permutation(len(holdout))
    scored: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for fold in range(2):
        telling = separate(people.members.take(members[fold::2]), holdout.take(others[fold::2]), rng)
        for side, table, order in ((0, people.members, members), (1, holdout, others)):
            scored[side].append(telling(table.take(order[1 - fold :: 2])))
    return auc(np.concatenate(scored[0]), np.concatenate(scored[1]), confidence=confidence)


def permuted_auc(scores: Scores, seed: int, *, confidence: float) -> Estimate:
    """The AUC of an attack if membership is dealt anew among the same people: it must cover one half."""
    both = np.concatenate([scores.members, scores.controls])
    order = stream(seed, "permuted", scores.name).permutation(len(both))
    cut = len(scores.members)
    return auc(both[order[:cut]], both[order[cut:]], confidence=confidence)


@dataclass(frozen=True)
class Instrument:
    """How often planted verbatim copies were seen, by the share of real records copied."""

    rates: tuple[float, ...]
    seen: tuple[int, ...]  # of TRIALS
    smallest: float  # smallest rate seen in at least SEEN of TRIALS; infinity if none was

    def in_words(self) -> str:
        """The sentence for the report."""
        if not np.isfinite(self.smallest):
            return (
                f"Not even verbatim copies of {RATES[-1]:.0%} of the records would have been seen reliably on this data: "
                "the holdout is too small, or most records have twins."
            )
        return (
            f"Verbatim copies of {self.smallest:.0%} of the records would have been seen in 8 of 10 trials on this data; "
            "other leaks may not."
        )


def instrument_check(people: People, synthetic: Table, seed: int, *, confidence: float) -> Instrument:
    """Plant copies of real records into the release and see whether the copy test notices.

    The test: are more real records than control records found verbatim in the release? Copies come on top of its rows.
    """
    members = _capped(people.members, stream(seed, "instrument", "members"))
    controls = _capped(people.controls, stream(seed, "instrument", "controls"))
    in_release = count_matches(members, synthetic), count_matches(controls, synthetic)
    seen = []
    for rate in RATES:
        found = 0
        for trial in range(TRIALS):
            rng = stream(seed, "instrument", f"{rate}", f"{trial}")
            found += _copies_seen(members, controls, in_release, rate, confidence, rng)
        seen.append(found)
    enough = [rate for rate, count in zip(RATES, seen, strict=True) if rate > 0 and count >= SEEN]
    return Instrument(RATES, tuple(seen), min(enough, default=float("inf")))


def _copies_seen(
    members: Table,
    controls: Table,
    in_release: tuple[np.ndarray, np.ndarray],
    rate: float,
    confidence: float,
    rng: np.random.Generator,
) -> bool:
    planted = members.take(rng.choice(len(members), round(rate * len(members)), replace=False))
    hits = []
    for table, before in ((members, in_release[0]), (controls, in_release[1])):
        now = before + (count_matches(table, planted) if len(planted) else 0)
        hits.append((int((now > 0).sum()), len(table)))
    return difference(hits[0], hits[1], confidence=confidence).low > 0


def _capped(table: Table, rng: np.random.Generator) -> Table:
    return table.take(rng.choice(len(table), MOST_PEOPLE, replace=False)) if len(table) > MOST_PEOPLE else table
