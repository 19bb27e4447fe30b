"""From judged people to findings and notes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unmask.audits.advice import advice_for
from unmask.audits.everyone.audited import Audited
from unmask.audits.everyone.claim import claim_finding
from unmask.audits.everyone.marks import group_columns, groups_grid, marks_grid
from unmask.audits.everyone.pooled import Pooled
from unmask.audits.everyone.power import power_in_words, too_few_runs
from unmask.audits.everyone.tables import attacks_grid, controls_grid, people_grid, series_of
from unmask.audits.part import Part
from unmask.generators.foreign import Foreign
from unmask.results.figures import Figure, figure, in_100, listed_above
from unmask.results.policy import Severity
from unmask.results.result import Exposure, Facts, Finding, NotTested
from unmask.simulation.draws import failures_in_words
from unmask.stats import Bound, largest_visible_of_bets
from unmask.threats.knowledge import Coins

NAME = "everyone"
THREAT = (
    "An attacker who has all records but knows of nobody whether they were in the training data, can fit the same "
    "generator many times, {model}, and asks for each person: were they in?"
)


def shared(confidence: float) -> float:
    """The confidence of each headline, so that all of them hold together."""
    return 1 - (1 - confidence) / len(HEADLINES)


def part_of(audited: Audited) -> Part:
    """What the coins say about everybody."""
    plan, people = audited.plan, audited.people
    pooled = audited.together.at(plan.confidence)
    features = audited.pool.setting.features
    visible = power_in_words(audited.power, len(audited.pool), more=_more_runs(audited))
    blind = too_few_runs(len(audited.pool), int(audited.coined.sum()), rate=plan.rate, more=_more_runs(audited))
    at_risk = _at_risk(audited)
    grids = (
        attacks_grid(audited, pooled),
        controls_grid(audited),
        people_grid(audited),
        marks_grid(audited.marks, people),
        groups_grid(features, people, group_columns(audited.drawn.real.schema, plan.groups)),
    )
    claims = () if audited.claim is None else (f"The generator claims: {audited.claim}.",)
    return Part(
        findings=(*(finding(audited, pooled) for finding in HEADLINES), *_claim(audited)),
        grids=tuple(grid for grid in grids if grid is not None),
        series=tuple(series_of(audited)),
        notes=(*_notes(audited), at_risk, visible, *claims),
        facts=Facts(visible=(visible,), at_risk=(at_risk,), claims=claims, inconclusive=blind),
        not_tested=tuple(_not_tested(audited)),
        failed_tasks=len(audited.pool.failures),
    )


def _threat(audited: Audited) -> str:
    sees = "sees the fitted model" if audited.sees_model else "sees one synthetic table of each fit"
    return THREAT.format(model=sees)


def _membership(audited: Audited, pooled: Pooled) -> Finding:
    certain = audited.together.at(shared(audited.plan.confidence))
    severity = audited.plan.policy.severity(max(0.0, certain.advantage.low), tpr_at_1_percent=certain.tpr_at[0].low)
    return Finding(
        name=NAME,
        title=(
            f"Of people who are in the data {in_100(pooled.tpr.value)} are recognised, at {in_100(pooled.fpr.value)} false "
            f"alarms; at 1 false alarm in 100 it is {in_100(pooled.tpr_at[0].value)}"
        ),
        threat=_threat(audited),
        criterion="membership",
        severity=severity,
        estimate=figure(pooled.advantage),
        baseline=None,
        control=figure(pooled.fpr),
        advice=advice_for(severity),
    )


def _list(audited: Audited, pooled: Pooled) -> Finding:
    """The advantage about the worst person holds for all people at once, so it may speak for the list."""
    people, plan = audited.people, audited.plan
    count, listed = int(audited.coined.sum()), int(people.listed.sum())
    gain = float(people.advantage.max(initial=0.0))
    severity = plan.policy.severity(gain)
    if listed and severity is Severity.NONE:
        severity = Severity.LOW
    runs, title = len(audited.judged.all.members), f"Nobody of {count:,} people could be listed as given away"
    if listed:
        how_much = (
            f"about the most exposed, at least {in_100((1 + gain) / 2)} guesses are right"
            if gain
            else f"how much about one of them, {runs} judged runs are too few to say"
        )
        title = (
            f"The releases give away {_whom(audited)} (at most {in_100(plan.rate)} names are expected to be "
            f"wrong); {how_much}"
        )
    confidence = shared(plan.confidence)
    worst = Figure(gain, gain, 1.0, confidence, "right guesses, all people at once", runs)
    half = (1 - gain) / 2  # guesses that are right with (1 + gain)/2 are false alarms with the rest
    return Finding(
        name=f"{NAME}/people",
        title=title,
        threat=_threat(audited),
        criterion="membership",
        severity=severity,
        estimate=worst,
        baseline=None,
        control=Figure(half, 0.0, half, confidence, "the same guesses about the same person left out", runs),
        advice=advice_for(severity),
        exposure=Exposure(count, listed, worst, listed_above(listed, count, plan.rate)),
    )


HEADLINES = (_membership, _list)  # they share one level; a claim has the level of its own that it is tested at


def _claim(audited: Audited) -> Iterator[Finding]:
    if audited.claim is not None and isinstance(audited.held, Bound):
        yield claim_finding(audited.claim, audited.held, threat=_threat(audited))


def _more_runs(audited: Audited) -> str:
    if isinstance(audited.pool.setting.generator, Foreign):
        return "Export more training files: unmask pool export with more --runs."
    return "Use more --runs."


def _at_risk(audited: Audited) -> str:
    listed, count = int(audited.people.listed.sum()), int(audited.coined.sum())
    if not listed:
        return f"Nobody of {count:,} people is on the list of those at risk."
    shows = f"{_whom(audited)} are at risk: their presence shows in the releases"
    if audited.drawn.coins is Coins.PAIRED:
        shows = f"The releases show {_whom(audited)}; a name is right if its pair shows"
    return (
        f"{shows}. records.csv lists them by row; at most {in_100(audited.plan.rate)} are expected to be wrong (e-BH)."
    )


def _whom(audited: Audited) -> str:
    """The listed people. Paired coins tell about pairs: the person, or the one who stands in."""
    listed, count = np.flatnonzero(audited.people.listed), int(audited.coined.sum())
    partners = audited.pool.setting.game.partners
    if partners is None:
        return f"{len(listed):,} of {count:,} people"
    pairs = len(np.unique(np.minimum(listed, partners[listed])))
    return (
        f"which one of a pair is in, for {pairs:,} of {count // 2:,} pairs ({len(listed):,} of {count:,} people are listed, for "
        "themselves or for the one who stands in)"
    )


def _notes(audited: Audited) -> Iterator[str]:
    plan, pool = audited.plan, audited.pool
    setting, people = pool.setting, pool.setting.features.units.count
    judged, late = len(audited.judged.all.members), len(audited.judged.late.members)
    whose = "pair of people" if audited.drawn.coins is Coins.PAIRED else "person"
    again = f", {setting.releases:,} times" if setting.releases > 1 else ""
    yield from audited.drawn.real.notes
    yield (
        f"{len(pool):,} runs of the coin game: in each, every {whose} "
        f"has a fair coin, the generator is fitted to about {people / 2:,.0f} of {people:,} people and publishes "
        f"{setting.synthetic_rows:,} rows{again}. The first {len(pool) - judged} runs only teach; the list is judged on the "
        f"other {judged}, rates and the bound of everybody on the last {late}."
    )
    settled = "" if plan.confirm else "; only the exact game at full size settles it for single people"
    yield f"Each run learns from half of the people. That overstates what a fit to all of them gives away{settled}."
    if audited.drawn.coins is Coins.PAIRED:
        yield (
            "With paired coins a name on the list says that one of a pair shows: the person, or the one who stands in. About "
            "whom of the two the releases tell is not known, so a name counts as right if its pair shows."
        )
    if not plan.exact_values:
        yield (
            "Exact amounts were not asked for, only bins: these draws are older, or the option was off. A generator that "
            "publishes people's own amounts is overlooked. Use a new directory, and --exact-values."
        )
    if setting.generator.row_level:
        yield "This generator publishes changed real rows: their number varies with the coins, and counts as a leak here."
    if plan.subsample is not None and len(setting.candidates) < len(audited.drawn.real):
        yield (
            f"Only {people:,} people, drawn at random, took part (--subsample). A generator that learns from fewer people "
            "gives more away about each of them: the figures are for tables of this size, and nothing is said about the others."
        )
    yield (
        "With the coins of other runs, which say nothing about these releases, the same analysis lists "
        f"{int(audited.control.listed.sum())} people."
    )
    kind = (
        "one of a pair replaced by the other" if audited.drawn.coins is Coins.PAIRED else "one person added or removed"
    )
    yield f"All judged coins together ({kind}): {audited.bound}."
    if listed := int(audited.people.listed.sum()):
        most = largest_visible_of_bets(judged, people=int(audited.coined.sum()), rate=plan.rate, listed=listed)
        yield f"Bounds on the epsilon of single people are for pure differential privacy; the largest visible is {most:.2f}."
    if pool.failures:
        yield failures_in_words(pool.failures)
    if len(pool.failed):
        yield (
            f"{len(pool.failed):,} of {len(pool) + len(pool.failed):,} planned runs published nothing. Nothing is guessed about "
            "them, and their coins count in every bound; which runs teach and which are judged was settled before."
        )


def _not_tested(audited: Audited) -> Iterator[NotTested]:
    if isinstance(audited.held, NotTested):
        yield audited.held
    if audited.plan.access == "white-box" and not audited.sees_model:
        yield NotTested(
            "white-box evidence",
            "the model offers no likelihoods, measurements, losses or critic",
            "give it log_likelihood(table), losses(table, steps, rng) or discriminator_score(table)",
        )
    if audited.power.visible is None and not audited.people.listed.any():
        yield NotTested(
            "the list of people", f"{len(audited.pool)} runs are too few to list anybody", _more_runs(audited)
        )
    if isinstance(audited.pool.setting.generator, Foreign):
        yield NotTested(
            "the exact game at full size", "it fits the generator hundreds of times more",
            "run the generator here: --generator 'command: ...'",
        )  # fmt: skip
    elif not audited.plan.confirm:
        yield NotTested("the exact game at full size", "it was not asked for", "use --confirm 5")
    if not audited.plan.secrets:
        yield NotTested("attributes", "no secret was named", "use --secret COLUMN")
