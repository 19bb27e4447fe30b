"""Figures 13 and 14: the utility game. What the presence of an outlier does for predictions about people like it."""

from dataclasses import replace

import numpy as np
import pandas as pd

from tests.papers.drawing import Panel, marks_chart
from tests.papers.experiment import Experiment, Shown, Terms, span, table
from tests.papers.groundhog.releases import RISK, short
from tests.papers.groundhog.shared import SANITISER
from tests.papers.groundhog.texas import AUTHORS_TARGETS, texas
from unmask.audits.attack.audit import AttackAudit
from unmask.audits.attack.plan import AttackPlan
from unmask.reports.charts.svg import Axis, Words
from unmask.simulation.target import UTILITY_GAME
from unmask.simulation.task import Task, Whose
from unmask.tables.table import Table
from unmask.utility.utility_game import judge_utility

MECHANISMS = ("raw", SANITISER, "bayesnet", "privbayes:epsilon=1")
GAMES = {1000: 100, 5000: 50}


def pairs(mechanism: str, population: Table, rows: int, games: int, seed: int, targets=AUTHORS_TARGETS) -> pd.DataFrame:
    """Every target with every test record, all targets in one pool; coins and real tables are the same for all mechanisms."""
    plan = AttackPlan.of(
        {
            "generator": mechanism, "targets": targets, "train_rows": rows, "seed": seed, "shadows": 0, "access": "no-box",
            "attacks": ("record-linkage",), "utility_label": RISK, "utility_people": 1,
        }
    )  # fmt: skip
    audit = AttackAudit(plan, plan.made(), population)
    setting, chosen, _ = audit.set_up()
    setting = replace(setting, attacks={})
    played = [setting.play(Task(Whose.TEST, game)) for game in range(games)]
    members = np.array([each["members"] for each in played])
    right = np.array([each[f"score/{UTILITY_GAME}"][:, 0] for each in played])
    lines = []
    for target, row in enumerate(chosen.rows):
        for place in range(len(chosen)):
            found = judge_utility(right[:, place], members[:, target], np.arange(games))
            cells = found.advantage.value, found.advantage.low, found.advantage.high, float(right[:, place].mean())
            lines.append((mechanism, rows, int(row), place + 1, *cells))
    names = ["mechanism", "n", "target", "test record", "advantage", "low", "high", "right"]
    return pd.DataFrame(lines, columns=names)


def run(terms: Terms) -> pd.DataFrame:
    """Two sizes of real tables."""
    people = texas(terms.data)
    return pd.concat(
        pairs(each, people, rows, max(16, terms.times(games)), terms.seed)
        for rows, games in GAMES.items()
        for each in MECHANISMS
    )


def show(found: pd.DataFrame) -> Shown:
    """The target that is most like a test record, and the largest of all 25 pairs."""
    order = {int(row): place for place, row in enumerate(AUTHORS_TARGETS.removeprefix("rows:").split(","))}
    own = found[found["target"].map(order) + 1 == found["test record"]]
    own = own.assign(cell=[f"{a:.2f} ({span(b, c)})" for a, b, c in own[["advantage", "low", "high"]].to_numpy()])
    tables = []
    for n in GAMES:
        here = own[own["n"] == n].pivot(index="mechanism", columns="target", values="cell").loc[list(MECHANISMS)]
        every = found[found["n"] == n].groupby("mechanism")
        sizes = every["advantage"].agg(lambda column: float(column.abs().max())).loc[list(MECHANISMS)]
        beyond = (found["low"] > 0) | (found["high"] < 0)
        seen = beyond[found["n"] == n].groupby(found["mechanism"]).sum().loc[list(MECHANISMS)]
        right = every["right"].mean().loc[list(MECHANISMS)]
        shown = here.assign(**{"largest of 25": sizes, "of 25 beyond 0": seen, "right": right}).rename(index=short)
        title = f"Utility advantage of each target for the record most like it (95 %), n = {n:,}."
        tables.append(table(title, shown.reset_index(names="published")))
    panels = [_panel(found, n) for n in GAMES]
    about = Words(
        "groundhog-figure-14", f"Utility advantage for {RISK}, all 25 pairs", "A mark per target, five records each."
    )
    targets = [f"target {row}" for row in order]
    return Shown(tuple(tables), (marks_chart(about, panels, targets, y_label="utility advantage", y=Axis(-0.6, 0.6)),))


def _panel(found: pd.DataFrame, n: int) -> Panel:
    """For each mechanism and test record a mark per target."""
    wide = found[found["n"] == n].pivot(index="target", columns=["mechanism", "test record"], values="advantage")
    wide = wide[[(mechanism, place) for mechanism in MECHANISMS for place in range(1, 6)]]
    order = [int(row) for row in AUTHORS_TARGETS.removeprefix("rows:").split(",")]
    columns = tuple(f"{short(name)} {place}" for name, place in wide.columns)
    return Panel(f"n = {n:,}", columns, tuple(tuple(map(float, row)) for row in wide.loc[order].to_numpy()))


EXPERIMENT = Experiment("groundhog-figure-14", "the utility game", run, show, seconds=450)
