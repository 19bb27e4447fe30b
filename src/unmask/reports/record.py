"""What regulators ask for: the tables, the choices, the attackers, and the figures per criterion."""

from __future__ import annotations

import datetime
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.reports import words
from unmask.results.grid import Cell, Grid, GridKind, Section
from unmask.results.policy import Severity
from unmask.results.result import Finding, Input, Result
from unmask.results.state import DOUBT

RELEASE = "synthetic"  # the role of a published table
NO_GENERATOR = "not known to this audit, which was given tables only: name it below"


@dataclass(frozen=True)
class Field:
    """A line of the sheet that a regulator asks for; empty ones are filled in by hand."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """A table that went in, and the file that it came from."""

    role: str
    size: str
    file: str  # its name; empty if the table came from no file
    sha256: str  # of the file, as sha256sum prints it
    digest: str  # of the table, whatever file holds it


def sources_of(result: Result) -> tuple[Source, ...]:
    """Every table with its file, then files that hold no table."""
    files = {item.role: item for item in result.files}
    found = [
        Source(item.role, _size(item), file.name if (file := files.pop(item.role, None)) else "", file.sha256 if file else "",
               item.digest)
        for item in result.inputs
    ]  # fmt: skip
    return (*found, *(Source(file.role, "", file.name, file.sha256, "") for file in files.values()))


def _size(item: Input) -> str:
    people = f", {item.units:,} people" if item.units < item.rows else ""
    return f"{words.plural(item.rows, 'row')}, {words.plural(item.columns, 'column')}{people}"


def date_of(run: Mapping[str, Any]) -> str:
    """When the audit was done, as people write it; empty if that is not known."""
    try:
        done = datetime.datetime.fromisoformat(str(run.get("finished")))
    except ValueError:
        return ""
    return f"{done.day} {done:%B %Y}, {done:%H:%M}{' UTC' if done.utcoffset() == datetime.timedelta(0) else ''}"


def criteria_of(result: Result) -> Grid:
    """Per criterion the worst finding: attack, guessing, control, gain, and what it means for single records."""
    rows: list[tuple[Cell, ...]] = []
    for criterion in words.CRITERIA:
        findings = [one for one in result.findings if words.kind(one) == criterion.name and one.name != DOUBT]
        name = f"{criterion.title} (WP29)" if criterion.legal else criterion.title
        if not findings:
            rows.append((name, "not tested", *[None] * 8))
            continue
        worst, shown = words.worst_of(findings), sum(finding.severity is not Severity.NONE for finding in findings)
        badge = words.finding_badge(worst, result)
        severity = f"{badge.shape} {badge.label} ({shown} of {len(findings)})"
        rows.append((name, *_criterion_cells(worst), *_record_cells(worst, findings), severity))
    heads = (
        "criterion", "worst attack", "succeeds", "by guessing", "control", "gain (interval)", "excess risk",
        "worst record", "records above tolerance", "severity (leaks shown)",
    )  # fmt: skip
    return Grid("per criterion", "Per criterion", heads, tuple(rows))


def _criterion_cells(worst: Finding) -> tuple[Cell, ...]:
    """Attack, success, guessing, control, gain, excess risk; a claim has an epsilon and no shares."""
    estimate = worst.estimate
    if words.kind(worst) == "dp claim":
        return worst.name, None, None, None, f"ε ≥ {words.number(estimate.low)}", None
    guess, control = (one.value if one else None for one in (worst.baseline, worst.control))
    gain = f"{words.number(estimate.value)} ({words.number(estimate.low)} to {words.number(estimate.high)})"
    if control is None:
        return worst.name, _rounded(estimate.value), _rounded(guess), None, None, None
    risk = estimate.value / (1 - control) if control < 1 else None
    return worst.name, *(_rounded(share) for share in (words.attack_rate(worst), guess, control)), gain, _rounded(risk)


def _rounded(share: float | None) -> float | None:
    return None if share is None else float(f"{share:.3f}") if abs(share) >= 0.001 else float(f"{share:.1g}")


def _record_cells(worst: Finding, findings: Sequence[Finding]) -> tuple[Cell, Cell]:
    """Of the worst finding, or of the one that names people, which is then said."""
    if words.kind(worst) == "dp claim":
        return ("not defined for a claim, which is about every record",) * 2
    told = next((finding for finding in (worst, *findings) if finding.exposure is not None), None)
    if told is None or told.exposure is None:
        return ("not measured",) * 2
    risk, many = words.exposed(told.exposure)
    by = "" if told is worst else f" by {told.name}"
    return f"{risk}{by}", f"{many}{by}"


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
    release = [item for item in result.inputs if item.role.split(" ")[0] == RELEASE]
    others = [item for item in result.inputs if item not in release]
    fields = [
        Field("Files (SHA-256)", tuple(f"{file.role}: {file.sha256}  {file.name}" for file in result.files)),
        Field("Release (SHA-256 of its content)", tuple(map(_input_line, release)) or (_no_release(plan),)),
        Field("Other tables (SHA-256)", tuple(map(_input_line, others)) or ("none given",)),
        Field("Generator", (_generator(plan),)),
        Field("CPU of a fit and of a release (medians)", tuple(map(_cost, run_costs(run)))),
        Field("Seed of every random step", (str(result.seed),)),
        Field("Unit of privacy", (_unit(result),)),
        Field("Differential privacy: claim and bound", _claim(result)),
        Field("Subgroups", _subgroups(result)),
        Field("Controls and calibration", _calibration(result)),
        Field("Tolerance", _tolerance(result)),
        Field("Choices (plan)", _choices(plan)),
        Field("Command", (text or "not recorded",)),
        Field("Finished", (str(run.get("finished") or "not recorded"),)),
        Field("Versions", (", ".join(f"{name} {version}" for name, version in result.versions.items()),)),
    ]
    return tuple(field for field in fields if field.values)


def run_costs(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What run.json says of the cost of mechanisms, as far as it can be read."""
    found = run.get("costs")
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _cost(each: Mapping[str, Any]) -> str:
    fit, sample = (
        1000 * float(value) if isinstance(value := each.get(name), int | float) else math.nan
        for name in ("fit", "sample")
    )
    return f"{each.get('name')}: {words.number(fit)} ms and {words.number(sample)} ms"


