"""Shadow attacks on one record of Adult: the AUC of an independent implementation (PEERS.md, "Reference AUC")."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from unmask.attacks.shadow import Correlation, Groundhog, Histogram, Naive, Queries
from unmask.simulation.draw import Setting
from unmask.simulation.executor import run_tasks
from unmask.simulation.store import MemoryStore
from unmask.simulation.task import Part, Task
from unmask.stats.auc import auc
from unmask.tables.read import read_schema, read_table
from unmask.tables.table import Table
from unmask.threats.game import Game, Placement, lay_ground
from unmask.threats.pool import Pool

pytestmark = pytest.mark.calibration

TARGET = 44591  # Private, 7th-8th, Widowed, Priv-house-serv, capital-loss 3175, Puerto-Rico: the least likely record
TRAININGS, SHADOWS, TESTS = 5, 200, 2000  # as in the reference: the mean over five attacks, each trained on 200 releases

ATTACKS = {
    "naive": (Naive(), 0.550),
    "histogram": (Histogram(), 0.817),
    "correlation": (Correlation(), 0.541),
    "groundhog": (Groundhog(), 0.636),
    "100 queries of order 3": (Queries(order=3), 0.827),
    "order-1 queries": (Queries(order=1), 0.838),
}
