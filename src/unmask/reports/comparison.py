"""Several results side by side: the same criteria, one column per run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from unmask.reports import words
from unmask.reports.changes import changes_of, in_short
from unmask.reports.charts import Chart, Row, charts_of, forest_chart
from unmask.reports.sections import Card, cards_of
from unmask.results.grid import Cell, Grid, Series, SeriesKind
from unmask.results.result import Result


@dataclass(frozen=True)
class ComparedRun:
    """One result of a comparison."""

    name: str
    link: str
    title: str
    result: Result
    verdict: words.Verdict
    cards: tuple[Card, ...]


@dataclass(frozen=True)
class ComparisonPage:
    """Everything that the page of several results shows."""

    runs: tuple[ComparedRun, ...]
    forests: tuple[Chart, ...]
    charts: tuple[Chart, ...]
    changes: Grid  # between two runs; empty for more
    changed: str
    findings: Grid
    differences: Grid


def comparison_of(results: Mapping[str, Result], links: Mapping[str, str]) -> ComparisonPage:
    """Arrange several results."""
    runs = tuple(
        ComparedRun(name, links.get(name, ""), words.title_of(result), result,
                 words.verdict(result), cards_of(result, f"card-{place}"))
        for place, (name, result) in enumerate(results.items())
    )  # fmt: skip
    two = tuple(results.values()) if len(results) == 2 else None
    trade = [one for result in results.values() for one in result.series if one.kind is SeriesKind.TRADEOFF]
    return ComparisonPage(
        runs,
        tuple(_forests(runs)),
        tuple(chart for _, chart in charts_of(_unique(trade))),
        changes_of(*two) if two else Grid("changes", "What has changed", (), ()),
        in_short(*two) if two else "",
        _findings(runs),
        _differences(runs),
    )


def _unique(series: list[Series]) -> list[Series]:
    """One series per name: a generator that several runs have is one kind of mark."""
    merged: dict[str, Series] = {}
    for one in series:
        old = merged.get(one.name)
        merged[one.name] = replace(old, x=old.x + one.x, y=old.y + one.y) if old else one
    return list(merged.values())


def _forests(runs: tuple[ComparedRun, ...]) -> list[Chart]:
    """Per criterion the worst finding of every run, under one another; thresholds where all were judged by the same."""
    policies = {run.result.policy for run in runs}
    shared = next(iter(policies)) if len(policies) == 1 else None
    charts = []
    for place, criterion in enumerate(words.CRITERIA):
        rows = []
        for run in runs:
            finding = run.cards[place].finding if run.cards else None
            if finding is not None and (finding.control is None or words.attack_rate(finding) is not None):
                at = finding.estimate
                rows.append(
                    Row(
                        run.name,
                        at.value,
                        at.low,
                        at.high,
                        None,
                        str(finding.severity),
                        words.finding_badge(finding, run.result).shape,
                        finding.control is None,
                    )
                )
        if len(rows) > 1:
            claim = criterion.name == "dp claim"
            charts.append(
                forest_chart(f"forest-{place}", f"{criterion.title}: worst finding of each run", rows,
                             policy=None if claim else shared, x_label="epsilon" if claim else "gain over the control")
            )  # fmt: skip
    return charts


def _findings(runs: tuple[ComparedRun, ...]) -> Grid:
    """Findings by name; a run that does not have one leaves its cell empty."""
    names = dict.fromkeys(finding.name for run in runs for finding in run.result.findings)
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        cells = []
        for run in runs:
            found = next((finding for finding in run.result.findings if finding.name == name), None)
            at = found.estimate if found else None
            cells.append(
                f"{words.finding_badge(found, run.result).shape} {words.interval(at)}"
                if found and at else None
            )  # fmt: skip
        rows.append((name, *cells))
    return Grid("findings", "Every finding", ("finding", *(run.name for run in runs)), tuple(rows))


def _tables(result: Result) -> dict[str, str]:
    """The tables by the digests of their files where those are known: a table that is read otherwise is the same file."""
    files = {f"{item.role} (SHA-256 of the file)": item.sha256[:16] for item in result.files}
    tables = {f"{item.role} (SHA-256)": item.digest[:16] for item in result.inputs}
    return (files or tables) | {f"{item.role}: columns examined": str(item.columns) for item in result.inputs}


def _differences(runs: tuple[ComparedRun, ...]) -> Grid:
    """What was done differently: audits, seeds, tables, plans, policies, versions."""
    facts = [
        {
            "audit": run.result.audit,
            "seed": str(run.result.seed),
            **_tables(run.result),
            **{name: str(value) for name, value in run.result.plan.items()},
            **{f"policy: {name}": str(value) for name, value in asdict(run.result.policy).items()},
            **{f"version of {name}": version for name, version in run.result.versions.items()},
        }
        for run in runs
    ]
    names = dict.fromkeys(name for fact in facts for name in fact)
    rows = [(name, *(fact.get(name) for fact in facts)) for name in names]
    rows = [row for row in rows if len(set(row[1:])) > 1]
    return Grid("differences", "What differs between the runs", ("", *(run.name for run in runs)), tuple(rows))
