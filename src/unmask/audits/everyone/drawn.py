"""The runs of the coin game with what they are about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.simulation.coin_pool import CoinPool
from unmask.tables.table import Table
from unmask.threats.knowledge import Coins


@dataclass(frozen=True, eq=False)
class CoinRuns:
    """The drawn runs, and the people they are about."""

    pool: CoinPool
    real: Table  # the whole table, before any subsample
    rows: np.ndarray  # row of the real table of each candidate row
    coins: Coins
