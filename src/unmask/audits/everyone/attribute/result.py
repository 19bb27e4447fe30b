"""What the guesses of secrets add to the result: a finding and a line for each secret, and columns for records.csv."""

from __future__ import annotations

import math
from collections.abc import Iterator

from unmask.audits.advice import advice_for
from unmask.audits.everyone.attribute.judge import Outcome
from unmask.audits.everyone.attribute.play import SecretGuesses
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.part import Part
from unmask.results.figures import Figure, figure, in_100, listed_above
from unmask.results.grid import Cell, Grid, Role, Section
from unmask.results.policy import Severity
from unmask.results.result import Exposure, Finding, NotTested
from unmask.simulation.draws import failures_in_words
from unmask.threats.knowledge import FEWEST_RUNS

HEADS = (
    "secret", "right with", "right without", "difference", "low", "high", "listed", "listed, other coins", "same guess",
)  # fmt: skip
THREAT = "Someone who holds one release, knows everything about a person but '{secret}'{drawn}, and wants to know that."
DRAWN = " (drawn anew for everybody in each run)"


def part_of(plan: EveryonePlan, played: list[SecretGuesses], *, outcomes: list[Outcome], foreign: bool) -> Part:
    """Every secret that was judged, and why others were not. A foreign generator cannot be fitted again."""
    return Part(
        findings=tuple(_finding(plan, outcome) for outcome in outcomes),
        grids=(_grid(outcomes),) if outcomes else (),
        notes=tuple(_notes(outcomes, played)),
        not_tested=tuple(_not_tested(plan, played, foreign=foreign)),
        columns=tuple(column for outcome in outcomes for column in _columns(outcome)),
        failed_tasks=sum(len(guesses.failures) for guesses in played),
    )


def _finding(plan: EveryonePlan, outcome: Outcome) -> Finding:
    guesses, gain = outcome.guesses, outcome.gain
    name, listed, asked = guesses.guess.column.name, int(outcome.people.listed.sum()), int(guesses.asked.sum())
    severity = plan.policy.severity(max(0.0, outcome.certain))
    if listed and severity is Severity.NONE:
        severity = Severity.LOW
    about = f"Drawn anew for everybody, '{name}'" if guesses.redrawn else f"Their '{name}'"
    baseline = _same_guess(guesses)
    return Finding(
        name=f"everyone/attribute/{guesses.name}",
        title=(
            f"{about} is guessed right in {in_100(gain.inside.value)} releases made with them, "
            f"{in_100(gain.outside.value)} made without"
        ),
        threat=THREAT.format(secret=name, drawn=DRAWN if guesses.redrawn else ""),
        criterion="attribute",
        severity=severity,
        estimate=figure(gain.difference),
        baseline=Figure(baseline, baseline, baseline, 1.0, "always the same guess", asked),
        control=figure(gain.outside),
        advice=advice_for(severity),
        exposure=Exposure(
            attacked=asked,
            hit=listed,
            above=listed_above(listed, asked, plan.rate),
            undefined="the risk of the most exposed person is not bounded for attributes",
        ),
    )


def _same_guess(guesses: SecretGuesses) -> float:
    """Success of the best guess that is the same for all; of a redrawn secret, what chance gives."""
    guess, column = guesses.guess, guesses.guess.column
    if not guesses.redrawn:
        return guess.most_frequent()
    if not column.is_numeric:
        return 1 / column.listed
    if column.is_integral:
        return min(1.0, (math.floor(2 * guess.tolerance) + 1) / (column.upper - column.lower + 1))
    return min(1.0, 2 * guess.tolerance / (column.upper - column.lower))


def _grid(outcomes: list[Outcome]) -> Grid:
    rows: list[tuple[Cell, ...]] = []
    for outcome in outcomes:
        gain, difference = outcome.gain, outcome.gain.difference
        found = (gain.inside.value, gain.outside.value, difference.value, difference.low, difference.high)
        rows.append((
            outcome.guesses.name, *(round(float(value), 4) for value in found), int(outcome.people.listed.sum()),
            int(outcome.control.listed.sum()), round(_same_guess(outcome.guesses), 4),
        ))  # fmt: skip
    roles = (*[Role.TEXT] * 3, Role.ESTIMATE, Role.LOW, Role.HIGH, *[Role.TEXT] * 3)
    title = "Secrets guessed with the person in the data, and without"
    return Grid("attributes", title, HEADS, tuple(rows), Section.ATTACKS, roles=roles)


def _notes(outcomes: list[Outcome], played: list[SecretGuesses]) -> Iterator[str]:
    if outcomes:
        yield from _on_guesses(outcomes)
    if any(guesses.redrawn for guesses in played):
        yield (
            "Where a secret is drawn anew for everybody, it says nothing about the population: whatever is guessed beyond chance "
            "was learnt about single people."
        )
    if failures := [failure for guesses in played for failure in guesses.failures]:
        yield failures_in_words(failures, "runs with secrets drawn anew")


def _on_guesses(outcomes: list[Outcome]) -> Iterator[str]:
    yield (
        "Secrets are guessed by the synthetic rows that are most alike in all other columns. How often that is right without a "
        "person is what the population teaches; the difference is what their own record adds."
    )
    if any(outcome.guesses.guess.column.is_numeric for outcome in outcomes):
        yield "A number is guessed right within a quarter of its interquartile range."
    listed = sum(int(outcome.control.listed.sum()) for outcome in outcomes)
    yield f"With the coins of other runs, the guesses of secrets list {listed} people."


def _not_tested(plan: EveryonePlan, played: list[SecretGuesses], *, foreign: bool) -> Iterator[NotTested]:
    for guesses in played:
        if not guesses.asked.any():
            yield NotTested(guesses.name, "nobody has a value to be guessed", "name another column with --secret")
        elif (drawn := len(guesses.members)) < FEWEST_RUNS:
            yield NotTested(
                guesses.name, f"only {drawn} runs could be drawn, {FEWEST_RUNS} are needed",
                "the notes name the kinds of error; repeat with --out, and their messages are kept beside the draws",
            )  # fmt: skip
    if foreign:
        yield NotTested(
            "secrets drawn anew", "it fits the generator to changed tables, and its owner runs it",
            "run the generator here: --generator 'command: ...'",
        )  # fmt: skip
    elif not plan.redraw_secrets:
        yield NotTested(
            "secrets drawn anew", "it was not asked for, and costs as many fits again for each secret", "use --redraw-secrets"
        )  # fmt: skip


def _columns(outcome: Outcome) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """What records.csv says about each unit."""
    name, people, asked = outcome.guesses.name, outcome.people, outcome.guesses.asked
    gains = outcome.gain.of_unit
    yield f"{name}: gain", tuple(None if math.isnan(gain) else round(float(gain), 4) for gain in gains)
    yield (
        f"{name}: log10 e-value",
        tuple(
            round(float(log_e) / math.log(10), 4) if known else None
            for log_e, known in zip(people.log_e, asked, strict=True)
        ),
    )
    yield f"{name}: listed", tuple(bool(flag) for flag in people.listed)
