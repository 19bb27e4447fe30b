"""A result as the page tells it: which finding, table and chart stands in which section."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from unmask.reports import words
from unmask.reports.charts import Chart, card_chart, chart_of_grid, charts_of, forest_chart, rows_of, subject_of
from unmask.reports.notes import merged
from unmask.reports.record import Field, Source, adversaries_of, choice, criteria_of, date_of, fields_of, sources_of
from unmask.results.grid import Grid, GridKind, Section, Series, SeriesKind
from unmask.results.next_steps import NextStep, next_steps
from unmask.results.policy import Severity
from unmask.results.result import Finding, Result
from unmask.results.state import DOUBT, State, silence_of
from unmask.results.verdict import OF_A_RELEASE

IN_FULL = 3  # findings of one kind that are spelled out; the others are folded away

OPEN_HISTOGRAMS = 2  # of the attacks with the clearest findings; the others are folded away
LARGEST_JSON = 60_000  # characters; beyond that the file beside the report is enough


@dataclass(frozen=True)
class Card:
    """One criterion at a glance."""

    criterion: words.Question
    finding: Finding | None
    badge: words.Badge | None
    big: str  # what the release adds
    than: str  # compared with what
    note: str
    lines: tuple[tuple[str, str, str], ...]  # class of the sample, what, how much
    bar: Markup | None
    comparisons: int = 0


@dataclass(frozen=True)
class FindingGroup:
    """Findings that share badge, criterion, attacker and advice."""

    badge: words.Badge
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
    answers: tuple[tuple[str, tuple[str, ...]], ...]  # questions after the first, and the sentences about each
    date: str
    sources: tuple[Source, ...]
    steps: tuple[NextStep, ...]
    silence: str  # what it means here that something showed no leak
    unproven: str  # why an interval above 0 may carry no finding, if there is such a one
    cards: tuple[Card, ...]
    groups: tuple[FindingGroup, ...]
    quiet: tuple[Finding, ...]  # findings that showed no leak
    blocks: Mapping[Section, tuple[Block, ...]]
    notes: tuple[str, ...]  # but those that have a place of their own
    criteria: Grid
    adversaries: Grid
    fields: tuple[Field, ...]
    json: str


def page_of(result: Result, run: Mapping[str, Any] | None) -> Page:
    """Arrange a result that is fit for sharing (see `results.sharing`)."""
    facts = result.facts
    plain = json.dumps(result.to_plain(), separators=(",", ":"))
    own = facts.visible + facts.at_risk + facts.left_out + facts.inconclusive
    return Page(
        title=words.title_of(result),
        result=result,
        verdict=words.verdict(result),
        answers=words.by_question(result),
        date=date_of(run or {}),
        sources=sources_of(result),
        steps=next_steps(result, run),
        silence=str(silence_of(result) or ""),
        unproven=_unproven(result),
        cards=cards_of(result),
        groups=_groups(result),
        quiet=tuple(one for one in result.findings if one.severity is Severity.NONE and one.name != DOUBT),
        blocks=_blocks(result),
        notes=merged(note for note in result.notes if note not in own),
        criteria=criteria_of(result),
        adversaries=adversaries_of(result.findings),
        fields=fields_of(result, run or {}),
        json=plain if len(plain) <= LARGEST_JSON else "",
    )


def _unproven(result: Result) -> str:
    """Why an interval above 0 may carry no finding: said where one does not."""
    above = [one for one in result.findings if one.control and one.estimate.low > 0 and words.kind(one) != "dp claim"]
    if all(one.severity is not Severity.NONE or one.name == DOUBT for one in above):
        return ""
    return (
        "An interval above 0 may carry no finding: each holds on its own, and of "
        f"{words.plural(len(result.findings), 'comparison')} some lie above 0 by chance. A finding is what is certain among all "
        "of them together."
    )


def cards_of(result: Result, prefix: str = "card") -> tuple[Card, ...]:
    """A card for every criterion, tested or not."""
    if not result.findings:
        return ()
    return tuple(_card(criterion, result, f"{prefix}-{place}") for place, criterion in enumerate(words.CRITERIA))


def _card(criterion: words.Question, result: Result, name: str) -> Card:
    findings = [one for one in result.findings if words.kind(one) == criterion.name and one.name != DOUBT]
    if not findings:
        return Card(criterion, None, None, "", "", criterion.remedy, (), None)
    worst = words.worst_of(findings)
    rate, estimate = words.attack_rate(worst), worst.estimate
    lines, than = [], ""
    if criterion.name == "dp claim":
        big = f"ε ≥ {words.rounded(estimate.low)}"
        if worst.baseline is not None:
            lines.append(("other", "claimed", f"ε = {words.short(worst.baseline.value)}"))
        elif "claim" in result.plan:
            lines.append(("", "claimed", choice(result.plan["claim"])))
    else:
        big = words.more_in_100(estimate.value) if worst.control else "no comparison"
        than = _than(worst, result)
        lines.append((f"square {worst.severity}", "attack", words.frequency(estimate.value if rate is None else rate)))
        if worst.control is not None:
            lines.append(("control", "control", words.frequency(worst.control.value)))
        if worst.baseline is not None:
            lines.append(("other", "guessing", words.frequency(worst.baseline.value)))
    note = f"{words.measure(worst)}: {words.in_words(estimate)}."
    bar = card_chart(name, worst, f"{criterion.title}: {worst.title}")
    badge = words.finding_badge(worst, result)
    return Card(criterion, worst, badge, big, than, note, tuple(lines), bar, len(findings))


def _than(finding: Finding, result: Result) -> str:
    if finding.control is None:
        return "how much of it the release adds is not known"
    if silence_of(result) is State.CONFOUNDED:
        return "than on the holdout, which differs by itself"
    return (
        "than on people who are not in the data"
        if result.audit in OF_A_RELEASE
        else "than if they were not in the data"
    )


def _groups(result: Result) -> tuple[FindingGroup, ...]:
    """What throws doubt on the others first, then leaks, worst first."""
    doubts = [one for one in result.findings if one.name == DOUBT]
    together: dict[tuple[words.Badge, str, str, str], list[Finding]] = {}
    for finding in (*doubts, *sorted(result.leaks, key=lambda leak: -leak.severity.rank)):
        key = (words.finding_badge(finding, result), words.kind(finding), finding.threat, finding.advice)
        together.setdefault(key, []).append(finding)
    groups: list[FindingGroup] = []
    said: set[str] = set()
    before = ""
    for (badge, criterion, threat, advice), members in together.items():
        told = ("" if threat == before else threat, "" if advice in said else advice)
        groups.append(FindingGroup(badge, criterion, *told, tuple(members)))
        before = threat
        said.add(advice)
    return tuple(groups)


def _blocks(result: Result) -> dict[Section, tuple[Block, ...]]:
    blocks: dict[Section, list[Block]] = {}
    rows = rows_of(result)
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
        if grid.kind is GridKind.ANSWERS:
            continue  # in the verdict
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
