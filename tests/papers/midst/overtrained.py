"""A diffusion model that was trained too long: what its losses say about people, and what its releases say.

As in the MIDST challenge: of a hundred people about half are in, and each attack ranks the people of one model.
"""

import numpy as np
import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.games import played_scores
from unmask.datasets import adult
from unmask.stats import auc

LENGTHS = {
    "short": "tabddpm:steps=200,batch=500,diffusion_steps=100",
    "over-trained": "tabddpm:steps=8000,batch=100,diffusion_steps=100",
}
ROWS, PEOPLE = 500, 100
SHADOWS, TESTS = 4, 4
WHITE = "denoising-loss"
ATTACKS = (
    WHITE, "stacked-shadow", "closest-record", "density-ratio", "linkage-weights", "trained-distance",
    "queries:classifier=logistic,order=1,numbers=both",
)  # fmt: skip
RATE = 0.1  # of false alarms, at which the challenge compares


def run(terms: Terms) -> pd.DataFrame:
    """Both lengths of training on the same tables; a line per attack and model under attack."""
    return joined(
        terms.once(f"midst-game-{name}", lambda name=name, text=text: _lines(terms, name, text))
        for name, text in LENGTHS.items()
    )


def _lines(terms: Terms, name: str, generator: str) -> pd.DataFrame:
    found = played_scores(
        generator, adult(), attacks=ATTACKS, targets=f"random:{PEOPLE}", access="white-box", train_rows=ROWS,
        shadows=terms.times(SHADOWS), tests=terms.times(TESTS), seed=terms.seed,
    )  # fmt: skip
    lines = []
    for attack, scores in found.by_attack.items():
        for release, members in enumerate(found.members):
            inside, outside = scores[release][members], scores[release][~members]
            alarm = np.quantile(outside, 1 - RATE, method="higher")
            line = {"training": name, "attack": attack, "model": release, "AUC": auc(inside, outside).value}
            lines.append(line | {"TPR": float((inside > alarm).mean())})
    return pd.DataFrame(lines)


def show(found: pd.DataFrame) -> Shown:
    """Means over the models under attack."""
    lines = []
    for attack, here in found.groupby("attack", sort=False):
        line = {"attack": attack}
        for name in LENGTHS:
            mine = here[here["training"] == name]
            line |= {
                f"{name}: AUC": mine["AUC"].mean(),
                f"{name}: least": mine["AUC"].min(),
                f"{name}: TPR at 10 % FPR": mine["TPR"].mean(),
            }
        lines.append(line)
    return Shown((table(f"{ROWS} rows of Adult, {PEOPLE} people, {TESTS} models of each kind.", pd.DataFrame(lines)),))


EXPERIMENT = Experiment("midst-overtrained", "losses of a diffusion model that was trained too long", run, show, 180)
