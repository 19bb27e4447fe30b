"""Whether rows can be told from real ones, and what models learn from them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from unmask.audits.part import Part
from unmask.audits.utility.case import UtilityCase, UtilityMeasure, UtilityPart, line, rounded, table, three
from unmask.errors import InputError
from unmask.results.grid import Cell, Grid, Role
from unmask.results.result import NotTested
from unmask.stats.results import Estimate
from unmask.tables.table import Table
from unmask.utility.comparison import student
from unmask.utility.learners import REGRESSORS
from unmask.utility.prediction import Taught
from unmask.utility.propensity import MOST_ROWS, detection, propensity

DATA_OF_THE_RELEASE = (
    "Models were tested with real people of whom the release was made, since there is no holdout: a release that copies them "
    "looks better than it is."
)


def resemblance_part(case: UtilityCase) -> Part:
    """pMSE against its null and detection AUC: of the release, and of the holdout as the yardstick that both must meet."""
    release, plan = case.release, case.plan
    compared: list[tuple[str, Sequence[Table]]] = [("release", release.sets)]
    if release.holdout is not None:
        compared.append(("holdout (fresh people)", [release.holdout]))
    rows: list[tuple[Cell, ...]] = []
    try:
        for name, tables in compared:
            ratios, aucs = [], []
            for place, each in enumerate(tables):
                rng = case.rng("resemblance", name, str(place))
                ratios.append(propensity(release.real, each, confidence=plan.confidence, rng=rng).ratio)
                aucs.append(detection(release.real, each, confidence=plan.confidence, rng=rng))
            auc, ratio = _over_sets(aucs, plan.confidence), _over_sets(ratios, plan.confidence)
            rows.append((name, *three(auc), *three(ratio, 2), 1, f"{auc.method}; {ratio.method}", ratio.n))
    except InputError as problem:
        return Part(not_tested=(NotTested("resemblance", str(problem).rstrip("."), "give larger tables"),))
    heads = (
        "table", "detection AUC", "low", "high", "pMSE ratio", "ratio low", "ratio high", "fresh sample", "method", "n",
    )  # fmt: skip
    roles = (Role.TEXT, Role.AUC, Role.LOW, Role.HIGH, *[Role.TEXT] * 6)
    title = "Can rows be told from real ones? (AUC 0.5 and ratio 1: as little as fresh real people)"
    size = max(len(release.real), *map(len, release.sets))
    note = f"Resemblance was measured on {MOST_ROWS:,} rows of each table, drawn at random."
    return Part(
        grids=(table("utility/resemblance", title, heads, rows, roles=roles),),
        notes=(note,) if size > MOST_ROWS else (),
    )


def _over_sets(found: Sequence[Estimate], confidence: float) -> Estimate:
    if len(found) == 1:
        return found[0]
    return student(np.array([each.value for each in found]), confidence=confidence, method="Student t over sets")


def prediction_part(case: UtilityCase) -> Part:
    """Trained on synthetic rows and tested with real people, beside training on real rows, and a dummy."""
    taught = case.taught
    if isinstance(taught, NotTested):
        return Part(not_tested=(taught,))
    label, release = str(case.label), case.release
    overview = [
        line(f"{label} predicted by {each.learner} (share of the gain over a dummy)", kept, None)
        for each in taught.learners
        if (kept := each.kept) is not None
    ]
    rows = (
        f"Models were trained on {taught.train_rows:,} rows and tested with {taught.test_rows:,} people in each repeat."
    )
    notes = [rows] if taught.train_rows < round(0.8 * len(release.real)) else []
    least = [each for each in REGRESSORS if each.most_rows < taught.train_rows]
    if least and release.schema.column(label).is_numeric:
        names = " and ".join(each.name for each in least)
        notes.append(f"{names} were trained on {least[0].most_rows:,} of these rows, to end in time.")
    if release.holdout is None:
        notes.append(DATA_OF_THE_RELEASE)
    return UtilityPart(grids=(_scores(label, taught),), notes=tuple(notes), overview=tuple(overview))


def _scores(label: str, taught: Taught) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    for each in taught.learners:
        for place, measure in enumerate(each.measures.names):
            synthetic, real, dummy = (each.mean(scores, place) for scores in (each.synthetic, each.real, each.dummy))
            loss = each.mean(each.synthetic - each.real, place)
            deviation = float(each.synthetic[:, place].std())
            told = (
                *_figures(synthetic),
                _figure(real.value),
                _figure(dummy.value),
                *_figures(loss),
                _figure(deviation),
            )
            rows.append((each.learner, measure, *told))
    heads = (
        "learner", "measure", "on synthetic", "low", "high", "on real", "dummy", "difference", "difference low",
        "difference high", "sd over repeats",
    )  # fmt: skip
    title = f"Predicting {label}: trained on synthetic or on real rows, tested with real people"
    return table("utility/prediction", title, heads, rows)


def _figures(estimate: Estimate) -> tuple[float | None, ...]:
    return tuple(_figure(each) for each in (estimate.value, estimate.low, estimate.high))


def _figure(value: float) -> float | None:
    """Four digits, of shares and of amounts."""
    if not math.isfinite(value):
        return None
    return rounded(value) if abs(value) < 1 else float(f"{value:.4g}")


RESEMBLANCE = UtilityMeasure("resemblance", resemblance_part)
PREDICTION = UtilityMeasure("prediction", prediction_part)
