"""What regulators ask for: the tables, the choices, the attackers, and the figures per criterion."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.audits.result import Cell, Finding, Grid, Input, Result, Severity
from unmask.reports import words


@dataclass(frozen=True)
class Field:
    """A line of the sheet that a regulator asks for; empty ones are filled in by hand."""

    name: str
    values: tuple[str, ...]


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


def adversaries_of(findings: Sequence[Finding]) -> Grid:
    """Every attacker once, with the criteria and the number of comparisons."""
    together: dict[str, list[Finding]] = {}
    for finding in findings:
        together.setdefault(finding.threat, []).append(finding)
    rows = tuple(
        (threat, ", ".join(dict.fromkeys(words.kind(finding) for finding in members)), len(members))
        for threat, members in together.items()
    )
    return Grid("adversaries", "Attackers", ("who, knows what, wants what", "criterion", "comparisons"), rows)


def fields_of(result: Result, run: Mapping[str, Any]) -> tuple[Field, ...]:
    """What regulators ask for, as far as it is known."""
    plan = result.plan
    command = run.get("command")
    text = shlex.join(map(str, command)) if isinstance(command, list) else str(command or "")
    claims = [note for note in result.notes if note.startswith("The generator claims")]
    if plan.get("claim") is not None:
        claims.append(f"Tested claim: {choice(plan['claim'])}")
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


def _input_line(item: Input) -> str:
    return f"{item.role}: {item.digest} ({item.rows:,} rows, {item.columns} columns, domains {item.schema})"


def _unit(result: Result) -> str:
    persons = any(item.units < item.rows for item in result.inputs)
    return "a person: all rows with one person id" if persons else "a row: every row is taken as one person"


def _choices(plan: Mapping[str, Any]) -> tuple[str, ...]:
    made = "; ".join(f"{name} {choice(value)}" for name, value in plan.items() if value not in (None, [], ()))
    return (made,) if made else ()


def choice(value: Any) -> str:
    """A value of a plan as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(choice, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {choice(item)}" for name, item in value.items() if item not in (None, ""))
    return f"{value:g}" if isinstance(value, float) and math.isfinite(value) else str(value)
