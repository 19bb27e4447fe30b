"""Is the audit itself sound on this data, and what would it have seen?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unmask.audits.part import Part
from unmask.audits.release.case import Case, Check, ReleasePart
from unmask.audits.release.leading.crowd import Crowd
from unmask.audits.release.leading.planted import TRIALS, PlantedLeak, in_words, planted_leaks
from unmask.results.figures import Figure
from unmask.results.grid import Cell, Grid, Section, Series, SeriesKind
from unmask.results.policy import Severity
from unmask.results.result import Facts, Finding
from unmask.results.state import COPIES, DOUBT, LEAK, NAMES, UNSEEN
from unmask.stats import Estimate, auc, clopper_pearson
from unmask.stats.labels import TopTest, top_test
from unmask.stream import stream

CHANCE = 0.5  # the AUC of someone who knows nothing
UNLIKELY = (
    0.001  # that holdout people stand out as much as they do by chance, before the audit says that they were seen
)
SURE = 0.95  # that the tables differ, before the audit says so
NOTHING = "This holdout is too small to show any leak by membership."


def controls_part(case: Case) -> Part:
    """The blind twin, permuted membership, and leaks planted into this very data."""
    if case.release.holdout is None:
        return Part()
    if case.crowd is None:
        return ReleasePart(notes=(NOTHING,), facts=Facts(visible=(NOTHING,), inconclusive=(NOTHING,)))
    blind, explained, doubts = doubts_about(case.crowd, case.plan.seed)
    permuted = permuted_auc(case.crowd, case.plan.seed, confidence=case.plan.confidence)
    planted = planted_leaks(case)
    rows = [
        ("blind twin, AUC", *_figures(blind), "above 0.5: confounded"),
        ("permuted membership, AUC", *_figures(permuted), "should cover 0.5, in 19 of 20 audits"),
        *(row for each in planted for row in _rows(each)),
    ]
    grid = Grid("controls", "Controls", ("control", "value", "low", "high", "meaning"), tuple(rows), Section.SOUND)
    visible = (in_words(planted),)
    seen = any(each.sees(LEAK) for each in planted if each.kind in (COPIES, NAMES))
    return ReleasePart(
        doubts,
        (grid,),
        tuple(_seen(each) for each in planted),
        visible,
        facts=Facts(visible=visible, inconclusive=() if seen else (UNSEEN,)),
        explained=explained,
    )


def doubts_about(crowd: Crowd, seed: int) -> tuple[Estimate, float, tuple[Finding, ...]]:
    """The blind twin; the most that it may gain, real and holdout being what they are; and what that throws doubt on."""
    blind = blind_auc(crowd, confidence=SURE)
    if (leaked := seen_holdout(crowd, seed)) is not None:
        return blind, 1.0, (_seen_holdout(leaked),)
    # A scorer with this AUC has an advantage of at most 2 AUC - 1, if its ROC is concave.
    explained = max(0.0, 2 * blind.high - 1) if blind.low > CHANCE else 0.0
    return blind, explained, (_confounded(blind),) if explained else ()


def blind_auc(crowd: Crowd, *, confidence: float) -> Estimate:
    """How well real people are told from the holdout by learners that never see the release.

    Above one half the two tables differ by themselves. The halves teach each other, so the interval is widened by the square
    root of two.
    """
    found = auc(crowd.blind[crowd.members], crowd.blind[~crowd.members], confidence=confidence)
    reach = np.sqrt(2)
    low = max(0.0, found.value - reach * (found.value - found.low))
    high = min(1.0, found.value + reach * (found.high - found.value))
    return replace(found, interval=(low, high))


def seen_holdout(crowd: Crowd, seed: int) -> TopTest | None:
    """Whether people of the *holdout* stand out by linkage weights: then the generator has seen them. None if they do not."""
    test = top_test(crowd.linkage, ~crowd.members, strata=crowd.strata, rng=stream(seed, "seen holdout"))
    return test if test.p_value <= UNLIKELY else None


def permuted_auc(crowd: Crowd, seed: int, *, confidence: float) -> Estimate:
    """The AUC of linkage weights if membership is dealt anew among the same people: it must cover one half."""
    dealt = stream(seed, "permuted").permutation(crowd.members)
    return auc(crowd.linkage[dealt], crowd.linkage[~dealt], confidence=confidence)


def _figures(found: Estimate) -> tuple[Cell, ...]:
    return tuple(round(float(number), 4) for number in (found.value, found.low, found.high))


def _rows(planted: PlantedLeak) -> list[tuple[Cell, ...]]:
    meaning = "share of trials in which they were seen"
    return [
        (f"{planted.kind}, {rate:.1%} planted", *_figures(clopper_pearson(count, TRIALS, confidence=0.9)), meaning)
        for rate, count in zip(planted.rates, planted.seen, strict=True)
    ]


def _seen(planted: PlantedLeak) -> Series:
    return Series(
        f"power/{planted.kind}", planted.kind.capitalize(), "share of the real people", "share of trials in which it was seen",
        planted.rates, tuple(count / TRIALS for count in planted.seen), SeriesKind.POWER, Section.SOUND,
    )  # fmt: skip


def _confounded(blind: Estimate) -> Finding:
    """The gain of the blind twin: its AUC above one half."""
    gain = (blind.value - CHANCE, blind.low - CHANCE, blind.high - CHANCE)
    return Finding(
        DOUBT,
        "Confounded: real table and holdout differ by themselves; only differences beyond that are evidence, and nobody is named",
        "Nobody attacks here: learners that never saw the release tell the two tables apart.",
        "membership",
        Severity.NONE,  # a state of the audit, not a leak
        Figure(*gain, blind.confidence, f"AUC above {CHANCE} ({blind.method})", blind.n),
        None,
        Figure(CHANCE, CHANCE, CHANCE, blind.confidence, "AUC of chance", blind.n),
        "Cut the holdout at random from the same people as the training data, then audit again.",
    )


def _seen_holdout(test: TopTest) -> Finding:
    """Of those who look most like members, most are of the holdout."""
    share, usual = test.members / test.depth, test.expected / test.depth
    return Finding(
        DOUBT,
        f"Confounded: of the {test.depth:,} people who look most like members {test.members:,} are of the holdout, where chance "
        f"gives {test.expected:,.0f}. The generator seems to have seen the holdout, so that nothing can be compared with it",
        "Nobody attacks here: the holdout is compared with the release.",
        "membership",
        Severity.NONE,  # a state of the audit, not a leak
        Figure(share - usual, 0.0, 1.0, 1 - UNLIKELY, "share of the holdout among them, above chance", test.depth),
        None,
        Figure(usual, usual, usual, 1 - UNLIKELY, "by chance", test.depth),
        "Use a holdout that the generator never saw: cut it off before training, then audit again.",
    )


CONTROLS = Check("controls and instrument check", controls_part, cost=55)
