"""From a wager that was played to a verdict: refuted or not, by what, how sharply, and is the audit sound?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.attacks.claim._attack import ClaimAttack
from unmask.attacks.claim.learnt import BestStatistic
from unmask.attacks.claim.wager import Wager
from unmask.audits.epsilon.attacks import bits_attacks, has_fractions
from unmask.audits.epsilon.fixed import Fixed, fixed_bounds
from unmask.audits.epsilon.plan import EpsilonPlan
from unmask.audits.epsilon.power import power_curve, smallest_seen, too_few_runs
from unmask.audits.epsilon.support import Support, support_in_words, support_of
from unmask.audits.part import Part
from unmask.generators._generator import Measurement, claim_for
from unmask.results.figures import Figure
from unmask.results.grid import Cell, Grid, Section, Series, SeriesKind
from unmask.results.policy import Severity
from unmask.results.result import Facts, Finding, NotTested
from unmask.simulation.pair import PairSetting
from unmask.stats import Bound, Refusal
from unmask.stream import stream
from unmask.tables.table import Table

POWER = 0.8
POINTS = 200  # of a series
NEAR = (
    0.7  # share of the largest visible bound that a copycat reaches: coins do not come in turn, and attacks learn first
)


@dataclass(frozen=True)
class Control:
    """What the same attacks show on a generator whose answer is known."""

    name: str
    bound: Bound
    refuted: bool

    @property
    def behaves(self) -> bool:
        """Nothing may show of the oblivious one; of the copycat what so many runs can show, be it less than the claim."""
        if self.name == "oblivious":
            return not self.refuted
        return self.refuted or self.bound.value >= NEAR * self.bound.largest_visible


@dataclass(frozen=True, eq=False)
class PlayedClaim:
    """An audit after all runs."""

    plan: EpsilonPlan
    settings: Sequence[PairSetting]
    pilots: Sequence[tuple[Measurement, ...]]
    wager: Wager
    controls: Sequence[Control]
    planned: int | None  # the number of runs that was fixed beforehand; None if the audit carries an earlier one on
    real: Table | None

    @property
    def stopped_early(self) -> bool:
        return self.wager.refuted and self.plan.stop_early

    @property
    def out_of_time(self) -> bool:
        """Whether the time was used up before the claim fell or the runs were played."""
        return self.planned is not None and self.wager.runs < self.planned and not self.stopped_early

    @property
    def ceiling(self) -> float | None:
        """The most that the declared noise of the first pair can show."""
        if not self.pilots[0]:
            return None
        return self.settings[0].likelihood.ceiling(self.pilots[0], self.plan.tested.delta)


def part_of(played: PlayedClaim) -> Part:
    """The verdict, with everything that a reader needs to weigh it."""
    wager, plan = played.wager, played.plan
    bound = wager.bound()
    fixed = _fixed(played)
    support = support_of(wager.sides[0].history(), plan.tested) if wager.sides[0].coins else []
    bits = _bits(played)
    visible, void = () if wager.refuted else (_power_note(played),), _void(played)
    unseen = () if wager.refuted else (*too_few_runs(wager), *_not_found(played.controls))
    findings = [_finding(played, bound)]
    if bits is not None and bits.refuted:
        findings.append(_bits_finding(bits))
    return Part(
        findings=tuple(findings),
        grids=(
            _verdict_grid(played, bound, fixed),
            _attack_grid(played),
            _control_grid(played.controls),
            _support_grid(support),
        ),
        series=_series(played),
        notes=tuple(_notes(played, bound, (*visible, *void), support, bits)),
        facts=Facts(visible=visible, claims=void, inconclusive=unseen),
        not_tested=tuple(_not_tested(played, fixed)),
        failed_tasks=len(wager.failed),
    )


def verdict(played: PlayedClaim, bound: Bound) -> str:
    """One sentence: what became of the claim, after how many runs, and what leaked."""
    wager, claim = played.wager, played.plan.tested
    if wager.refuted:
        leader = wager.leader()
        return (
            f"The claim {claim} is refuted after {wager.runs:,} runs: {bound}. "
            f"What leaked: {leader.words}{_detail(leader)} (attack '{leader.name}')."
        )
    return f"The claim {claim} is not refuted in {wager.runs:,} runs: {bound}. This is no proof that it holds."


def headline(played: PlayedClaim, bound: Bound) -> str:
    """The verdict in a line."""
    wager, epsilon = played.wager, played.plan.tested.epsilon
    shown = f"epsilon >= {bound.value:.3g} ({100 * bound.confidence:g} %)"
    if not wager.refuted:
        return f"Claim epsilon {epsilon:g} not refuted in {wager.runs:,} runs: {shown}."
    return f"Claim epsilon {epsilon:g} refuted after {wager.runs:,} runs: {shown}. What leaked: {wager.leader().words}."


def _detail(attack: ClaimAttack) -> str:
    return f", '{attack.chosen}'" if isinstance(attack, BestStatistic) and attack.chosen else ""


def _finding(played: PlayedClaim, bound: Bound) -> Finding:
    refuted = played.wager.refuted
    oblivious = next((control for control in played.controls if control.name == "oblivious"), None)
    return Finding(
        name="epsilon",
        title=headline(played, bound),
        threat=_threat(played),
        criterion="dp claim",
        severity=Severity.HIGH if refuted else Severity.NONE,
        estimate=_figure(bound),
        baseline=None,
        control=None if oblivious is None else _figure(oblivious.bound),
        advice=(
            "Do not publish under this claim. The attack that won says where to look: noise scale, composition, domain, seed."
            if refuted
            else "Play more runs, other pairs (--pairs repeat, narrow, canary), or white-box access for a sharper answer."
        ),
    )


def _bits_finding(bits: Wager) -> Finding:
    bound = bits.bound()
    return Finding(
        name="last-bits",
        title=f"The last bits of floating-point noise refute the claim after {bits.runs:,} runs: {bound}. "
        "An attacker who sees all digits of a measurement can tell the tables apart (Mironov 2012).",
        threat="Someone who sees the measurements with all their digits.",
        criterion="dp claim",
        severity=Severity.HIGH,
        estimate=_figure(bound),
        baseline=None,
        control=None,
        advice="Add discrete noise to whole counts, or round what is released to a grid coarser than the noise.",
    )


def _threat(played: PlayedClaim) -> str:
    names = "; ".join(setting.pair.name for setting in played.settings)
    sight = "the release and the fitted model" if played.plan.access == "white-box" else "the release only"
    return (
        f"Someone who knows everybody else in the table and sees {sight}, and wants to know whether one row is in. "
        f"Tables: {names}."
    )


def _figure(bound: Bound) -> Figure:
    return Figure(float(bound.value), float(bound.value), math.inf, bound.confidence, bound.method, bound.n)


def _fixed(played: PlayedClaim) -> list[Fixed]:
    """Bounds at the planned number of runs; none after an early stop, a carried-on audit, or several pairs."""
    if played.stopped_early or played.out_of_time or played.planned is None or len(played.settings) > 1:
        return []
    plan = played.plan
    gaussian = bool(played.pilots[0]) and all(m.noise == "gaussian" for m in played.pilots[0])
    return fixed_bounds(
        played.wager.sides[0].history(),
        plan.tested,
        white_box=plan.access == "white-box",
        confidence=plan.confidence,
        gaussian=gaussian,
        rng=stream(plan.seed, "fixed"),
    )


def _bits(played: PlayedClaim) -> Wager | None:
    """The attack on last bits, played on the same runs in the same order; None if all noise is whole."""
    side = played.wager.sides[0]
    if not has_fractions(side):
        return None
    wager = Wager.start(played.plan.tested, [bits_attacks(played.plan.tested)], confidence=played.plan.confidence)
    for seen, coin, prints in zip(side.seen, side.coins, side.prints, strict=True):
        wager.observe(0, coin, seen, prints)
        if wager.refuted:
            break
    return wager


def _verdict_grid(played: PlayedClaim, bound: Bound, fixed: list[Fixed]) -> Grid:
    wager, plan = played.wager, played.plan
    rows: list[tuple[Cell, ...]] = [
        ("claim", str(plan.tested)),
        ("verdict", "refuted" if wager.refuted else "not refuted"),
        ("runs", f"{wager.runs:,}" + (" (stopped early)" if played.stopped_early else "")),
        ("anytime bound", str(bound)),
    ]
    rows += [
        (f"bound at {wager.runs:,} runs", f"{item.bound} [{item.attack}]")
        for item in fixed
        if isinstance(item.bound, Bound)
    ]
    rows += slack_rows(played, bound, fixed)
    if played.stopped_early:
        rows.append(("other bounds", "none: after an early stop only the anytime bound is valid"))
    return Grid("verdict", "The claim", ("what", "value"), tuple(rows), Section.EPSILON)


def slack_rows(played: PlayedClaim, bound: Bound, fixed: list[Fixed]) -> list[tuple[Cell, ...]]:
    """What lies between the claim and the bound: accounting (noise that the claim does not need), and attack and statistics."""
    ceiling = played.ceiling
    if ceiling is None or not math.isfinite(ceiling) or played.wager.refuted:
        return []  # what is declared says nothing about a claim that fell
    epsilon = played.plan.tested.epsilon
    best = max([bound.value, *(item.bound.value for item in fixed if isinstance(item.bound, Bound))])
    kind = "Gaussian" if any(m.noise == "gaussian" for m in played.pilots[0]) else "Laplace"
    return [
        ("ceiling", f"the declared {kind} noise on this pair gives at most epsilon {ceiling:.3g}"),
        (
            "accounting slack",
            f"{epsilon - ceiling:.3g} of the claim is not spent on these measurements or lost in conversion",
        ),
        ("attack slack", f"{ceiling - best:.3g} between the ceiling and the best bound: attack and number of runs"),
    ]


def _attack_grid(played: PlayedClaim) -> Grid:
    wager = played.wager
    wealth = wager.betting.log_wealth[:, wager.column] - math.log(len(wager.names))
    every = [(number, attack) for number, side in enumerate(wager.sides) for attack in side.attacks]
    order = sorted(range(len(every)), key=lambda place: (-float(wealth[place]), place))
    several = len(wager.sides) > 1
    rows = tuple(
        (
            every[place][1].name + (f", pair {every[place][0] + 1}" if several else ""),
            every[place][1].words + _detail(every[place][1]),
            round(float(wealth[place]) / math.log(10), 3),
        )
        for place in order
    )
    return Grid("attacks", "Attacks: share of the wealth against the claim (log10; 1.3 in all refutes)",
                ("attack", "what it reads", "log10 wealth"), rows, Section.ATTACKS)  # fmt: skip


def _control_grid(controls: Sequence[Control]) -> Grid:
    words = {
        "oblivious": "sees nothing: the bound must be 0",
        "copycat": "copies all rows: the bound must near the largest visible",
    }
    rows = tuple(
        (
            c.name,
            words[c.name],
            f"{c.bound.value:.3g}",
            f"{c.bound.largest_visible:.3g}",
            "refuted" if c.refuted else "not refuted",
        )
        for c in controls
    )
    return Grid("controls", "Is this audit sound? The same attacks on two generators whose answer is known",
                ("control", "what it does", "bound", "largest visible", "claim"), rows, Section.SOUND)  # fmt: skip


def _support_grid(support: list[Support]) -> Grid:
    rows = tuple((s.what, s.with_target, s.without, s.changes) for s in support)
    return Grid("support", "Does what can occur change with the target?",
                ("what", "with the target", "without", "changes"), rows, Section.EPSILON, detail=True)  # fmt: skip


def _series(played: PlayedClaim) -> tuple[Series, ...]:
    trail = played.wager.trail
    if not trail:
        return ()
    places = np.unique(np.linspace(0, len(trail) - 1, POINTS).astype(int))
    return (
        Series(
            "wealth", "Wealth against the claim; 1.3 refutes it at 95 %", "runs", "log10 wealth",
            tuple(float(place + 1) for place in places), tuple(trail[place] / math.log(10) for place in places),
            SeriesKind.WEALTH, Section.EPSILON,
        ),
    )  # fmt: skip


def _void(played: PlayedClaim) -> tuple[str, ...]:
    """That the claim means nothing on the real table, if so."""
    declared = claim_for(played.plan.tested, played.real.schema) if played.real is not None else None
    if declared is None or not declared.void:
        return ()
    return (f"On the real table the claim is void: {declared.void}.",)


def _notes(
    played: PlayedClaim, bound: Bound, facts: tuple[str, ...], support: list[Support], bits: Wager | None
) -> list[str]:
    wager = played.wager
    notes = [verdict(played, bound), support_in_words(support), *facts]
    if bits is not None:
        state = "refute the claim on their own" if bits.refuted else "do not refute the claim"
        notes.append(
            f"Last bits: the measurements are not whole; their last bits {state} (attack reported separately)."
        )
    if len(played.settings) > 1 and not wager.refuted:
        notes.append(
            "Several pairs take turns, so bounds at a fixed number of runs are not given; name one pair for them."
        )
    notes += _control_notes(played.controls)
    if wager.failed:
        sides = [sum(coin is side for coin, _ in wager.failed) for side in (True, False)]
        notes.append(
            f"{len(wager.failed)} runs failed ({sides[0]} with the target, {sides[1]} without) and count as abstained. "
            f"The first was a {wager.failed[0][1].partition(':')[0]}; the messages are in draws/."
        )
    return notes


def _control_notes(controls: Sequence[Control]) -> list[str]:
    bad = [c.name for c in controls if not c.behaves]
    if not bad:
        return []
    return [f"A control did not behave ({', '.join(bad)}): do not trust this audit before you know why (see controls)."]


def _not_found(controls: Sequence[Control]) -> tuple[str, ...]:
    """That the attacks missed a leak of everything, if so."""
    if all(control.behaves for control in controls if control.name == "copycat"):
        return ()
    return ("The same attacks missed a generator that copies all rows: see the controls.",)


def _power_note(played: PlayedClaim) -> str:
    plan, wager = played.plan, played.wager
    curve = power_curve(
        plan.tested.epsilon, delta=plan.tested.delta, runs=wager.runs, share=1 / len(wager.names), confidence=plan.confidence,
        rng=stream(plan.seed, "power"),
    )  # fmt: skip
    seen = smallest_seen(curve, POWER)
    if math.isinf(seen):
        return f"Power: {wager.runs:,} runs are too few to refute this claim with probability {POWER:.0%}, whatever the truth."
    return (
        f"Power: a mechanism with a true epsilon of {seen:.3g} or more would have been refuted with probability {POWER:.0%} in "
        f"{wager.runs:,} runs, if an attack reads it as well as it can be read (randomised response)."
    )


def _not_tested(played: PlayedClaim, fixed: list[Fixed]) -> list[NotTested]:
    found = [
        NotTested(item.bound.method, item.bound.reason, "see the reason")
        for item in fixed
        if isinstance(item.bound, Refusal)
    ]
    if played.out_of_time:
        found.append(
            NotTested(
                "bounds at a fixed number of runs",
                f"the time budget was used up after {played.wager.runs:,} of {played.planned:,} runs; the anytime bound holds",
                "raise --time-budget, or leave it out",
            )
        )
        if not played.controls:
            found.append(NotTested("controls", "the time budget was used up", "raise --time-budget, or leave it out"))
    if played.plan.access == "black-box":
        found.append(
            NotTested("likelihood ratio", "the fitted model is not seen (black-box)", "use --access white-box")
        )
    elif not played.pilots[0] and not getattr(played.settings[0].generator, "shows_evidence", False):
        found.append(
            NotTested("likelihood ratio", "the generator shows no measurements", "give its model `measurements`")
        )
    return found
