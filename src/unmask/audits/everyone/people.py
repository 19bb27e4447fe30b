"""Per person: how well the runs tell whether they are in, and the list of those for whom that is beyond doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from unmask.audits.everyone.evidence import Evidence, Judged
from unmask.stats import e_bh, epsilon_for_listed, epsilon_of_bets, log_e_value_of_bets

WEIGHTS = (0.75, 0.25)  # of the scorer of everything, and of that of whole rows: what the other one costs is log(4/3)
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
    advantage: np.ndarray  # lower bound on true minus false positive rate; holds for all units at once

    @property
    def rank(self) -> np.ndarray:
        """1 = most exposed; ties in order. Units without a coin come last."""
        order = np.argsort(-self.log_e, kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(1, len(order) + 1)
        return rank


def judge_people(
    judged: Judged, coined: np.ndarray, *, rate: float, confidence: float | None, copies: Judged | None = None
) -> People:
    """`coined` says which units had a coin; the others are never listed. `confidence` is that of the advantages; without it
    there are none.

    `copies` is evidence from the whole row alone. One scorer for everybody learns from everybody: a few people who are copied
    among many who are not drown in it. E-values of both are averaged, so that they cannot.
    """
    parts = [judged.all] if copies is None else [judged.all, copies.all]
    weights = WEIGHTS[: len(parts)] if len(parts) > 1 else (1.0,)
    members, evidence = parts[0].members, np.stack([part.log_ratios for part in parts])
    log_e = np.where(coined, log_e_value_of_bets(evidence, members, weights=weights), -np.inf)
    units = np.flatnonzero(coined)
    listing = e_bh(log_e[units], rate=rate)
    listed = np.zeros(len(coined), dtype=bool)
    listed[units] = listing.rejected
    epsilon = np.full(len(coined), np.nan)
    if listed.any():
        epsilon[listed] = epsilon_of_bets(
            evidence[:, :, listed], members[:, listed], log_threshold=listing.log_threshold, weights=weights
        )
    advantage = np.zeros(len(coined))
    if confidence is not None:
        silent = judged.silent  # no evidence about their coins, but none is left out
        guessed = np.concatenate([evidence, np.zeros((len(evidence), *silent.shape))], axis=1)
        tossed, everybody = np.concatenate([members, silent]), float(np.log(len(units) / (1 - confidence)))
        bound = person_advantage(guessed, tossed, log_threshold=everybody, weights=weights)
        advantage = np.where(coined, bound, 0.0)
    return People(
        person_auc(judged.late), person_tpr(judged.late), log_e, listed, listing.log_threshold, epsilon, advantage
    )


def person_advantage(
    evidence: np.ndarray, members: np.ndarray, *, log_threshold: float, weights: Sequence[float]
) -> np.ndarray:
    """Lower bound on what an attacker gains about each unit: true minus false positive rate of the best test.

    A bound on epsilon is none on this: it may come from rare events. If no test gains more than a, each guess is right with
    probability at most (1 + a)/2, so right guesses of *all* runs, none left out, bound a. Evidence is attacks x runs x units.
    """
    right = ((evidence > 0) == members).sum(axis=1)
    bound = epsilon_for_listed(right, len(members), log_threshold=log_threshold, weights=weights)
    return np.asarray(np.tanh(bound / 2))


def person_auc(evidence: Evidence) -> np.ndarray:
    """Area under each unit's own ROC curve over runs; ties count half."""
    ranks = rankdata(evidence.log_ratios, axis=0)
    inside = evidence.members.sum(axis=0)
    outside = len(ranks) - inside
    with np.errstate(invalid="ignore", divide="ignore"):
        above = (ranks * evidence.members).sum(axis=0) - inside * (inside + 1) / 2
        return np.asarray(above / (inside * outside))


def person_tpr(evidence: Evidence, fpr: float = PERSON_FPR) -> np.ndarray:
    """Share of a unit's runs with it that score above all but `fpr` of its runs without it; nan where it has none of either."""
    outside = np.where(evidence.members, -np.inf, evidence.log_ratios)
    absent = (~evidence.members).sum(axis=0)
    falling = -np.sort(-outside, axis=0)
    allowed = np.floor(fpr * absent + 1e-9).astype(np.int64)
    threshold = np.take_along_axis(falling, np.minimum(allowed, len(falling) - 1)[None, :], axis=0)
    found = (evidence.members & (evidence.log_ratios > threshold)).sum(axis=0)
    known = (absent > 0) & (absent < len(falling))
    share = np.full(len(absent), np.nan)
    np.divide(found, evidence.members.sum(axis=0), out=share, where=known)
    return share
