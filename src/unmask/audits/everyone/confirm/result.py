"""What the exact game adds to the result: both games side by side, a finding, and columns for records.csv."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unmask.audits.advice import advice_for
from unmask.audits.everyone.confirm.wager import PersonWager
from unmask.audits.everyone.people import People
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.part import Part
from unmask.results.figures import Figure
from unmask.results.grid import Cell, Grid, Section
from unmask.results.policy import Severity
from unmask.results.result import Finding, NotTested
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.draws import failures_in_words
from unmask.threats.knowledge import Box

NAME = "everyone/confirm"
METHOD = "bets on new coins, all {} people at once"
THREAT = (
    "An attacker who has the records of everybody else and of this person, can fit the same generator many times, {model}, and "
    "asks: was this person in?"
)


@dataclass(frozen=True, eq=False)
class Confirmed:
    """The games of the most exposed people, in the order of their rank."""

    units: tuple[int, ...]
    wagers: tuple[PersonWager, ...]
    control: tuple[PersonWager, ...]  # the same releases, with coins that have nothing to do with them, several times


def part_of(plan: EveryonePlan, pool: CoinPool, people: People, played: Confirmed) -> Part:
    """Both games side by side."""
    failed = [message for wager in played.wagers for _, message in wager.wager.failed]
    bounds = [wager.epsilon() for wager in played.wagers]
    blank: list[Cell] = [None] * pool.setting.game.units
    confirmed, full = blank.copy(), blank.copy()
    for unit, wager, bound in zip(played.units, played.wagers, bounds, strict=True):
        confirmed[unit], full[unit] = wager.confirmed, float(f"{bound:.4g}")
    return Part(
        findings=(_finding(plan, played),),
        grids=(_grid(people, played, bounds),),
        notes=tuple(_notes(plan, pool, people, played, failed)),
        not_tested=tuple(_not_tested(played)),
        columns=(("confirmed", tuple(confirmed)), ("epsilon >= at full size", tuple(full))),
        failed_tasks=len(failed),
    )


def _grid(people: People, played: Confirmed, bounds: Sequence[float]) -> Grid:
    heads = (
        "who", "epsilon >= in the coin game", "epsilon >= at full size", "largest visible", "runs", "decided after", "verdict",
    )  # fmt: skip
    cells: list[tuple[Cell, ...]] = []
    for place, (unit, wager, bound) in enumerate(zip(played.units, played.wagers, bounds, strict=True)):
        half = float(people.epsilon[unit])
        verdict = "confirmed" if wager.confirmed else f"not decided in {wager.runs} runs"
        cells.append(
            (
                ordinal(place + 1),
                None if math.isnan(half) else round(half, 3),
                round(bound, 3),
                round(wager.largest_visible(), 3),
                wager.runs,
                wager.confirmed_after,
                verdict,
            )
        )
    return Grid("confirm", "The most exposed, in both games", heads, tuple(cells), Section.RISK)


def _finding(plan: EveryonePlan, played: Confirmed) -> Finding:
    """Severity from the advantage that was shown. With 1/N of the error for each, the largest may speak for all."""
    asked, found = len(played.wagers), sum(wager.confirmed for wager in played.wagers)
    gain = max((wager.advantage() for wager in played.wagers if wager.confirmed), default=0.0)
    severity = plan.policy.severity(gain)
    if found and severity is Severity.NONE:
        severity = Severity.LOW
    method = METHOD.format(asked)
    shown = Figure(gain, gain, 1.0, plan.confidence, method, sum(wager.runs for wager in played.wagers))
    title = (
        f"At full size the releases give away {found} of the {asked} most exposed people"
        if found
        else f"At full size none of the {asked} most exposed people could be shown to be given away"
    )
    sees = "sees the fitted model" if plan.access == Box.WHITE else "sees one synthetic table of each fit"
    control = float(np.mean([wager.confirmed for wager in played.control]))
    return Finding(
        name=NAME,
        title=title,
        threat=THREAT.format(model=sees),
        criterion="membership",
        severity=severity,
        estimate=shown,
        baseline=None,
        control=Figure(control, 0.0, 1.0, plan.confidence, "coins tossed again", len(played.control)),
        advice=advice_for(severity),
    )


def _notes(
    plan: EveryonePlan, pool: CoinPool, people: People, played: Confirmed, failed: Sequence[str]
) -> Iterator[str]:
    asked, found = len(played.wagers), sum(wager.confirmed for wager in played.wagers)
    paired = pool.setting.game.partners is not None
    other = "that with a copy of the partner in the person's place" if paired else "that without the person"
    yield (
        f"The exact game at full size: for each of the {asked} most exposed people the generator was fitted to the whole table "
        f"or to {other}, as a fair coin fell, until decided and then as many runs again, at most {plan.confirm_runs:,}. "
        f"{found} of {asked} are confirmed; the chance that anybody is wrongly so is at most {1 - plan.confidence:.2g}."
    )
    listed = [unit for unit in played.units if people.listed[unit]]
    kept = sum(wager.confirmed for unit, wager in zip(played.units, played.wagers, strict=True) if people.listed[unit])
    if listed:
        yield (
            f"Training on half of the people overstates what single records do at full size: of the {len(listed)} of them who "
            f"are on the list of the coin game, {kept} are confirmed at full size. Who is not confirmed may leak less than these "
            "runs can show. Bounds grow with the runs and are no estimates: compare them with the largest visible."
        )
    elif not found:
        yield "Nobody of them was on the list of the coin game, and nobody is confirmed at full size."
    again = sum(wager.confirmed for wager in played.control)
    yield (
        f"With coins tossed again {len(played.control) // asked} times, which say nothing about these releases, {again} of "
        f"{len(played.control)} games confirm somebody. By chance a share of {(1 - plan.confidence) / asked:.2g} may."
    )
    if failed:
        yield failures_in_words(failed, "runs of the exact game")


def _not_tested(played: Confirmed) -> Iterator[NotTested]:
    lost = sum(wager.runs > 0 and len(wager.wager.failed) == wager.runs for wager in played.wagers)
    if lost:
        yield NotTested(
            f"{lost} of the most exposed at full size", "every run of the exact game failed",
            "see the notes for the kind of error; the generator must take the whole table",
        )  # fmt: skip


def ordinal(place: int) -> str:
    """1st, 2nd, 3rd, 4th, ... 11th, ... 21st."""
    ending = "th" if 10 <= place % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"
