"""A result as the page tells it: which finding, table and chart stands in which section."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from unmask.audits.judge import Policy
from unmask.audits.result import Cell, Finding, Grid, Result, Severity
from unmask.reports import words
from unmask.reports.charts import Chart, card_chart, chart_of_grid, charts_of, forest_chart, rows_of
from unmask.reports.charts.svg import tag

IN_FULL = 3  # findings of one kind that are spelled out; the others are folded away
LONG_WORD = 30  # characters: longer ones may be broken
LONG_TEXT = 14  # characters: longer ones want a wider column
MOST_ROWS = 200  # rows of one table
AT_RISK = "at risk"  # a note with these words says how many people are
LARGEST_JSON = 100_000  # characters; beyond that the file beside the report is enough

# Tables by the first part of their name; all others stand among the details.
PLACES = {
    "attacks": "attacks", "criteria": "attacks", "demo": "attacks",
    "forest": "attacks", "membership": "attacks", "reconstruction": "attacks",
    "groups": "risk", "people": "risk", "risk": "risk",
    "epsilon": "epsilon", "claim": "epsilon", "verdict": "epsilon", "support": "epsilon",
    "controls": "sound", "instrument": "sound", "power": "sound", "planted": "sound",
    "tradeoff": "utility", "utility": "utility",
}  # fmt: skip
DRAWN_FROM_FINDINGS = ("attacks", "criteria")  # their forest plot is the one of all findings


@dataclass(frozen=True)
class Card:
    """One criterion at a glance."""

    criterion: words.Criterion
    finding: Finding | None
    big: str
    note: str
    lines: tuple[tuple[str, str, str], ...]  # class of the sample, what, how much
    bar: Markup | None
    comparisons: int = 0


@dataclass(frozen=True)
class Group:
    """Findings that share severity, criterion, attacker and advice."""

    severity: Severity
    criterion: str
    threat: str
    advice: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Block:
    """A table or a chart (or a chart with its table) of a section."""

    title: str
    chart: Chart | None
    grid: Grid | None


@dataclass(frozen=True)
class Field:
    """A line of the sheet that a regulator asks for; empty ones are filled in by hand."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Page:
    """Everything that the template shows."""

    title: str
    result: Result
    verdict: words.Verdict
    cards: tuple[Card, ...]
    groups: tuple[Group, ...]
    quiet: tuple[Finding, ...]  # findings that showed nothing
    blocks: Mapping[str, tuple[Block, ...]]
    visible: tuple[str, ...]
    exposed: tuple[str, ...]  # notes about how many people are at risk
    notes: tuple[str, ...]
    criteria: Grid
    adversaries: Grid
    fields: tuple[Field, ...]
    policy: Policy
    json: str


def page_of(result: Result, run: Mapping[str, Any] | None) -> Page:
    """Arrange a result that is fit for sharing (see `safety.for_sharing`)."""
    visible = words.visible_leaks(result)
    exposed = tuple(note for note in result.notes if AT_RISK in note and note not in visible)
    shown = [finding for finding in result.findings if finding.severity is not Severity.NONE]
    plain = json.dumps(result.to_plain(), indent=1)
    return Page(
        title=words.AUDITS.get(result.audit, f"Audit: {result.audit}"),
        result=result,
        verdict=words.verdict(result),
        cards=cards_of(result),
        groups=_groups(shown),
        quiet=tuple(finding for finding in result.findings if finding.severity is Severity.NONE),
        blocks=_blocks(result),
        visible=visible,
        exposed=exposed,
        notes=tuple(note for note in result.notes if note not in visible + exposed),
        criteria=criteria_of(result),
        adversaries=_adversaries(result.findings),
        fields=_fields(result, run or {}),
        policy=Policy(),
        json=plain if len(plain) <= LARGEST_JSON else "",
    )


def cards_of(result: Result, prefix: str = "card") -> tuple[Card, ...]:
    """A card for every criterion, tested or not."""
    if not result.findings:
        return ()
    return tuple(_card(criterion, result, f"{prefix}-{place}") for place, criterion in enumerate(words.CRITERIA))


