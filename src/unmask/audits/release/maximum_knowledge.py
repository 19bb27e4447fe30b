"""The attacker who holds the real table: what M sets tell about a column that is covered up (ruiz2018)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unmask.audits.part import Part, together
from unmask.audits.release.case import REDO, Case, Check, Family
from unmask.metrics.attribute_scenario import LISTED, AttributeScenario, Found, Risk, attribute_scenario
from unmask.results.figures import figure, number
from unmask.results.grid import Cell, Grid, Role, Series
from unmask.results.result import Finding, NotTested
from unmask.stats import Estimate
from unmask.stream import stream
from unmask.tables.distance import RankCriterion
from unmask.tables.ranks import Ties, ranks
from unmask.tables.schema import Schema
from unmask.tables.table import Table

MOST_WORK = 3_000_000_000  # comparisons of ranks for all secrets together: some seconds
MOST_PUBLISHED = 100_000  # rows of all sets that are searched
FEWEST = 300  # records that are attacked however large the release is
MOST_SETS = 20  # sets whose ranks are listed in records.csv

FAMILY = Family("maximum knowledge", 0.02, lambda release: len(_covered(release.schema)))

HEADS = (
    "secret", "criterion", "sets", "range holds the truth", "share of the ranks in it", "error of the mean rank",
    "gain of real people", "columns shuffled", "holdout", "gain over the holdout", "low", "high",
)  # fmt: skip
ROLES = (*[Role.TEXT] * 9, Role.ESTIMATE, Role.LOW, Role.HIGH)
KNOWS = "Someone who holds the release and the real table but for one column looks for each person by the ranks of all others."


def _covered(schema: Schema) -> tuple[str, ...]:
    """The secrets that are looked for: those named, where there is another column to look by."""
    return schema.secrets if len(schema.columns) > 1 else ()


def maximum_knowledge_part(case: Case) -> Part:
    """Every named secret by rank linkage on all other columns, under every criterion."""
    schema = case.release.schema
    if not _covered(schema):
        why = "no secret is named" if not schema.secrets else "there is one column only"
        remedy = "Name secrets with --secret, or mark them in the schema."
        return Part(not_tested=(NotTested("maximum knowledge", why, remedy),))
    sets = _searched(case)
    found = {secret: _scenarios(case, secret, sets) for secret in schema.secrets}
    rows = tuple(row for each in found.values() for row in _rows(each))
    title = "An attacker who knows all ranks but the secret's"
    grid = Grid("maximum knowledge", title, HEADS, rows, roles=ROLES, detail=True)
    parts = [_told(case, each[0], sets) for each in found.values()]  # the sum leads: chosen before anything was seen
    return Part(grids=(grid,), notes=_sizes(case, sets)) + together(parts)


def _searched(case: Case) -> tuple[Table, ...]:
    """The sets, or as many rows of each as can be searched in some seconds."""
    sets, rng = case.release.sets, stream(case.plan.seed, "maximum knowledge", "rows")
    most = MOST_PUBLISHED // len(sets)
    if sum(map(len, sets)) <= MOST_PUBLISHED:
        return sets
    return tuple(
        table if len(table) <= most else table.take(np.sort(rng.choice(len(table), most, replace=False)))
        for table in sets
    )


def _sizes(case: Case, sets: Sequence[Table]) -> tuple[str, ...]:
    whole, size = case.release.sets, len(case.release.real)
    notes = []
    if (fewer := sum(map(len, sets))) < (all_rows := sum(map(len, whole))):
        notes.append(
            f"Maximum knowledge: {fewer:,} of {all_rows:,} published rows were searched, drawn at random; "
            "more would give nearer links."
        )
    if {len(table) for table in sets} != {size}:
        notes.append(
            "Maximum knowledge: real table and sets differ in size, so ranks were scaled, where the paper samples rows."
        )
    return tuple(notes)


def _scenarios(case: Case, secret: str, sets: Sequence[Table]) -> list[AttributeScenario]:
    """One for each criterion, all on the same people."""
    release = case.release
    sides = 3  # real people, as many of them as there are others, others
    work = (
        sides
        * (len(release.schema.columns) - 1)
        * sum(map(len, sets))
        * len(RankCriterion)
        * len(release.schema.secrets)
    )
    most = max(FEWEST, MOST_WORK // work)
    return [
        attribute_scenario(
            release.real, sets, attribute=secret, criterion=criterion, holdout=release.holdout, shuffled=not place,
            most_records=most, confidence=case.plan.confidence, workers=case.workers,
            rng=stream(case.plan.seed, "maximum knowledge", secret),
        )
        for place, criterion in enumerate(RankCriterion)
    ]  # fmt: skip


def _rows(found: Sequence[AttributeScenario]) -> Iterator[tuple[Cell, ...]]:
    """Every number of sets for the first criterion, one and all of them for the others."""
    for place, each in enumerate(found):
        for risk in each.risks if place == 0 else dict.fromkeys((each.risks[0], each.risks[-1])):
            yield (
                each.attribute, str(each.criterion), risk.sets, *_values(risk.contains, risk.width, risk.error, risk.gain),
                *_values(risk.shuffled, risk.holdout), *_interval(risk.excess),
            )  # fmt: skip


def _told(case: Case, found: AttributeScenario, sets: Sequence[Table]) -> Part:
    secret, risks = found.attribute, found.risks
    notes = [f"Maximum knowledge of {secret}: {note}" for note in found.notes]
    sentence = _sentence(found)
    return Part(
        findings=_finding(case, found),
        series=_series(secret, risks) if len(risks) > 1 else (),
        notes=(*([sentence] if sentence else []), *notes),
        columns=_columns(case.release.real, sets[0], found),
    )


def _sentence(found: AttributeScenario) -> str:
    """Whether more sets confuse or help."""
    trend, risks = found.trend, found.risks
    if trend is None:
        return ""
    sets, gain = len(risks), trend.gain
    what = (
        "tell more than one"
        if gain.low > 0
        else "confuse more than they help"
        if gain.high < 0
        else "tell as much as one"
    )
    mean = trend.error
    closer = (
        "their mean is closer to the truth"
        if mean.low > 0
        else "their mean is further off"
        if mean.high < 0
        else "their mean is as far off"
    )
    return (
        f"{found.attribute}, {sets} sets: the ranges that they span {what} (gain {number(risks[-1].gain.value)} after {sets}, "
        f"{number(risks[-1].gain.value - gain.value)} from one; difference {_span(gain)}), and {closer} than one guess "
        f"(by {number(100 * mean.value)} % of the ranks, {number(100 * mean.low)} to {number(100 * mean.high)})."
    )


def _span(estimate: Estimate) -> str:
    return f"{number(estimate.value)}, {number(estimate.low)} to {number(estimate.high)}"


def _series(secret: str, risks: Sequence[Risk]) -> tuple[Series, ...]:
    """Risk as a function of the number of sets."""
    lines: dict[str, list[Estimate | None]] = {
        "real people": [risk.gain for risk in risks],
        "holdout people": [risk.holdout for risk in risks],
        "columns shuffled": [risk.shuffled for risk in risks],
    }
    drawn = {name: [each.value for each in line if each is not None] for name, line in lines.items()}
    drawn |= {f"real people, {end} end": [getattr(risk.gain, end) for risk in risks] for end in ("low", "high")}
    x = tuple(float(risk.sets) for risk in risks)
    return tuple(
        Series(
            f"sets/{secret}/{name}", f"What so many sets tell about {secret}, {name}", "sets",
            "gain (range holds the truth - its width)",
            x, tuple(round(float(value), 6) for value in line),
        )
        for name, line in drawn.items()
        if len(line) == len(x)
    )  # fmt: skip


def _finding(case: Case, found: AttributeScenario) -> tuple[Finding, ...]:
    """What all sets tell about real people beyond what they tell about others; none without a holdout."""
    last, control = found.risks[-1], found.control
    if control is None or last.excess is None or last.holdout is None:
        return ()
    low = control.excess(last.sets, case.strict(FAMILY)).low
    severity = case.plan.policy.severity(max(0.0, low))
    estimate = figure(last.excess)
    many = "the release" if last.sets == 1 else f"{last.sets} sets"
    title = (
        f"{found.attribute} from all other columns: the ranks found in {many} hold the truth for "
        f"{number(100 * last.contains.value)} % "
        f"of real people and {number(100 * last.width.value)} % of all values; gain {number(last.gain.value)}, "
        f"{number(last.holdout.value)} for people who are not in the data"
    )
    baseline = None if last.shuffled is None else figure(last.shuffled)
    advice = REDO if severity.rank else case.unproven(estimate)
    return (
        Finding(
            f"maximum knowledge {found.attribute}", title, KNOWS, "inferring", severity, estimate, baseline,
            figure(last.holdout), advice,
        ),
    )  # fmt: skip


def _columns(real: Table, release: Table, found: AttributeScenario) -> tuple[tuple[str, tuple[Cell, ...]], ...]:
    """Tables 3 and 4 of the paper: the true rank, and the ranks and values found in each set, for the people attacked."""
    attribute, scenario = found.attribute, found.found
    own = ranks(real.select([attribute]), Ties.IN_ORDER, like=release)[:, 0].astype(np.int64)
    values = [str(value) for value in real.select([attribute]).to_pandas()[attribute].to_numpy()[np.argsort(own)]]
    true: list[Cell] = [None] * len(real)
    for row, first, last in zip(scenario.rows, scenario.first, scenario.last, strict=True):
        true[row] = str(first) if first == last else f"{first}-{last}"
    made: list[tuple[str, tuple[Cell, ...]]] = [(f"{attribute}: rank", tuple(true))]
    for place in range(min(MOST_SETS, len(scenario.lowest))):
        name = f"{attribute}: {{}} found, set {place + 1}"
        found_ranks, found_values = _listed(len(real), scenario, place, values)
        made += [(name.format("ranks"), found_ranks), (name.format("values"), found_values)]
    return tuple(made)


def _listed(rows: int, scenario: Found, place: int, values: list[str]) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
    ranked: list[Cell] = [None] * rows
    valued: list[Cell] = [None] * rows
    for row, listed in zip(scenario.rows, scenario.listed[place], strict=True):
        more = [] if len(listed) < LISTED else ["..."]
        ranked[row] = ", ".join([*map(str, listed), *more])
        valued[row] = ", ".join([*dict.fromkeys(values[rank - 1] for rank in listed), *more])
    return tuple(ranked), tuple(valued)


def _values(*estimates: Estimate | None) -> tuple[float, ...]:
    return tuple(round(each.value, 4) if each is not None else float("nan") for each in estimates)


def _interval(estimate: Estimate | None) -> tuple[float, float, float]:
    if estimate is None:
        return (float("nan"),) * 3
    return round(estimate.value, 4), round(estimate.low, 4), round(estimate.high, 4)


MAXIMUM_KNOWLEDGE = Check("maximum knowledge", maximum_knowledge_part, (FAMILY,), cost=4)
