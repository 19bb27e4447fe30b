"""Tables VII to X: numbers guessed from keys, our generators in the place of the paper's; and the error by radius (ours)."""

import math

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from tests.papers.experiment import Experiment, Shown, Terms, table, words
from tests.papers.hittmeir.printed import SECRETS
from tests.papers.hittmeir.tables import hittmeir
from unmask.generators import parse
from unmask.metrics import Neighbourhood, cap_continuous
from unmask.metrics.cap_continuous import Weights
from unmask.tables.table import Table

RADII = (0, 0.1, 0.25, 0.5, 1, 2, math.inf)
KEYS = {
    "Insurance": (["age", "sex", "children", "smoker", "region"], "bmi", 3),
    "Social": (["Gender", "EstimatedSalary", "Purchased"], "Age", 2),
}
MEASURES = ("mae", "mape", "r2")


def draw(people: Table, generator: str, seed: int) -> Table:
    """One synthetic table of the same size."""
    rng = np.random.default_rng(seed)
    return parse(generator).fit(people, rng).sample(len(people), rng)


def run(terms: Terms) -> pd.DataFrame:
    """Ten draws of every generator, seeds 0 to 9; the mean of a release as the dummy."""
    insurance, ads = hittmeir(terms.data, "Insurance")[0], hittmeir(terms.data, "Social")[0]
    train, test = train_test_split(np.arange(len(ads)), test_size=0.2, random_state=9)
    tables = {"Insurance": (insurance, insurance), "Social": (ads.take(train), ads.take(test))}
    lines = []
    for name, (people, attacked) in tables.items():
        keys, secret, length = KEYS[name]
        for generator in list(SECRETS[name])[1:]:
            for seed in range(terms.times(10)):
                release = draw(people, generator, seed + 10 * (terms.seed - 1))
                found = cap_continuous(attacked, release, keys=keys, secret=secret, length=length)
                if generator == "bayesnet" and seed == 0:
                    original = cap_continuous(attacked, people, keys=keys, secret=secret, length=length)
                    lines.append({"table": name, "rows": "original", "radius": None, **_told(original)})
                lines.append({"table": name, "rows": generator, "radius": None, **_told(found)})
    keys, secret, length = KEYS["Insurance"]
    release = draw(insurance, "cart", terms.seed)
    for weights in Weights:
        for radius in RADII:
            how = Neighbourhood(radius, weights)
            found = cap_continuous(insurance, release, keys=keys, secret=secret, length=length, how=how)
            told = {"mae": found.synthetic.mean.mae, "dummy mae": found.original.mean.mae}
            lines.append({"table": str(weights), "rows": "cart", "radius": f"{radius:g}", **told})
    return pd.DataFrame(lines)


def _told(found) -> dict[str, float]:
    mean, off, flat = found.synthetic.mean, found.synthetic.deviation, found.mean_predictor
    sides = {"": mean, " sd": off}
    told = {f"{name}{end}": getattr(side, name) for end, side in sides.items() for name in MEASURES}
    return told | {f"dummy {name}": getattr(flat, name) for name in MEASURES}


def show(found: pd.DataFrame) -> Shown:
    """Means over the draws, print in brackets; then the radius."""
    attacks = found[found["radius"].isna()]
    parts = []
    for name, numbers in (
        ("Insurance", "VII and VIII: Insurance, bmi"),
        ("Social", "IX and X: Social Network Ads, Age"),
    ):
        lines = []
        for generator, print_ in SECRETS[name].items():
            here = attacks[(attacks["table"] == name) & (attacks["rows"] == generator)]
            mean, printed = here.drop(columns=["table", "rows", "radius"]).mean(), print_.split()
            line = {"": generator.replace(":epsilon=", " ")}
            for place, measure in enumerate(MEASURES):
                line[measure.upper()] = f"{words(mean[measure])}±{words(mean[f'{measure} sd'])} ({printed[place]})"
            for place, measure in enumerate(MEASURES[:2]):
                line[f"mean of the release: {measure.upper()}"] = (
                    f"{words(mean[f'dummy {measure}'])} ({printed[3 + place]})"
                )
            beats = (
                (here["mae"] < here["dummy mae"])
                & (here["mape"] < here["dummy mape"])
                & (here["r2"] > here["dummy r2"])
            )
            line["draws that beat it"] = f"{int(beats.sum())} of {len(here)}"
            lines.append(line)
        parts.append(table(f"Tables {numbers}. Ours, print in brackets.", pd.DataFrame(lines)))
    radii = found[found["radius"].notna()]
    cells = [f"{words(a, 3)} ({words(b, 3)})" for a, b in radii[["mae", "dummy mae"]].to_numpy(float)]
    wide = radii.assign(cell=cells).pivot(index="table", columns="radius", values="cell")
    wide = wide[[f"{radius:g}" for radius in RADII]].reset_index(names="weights")
    return Shown((*parts, table("MAE by radius, Insurance, one release of cart; the original in brackets.", wide)))


EXPERIMENT = Experiment("hittmeir-tables-7-to-10", "numbers guessed from keys", run, show, seconds=30)
