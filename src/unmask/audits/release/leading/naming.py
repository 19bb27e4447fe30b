"""Who is named as at risk: people who stand out against the holdout by scores that never saw who is a member.

Two scores, each with half of the rate, since neither replaces the other: linkage weights, for whole rows that were copied or
nearly so, and a learner that tells some holdout people from all others, members and holdout *pooled* (AdaDetect: Marandon et al.
2024), for anything else. P-values are conformal, against holdout people; each list is Benjamini-Hochberg's at half of the rate.
Someone on either list is named: the share of wrong names among all is at most the sum of those of the lists.
"""

from __future__ import annotations

import numpy as np

from unmask.attacks.learner import told_apart
from unmask.audits.release.leading.crowd import Crowd
from unmask.stats import Listing, benjamini_hochberg, conformal_p_values
from unmask.stream import stream

TEACHING = 1 / 3  # of the holdout people: what the learner takes for people who were never seen


def named(crowd: Crowd, *, rate: float, seed: int) -> Listing:
    """Which members of the crowd are named, and the smallest rate at which each one would be."""
    lists = [
        benjamini_hochberg(p, rate=rate / 2) for p in (_by_linkage(crowd), _by_learner(crowd, seed)) if p is not None
    ]
    adjusted = np.minimum(1.0, 2 * np.min([each.adjusted for each in lists], axis=0))
    return Listing(np.any([each.rejected for each in lists], axis=0), adjusted)


def _by_linkage(crowd: Crowd) -> np.ndarray:
    """The best match less that among others, times how much of the person it holds: odd matches of half a row count less."""
    score = crowd.linkage * crowd.found
    return conformal_p_values(score[crowd.members], score[~crowd.members])


def _by_learner(crowd: Crowd, seed: int) -> np.ndarray | None:
    others = np.flatnonzero(~crowd.members)
    count = round(TEACHING * len(others))
    if count < 1 or len(others) - count < 1:
        return None
    unseen = np.zeros(len(crowd), dtype=bool)
    unseen[stream(seed, "naming").choice(others, count, replace=False)] = True
    score = told_apart(crowd.standing.values, ~unseen)(crowd.standing.values)
    return conformal_p_values(score[crowd.members], score[~crowd.members & ~unseen])
