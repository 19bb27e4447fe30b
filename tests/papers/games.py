"""Games that several experiments play, at any size: the full ones and the reduced ones differ in repetitions only."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from unmask.audits.attack.audit import AttackAudit, attack, score_all
from unmask.audits.attack.plan import AttackPlan
from unmask.simulation.executors.local import Local
from unmask.simulation.store import MemoryStore
from unmask.simulation.target_pool import draws_of
from unmask.simulation.task import Whose, tasks_for
from unmask.tables.table import Table


@dataclass(frozen=True, eq=False)
class GameScores:
    """Scores of each attack on every target of a game (releases x targets), with the truth."""

    members: np.ndarray
    by_attack: dict[str, np.ndarray]


def played_scores(generator: str, population: Table, **choices) -> GameScores:
    """Play a game as `unmask.attack` does, and hand out the scores themselves."""
    plan = AttackPlan(generator=generator, **choices)
    setting, targets, chosen = AttackAudit(plan, plan.made(), population).set_up()
    store, tasks = MemoryStore(), tasks_for(plan.shadows, plan.tests, len(targets), isolate=False)
    Local(1).run(setting, tasks, store)
    shadow, test = (draws_of(setting, tasks, store, whose) for whose in (Whose.SHADOW, Whose.TEST))
    scored, refused = score_all(setting, chosen, shadow, test)
    if refused or shadow.failures or test.failures:
        raise RuntimeError(f"not tested: {refused}; failed: {shadow.failures[:1] + test.failures[:1]}")
    return GameScores(test.members, {attack.name: attack.test for attack in scored})


def per_target(result) -> pd.DataFrame:
    """Every attack on every target, as a frame."""
    return pd.DataFrame(list(result.records.rows), columns=list(result.records.columns))


def linkability(generator, population: Table, attacks, **sizes) -> pd.DataFrame:
    """Groundhog's membership game: every attack on every target."""
    return per_target(attack(generator, population, attacks=attacks, **sizes))


def inference(generator: str, population: Table, secret: str, attack_name: str, **sizes) -> pd.DataFrame:
    """Groundhog's attribute game with the targets' own secrets."""
    return per_target(
        attack(generator, population, goal="attribute", secret=secret, attacks=(attack_name,), shadows=0, **sizes)
    )
