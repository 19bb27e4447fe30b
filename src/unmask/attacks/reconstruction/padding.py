"""Reading the distance of one row to the train table through metrics that judge whole tables.

Choose a padding row that passes in copies of its own (a uniform draw from the public domain does, the paper's "frequent
record" is usually in train and does not) and read its distance d_f. Then submit a row x with m copies of it:

    mean             d_x = (m + 1) score - m d_f
    5th percentile   m <= 19: score = (1 - .05 m) d_x + .05 m d_f, so d_x as long as d_x <= d_f; else "at least d_f"

From m = 20 on the percentiles are those of the padding whatever x is, so DCR and NNDR pass: a call that fails has an exact match
beyond what IMS tolerates, and one that passes with IMS above 0 has one too. A distance of 0 is never a guess.

Rounding to k decimals leaves an interval; other numbers of copies cut it down until one whole number is left, or none is.
Noise takes repeats; where more than `MOST_REPEATS` would be needed, nothing is read and nothing claimed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from unmask.errors import InputError
from unmask.threats.knowledge import ScoresShown
from unmask.threats.oracle import Answers, Oracle, ask_each, table_of

COPIES = 20  # from here on the 5th percentile is that of the padding
COPIES_PERCENTILE = 19  # up to here it is not
MORE_COPIES = 40  # confirms that a match was exact
DITHER = (20, 23, 27, 31, 37, 43)  # copies that are tried in turn where scores are rounded
MOST_REPEATS = 64  # of one call, against noise
TRIES = 400  # rows that are tried as padding
WANTED = 12  # of them that pass; the furthest is taken
UNKNOWN = -1
SURE = 3.3  # standard errors


@dataclass(frozen=True, eq=False)
class Padding:
    """A row whose copies pass, and its distance; NaN where scores are hidden."""

    row: np.ndarray
    distance: float


def find_padding(oracle: Oracle, rng: np.random.Generator) -> Padding:
    """The furthest of the first rows that pass alone; an error where none does.

    Among equally far ones the first, so that the choice does not hang on how many were tried.
    """
    sizes, best, passed = oracle.schema.sizes, None, 0
    for _ in range(TRIES):
        row = rng.integers(0, sizes).astype(oracle.schema.code_type)
        answer = oracle.ask(table_of(oracle.schema, np.repeat(row[None], COPIES, axis=0)))
        if answer is None:
            break
        if not answer.passed[0]:
            continue
        passed += 1
        value = float(answer.dcr[0] if np.isnan(answer.dcr_mean[0]) else answer.dcr_mean[0])
        found = Padding(row, value if math.isnan(value) else float(round(value)))
        best = found if best is None or found.distance > best.distance else best
        if passed == WANTED:
            break
    if best is None:
        raise InputError(
            f"None of {TRIES} rows drawn from the public domain passes the tests in copies of its own, so the oracle shows no "
            "score and no distance can be read. A holdout as far from the train table as the domain allows does that: "
            "check that train and holdout come from the same people."
        )
    return best


@dataclass
class Reader:
    """Reads distances of rows, and counts how many. A distance that cannot be told is UNKNOWN."""

    oracle: Oracle
    padding: Padding
    read: int = field(default=0)  # rows whose distance was asked for
    spent: bool = field(default=False)  # whether the calls are used up

    @property
    def repeats(self) -> int:
        """Calls per row that average the noise away."""
        epsilon = self.oracle.rules.epsilon
        if epsilon is None:
            return 1
        columns = len(self.oracle.schema.columns)
        deviation = math.sqrt(2) * 5 * columns / epsilon * (COPIES + 1)  # of the distance, from one noisy mean
        return max(1, math.ceil((SURE * deviation / 0.5) ** 2))

    def distances(self, codes: np.ndarray) -> np.ndarray:
        """The distance of each row to the nearest train row (int16); UNKNOWN where it cannot be told."""
        codes = np.asarray(codes, dtype=self.oracle.schema.code_type)
        found = np.full(len(codes), UNKNOWN, dtype=np.int16)
        if not len(codes) or self.spent:
            return found
        self.read += len(codes)
        rules = self.oracle.rules
        if rules.epsilon is not None:
            return self._through_noise(codes, found)
        if rules.shown is ScoresShown.NONE:
            answers = self._asked(codes, COPIES)
            found[: len(answers)][~answers.passed] = 0
            return found
        if rules.shown is ScoresShown.PERCENTILE:
            return self._by_percentile(codes, found)
        if rules.decimals is not None:
            return self._by_rounded_mean(codes, found, rules.decimals)
        return self._by_mean(codes, found)

    def _asked(self, codes: np.ndarray, copies: int) -> Answers:
        answers = ask_each(self.oracle, codes, self.padding.row, copies)
        self.spent = len(answers) < len(codes)
        return answers

    def _by_mean(self, codes: np.ndarray, found: np.ndarray) -> np.ndarray:
        """One call per row."""
        answers = self._asked(codes, COPIES)
        exact = ~answers.passed | (answers.ims > 0)
        value = (COPIES + 1) * answers.dcr_mean - COPIES * self.padding.distance
        found[: len(answers)] = np.rint(np.where(exact, 0.0, value))
        return found

    def _by_rounded_mean(self, codes: np.ndarray, found: np.ndarray, decimals: int) -> np.ndarray:
        """As many calls per row as it takes to leave one whole number, or all that there are."""
        slack = 0.5 * 10.0**-decimals
        low, high = np.zeros(len(codes)), np.full(len(codes), float(codes.shape[1]))
        open_ = np.arange(len(codes))
        for copies in DITHER:
            answers = self._asked(codes[open_], copies)
            asked = open_[: len(answers)]
            exact = ~answers.passed | (answers.ims > 0)
            found[asked[exact]] = 0
            middle = (copies + 1) * answers.dcr_mean - copies * self.padding.distance
            room = (copies + 1) * slack + 1e-6
            low[asked] = np.fmax(low[asked], middle - room)
            high[asked] = np.fmin(high[asked], middle + room)
            least, most = np.ceil(low[asked]), np.floor(high[asked])
            told = (least == most) & ~exact
            found[asked[told]] = least[told]
            open_ = asked[~told & ~exact]
            if not len(open_) or self.spent:
                break
        return found

    def _by_percentile(self, codes: np.ndarray, found: np.ndarray) -> np.ndarray:
        decimals = self.oracle.rules.decimals
        share, far = 0.05 * COPIES_PERCENTILE, self.padding.distance
        answers = self._asked(codes, COPIES_PERCENTILE)
        asked = np.arange(len(answers))
        value = (answers.dcr - share * far) / (1 - share)
        room = 0.0 if decimals is None else 0.5 * 10.0**-decimals / (1 - share)
        with np.errstate(invalid="ignore"):
            told = answers.passed & (np.floor(value + room + 1e-6) == np.ceil(value - room - 1e-6))
        found[asked[told]] = np.rint(value[told])
        found[asked[answers.passed & (answers.ims > 0)]] = 0
        doubtful = asked[~answers.passed]  # an exact match, or DCR or NNDR of a row that is merely near
        again = self._asked(codes[doubtful], MORE_COPIES) if len(doubtful) else None
        if again is not None:
            exact = ~again.passed | (again.ims > 0)
            found[doubtful[: len(again)][exact]] = 0
        return found

    def _through_noise(self, codes: np.ndarray, found: np.ndarray) -> np.ndarray:
        repeats = self.repeats
        if repeats > MOST_REPEATS or self.oracle.rules.shown in (ScoresShown.NONE, ScoresShown.PERCENTILE):
            return found
        total, heard = np.zeros(len(codes)), np.zeros(len(codes))
        for _ in range(repeats):
            answers = self._asked(codes, COPIES)
            shown = ~np.isnan(answers.dcr_mean)
            total[: len(answers)] += np.where(shown, answers.dcr_mean, 0.0)
            heard[: len(answers)] += shown
            if self.spent:
                return found
        enough = heard == repeats  # tests that fail hide scores, and those of what is left would be biased
        value = (COPIES + 1) * total / np.maximum(heard, 1) - COPIES * self.padding.distance
        found[enough] = np.rint(value[enough]).clip(0)
        return found
