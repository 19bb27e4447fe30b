"""From the scores of attacks on a generator to findings, tables and records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from unmask.audits.evaluation import (
    FPR_GRID,
    AttributeOutcome,
    MembershipOutcome,
    best_guess,
    best_threshold,
    judge_attribute,
    judge_membership,
    standardised,
)
from unmask.audits.judge import Policy, figure, in_100
from unmask.audits.mechanism_words import Limit, advice_for, limit_for, threat_in_words
from unmask.audits.plan import AttackPlan
from unmask.audits.result import Cell, Finding, Grid, NotTested, Records, Result, Series, Severity, describe_input
from unmask.generators._generator import Generator, claim_for
from unmask.simulation.draw import Setting
from unmask.simulation.pools import Draws
from unmask.simulation.task import stream
from unmask.stats import LOG_GRID, roc_curve, roc_on_grid, smallest_visible_leak
from unmask.tables.table import Table
from unmask.threats.knowledge import Goal
from unmask.threats.targets import Targets


@dataclass(frozen=True, eq=False)
class Played:
    """A game after it was played."""

    plan: AttackPlan
    setting: Setting
    targets: Targets
    shadow: Draws
    test: Draws
    published: Draws  # the same game with the real table published

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of targets in the order in which they were asked for."""
        return tuple(dict.fromkeys(self.targets.groups))

    def in_group(self, group: str) -> np.ndarray:
        """Positions of the targets of a group."""
        return np.array([place for place, name in enumerate(self.targets.groups) if name == group])


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of one attack on the releases under attack, and on shadows if those set its threshold."""

    name: str
    test: np.ndarray
    shadow: np.ndarray | None


MATCH = 1.0  # record linkage scores a literal match with at least this

Outcome = MembershipOutcome | AttributeOutcome
Judge = Callable[[np.ndarray], Outcome | None]  # from a choice of targets to an outcome


def build_result(
    played: Played, scored: list[Scored], not_tested: tuple[NotTested, ...], generator: Generator, population: Table
) -> Result:
    """Judge every attack on every group of targets, and on every target."""
    tests = max(1, len(scored) * len(played.groups))
    judges = {attack.name: _judge(played, attack, tests) for attack in scored}
    raw_judge = _raw_judge(played)
    claim = claim_for(generator.claim, population.schema)
    limit = limit_for(claim, played.setting.game)
    findings, rows = [], []
    for group, positions in ((group, played.in_group(group)) for group in played.groups):
        raw = raw_judge(positions)
        for name, judge in judges.items():
            if (outcome := judge(positions)) is not None:
                findings.append(_finding(played, name, group, outcome, limit))
                rows.append((name, group, *_cells(outcome, raw)))
    failures = played.test.failures + played.shadow.failures
    plan = played.plan
    return Result(
        audit="attack",
        seed=plan.seed,
        plan=plan.to_plain(),
        inputs=(describe_input("population", population),),
        findings=tuple(sorted(findings, key=lambda finding: (-finding.severity.rank, -finding.estimate.low))),
        grids=_grids(plan, rows),
        series=tuple(_series(played, scored)),
        notes=(*_notes(played, claim, limit, population, failures), *_visible(played, tests)),
        not_tested=not_tested,
        failed_tasks=len(failures),
        records=_records(played, judges, raw_judge),
    )


def _judge(played: Played, attack: Scored, tests: int) -> Judge:
    """What this attack achieves on a choice of targets."""
    if played.plan.goal == Goal.MEMBERSHIP:
        return _membership_judge(played, attack, tests)
    right, density = _success(played, attack.test, played.test.secrets, attack.name)

    def attribute(positions: np.ndarray) -> Outcome | None:
        active = played.test.active[:, positions]
        members = played.test.members[:, positions][active]
        values = None if density is None else density[:, positions][active]
        drawn = _release_of(active)
        return judge_attribute(
            right[:, positions][active], members, values, confidence=played.plan.confidence, tests=tests, releases=drawn
        )

    return attribute


def _membership_judge(played: Played, attack: Scored, tests: int) -> Judge:
    scores, thresholds, active = membership_guesses(played, attack)

    def membership(positions: np.ndarray) -> Outcome | None:
        chosen = active[:, positions]
        members = played.test.members[:, positions][chosen]
        # Scores are shifted so that each target's own threshold is at 0.
        shifted = (scores - thresholds[None, :])[:, positions][chosen]
        drawn = _release_of(chosen)
        return judge_membership(shifted, members, 0.0, confidence=played.plan.confidence, tests=tests, releases=drawn)

    return membership


def _release_of(active: np.ndarray) -> np.ndarray:
    """The release behind each judged score."""
    return np.nonzero(active)[0]


def membership_guesses(played: Played, attack: Scored) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores on a common scale, the threshold of each target, and which releases are judged.

    A shadow attack gives probabilities: it guesses "member" above one half. Other attacks learn a threshold per target on
    shadow releases or, where the attacker has none, on the first half of the releases, which is then not judged.
    """
    test, active = attack.test, played.test.active
    if attack.shadow is None and _is_probability(attack, played):
        return test, np.full(test.shape[1], 0.5), active
    if attack.shadow is not None and len(played.shadow):
        source, members, known = attack.shadow, played.shadow.members, played.shadow.active
        judged = active
    else:
        early = np.cumsum(active, axis=0) <= active.sum(axis=0) // 2  # of each target's own releases
        source, members, known = test, played.test.members, active & early
        judged = active & ~early
    scores = standardised(test, source, members | ~known)
    source = standardised(source, source, members | ~known)
    thresholds = np.array(
        [best_threshold(source[known[:, t], t], members[known[:, t], t]) for t in range(test.shape[1])]
    )
    return scores, thresholds, judged


