"""A result as the page tells it: which finding, table and chart stands in which section."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from unmask.reports import words
from unmask.reports.charts import Chart, card_chart, chart_of_grid, charts_of, forest_chart, rows_of, subject_of
from unmask.reports.record import Field, adversaries_of, choice, criteria_of, fields_of
from unmask.results.grid import Grid, Section, Series, SeriesKind
from unmask.results.policy import Severity
from unmask.results.result import Finding, Result

IN_FULL = 3  # findings of one kind that are spelled out; the others are folded away

OPEN_HISTOGRAMS = 2  # of the attacks with the clearest findings; the others are folded away
LARGEST_JSON = 60_000  # characters; beyond that the file beside the report is enough


@dataclass(frozen=True)
class Card:
    """One criterion at a glance."""

    criterion: words.Question
    finding: Finding | None
    big: str
    note: str
    lines: tuple[tuple[str, str, str], ...]  # class of the sample, what, how much
    bar: Markup | None
    comparisons: int = 0


@dataclass(frozen=True)
class FindingGroup:
    """Findings that share severity, criterion, attacker and advice."""

    severity: Severity
    criterion: str
    threat: str  # empty: as of the group before
    advice: str  # empty: said already
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Block:
    """A table or a chart (or a chart with its table) of a section."""

    title: str
    chart: Chart | None
    grid: Grid | None
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """Everything that the template shows."""

    title: str
    result: Result
    verdict: words.Verdict
    cards: tuple[Card, ...]
    groups: tuple[FindingGroup, ...]
    quiet: tuple[Finding, ...]  # findings that showed nothing
    blocks: Mapping[Section, tuple[Block, ...]]
    notes: tuple[str, ...]  # but those that have a place of their own
    criteria: Grid
    adversaries: Grid
    fields: tuple[Field, ...]
    json: str


def page_of(result: Result, run: Mapping[str, Any] | None) -> Page:
    """Arrange a result that is fit for sharing (see `results.sharing`)."""
    facts = result.facts
    shown = [finding for finding in result.findings if finding.severity is not Severity.NONE]
    plain = json.dumps(result.to_plain(), separators=(",", ":"))
    return Page(
        title=words.AUDITS.get(result.audit, f"Audit: {result.audit}"),
        result=result,
        verdict=words.verdict(result),
        cards=cards_of(result),
        groups=_groups(shown),
        quiet=tuple(finding for finding in result.findings if finding.severity is Severity.NONE),
        blocks=_blocks(result),
        notes=tuple(note for note in result.notes if note not in facts.visible + facts.at_risk),
        criteria=criteria_of(result),
        adversaries=adversaries_of(result.findings),
        fields=fields_of(result, run or {}),
        json=plain if len(plain) <= LARGEST_JSON else "",
    )


def cards_of(result: Result, prefix: str = "card") -> tuple[Card, ...]:
    """A card for every criterion, tested or not."""
    if not result.findings:
        return ()
    return tuple(_card(criterion, result, f"{prefix}-{place}") for place, criterion in enumerate(words.CRITERIA))


def _card(criterion: words.Question, result: Result, name: str) -> Card:
    findings = [finding for finding in result.findings if words.kind(finding) == criterion.name]
    if not findings:
        return Card(criterion, None, "", criterion.remedy, (), None)
    worst = words.worst_of(findings)
    rate, estimate = words.attack_rate(worst), worst.estimate
    lines = []
    if criterion.name == "dp claim":
        big = f"ε ≥ {words.number(estimate.low)}"
        if worst.baseline is not None:
            lines.append(("other", "claimed", f"ε = {words.short(worst.baseline.value)}"))
        elif "claim" in result.plan:
            lines.append(("", "claimed", choice(result.plan["claim"])))
    else:
        big = words.frequency(rate if rate is not None else estimate.value)
        lines.append((f"square {worst.severity}", "attack", big))
        if worst.control is not None:
            lines.append(("control", "control", words.frequency(worst.control.value)))
        if worst.baseline is not None:
            lines.append(("other", "guessing", words.frequency(worst.baseline.value)))
    note = f"{words.measure(worst)}: {words.in_words(estimate)}."
    bar = card_chart(name, worst, f"{criterion.title}: {worst.title}")
    return Card(criterion, worst, big, note, tuple(lines), bar, len(findings))


def _groups(findings: Sequence[Finding]) -> tuple[FindingGroup, ...]:
    together: dict[tuple[Severity, str, str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: -finding.severity.rank):
        key = (finding.severity, words.kind(finding), finding.threat, finding.advice)
        together.setdefault(key, []).append(finding)
    groups: list[FindingGroup] = []
    said: set[str] = set()
    before = ""
    for (severity, criterion, threat, advice), members in together.items():
        told = ("" if threat == before else threat, "" if advice in said else advice)
        groups.append(FindingGroup(severity, criterion, *told, tuple(members)))
        before = threat
        said.add(advice)
    return tuple(groups)


def _blocks(result: Result) -> dict[Section, tuple[Block, ...]]:
    blocks: dict[Section, list[Block]] = {}
    rows = rows_of(result.findings)
    if len(rows) > 1:
        title = "What each attack gains over its control"
        forest = forest_chart(
            "chart-forest", title, rows, x_label="gain over the control", policy=result.policy, other="guessing"
        )
        blocks[Section.ATTACKS] = [Block(title, forest, None)]
    histograms = 0
    for series, chart in charts_of(_clearest_first(result)):
        histograms += series.kind is SeriesKind.HISTOGRAM
        folded = series.kind is SeriesKind.HISTOGRAM and histograms > OPEN_HISTOGRAMS
        blocks.setdefault(series.section, []).append(Block(chart.title, chart, None, folded))
    for grid in result.grids:
        blocks.setdefault(grid.section, []).append(Block(grid.title, chart_of_grid(grid), grid))
    return {section: tuple(members) for section, members in blocks.items()}


def _clearest_first(result: Result) -> list[Series]:
    """Histograms in the order of the findings, worst first; other series stay where they are."""
    order = [finding.name.partition("/")[0] for finding in result.findings]

    def place(series: Series) -> int:
        attack = subject_of(series)
        return order.index(attack) if attack in order else len(order)

    histograms = iter(sorted((one for one in result.series if one.kind is SeriesKind.HISTOGRAM), key=place))
    return [next(histograms) if one.kind is SeriesKind.HISTOGRAM else one for one in result.series]
