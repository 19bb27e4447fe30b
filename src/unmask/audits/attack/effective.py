"""Effective epsilon of a generator in the game that was played: the attack that a tenth of the releases chose, on the others."""

from __future__ import annotations

import math

import numpy as np

from unmask.audits.advice import advice_for
from unmask.audits.attack.judges import Bench
from unmask.audits.attack.words import epsilon_allowed, threat_in_words
from unmask.audits.part import Part
from unmask.generators.claim import Claim
from unmask.results.figures import Figure
from unmask.results.grid import Cell, Grid, Section
from unmask.results.policy import Severity
from unmask.results.result import Finding
from unmask.stats import Bound, Contender, EffectiveEpsilon, choosing, effective_epsilon
from unmask.stream import stream
from unmask.threats.knowledge import Goal

NAME = "effective epsilon"
COLUMNS = (
    "targets", "attack that won", "chosen on", "judged on", "delta", "epsilon >=", "largest visible", "claim allows",
    "estimate for this attack", "estimate low", "estimate high",
)  # fmt: skip


def effective_part(bench: Bench, claim: Claim | None) -> Part:
    """A line for all targets together and for each group of them, and a finding where the claim is about this game."""
    played = bench.played
    if played.plan.goal != Goal.MEMBERSHIP or not bench.scored:
        return Part()
    every = {"all": np.arange(len(played.targets))}
    groups = {group: played.in_group(group) for group in played.groups} if len(played.groups) > 1 else {}
    allowed = epsilon_allowed(claim, played.setting.game, played.delta)
    rows, findings = [], []
    for group, positions in (every | groups).items():
        if (won := best_of(bench, positions)) is None:
            continue
        name, found = won
        rows.append((group, name, *_cells(found, allowed)))
        if group == "all" and allowed is not None and math.isfinite(allowed):
            findings.append(_claim_finding(bench, name, found.bound, allowed))
    if not rows:
        return Part(notes=("Too few releases to choose an attack on a tenth of them: no effective epsilon.",))
    return Part(
        findings=tuple(findings), grids=(Grid(NAME, "Effective epsilon", COLUMNS, tuple(rows), Section.EPSILON),)
    )


def best_of(bench: Bench, positions: np.ndarray) -> tuple[str, EffectiveEpsilon] | None:
    """The attack that won on one of these targets, and its bound.

    Every attack on every target is a contender of its own, with one score per release: the targets of one release
    share its luck, and must not be counted as independent. So do several releases of one fit, of which the first stands for
    all. The split is the same for all of them.
    """
    played, draws = bench.played, bench.played.test
    active = draws.active[draws.firsts]
    chooses = choosing(active, rng=stream(played.plan.seed, NAME))
    names, contenders = [], []
    for attack in bench.scored:
        for place in positions:
            here = active[:, place]
            scores, members = (of[draws.firsts, place][here] for of in (attack.test, draws.members))
            names.append(attack.name)
            contenders.append(Contender.of(scores, members, chooses[here, place]))
    found = effective_epsilon(contenders, confidence=played.confidence, delta=played.delta, lost=len(draws.failures))
    return None if found is None else (names[found.winner], found)


def _cells(found: EffectiveEpsilon, allowed: float | None) -> tuple[Cell, ...]:
    bound, interval = found.bound, found.interval
    digits = [round(value, 4) for value in (bound.value, bound.largest_visible)]
    estimate = [round(value, 4) for value in (interval.value, *interval.interval)]
    return (found.chosen_on, bound.n, bound.delta, *digits, allowed, *estimate)


def _claim_finding(bench: Bench, name: str, bound: Bound, allowed: float) -> Finding:
    """Refuted or not; never "holds"."""
    refuted = bound.value > allowed
    severity = Severity.HIGH if refuted else Severity.NONE
    verdict = "is refuted" if refuted else "is not refuted"
    at = f" at delta {bound.delta:g}" if bound.delta else ""
    return Finding(
        name="effective-epsilon/claim",
        title=f"The claim, which allows epsilon {allowed:g}{at} in this game, {verdict}: {name} shows epsilon >= "
        f"{bound.value:.2f}",
        threat=threat_in_words(bench.played.setting.game),
        criterion="dp claim",
        severity=severity,
        estimate=Figure(bound.value, bound.value, math.inf, bound.confidence, bound.method, bound.n),
        baseline=Figure(allowed, allowed, allowed, 1.0, "allowed by the claim", 0),
        control=None,
        advice=advice_for(severity),
    )
