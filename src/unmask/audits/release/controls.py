"""Is the audit sound? A blind baseline, permuted membership, and planted copies on this very data."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from unmask.attacks.classifier import separate
from unmask.audits.release.scoring import Scores, Sides
from unmask.audits.release.tables import Release
from unmask.errors import ParameterError
from unmask.metrics.copies import copies
from unmask.stats import Estimate, auc
from unmask.stream import stream
from unmask.tables.matching import count_matches
from unmask.tables.table import concatenate

RATES = (0.0, 0.01, 0.03, 0.10)
TRIALS = 10
SEEN = 8  # of TRIALS


def blind_auc(sides: Sides, seed: int, *, confidence: float) -> Estimate:
    """How well real people are told from the holdout by a classifier that never sees the release.

    Two folds, each scored by the classifier that was trained on the other, scores ranked within a fold. Above one half the
    two tables differ by themselves. The folds lean on each other, so the interval is widened by the square root of two.
    """
    rng = stream(seed, "blind")
    holdout = concatenate([replace(table, persons=None, notes=()) for table in (sides.controls, sides.reference)])
    members, others = rng.permutation(len(sides.members)), rng.permutation(len(holdout))
    scored: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
    for fold in range(2):
        telling = separate(sides.members.take(members[fold::2]), holdout.take(others[fold::2]), rng)
        mine = telling(sides.members.take(members[1 - fold :: 2]))
        theirs = telling(holdout.take(others[1 - fold :: 2]))
        ranks = rankdata(np.concatenate([mine, theirs])) / (len(mine) + len(theirs))
        scored[0].append(ranks[: len(mine)])
        scored[1].append(ranks[len(mine) :])
    found = auc(np.concatenate(scored[0]), np.concatenate(scored[1]), confidence=confidence)
    reach = np.sqrt(2)
    low = max(0.0, found.value - reach * (found.value - found.low))
    high = min(1.0, found.value + reach * (found.high - found.value))
    return replace(found, interval=(low, high))


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


def instrument_check(release: Release, seed: int, *, confidence: float) -> Instrument:
    """Plant copies of real records into the release and see whether the test for copies notices.

    Rows of the release that equal a real one are taken out first, so that what it leaks already does not count.
    """
    if release.holdout is None:
        raise ParameterError("The instrument check needs a holdout.")
    synthetic = release.synthetic
    clean = replace(synthetic.take(count_matches(synthetic, release.real) == 0), notes=())
    seen = []
    for rate in RATES:
        found = 0
        for trial in range(TRIALS if rate else 1):
            rng = stream(seed, "instrument", f"{rate}", f"{trial}")
            rows = rng.choice(len(release.real), round(rate * len(release.real)), replace=False)
            planted = replace(release.real.take(rows), persons=None, notes=())
            parts = [table for table in (clean, planted) if len(table)]
            if parts:
                noticed = copies(
                    release.real, concatenate(parts), holdout=release.holdout, confidence=confidence
                ).excess
                found += noticed is not None and noticed.low > 0
        seen.append(found if rate else TRIALS * found)
    enough = [rate for rate, count in zip(RATES, seen, strict=True) if rate > 0 and count >= SEEN]
    return Instrument(RATES, tuple(seen), min(enough, default=float("inf")))
