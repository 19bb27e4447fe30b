"""Tables, series and records of the audit of everyone. Only records point at people, and they stay in a local file."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from unmask.audits.everyone.audited import Audited
from unmask.audits.everyone.evidence import Evidence
from unmask.audits.everyone.people import PERSON_FPR
from unmask.audits.everyone.pooled import RATES, Pooled, judge_pooled
from unmask.audits.score_charts import roc_series, score_histograms
from unmask.results.grid import Cell, Grid, Section, Series, SeriesKind
from unmask.results.result import Records
from unmask.results.small_groups import crowd_quantiles
from unmask.tables.units import SMALLEST_GROUP

RAW = "distance to the closest record"
Columns = Sequence[tuple[str, np.ndarray]]

OUTER = 10 * SMALLEST_GROUP  # listed people from which a tenth of them is a crowd


def attacks_grid(audited: Audited, pooled: Pooled) -> Grid:
    """The scorer beside the raw distance that others report."""
    rows = [("everyone", *_cells(pooled))]
    if audited.raw_distance is not None:
        evidence = Evidence(audited.raw_distance, audited.late.members)
        rows.append((RAW, *_cells(judge_pooled(evidence, confidence=audited.plan.confidence))))
    heads = ("attack", "AUC", "low", "high", *(f"TPR at FPR {rate:g}" for rate in RATES))
    return Grid("attacks", "Everybody, all judged runs together", heads, tuple(rows), Section.ATTACKS)


def _cells(pooled: Pooled) -> tuple[Cell, ...]:
    found = (pooled.auc.value, pooled.auc.low, pooled.auc.high, *(point.value for point in pooled.tpr_at))
    return tuple(round(float(value), 4) for value in found)


def controls_grid(audited: Audited) -> Grid:
    """The same analysis with the coins of other runs, and the pooled bound beside the largest it could have been."""
    people = int(audited.coined.sum())
    rows: tuple[tuple[Cell, ...], ...] = (
        ("people listed", int(audited.people.listed.sum()), people),
        ("people listed with the coins of other runs (nobody should be)", int(audited.control.listed.sum()), people),
        ("epsilon, everybody together, >=", round(audited.bound.value, 3), round(audited.bound.largest_visible, 3)),
    )
    return Grid("controls", "Controls", ("what", "found", "at most"), rows, Section.SOUND)


def people_grid(audited: Audited) -> Grid | None:
    """The listed people as a crowd; nothing for fewer than ten, the median only for fewer than a hundred."""
    people, listed = audited.people, audited.people.listed
    count = int(listed.sum())
    if count < SMALLEST_GROUP:
        return None
    heads = {0.1: "a tenth is below", 0.5: "half is below", 0.9: "a tenth is above"}
    shares = tuple(heads) if count >= OUTER else (0.5,)
    figures = {"AUC over runs": people.auc, f"TPR at FPR {PERSON_FPR:g}": people.tpr, "epsilon >=": people.epsilon}
    rows: list[tuple[Cell, ...]] = [
        (name, *(round(float(q), 3) for q in np.nanquantile(values[listed], shares)))
        for name, values in figures.items()
    ]
    names = ("of the people on the list", *(heads[share] for share in shares))
    return Grid("people", f"The {count:,} people on the list", names, tuple(rows), Section.RISK)


def series_of(audited: Audited) -> Iterator[Series]:
    """ROC curves, histograms of evidence, the exposure of everybody, and the power of this audit."""
    late = audited.late
    inside, outside = late.log_ratios[late.members], late.log_ratios[~late.members]
    yield roc_series("everyone", inside, outside)
    if audited.raw_distance is not None:
        yield roc_series(RAW, audited.raw_distance[late.members], audited.raw_distance[~late.members])
    yield from score_histograms("everyone", {"in": inside, "out": outside}, "people and runs", each=len(late.members))
    shares, exposures = crowd_quantiles(audited.people.log_e[audited.coined] / math.log(10))
    if shares:
        yield Series(
            "risk/exposure", "Exposure of everybody", "share of the people",
            "log10 of the e-value: evidence that the releases tell", shares, exposures, SeriesKind.RISK, Section.RISK,
        )  # fmt: skip
    yield Series(
        "power/everyone", "How often the list would hold a person whose record is copied", "share of releases with a copy",
        "share of trials in which the person is listed", audited.power.chances,
        tuple(round(share, 3) for share in audited.power.seen), SeriesKind.POWER, Section.SOUND,
    )  # fmt: skip


def records_of(audited: Audited, more: Columns) -> Records:
    """Every unit with a coin by the number of its first row, most exposed first. `more` are columns of later stages."""
    people, features, coined = audited.people, audited.pool.setting.features, audited.coined
    _, first = np.unique(features.units.of_row, return_index=True)
    order = np.argsort(people.rank)
    order = order[coined[order]]
    columns: list[tuple[str, list[Cell]]] = [
        ("row", audited.drawn.rows[first][order].tolist()),
        ("rank", people.rank[order].tolist()),
        ("listed", people.listed[order].tolist()),
        ("log10 e-value", _numbers(people.log_e[order] / math.log(10))),
        ("AUC", _numbers(people.auc[order])),
        (f"TPR at FPR {PERSON_FPR:g}", _numbers(people.tpr[order])),
        ("epsilon >=", _numbers(people.epsilon[order])),
        *((name, _numbers(values[order])) for name, values in audited.marks.values.items()),
        *((name, list(values[order])) for name, values in more),
    ]
    names, cells = zip(*columns, strict=True)
    return Records(names, tuple(zip(*cells, strict=True)))


def _numbers(values: np.ndarray) -> list[Cell]:
    """Four digits; nothing where there is no number, and no minus before 0. Equal numbers, of which there are many, once."""
    distinct, place = np.unique(values.astype(np.float64), return_inverse=True)
    told = [float(f"{value:.4g}") + 0.0 if math.isfinite(value) else None for value in distinct.tolist()]
    return [told[at] for at in place.tolist()]