def _card(criterion: words.Criterion, result: Result, name: str) -> Card:
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
            lines.append(("", "claimed", _choice(result.plan["claim"])))
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


def _groups(findings: Sequence[Finding]) -> tuple[Group, ...]:
    together: dict[tuple[Severity, str, str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: -finding.severity.rank):
        key = (finding.severity, words.kind(finding), finding.threat, finding.advice)
        together.setdefault(key, []).append(finding)
    return tuple(Group(*key, tuple(members)) for key, members in together.items())


def _blocks(result: Result) -> dict[str, tuple[Block, ...]]:
    blocks: dict[str, list[Block]] = {}
    rows = rows_of(result.findings)
    if len(rows) > 1:
        forest = forest_chart(
            "chart-forest", "What each attack gains over its control", rows, x_label="gain over the control",
            thresholds=True, other="guessing",
        )  # fmt: skip
        blocks["attacks"] = [Block("What each attack gains over its control", forest, None)]
    for section, chart in charts_of(result.series):
        blocks.setdefault(section, []).append(Block(chart.title, chart, None))
    for grid in result.grids:
        prefix = grid.name.partition("/")[0]
        place = PLACES.get(prefix.split(" ")[0], "detail")
        drawn = None if prefix in DRAWN_FROM_FINDINGS and len(rows) > 1 else chart_of_grid(grid)
        blocks.setdefault(place, []).append(Block(grid.title, drawn, grid))
    return {section: tuple(members) for section, members in blocks.items()}


def criteria_of(result: Result) -> Grid:
    """Per criterion the worst finding: attack, guessing, control, gain. Records and their number are in records.csv."""
    rows: list[tuple[Cell, ...]] = []
    for criterion in words.CRITERIA:
        findings = [finding for finding in result.findings if words.kind(finding) == criterion.name]
        name = f"{criterion.title} (WP29)" if criterion.legal else criterion.title
        if not findings:
            rows.append((name, "not tested", *[None] * 7))
            continue
        shown = sum(finding.severity is not Severity.NONE for finding in findings)
        rows.append((name, *_criterion_cells(words.worst_of(findings)), f"{shown} of {len(findings)}"))
    heads = (
        "criterion",
        "worst attack",
        "succeeds",
        "by guessing",
        "control",
        "gain",
        "interval",
        "severity",
        "leaks shown",
    )
    return Grid("per criterion", "Per criterion", heads, tuple(rows))


def _criterion_cells(worst: Finding) -> tuple[Cell, ...]:
    """Attack, success, guessing, control, gain, interval, severity; a claim has an epsilon and no shares."""
    estimate, severity = worst.estimate, f"{words.SHAPES[worst.severity]} {words.LABELS[worst.severity]}"
    if words.kind(worst) == "dp claim":
        return worst.name, None, None, None, None, f"ε ≥ {words.number(estimate.low)}", severity
    guess, control = (one.value if one else None for one in (worst.baseline, worst.control))
    rate, gain = (estimate.value, None) if control is None else (words.attack_rate(worst), estimate.value)
    interval = f"{words.number(estimate.low)} to {words.number(estimate.high)}"
    return worst.name, rate, guess, control, gain, interval, severity


def _adversaries(findings: Sequence[Finding]) -> Grid:
    together: dict[str, list[Finding]] = {}
    for finding in findings:
        together.setdefault(finding.threat, []).append(finding)
    rows = tuple(
        (threat, ", ".join(dict.fromkeys(words.kind(finding) for finding in members)), len(members))
        for threat, members in together.items()
    )
    return Grid("adversaries", "Attackers", ("who, knows what, wants what", "criterion", "comparisons"), rows)


def _fields(result: Result, run: Mapping[str, Any]) -> tuple[Field, ...]:
    """What regulators ask for, as far as it is known."""
    plan = result.plan
    command = run.get("command")
    text = shlex.join(map(str, command)) if isinstance(command, list) else str(command or "")
    claims = [note for note in result.notes if note.startswith("The generator claims")]
    if plan.get("claim") is not None:
        claims.append(f"Tested claim: {_choice(plan['claim'])}")
    fields = [
        Field("Tables (SHA-256 of their content)", tuple(map(_input_line, result.inputs)) or ("none given",)),
        Field("Generator", (str(plan.get("generator") or "not part of this audit: only tables were given"),)),
        Field("Seed of every random step", (str(result.seed),)),
        Field("Unit of privacy", (_unit(result),)),
        Field("Differential privacy claim", tuple(claims) or ("none made or tested",)),
        Field("Choices (plan)", _choices(plan)),
        Field("Command", (text or "not recorded",)),
        Field("Finished", (str(run.get("finished") or "not recorded"),)),
        Field("Versions", (", ".join(f"{name} {version}" for name, version in result.versions.items()),)),
    ]
    return tuple(field for field in fields if field.values)


def _input_line(item: Any) -> str:
    return f"{item.role}: {item.digest} ({item.rows:,} rows, {item.columns} columns, domains {item.schema})"


def _unit(result: Result) -> str:
    persons = any(item.units < item.rows for item in result.inputs)
    return "a person: all rows with one person id" if persons else "a row: every row is taken as one person"


def _choices(plan: Mapping[str, Any]) -> tuple[str, ...]:
    made = "; ".join(f"{name} {_choice(value)}" for name, value in plan.items() if value not in (None, [], ()))
    return (made,) if made else ()


def _choice(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_choice, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_choice(item)}" for name, item in value.items() if item not in (None, ""))
    return f"{value:g}" if isinstance(value, float) and math.isfinite(value) else str(value)


def table_of(grid: Grid) -> dict[str, Any]:
    """A table for the template: texts, the values they sort by, and which columns hold numbers."""
    width = len(grid.columns)
    numeric = [
        any(_is_number(row[place]) for row in grid.rows)
        and all(row[place] is None or _is_number(row[place]) for row in grid.rows)
        for place in range(width)
    ]
    rows = [[_shown(cell) for cell in row[:width]] for row in grid.rows[:MOST_ROWS]]
    return {"columns": grid.columns, "numeric": numeric, "rows": rows, "left_out": max(0, len(grid.rows) - MOST_ROWS)}


def _shown(cell: Cell) -> tuple[str, Cell, str]:
    """Text of a cell, what it sorts by, and how much room it needs."""
    text = words.readable(words.cell_text(cell))
    long = any(len(word) > LONG_WORD for word in text.split())
    class_ = "long" if long else "roomy" if len(text) > LONG_TEXT else ""
    return text, cell if _is_number(cell) else None, class_


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def sample(class_: str) -> Markup:
    """The sample of a legend: the same shape and class as in the chart."""
    kind = class_.split(" ")[0]
    if not kind:
        return Markup("")
    if kind == "square":
        return _sample(tag("rect", x=8, y=3, width=8, height=8, class_=class_))
    if kind == "other":
        return _sample(tag("path", d="M12 1L17 7L12 13L7 7Z", class_=class_))
    if kind == "control":
        return _sample(tag("line", x1=12, y1=1, x2=12, y2=13, class_=class_))
    if kind == "heat":
        return _sample(tag("rect", x=2, y=1, width=20, height=12, class_=class_))
    if kind == "point":
        return _sample(_point(class_))
    return _sample(tag("line", x1=1, y1=7, x2=23, y2=7, class_=class_))


def _point(class_: str) -> Markup:
    from unmask.reports.charts.fields import _mark

    place = class_.rpartition("-")[2]
    return _mark(12, 7, int(place) - 1 if place.isdigit() else 99)


def _sample(inside: Markup) -> Markup:
    return tag("svg", inside, viewBox="0 0 24 14", width=24, height=14, aria_hidden="true", class_="sample")
