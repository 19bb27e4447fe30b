"""TAPAS' two games, at any size: the full ones and the reduced ones differ in repetitions only."""

import numpy as np
import pandas as pd

from tests.papers.tapas.census import ATTRIBUTE_ATTACKS, MEMBERSHIP_ATTACKS, SECRET, Scores, neighbours, outlier, scores
from unmask.stats import Bonferroni, Split, auc, clopper_pearson, epsilon_clopper_pearson, roc_curve, roc_on_grid
from unmask.tables.table import Table

FPR = tuple(float(f"{each:.3g}") for each in np.logspace(-2, 0, 41))  # of the curves


def uniform_secret(generator: str, population: Table, *, attacks=ATTRIBUTE_ATTACKS, **sizes) -> pd.DataFrame:
    """TAPAS' experiment 1: the target's sex is drawn anew for each table; right guesses with and without the target.

    Privacy gain as the authors' program has it: 1 - (share of tables with the second value in which it is guessed, less that of
    the others).
    """
    found = scores(
        generator, population, goal="attribute", secret=SECRET, secret_values="uniform", attacks=attacks,
        targets=f"rows:{outlier(population)}", **sizes,
    )  # fmt: skip
    return pd.DataFrame([_guesses(generator, name, found) for name in attacks])


def _guesses(generator: str, name: str, found: Scores) -> dict:
    lead = found.by_attack[name][:, 1] - found.by_attack[name][:, 0]
    ties = np.random.default_rng(0).random(len(lead)) < 0.5
    right = np.where(lead == 0, ties, lead > 0) == (found.secrets == 1)
    row = {"generator": generator, "attack": name}
    for side, here in (("with", found.members), ("without", ~found.members)):
        rate = clopper_pearson(int(right[here].sum()), int(here.sum()))
        truth = found.secrets[here] == 1
        guessed = right[here] == truth  # the second value
        row |= {
            f"right {side}": rate.value,
            f"low {side}": rate.low,
            f"high {side}": rate.high,
            f"PG {side}": 1 - float(guessed[truth].mean() - guessed[~truth].mean()),
            f"AUC {side}": auc(lead[here][truth], lead[here][~truth]).value,
        }
    return row


def effective_epsilon(
    generator: str, population: Table, draw: int, *, target: int | None = None, rows: int = 500, attacks=MEMBERSHIP_ATTACKS,
    **choices,
) -> pd.DataFrame:  # fmt: skip
    """TAPAS' experiment 2: d of `rows` - 1 people with the target, and with another record or alone (`placement`).

    AUC and bounds on epsilon of each attack: `Split(0.1)` chooses the threshold on a tenth of the releases and judges on the
    rest; `Bonferroni` judges 16 thresholds on all. The two-sided interval is of the attack that a tenth chose among all, by the
    rule of the authors' program.
    """
    target = outlier(population) if target is None else target
    alone = choices.get("placement") == "append"
    found = scores(
        generator, neighbours(population, target, rows, draw), targets="rows:0", knowledge="exact",
        train_rows=rows - alone, synthetic_rows=rows, attacks=attacks, seed=draw, **choices,
    )  # fmt: skip
    won, low, high = authors_interval(found)
    table = []
    for name in attacks:
        inside, outside = found.by_attack[name][found.members], found.by_attack[name][~found.members]
        area = auc(inside, outside)
        bounds = {
            f"epsilon >= ({type(how).__name__})": epsilon_clopper_pearson(
                inside, outside, threshold=how, delta=1e-5, rng=np.random.default_rng(draw)
            ).value
            for how in (Split(0.1), Bonferroni())
        }
        row = {
            "draw": draw,
            "target": target,
            "attack": name,
            "AUC": area.value,
            "AUC low": area.low,
            "AUC high": area.high,
            "TPR": [round(float(each), 4) for each in roc_on_grid(roc_curve(inside, outside), FPR)],
        }
        table.append({**row, **bounds, "chosen": won, "epsilon low": low, "epsilon high": high})
    return pd.DataFrame(table)


def authors_interval(found: Scores) -> tuple[str, float, float]:
    """Attack and interval of the authors' program: `EffectiveEpsilonReport` of TAPAS, at delta 0 and 95 %.

    Of all attacks, thresholds and both ratios (TPR / FPR and TNR / FNR), the one with the highest lower end at 90 % on the first
    tenth of the releases; its interval on the others. Each rate has a two-sided Clopper-Pearson interval of half the error.
    """
    first = np.arange(len(found.members)) < len(found.members) // 10
    best, name, threshold, turned = -1.0, "", 0.0, False
    for each, values in found.by_attack.items():
        for at in np.unique(values[first]):
            for turn in (False, True):
                low, _ = _log_ratio(values[first], found.members[first], at, turn, 0.9)
                if low > best:
                    best, name, threshold, turned = low, each, at, turn
    low, high = _log_ratio(found.by_attack[name][~first], found.members[~first], threshold, turned, 0.95)
    return name, low, high


def _log_ratio(values, members, threshold, turned, confidence) -> tuple[float, float]:
    guessed = values <= threshold if turned else values >= threshold
    right, wrong = (guessed[side] for side in (members != turned, members == turned))
    if not right.size or not wrong.size:
        return 0.0, np.inf
    each = 0.5 + confidence / 2
    true, false = (clopper_pearson(int(side.sum()), side.size, confidence=each) for side in (right, wrong))
    low = max(0.0, float(np.log(true.low / false.high))) if true.low > 0 else 0.0
    return low, float(np.log(true.high / false.low)) if false.low > 0 else np.inf