def _generator(plan: Mapping[str, Any]) -> str:
    if plan.get("generators"):
        return choice(plan["generators"])
    if not plan.get("generator"):
        return NO_GENERATOR
    return ", ".join(map(str, (plan["generator"], *(plan.get("settings") or ()))))


def _no_release(plan: Mapping[str, Any]) -> str:
    return (
        "none given: every release was drawn from the generator"
        if plan.get("generator") or plan.get("generators")
        else "none given"
    )


def _claim(result: Result) -> tuple[str, ...]:
    """The claim, what follows from it, and the bound that was shown."""
    lines = list(result.facts.claims)
    bounds = [finding for finding in result.findings if words.kind(finding) == "dp claim"]
    if result.plan.get("claim"):
        lines.insert(0, f"{'Tested claim' if bounds else 'Claimed'}: {choice(result.plan['claim'])}")
    lines += [f"Shown by {finding.name}: ε ≥ {words.number(finding.estimate.low)}" for finding in bounds]
    if not lines:
        return ("none made or tested",)
    return (*lines, *([] if bounds else ["No bound on ε was tested here; the command for that is unmask epsilon."]))


def _subgroups(result: Result) -> tuple[str, ...]:
    if not result.findings:
        return ()
    if any(grid.kind is GridKind.GROUPS and grid.section is not Section.UTILITY for grid in result.grids):
        return ("see Who is at risk; groups under ten people are left out",)
    if all(words.kind(finding) == "dp claim" for finding in result.findings):
        return ("none: a claim is about every record",)
    if "targets" in result.plan:
        return (f"groups of targets ({choice(result.plan['targets'])}): see Attacks compared",)
    return ("none told: no key with public categories is in the schema, or the audit is not about groups",)


def _calibration(result: Result) -> tuple[str, ...]:
    """The controls by name, and how large a leak would have been seen."""
    if not result.findings:
        return ()
    grids = [grid for grid in result.grids if grid.section is Section.SOUND]
    names = [words.cell_text(row[0]) for grid in grids for row in grid.rows]
    told = f"{'; '.join(names)} (results: Is this audit sound?)" if names else "no control was played"
    return (told, *result.facts.visible)


def _tolerance(result: Result) -> tuple[str, ...]:
    if not any(finding.exposure for finding in result.findings):
        return ()
    return (
        "Records: what the same attack reaches on people who are not in the data. Findings: medium from a gain of "
        f"{words.short(result.policy.medium)}, high from {words.short(result.policy.high)} (lower bounds).",
    )


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
