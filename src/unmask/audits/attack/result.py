"""From the scores of attacks on a generator to findings, tables and records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unmask.audits.advice import advice_for
from unmask.audits.attack.exposure import exposure_of
from unmask.audits.attack.judges import Bench, Outcome, Played, Scored, advantages, membership_guesses, tolerance_of
from unmask.audits.attack.levels import HEADS as RANKING_HEADS
from unmask.audits.attack.levels import levels_grid, ranking_cells, secret_series
from unmask.audits.attack.likelihood import HEADS as LIKELIHOOD_HEADS
from unmask.audits.attack.likelihood import likelihood_cells
from unmask.audits.attack.plan import AttackPlan
from unmask.audits.attack.words import Limit, claim_in_words, limit_for, threat_in_words
from unmask.audits.part import Part
from unmask.audits.score_charts import roc_series, score_histograms
from unmask.generators.claim import Claim
from unmask.results.figures import figure, in_100
from unmask.results.grid import Cell, Grid, Section, Series
from unmask.results.policy import Severity
from unmask.results.result import Exposure, Facts, Finding, Records
from unmask.results.state import LEAK
from unmask.simulation.draws import failures_in_words
from unmask.stats import auc, smallest_visible_leak
from unmask.stats.cases import Cases
from unmask.stats.outcomes import FPR_GRID, MembershipOutcome
from unmask.stream import stream
from unmask.threats.knowledge import Goal


def part_of(bench: Bench, claim: Claim | None, notes: tuple[str, ...]) -> Part:
    """Judge every attack on every group of targets."""
    played, limit = bench.played, limit_for(claim, bench.played.setting.game)
    findings, rows = [], []
    for group, positions in ((group, played.in_group(group)) for group in played.groups):
        raw = bench.raw(positions)
        for attack in bench.scored:
            name = attack.name
            if (outcome := bench.judges[name](positions)) is not None:
                exposure = exposure_of(list(advantages(bench.strict[name], positions)))
                findings.append(_finding(played, name, group, outcome, limit, exposure))
                rows.append((name, group, *_cells(played, attack, outcome, positions, raw)))
    failures = played.test.failures + played.shadow.failures
    leak, claims = _visible_leak(played, bench.tests), claim_in_words(claim, limit)
    visible = (leak.in_words,)
    return Part(
        findings=tuple(findings),
        grids=(*_grids(_heads(played.plan, _numeric(played)), rows), *levels_grid(bench), _controls(bench)),
        series=tuple(_series(bench)),
        notes=(*notes, *_notes(played, claims, failures), *visible),
        facts=Facts(visible=visible, claims=claims, inconclusive=leak.too_large),
        failed_tasks=len(failures),
    )


def _heads(plan: AttackPlan, numeric: bool) -> tuple[str, ...]:
    """What is told about every attack, most important first; the first MAIN stand in the first table."""
    gain = ("advantage", "low", "high", "privacy gain", "advantage on raw data")
    if plan.goal == Goal.MEMBERSHIP:
        rates = tuple(f"TPR at FPR {fpr:g}{end}" for fpr in FPR_GRID for end in ("", " low"))
        more = ("accuracy", "TPR", "TPR low", "FPR", "FPR high", "precision at 1 %", "precision low", "epsilon >=")
        return (*gain, "AUC", "AUC low", "AUC high", *rates, *more)
    return (*gain, "right with", "right without", "density gain", *(LIKELIHOOD_HEADS if numeric else RANKING_HEADS))


MAIN = 8


def _numeric(played: Played) -> bool:
    """Whether the secret is a number."""
    return played.setting.secret is not None and not played.setting.secret.levels


def _cells(
    played: Played, attack: Scored, outcome: Outcome, positions: np.ndarray, raw: Outcome | None
) -> tuple[Cell, ...]:
    found = outcome.advantage
    lost = raw.advantage.value if raw is not None else float("nan")
    start = _rounded(found.value, found.low, found.high, lost - found.value, lost)
    if isinstance(outcome, MembershipOutcome):
        rates = tuple(end for point in outcome.tpr_at for end in (point.tpr.value, point.tpr.low))
        auc = (outcome.auc.value, outcome.auc.low, outcome.auc.high)
        precise = (outcome.precision.value, outcome.precision.low) if outcome.precision else (float("nan"),) * 2
        tpr, fpr = outcome.tpr, outcome.fpr
        more = (outcome.accuracy.value, tpr.value, tpr.low, fpr.value, fpr.high, *precise)
        return (*start, *_rounded(*auc, *rates, *more, outcome.epsilon.value))
    right = _rounded(outcome.with_person.value, outcome.without_person.value, outcome.likelihood_gain)
    further = likelihood_cells if _numeric(played) else ranking_cells
    return (*start, *right, *further(played, attack, positions))


def _grids(heads: tuple[str, ...], rows: list[tuple[Cell, ...]]) -> tuple[Grid, ...]:
    main = Grid(
        "attacks",
        "Attacks",
        ("attack", "targets", *heads[:MAIN]),
        tuple(row[: 2 + MAIN] for row in rows),
        Section.ATTACKS,
    )
    if len(heads) <= MAIN:
        return (main,)
    rest = tuple((*row[:2], *row[2 + MAIN :]) for row in rows)
    return main, Grid(
        "attacks in detail",
        "Attacks in detail",
        ("attack", "targets", *heads[MAIN:]),
        rest,
        Section.ATTACKS,
        detail=True,
    )


def _rounded(*values: float) -> tuple[float, ...]:
    return tuple(round(float(value), 4) for value in values)


def _finding(
    played: Played, name: str, group: str, outcome: Outcome, limit: Limit | None, exposure: Exposure | None
) -> Finding:
    lower = max(0.0, outcome.adjusted_low)
    if isinstance(outcome, MembershipOutcome):
        severity = played.plan.policy.severity(lower, tpr_at_1_percent=outcome.certain_tpr)
        title = (
            f"{name}, {group} targets: their presence is recognised in {in_100(outcome.tpr.value)} releases, "
            f"at {in_100(outcome.fpr.value)} false alarms"
        )
        estimate, control = outcome.advantage, outcome.fpr
    else:
        severity = played.plan.policy.severity(lower)
        title = (
            f"{name}, {group} targets: their secret is guessed right in {in_100(outcome.with_person.value)} releases made "
            f"with them, {in_100(outcome.without_person.value)} made without"
        )
        estimate, control = outcome.advantage, outcome.without_person
    if limit is not None and lower > limit.advantage:
        severity = Severity.HIGH
        title = f"{title}; the claimed differential privacy allows an advantage of at most {limit.advantage:.3f}"
    return Finding(
        name=f"{name}/{group}",
        title=title,
        threat=threat_in_words(played.setting.game),
        criterion=str(played.plan.goal),
        severity=severity,
        estimate=figure(estimate),
        baseline=None,
        control=figure(control),
        advice=advice_for(severity),
        exposure=exposure,
    )


def _series(bench: Bench) -> Iterator[Series]:
    """ROC curves on a logarithmic grid and histograms of scores, pooled over all targets."""
    played = bench.played
    for attack in bench.scored:
        if played.plan.goal != Goal.MEMBERSHIP:
            yield from secret_series(played, attack)
            continue
        scores, _, active = membership_guesses(played, attack)
        members = played.test.members[active]
        if members.all() or not members.any():
            continue
        yield roc_series(attack.name, scores[active][members], scores[active][~members])
        sides = {"target in the data": scores[active][members], "target not in": scores[active][~members]}
        yield from score_histograms(attack.name, sides, "releases")


def _controls(bench: Bench) -> Grid:
    """An attack that must win, and one that must not."""
    played, scored = bench.played, bench.scored
    rows: list[tuple[Cell, ...]] = []
    if (raw := bench.raw(np.arange(len(played.targets)))) is not None:
        found = raw.advantage
        figures = _rounded(found.value, found.low, found.high)
        rows.append(("real table published, record linkage: advantage", *figures, "near 1, unless targets have twins"))
    if played.plan.goal == Goal.MEMBERSHIP and scored:
        scores, _, active = membership_guesses(played, scored[0])
        members = stream(played.plan.seed, "permuted").permutation(played.test.members[active])
        if members.any() and not members.all():
            area = auc(scores[active][members], scores[active][~members], confidence=played.confidence)
            figures = _rounded(area.value, area.low, area.high)
            rows.append(
                (f"permuted membership, {scored[0].name}: AUC", *figures, "should cover 0.5, in 19 of 20 audits")
            )
    return Grid("controls", "Controls", ("control", "value", "low", "high", "meaning"), tuple(rows), Section.SOUND)


def records_of(bench: Bench) -> Records:
    """Every attack on every single target, by row number of the population."""
    played, rows = bench.played, []
    for place, row in enumerate(played.targets.rows):
        here = np.array([place])
        raw = bench.raw(here)
        for attack in bench.scored:
            if (outcome := bench.judges[attack.name](here)) is not None:
                cells = _cells(played, attack, outcome, here, raw)
                rows.append((int(row), played.targets.groups[place], attack.name, *cells))
    return Records(("row", "group", "attack", *_heads(played.plan, _numeric(played))), tuple(rows))


def _notes(played: Played, claims: tuple[str, ...], failures: tuple[str, ...]) -> tuple[str, ...]:
    game = played.setting.game
    notes = [
        f"This is the {game.name} game: "
        + ("this data set is fixed." if game.name == "seeded" else "the result is an average over real tables."),
        f"{len(played.test):,} releases were judged; the attacker had {len(played.shadow):,} of their own.",
        *claims,
    ]
    if (each := played.test.releases) > 1:
        notes.append(
            f"Every fit gave {each:,} releases. Intervals are over fits: {len(played.test) // each:,} were judged."
        )
    if game.reference_overlaps:
        notes.append(
            f"Some of the attacker's {len(played.setting.ground.reference):,} reference people may be in a real table."
        )
    if _numeric(played):
        notes.append(f"A guess counts as right within {tolerance_of(played):g}.")
    if failures:
        notes.append(failures_in_words(failures, "draws"))
    return tuple(notes)


@dataclass(frozen=True)
class VisibleLeak:
    """The smallest leak that every group of targets would have shown in 8 of 10 runs; infinite if there is none."""

    share: float  # of the releases with a target
    together: bool  # whether targets share releases, or releases a fit
    releases: int = 1  # of each fit

    @property
    def in_words(self) -> str:
        """The sentence of the verdict."""
        if not np.isfinite(self.share):
            return "With so few releases not even a leak of everything would have been seen: use more --tests."
        unit = "fit" if self.releases > 1 else "release"
        together = f", all targets of a {unit} at once," if self.together else ""
        return (
            f"An attack without false alarms that recognises {in_100(self.share)} releases with a target{together} would have "
            "been seen in 8 of 10 runs of this size; an attack with false alarms must do better than that."
        )

    @property
    def too_large(self) -> tuple[str, ...]:
        """Why nothing can be concluded; empty if a leak of 10 % would have been seen."""
        if self.share <= LEAK:
            return ()
        least = f", only one of {in_100(self.share)}" if np.isfinite(self.share) else ""
        return (
            f"An attack that recognises 10 in 100 releases with a target would not have been seen{least}: use more --tests.",
        )


def _visible_leak(played: Played, tests: int) -> VisibleLeak:
    """The leak that the smallest group of targets would have shown."""
    adjusted = 1 - (1 - played.confidence) / tests
    leaks, shared = [], False
    for group in played.groups:
        positions = played.in_group(group)
        active = played.test.active[:, positions]
        members = played.test.members[:, positions][active]
        if members.all() or not members.any():
            continue
        cases = Cases.of(played.test.fits[np.nonzero(active)[0]], members.size, played.setting.game.prior)
        shared |= not cases.alone
        leaks.append(
            smallest_visible_leak(int(members.sum()), int((~members).sum()), confidence=adjusted)
            if cases.alone
            else cases.visible_leak(
                members, power=0.8, confidence=adjusted, rng=stream(played.plan.seed, "visible", group)
            )
        )
    return VisibleLeak(max(leaks, default=float("inf")), shared, played.test.releases)
