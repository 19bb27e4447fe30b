"""Results of a comparison by similarity, and the warnings of the paper that belong to each number."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from unmask.metrics._closeness import (
    Closeness,
    ClosenessScores,
    Curves,
    mean_estimate,
    percentile_estimate,
    scores,
    share_estimate,
)
from unmask.metrics._holdout_share import HoldoutShare
from unmask.stats import Estimate

PROVES_NOTHING = "Passing proves nothing: publishing the whole holdout passes, and no leak found is not no leak."
HANGS_ON_SPLIT = (
    "The verdict hangs on the split: fresh rows from the true distribution, which cannot leak, pass DCR and NNDR as often as a "
    "coin falls heads, and all three tests between 0 and 10 times in 10 depending on the split."
)
NOT_WORST_CASE = (
    "A percentile or a mean describes the table, not its worst case: copies of every outlier pass among enough "
    "ordinary rows."
)
DISCRETISED = (
    "Numbers are compared by bin, which overstates privacy: the same rows pass far more often by bin than with their "
    "exact numbers."
)
RATIO = "A row that equals two real rows has the ratio 0/0, counted as 1: NNDR does not see copies of repeated rows."


class Statistic(StrEnum):
    """What summarises distances and ratios in the pass/fail tests."""

    PERCENTILE = "percentile"
    MEAN = "mean"


@dataclass(frozen=True)
class SimilarityVerdict:
    """ClosenessScores of one synthetic table beside those of the holdout, and which tests pass."""

    synthetic: ClosenessScores
    holdout: ClosenessScores
    statistic: Statistic = Statistic.PERCENTILE

    @property
    def ims(self) -> bool:
        """Whether no larger share of synthetic rows than of holdout rows is identical to a real row."""
        return self.synthetic.ims <= self.holdout.ims

    @property
    def dcr(self) -> bool:
        """Whether synthetic rows are at least as far from the real table as holdout rows."""
        return self._at_least("dcr")

    @property
    def nndr(self) -> bool:
        """Whether the ratio of synthetic rows is at least that of holdout rows."""
        return self._at_least("nndr")

    @property
    def private(self) -> bool:
        """Whether all three pass, which the industry calls private."""
        return self.ims and self.dcr and self.nndr

    def _at_least(self, name: str) -> bool:
        name += "_mean" if self.statistic is Statistic.MEAN else ""
        return bool(getattr(self.synthetic, name) >= getattr(self.holdout, name))


@dataclass(frozen=True)
class Compared:
    """One metric of the synthetic rows and of the holdout rows, both against the real table."""

    name: str
    synthetic: Estimate
    holdout: Estimate | None
    passes: float | None  # share of the subsamples in which the test passes
    spread: tuple[float, float]  # 5 % to 95 % of the synthetic value over the subsamples
    direction: str
    warnings: tuple[str, ...]

    @property
    def passed(self) -> bool | None:
        """Whether the test passes in most subsamples; None without a holdout."""
        return None if self.passes is None else self.passes > 0.5


@dataclass(frozen=True, eq=False)
class Comparison:
    """IMS, DCR and NNDR of a release, the holdout share, and distances for charts."""

    ims: Compared
    dcr: Compared
    nndr: Compared
    dcr_mean: Compared
    nndr_mean: Compared
    passes: float | None  # share of the subsamples in which the three chosen tests pass
    share: HoldoutShare | None
    rows: int  # rows of real and of holdout in each subsample
    subsamples: int
    closeness: Closeness  # of each synthetic row to the whole real table
    to_holdout: np.ndarray | None  # distance of each synthetic row to the whole holdout
    dcr_curves: Curves
    nndr_curves: Curves
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def private(self) -> bool | None:
        """Whether all three tests pass in most subsamples, which the industry calls private; None without a holdout."""
        return None if self.passes is None else self.passes > 0.5


def compared(
    found: list[Closeness],
    held: list[Closeness] | None,
    *,
    percentile: float,
    binned: bool,
    confidence: float,
) -> dict[str, Compared]:
    """The five metrics over the subsamples, each with its estimates, pass rate and warnings."""
    by_bin = (DISCRETISED,) if binned else ()
    level = f"{percentile:g} % percentile"
    plan = (
        ("ims", "identical", "share of identical rows; pass if at most the holdout's", (PROVES_NOTHING, *by_bin)),
        ("dcr", "distance", f"{level}; pass if at least the holdout's", (NOT_WORST_CASE, *by_bin)),
        ("nndr", "ratio", f"{level}; pass if at least the holdout's", (NOT_WORST_CASE, RATIO, *by_bin)),
        ("dcr_mean", "distance", "mean; pass if at least the holdout's", (NOT_WORST_CASE, *by_bin)),
        ("nndr_mean", "ratio", "mean; pass if at least the holdout's", (NOT_WORST_CASE, RATIO, *by_bin)),
    )

    def estimate(samples: list[np.ndarray], name: str) -> Estimate:
        if name == "ims":
            return share_estimate(samples, confidence)
        if name.endswith("_mean"):
            return mean_estimate(samples, confidence)
        return percentile_estimate(samples, percentile, confidence)

    result = {}
    for name, field, direction, warnings in plan:
        mine = [getattr(part, field) for part in found]
        values = np.array([getattr(scores(part, percentile), name) for part in found])
        passes = None
        if held is not None:
            theirs = np.array([getattr(scores(part, percentile), name) for part in held])
            passes = float(np.mean(values <= theirs if name == "ims" else values >= theirs))
        result[name] = Compared(
            name,
            estimate(mine, name),
            None if held is None else estimate([getattr(part, field) for part in held], name),
            passes,
            (float(np.quantile(values, 0.05)), float(np.quantile(values, 0.95))),
            direction,
            warnings,
        )
    return result
