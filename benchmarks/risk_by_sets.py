"""Risk as a function of the number of synthetic sets (ruiz2018, section 5): do more sets confuse the attacker, or help?

    python -m benchmarks.risk_by_sets            # half a minute on one core

Adult, 1,000 real people and 1,000 others, up to 20 sets of 1,000 rows by `cart`, `bayesnet` and `raw` with noise of a tenth of
each column's standard deviation; the secret is age, known are all other columns. Five repetitions with other people; intervals
are those of the mean over the repetitions (Student). Printed as Markdown for docs/explanation/papers/ruiz.md.
"""

from __future__ import annotations

import math
import time

import numpy as np
from scipy.special import stdtrit

from unmask import datasets, generators
from unmask.metrics.attribute_scenario import AttributeScenario, attribute_scenario
from unmask.metrics.rank_linkage import rank_linkage
from unmask.tables.table import Table

SETS, ROWS, REPEATS, SEED = 20, 1000, 5, 1
SHOWN = (1, 2, 3, 5, 10, 20)
SECRET = "age"


def noisy(table: Table, rng: np.random.Generator) -> Table:
    """The real table with noise on its numbers: rows stay where they are."""
    frame = table.to_pandas()
    for name in (column.name for column in table.schema.columns if column.is_numeric):
        column = table.schema.column(name)
        values = frame[name].astype(float)
        moved = values + rng.normal(0, 0.1 * values.std(), len(values))
        frame[name] = moved.round().clip(column.lower, column.upper).astype(int)
    return Table.from_pandas(frame, table.schema)


def releases(name: str, real: Table, rng: np.random.Generator) -> list[Table]:
    """So many sets of one release."""
    if name == "raw + noise":
        return [noisy(real, rng) for _ in range(SETS)]
    model = generators.get(name).fit(real, rng)
    return [model.sample(ROWS, rng) for _ in range(SETS)]


def spread(values: list[float]) -> str:
    """Mean and interval over the repetitions."""
    half = float(stdtrit(len(values) - 1, 0.975)) * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return f"{np.mean(values):.3f} +- {half:.3f}"


def main() -> None:
    """All three, as a table."""
    whole = datasets.adult()
    found: dict[str, list[AttributeScenario]] = {}
    linked: list[tuple[float, ...]] = []
    began = time.process_time()
    for repeat in range(REPEATS):
        for name in ("cart", "bayesnet", "raw + noise"):
            rng = np.random.default_rng([SEED, repeat])
            rows = rng.choice(len(whole), 2 * ROWS, replace=False)
            real, holdout = whole.take(rows[:ROWS]), whole.take(rows[ROWS:])
            sets = releases(name, real, rng)
            found.setdefault(name, []).append(
                attribute_scenario(real, sets, attribute=SECRET, holdout=holdout, shuffled=True, rng=rng)
            )
            if name == "raw + noise":
                shares = rank_linkage(real, sets, permutations=0, rng=rng).at_least_once
                linked.append(tuple(share.value for share in shares))
    print("| sets | " + " | ".join(f"{name}: gain | error | excess" for name in found) + " |")
    print("|---" * (1 + 3 * len(found)) + "|")
    for sets in SHOWN:
        cells = []
        for scenarios in found.values():
            risks = [each.risks[sets - 1] for each in scenarios]
            cells += [
                spread([risk.gain.value for risk in risks]),
                spread([risk.error.value for risk in risks]),
                spread([risk.excess.value for risk in risks if risk.excess is not None]),
            ]
        print(f"| {sets} | " + " | ".join(cells) + " |")
    print()
    for name, scenarios in found.items():
        last = [each.risks[-1] for each in scenarios]
        contains, width = (spread([getattr(risk, what).value for risk in last]) for what in ("contains", "width"))
        shuffled = spread([risk.shuffled.value for risk in last if risk.shuffled is not None])
        print(f"{name}, {SETS} sets: range holds the truth {contains}, width {width}; columns shuffled {shuffled}")
    print("raw + noise, linked to its own row at least once:")
    print(", ".join(f"{sets}: {spread([each[sets - 1] for each in linked])}" for sets in SHOWN))
    print(f"\n{time.process_time() - began:.0f} CPU s, seed {SEED}")


if __name__ == "__main__":
    main()