def _is_probability(attack: Scored, played: Played) -> bool:
    return attack.name not in (played.setting.attacks or {})


def _success(played: Played, scores: np.ndarray, truth: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Whether each guess of a secret is right, and for numbers the density given to the truth."""
    secret = played.setting.secret
    if secret is not None and secret.levels:
        return best_guess(scores, stream(played.plan.seed, "ties", name)) == truth, None
    mean, scale = (scores[..., 0], scores[..., 1]) if scores.ndim == 3 else (scores, np.full(scores.shape, np.nan))
    error = np.abs(mean - truth)
    density = np.exp(-0.5 * (error / scale) ** 2) / (scale * np.sqrt(2 * np.pi)) if scores.ndim == 3 else None
    return error <= tolerance_of(played), density


def tolerance_of(played: Played) -> float:
    """How near a guess of a number must be: as asked for, else a quarter of the reference's interquartile range."""
    if played.plan.tolerance is not None:
        return played.plan.tolerance
    secret = played.setting.secret
    reference = played.setting.ground.reference
    place = reference.schema.numeric.index(secret.position) if secret is not None else 0
    low, high = np.nanpercentile(reference.numbers[:, place], [25, 75])
    return float((high - low) / 4) or 1.0


def _raw_judge(played: Played) -> Judge:
    """Record linkage on the published real table: what there is to lose. Its own half of the draws sets no threshold:
    a match is a match (score of at least 1)."""
    (scores,) = played.published.scores.values()
    drawn, confidence = played.published, played.plan.confidence

    def membership(positions: np.ndarray) -> Outcome | None:
        active = drawn.active[:, positions]
        members = drawn.members[:, positions][active]
        return judge_membership(scores[:, positions][active], members, MATCH, confidence=confidence, tests=1)

    if played.plan.goal == Goal.MEMBERSHIP:
        return membership
    right, _ = _success(played, scores, drawn.secrets, "raw")

    def attribute(positions: np.ndarray) -> Outcome | None:
        active = drawn.active[:, positions]
        members = drawn.members[:, positions][active]
        return judge_attribute(right[:, positions][active], members, None, confidence=confidence, tests=1)

    return attribute


def _heads(plan: AttackPlan) -> tuple[str, ...]:
    """What is told about every attack, most important first; the first MAIN stand in the first table."""
    gain = ("advantage", "low", "high", "privacy gain", "advantage on raw data")
    if plan.goal == Goal.MEMBERSHIP:
        rates = tuple(f"TPR at FPR {fpr:g}" for fpr in FPR_GRID)
        return (*gain, "AUC", "AUC low", "AUC high", *rates, "accuracy", "TPR", "FPR", "precision at 1 %", "epsilon >=")
    return (*gain, "right with", "right without", "density gain")


MAIN = 8


def _cells(outcome: Outcome, raw: Outcome | None) -> tuple[Cell, ...]:
    found = outcome.advantage
    lost = raw.advantage.value if raw is not None else float("nan")
    start = _rounded(found.value, found.low, found.high, lost - found.value, lost)
    if isinstance(outcome, MembershipOutcome):
        rates = tuple(point.tpr.value for point in outcome.tpr_at)
        auc = (outcome.auc.value, outcome.auc.low, outcome.auc.high)
        precise = outcome.precision.value if outcome.precision else float("nan")
        more = (outcome.accuracy.value, outcome.tpr.value, outcome.fpr.value, precise)
        return (*start, *_rounded(*auc, *rates, *more, outcome.epsilon.value))
    return (*start, *_rounded(outcome.with_person.value, outcome.without_person.value, outcome.likelihood_gain))


def _grids(plan: AttackPlan, rows: list[tuple[Cell, ...]]) -> tuple[Grid, ...]:
    heads = _heads(plan)
    main = Grid("attacks", "Attacks", ("attack", "targets", *heads[:MAIN]), tuple(row[: 2 + MAIN] for row in rows))
    if len(heads) <= MAIN:
        return (main,)
    rest = tuple((*row[:2], *row[2 + MAIN :]) for row in rows)
    return main, Grid("attacks in detail", "Attacks in detail", ("attack", "targets", *heads[MAIN:]), rest, detail=True)


def _rounded(*values: float) -> tuple[float, ...]:
    return tuple(round(float(value), 4) for value in values)


def _finding(played: Played, name: str, group: str, outcome: Outcome, limit: Limit | None) -> Finding:
    lower = max(0.0, outcome.adjusted_low)
    if isinstance(outcome, MembershipOutcome):
        severity = Policy().severity(lower, tpr_at_1_percent=outcome.certain_tpr)
        title = (
            f"{name}, {group} targets: their presence is recognised in {in_100(outcome.tpr.value)} releases, "
            f"at {in_100(outcome.fpr.value)} false alarms"
        )
        estimate, control = outcome.advantage, outcome.fpr
    else:
        severity = Policy().severity(lower)
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
    )


