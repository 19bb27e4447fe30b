"""Table VI: the mean distance of synthetic rows to the nearest real one."""

import numpy as np
import pandas as pd

from tests.papers.experiment import Experiment, Shown, Terms, table, words
from tests.papers.hittmeir.printed import DISTANCES, METHODS
from tests.papers.hittmeir.tables import NAMES, hittmeir, splits
from unmask.generators import parse
from unmask.metrics import minimal_distance


def run(terms: Terms) -> pd.DataFrame:
    """Releases of the training rows of ten splits, as for tables II to V."""
    lines = []
    for name in NAMES:
        whole, _ = hittmeir(terms.data, name)
        for split, (train, _) in enumerate(splits(whole)):
            if split >= terms.times(10):
                break
            for generator in DISTANCES:
                rng = np.random.default_rng(split + 10 * (terms.seed - 1))
                release = parse(generator).fit(train, rng).sample(len(train), rng)
                lines.append((name, generator, split, minimal_distance(train, release).mean.value))
    return pd.DataFrame(lines, columns=["table", "generator", "split", "distance"])


def show(found: pd.DataFrame) -> Shown:
    """Mean and standard deviation over the splits, print in brackets."""
    lines = []
    for method, ours in list(METHODS.items())[1:]:
        line = {"print": method, "ours": ours.replace(":epsilon=", " ")}
        for name in NAMES:
            cells = found[(found["table"] == name) & (found["generator"] == ours)]["distance"]
            line[name] = f"{words(float(cells.mean()))}±{words(float(cells.std(ddof=0)))} ({DISTANCES[ours][name]})"
        lines.append(line)
    return Shown((table("Table VI: mean minimal distance, print in brackets.", pd.DataFrame(lines)),))


EXPERIMENT = Experiment("hittmeir-table-6", "distance of synthetic rows to the nearest real one", run, show, seconds=20)
