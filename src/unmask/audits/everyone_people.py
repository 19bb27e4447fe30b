"""Per person: how well the runs tell whether they are in, and the list of those for whom that is beyond doubt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from unmask.audits.everyone_evidence import Evidence, Judged
from unmask.stats import e_bh, epsilon_of_bets, log_e_value_of_bets

PERSON_FPR = 0.1  # a few dozen coins resolve no smaller false positive rate for one person


@dataclass(frozen=True, eq=False)
class People:
    """One entry per unit."""

    auc: np.ndarray  # nan where a unit was in, or out, of all judged runs
    tpr: np.ndarray  # at a false positive rate of PERSON_FPR
    log_e: np.ndarray
    listed: np.ndarray  # bool: on the list with false discovery rate `rate`
    log_threshold: float  # of the list; infinite where nobody is listed
    epsilon: np.ndarray  # lower bound for the listed; nan for others
    certain: np.ndarray  # lower bound on epsilon that holds for all units at once, at the plan's confidence

    @property
    def rank(self) -> np.ndarray:
        """1 = most exposed; ties in order."""
        order = np.argsort(-self.log_e, kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(1, len(order) + 1)
        return rank


def judge_people(judged: Judged, coined: np.ndarray, *, rate: float, confidence: float) -> People:
    """`coined` says which units had a coin; the others are never listed."""
    bets = judged.all
    log_e = np.where(coined, log_e_value_of_bets(bets.log_ratios, bets.members), 0.0)
    units = np.flatnonzero(coined)
    listing = e_bh(log_e[units], rate=rate)
    listed = np.zeros(len(coined), dtype=bool)
    listed[units] = listing.rejected
    epsilon = np.full(len(coined), np.nan)
    if listed.any():
        epsilon[listed] = _bounds(bets, listed, listing.log_threshold)
    everyone = np.log(len(units) / (1 - confidence))
    certain = np.zeros(len(coined))
    reached = listed & (log_e >= everyone)
    if reached.any():
        certain[reached] = _bounds(bets, reached, everyone)
    return People(
        person_auc(judged.late), person_tpr(judged.late), log_e, listed, listing.log_threshold, epsilon, certain
    )


def _bounds(bets: Evidence, units: np.ndarray, log_threshold: float) -> np.ndarray:
    chosen = bets.of(units)
    return epsilon_of_bets(chosen.log_ratios, chosen.members, log_threshold=log_threshold)


def person_auc(evidence: Evidence) -> np.ndarray:
    """Area under each unit's own ROC curve over runs; ties count half."""
    ranks = rankdata(evidence.log_ratios, axis=0)
    inside = evidence.members.sum(axis=0)
    outside = len(ranks) - inside
    with np.errstate(invalid="ignore", divide="ignore"):
        above = (ranks * evidence.members).sum(axis=0) - inside * (inside + 1) / 2
        return np.asarray(above / (inside * outside))


def person_tpr(evidence: Evidence, fpr: float = PERSON_FPR) -> np.ndarray:
    """Share of a unit's runs with it that score above all but `fpr` of its runs without it."""
    outside = np.where(evidence.members, -np.inf, evidence.log_ratios)
    allowed = np.floor(fpr * (~evidence.members).sum(axis=0) + 1e-9).astype(np.int64)
    falling = -np.sort(-outside, axis=0)
    threshold = np.take_along_axis(falling, np.minimum(allowed, len(falling) - 1)[None, :], axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (evidence.members & (evidence.log_ratios > threshold)).sum(axis=0)
        return np.asarray(found / evidence.members.sum(axis=0))