def _series(played: Played, scored: list[Scored]) -> Iterator[Series]:
    """ROC curves on a logarithmic grid, pooled over all targets."""
    if played.plan.goal != Goal.MEMBERSHIP:
        return
    for attack in scored:
        scores, _, active = membership_guesses(played, attack)
        members = played.test.members[active]
        if members.all() or not members.any():
            continue
        curve = roc_curve(scores[active][members], scores[active][~members])
        rates = roc_on_grid(curve)
        yield Series(
            f"roc/{attack.name}", f"ROC of {attack.name}", "false positive rate", "true positive rate",
            tuple(float(fpr) for fpr in LOG_GRID), tuple(round(float(rate), 6) for rate in rates),
        )  # fmt: skip


def _records(played: Played, judges: dict[str, Judge], raw_judge: Judge) -> Records:
    """Every attack on every single target, by row number of the population."""
    rows = []
    for place, row in enumerate(played.targets.rows):
        raw = raw_judge(np.array([place]))
        for name, judge in judges.items():
            if (outcome := judge(np.array([place]))) is not None:
                rows.append((int(row), played.targets.groups[place], name, *_cells(outcome, raw)))
    return Records(("row", "group", "attack", *_heads(played.plan)), tuple(rows))


def _notes(
    played: Played, claim: object, limit: Limit | None, population: Table, failures: tuple[str, ...]
) -> tuple[str, ...]:
    game = played.setting.game
    notes = [
        *population.notes,
        f"This is the {game.name} game: "
        + ("this data set is fixed." if game.name == "seeded" else "the result is an average over real tables."),
        f"{len(played.test):,} releases were judged; the attacker had {len(played.shadow):,} of their own.",
    ]
    if claim is not None:
        notes.append(f"The generator claims: {claim}.")
        if limit is not None:
            notes.append(
                f"Under this claim no attack in this game can have an advantage above {limit.advantage:.4f} "
                f"or an AUC above {limit.auc:.4f}."
            )
        elif not getattr(claim, "void", ""):
            notes.append("The claim is about other neighbours than this game plays with, so no limit follows from it.")
    if played.plan.goal == Goal.ATTRIBUTE and played.setting.secret is not None and not played.setting.secret.levels:
        notes.append(f"A guess counts as right within {tolerance_of(played):g}.")
    if failures:
        kinds = ", ".join(sorted({failure.partition(":")[0] for failure in failures}))
        notes.append(
            f"{len(failures)} draws failed and are not part of any number ({kinds}; the messages are in draws/)."
        )
    return tuple(notes)


def _visible(played: Played, tests: int) -> tuple[str, ...]:
    """The smallest leak that the smallest group of targets would have shown."""
    adjusted = 1 - (1 - played.plan.confidence) / tests
    leaks = []
    for group in played.groups:
        positions = played.in_group(group)
        members = played.test.members[:, positions][played.test.active[:, positions]]
        if members.any() and not members.all():
            leaks.append(smallest_visible_leak(int(members.sum()), int((~members).sum()), confidence=adjusted))
    if not leaks or not np.isfinite(max(leaks)):
        return ("With so few releases not even a leak of everything would have been seen: use more --tests.",)
    return (
        f"An attack without false alarms that recognises {in_100(max(leaks))} releases with a target would have been seen "
        "in 8 of 10 runs of this size; an attack with false alarms must do better than that.",
    )
