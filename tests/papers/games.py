"""Games that several experiments play, at any size: the full ones and the reduced ones differ in repetitions only."""

import pandas as pd

from unmask.audits.attack.audit import attack
from unmask.tables.table import Table


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
