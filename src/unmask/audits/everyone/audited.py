"""Everything that the audit of everyone found out, before it is put into words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.attacks.everyone.white_box import LIKELIHOOD, MEASURED
from unmask.audits.everyone.drawn import CoinRuns
from unmask.audits.everyone.evidence import Evidence, Judged
from unmask.audits.everyone.marks import Marks, marks_of
from unmask.audits.everyone.people import People
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.everyone.pooled import PooledScores
from unmask.audits.everyone.power import Power
from unmask.generators.claim import Claim
from unmask.results.result import NotTested
from unmask.simulation.coin_pool import CoinPool
from unmask.stats import Bound


@dataclass(frozen=True, eq=False)
class Audited:
    """The runs, and who was judged how."""

    plan: EveryonePlan
    drawn: CoinRuns
    claim: Claim | None
    judged: Judged
    people: People
    control: People  # the same with the coins of other runs
    bound: Bound  # on all units
    held: Bound | NotTested | None  # on the units that the claim is about, or why there is none; None without a claim
    power: Power

    @property
    def pool(self) -> CoinPool:
        return self.drawn.pool

    @property
    def coined(self) -> np.ndarray:
        """Units with a coin."""
        return self.pool.setting.game.coined

    @property
    def late(self) -> Evidence:
        """The runs that figures are about, units with a coin."""
        return self.judged.late.of(self.coined)

    @cached_property
    def raw_distance(self) -> np.ndarray | None:
        """Minus the Hamming distance to the nearest synthetic row in the same runs: what others report."""
        distance = self._values("hamming:1")
        return None if distance is None else -distance[:, self.coined]

    @cached_property
    def marks(self) -> Marks:
        """What is known of every unit without any release."""
        return marks_of(self.pool.setting.features)

    @cached_property
    def together(self) -> PooledScores:
        """All units and late runs."""
        return PooledScores.of(self.late)

    @cached_property
    def sees_model(self) -> bool:
        """Whether the model showed anything to an attacker who may look at it."""
        shown = [self._values(name) for name in (LIKELIHOOD, MEASURED)]
        return any(values is not None and values.any() for values in shown)

    def _values(self, name: str) -> np.ndarray | None:
        """One feature of everybody in the late runs; None if it was not computed."""
        features = self.pool.setting.features
        if name not in features.value_names:
            return None
        place = features.value_names.index(name)
        runs = range(len(self.pool) - len(self.judged.late.members), len(self.pool))
        return np.stack([self.pool.load(run)[1][:, place] for run in runs]).astype(np.float64)
