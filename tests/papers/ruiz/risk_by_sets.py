"""Section 5: do more synthetic sets confuse the maximum-knowledge attacker, or help?

Adult, 1,000 real people and 1,000 others, up to 20 sets of 1,000 rows by `cart`, `bayesnet` and `raw` with noise of a tenth of
each column's standard deviation; the secret is age, known are all other columns.
"""

import math

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from tests.papers.drawing import Panel, marks_chart
from tests.papers.experiment import Experiment, Shown, Terms, table, words
from unmask import datasets, generators
from unmask.metrics.attribute_scenario import attribute_scenario
from unmask.metrics.rank_linkage import rank_linkage
from unmask.reports.charts import Chart
from unmask.reports.charts.svg import Words
from unmask.tables.table import Table

SETS, ROWS, REPEATS = 20, 1000, 5
SHOWN = (1, 2, 3, 5, 10, 20)
SECRET, NOISE = "age", "raw + noise"
NAMES = ("cart", "bayesnet", NOISE)
MEASURES = ("gain", "error", "excess", "contains", "width", "shuffled", "linked")


def noisy(people: Table, rng: np.random.Generator) -> Table:
    """The real table with noise on its numbers: rows stay where they are."""
    frame = people.to_pandas()
    for column in people.schema.columns:
        if column.is_numeric:
            values = frame[column.name].astype(float)
            moved = values + rng.normal(0, 0.1 * values.std(), len(values))
            frame[column.name] = moved.round().clip(column.lower, column.upper).astype(int)
    return Table.from_pandas(frame, people.schema)


def releases(name: str, real: Table, rng: np.random.Generator) -> list[Table]:
    """So many sets of one release."""
    if name == NOISE:
        return [noisy(real, rng) for _ in range(SETS)]
    model = generators.get(name).fit(real, rng)
    return [model.sample(ROWS, rng) for _ in range(SETS)]


def run(terms: Terms) -> pd.DataFrame:
    """Five repetitions with other people."""
    whole, lines = datasets.adult(), []
    for repeat in range(terms.times(REPEATS)):
        for name in NAMES:
            rng = np.random.default_rng([terms.seed, repeat])
            rows = rng.choice(len(whole), 2 * ROWS, replace=False)
            real, holdout = whole.take(rows[:ROWS]), whole.take(rows[ROWS:])
            sets = releases(name, real, rng)
            found = attribute_scenario(real, sets, attribute=SECRET, holdout=holdout, shuffled=True, rng=rng)
            linked = rank_linkage(real, sets, permutations=0, rng=rng).at_least_once if name == NOISE else None
            for place in (shown - 1 for shown in SHOWN):
                risk = found.risks[place]
                told = {what: _value(getattr(risk, what, None)) for what in MEASURES}
                told["linked"] = _value(linked[place]) if linked else math.nan
                lines.append({"name": name, "repeat": repeat, "sets": place + 1, **told})
    return pd.DataFrame(lines)


def _value(estimate) -> float:
    return math.nan if estimate is None else float(estimate.value)


def spread(values: pd.Series) -> str:
    """Mean and Student's 95 % interval over the repetitions."""
    half = float(stdtrit(len(values) - 1, 0.975)) * float(values.std()) / math.sqrt(len(values))
    return f"{words(float(values.mean()), 3)} ± {words(half, 3)}"


def show(found: pd.DataFrame) -> Shown:
    """Gain, error and excess by the number of sets; then what all sets together show."""
    lines = []
    for sets, here in found.groupby("sets"):
        line = {"sets": str(sets)}
        for name in NAMES:
            for what in ("gain", "error", "excess"):
                line[f"{name}: {what}"] = spread(here[here["name"] == name][what])
        line[f"{NOISE}: linked at least once"] = spread(here[here["name"] == NOISE]["linked"])
        lines.append(line)
    last = found[found["sets"] == SHOWN[-1]]
    ends = [
        {"": name, **{what: spread(last[last["name"] == name][what]) for what in ("contains", "width", "shuffled")}}
        for name in NAMES
    ]
    return Shown(
        (
            table("By the number of sets: mean and 95 % interval over the repetitions.", pd.DataFrame(lines)),
            table(f"With {SHOWN[-1]} sets: how often the range holds the truth, its width, and the gain with shuffled columns.",
                  pd.DataFrame(ends)),
        ),
        (_chart(found),),
    )  # fmt: skip


def _chart(found: pd.DataFrame) -> Chart:
    wide = found.pivot_table(index="name", columns="sets", values="gain").loc[list(NAMES)]
    panel = Panel(
        "", tuple(f"{sets} sets" for sets in wide.columns), tuple(tuple(map(float, row)) for row in wide.to_numpy())
    )
    about = Words("ruiz-risk-by-sets", "What the attacker gains by the number of sets", "A mark per release.")
    return marks_chart(about, [panel], NAMES, y_label="gain")


EXPERIMENT = Experiment("ruiz-risk-by-sets", "do more sets confuse the attacker, or help?", run, show, seconds=25)
