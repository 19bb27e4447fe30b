"""Figure 5 and table 1 for MNIST at the paper's size: zeros that no sample holds, rebuilt pixel by pixel."""

import numpy as np
import pandas as pd

from tests.papers.drawing import pictures_chart
from tests.papers.experiment import Experiment, Shown, Terms, joined, table
from tests.papers.reconsyn.attacked import GENERATORS, Attack, attacked, over_seeds
from tests.papers.reconsyn.table_1 import PRINTED
from unmask.attacks.reconstruction.asked_rows import AskedRows
from unmask.datasets import Challenge, challenge
from unmask.datasets.not_bundled import LEVELS, SIDE
from unmask.reports.charts.svg import Words

NAMES = ("privbayes", "mst")
ROUNDS = 500  # the paper: 5,000
SHOWN = 12  # zeros in the picture
PIXELS = SIDE * SIDE


def looked(made: Challenge, records: np.ndarray, asked: AskedRows) -> dict:
    """How many zeros some row that was asked about comes within one level of, pixel by pixel; and some of them as pictures."""
    zeros = made.train.codes[made.targets].astype(np.int16)
    rebuilt = records.astype(np.int16)
    rows = asked.codes.astype(np.int16)
    has = [bool((rebuilt == zero).all(axis=1).any()) for zero in zeros]
    searched = len(records) > 0  # samples hold none, and to see how near they come takes long
    near = [
        it or bool((np.abs(rows - zero) <= 1).all(axis=1).any())
        for it, zero in zip(has, zeros, strict=True)
        if searched
    ]
    shown = zeros[:SHOWN]
    nearest = [rows[np.argmin((rows != zero).sum(axis=1))] for zero in shown]
    return {
        "near": float(np.mean(near)) if searched else np.nan, "real": shown[:, -PIXELS:].tolist(), "has": has[:SHOWN],
        "nearest": [row[-PIXELS:].tolist() for row in nearest],
    }  # fmt: skip


def run(terms: Terms) -> pd.DataFrame:
    """Seeds of the split, the generator and the attacker; search from any distance, with the first seed also up to 16 pixels."""
    rounds = max(10, round(terms.share * ROUNDS))

    def play(name: str, seed: int) -> pd.DataFrame:
        made = challenge("digits", seed=seed, path=terms.data / "mnist")
        searches = ("guided", "far") if seed == terms.seed else ("far",)
        return attacked(made, name, GENERATORS[name], Attack("shared mixture", rounds, 16, searches), seed, looked)

    return joined(
        terms.once(f"reconsyn-game-mnist-{name}-{seed}", lambda name=name, seed=seed: play(name, seed))
        for seed in range(terms.seed, terms.seed + terms.seeds)
        for name in NAMES
    )


def show(found: pd.DataFrame) -> Shown:
    """Shares of the zeros, and the first of them: real, nearest sample, rebuilt."""
    lines, pictures = [], []
    for name, here in found[found["stage"] != "curve"].groupby("generator", sort=False):
        by = dict(list(here.groupby("stage", sort=False)))
        sample, far, near = by["sample"], by["far"], by.get("guided", here.iloc[:0])
        lines.append(
            {
                "generator": name, "wanted": "the zeros", "zeros": over_seeds(sample["outliers"], 0),
                "rounds": int(here["rounds"].iloc[0]), "sample": over_seeds(sample["of outliers"]),
                "print ": PRINTED["digits", name, "sample"],
                "our search, up to 16 pixels (seed 1)": over_seeds(near["of outliers"]),
                "any distance": over_seeds(far["of outliers"]), "print": PRINTED["digits", name, "search"],
                "within one level per pixel": over_seeds(far["near"]), "rows read: sample": over_seeds(sample["read"], 0),
                "search": over_seeds(far["read"], 0), "CPU s: sample": over_seeds(sample["CPU s"], 0),
                "search ": over_seeds(far["CPU s"], 0),
            }
        )  # fmt: skip
        first = far.iloc[0]
        if not pictures:
            pictures.append(("real", first["real"]))
        pictures.append((f"{name}: nearest sample", sample.iloc[0]["nearest"]))
        rebuilt = [picture if has else None for picture, has in zip(first["real"], first["has"], strict=True)]
        pictures.append((f"{name}: rebuilt", rebuilt))
    about = Words(
        EXPERIMENT.name, "Zeros of MNIST: real, nearest sample, rebuilt",
        "Twelve train images; below them the nearest synthetic row and what search made of it. A gap is one that was not found.",
    )  # fmt: skip
    chart = pictures_chart(about, pictures, side=SIDE, levels=LEVELS)
    return Shown((table("MNIST 8 x 8, 16 levels, 5,000 + 5,000 images.", pd.DataFrame(lines)),), (chart,))


EXPERIMENT = Experiment("reconsyn-figure-5", "figure 5: MNIST, zeros rebuilt pixel by pixel", run, show, seconds=450)
