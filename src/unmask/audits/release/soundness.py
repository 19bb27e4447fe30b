"""Is the audit itself sound on this data, and what would it have seen?"""

from __future__ import annotations

from unmask.audits.part import DOUBT, Part
from unmask.audits.release.case import Case, Check, ReleasePart
from unmask.audits.release.controls import blind_auc, permuted_auc
from unmask.audits.release.planted import TRIALS, Planted, in_words, planted_leaks
from unmask.results.figures import Figure
from unmask.results.grid import Cell, Grid, Section, Series, SeriesKind
from unmask.results.policy import Severity
from unmask.results.result import Facts, Finding
from unmask.stats import Estimate, clopper_pearson

CHANCE = 0.5  # the AUC of someone who knows nothing
SURE = 0.95  # that the tables differ, before the audit says so
NOTHING = "This holdout is too small to show any leak by membership."


def controls_part(case: Case) -> Part:
    """The blind twin, permuted membership, and leaks planted into this very data."""
    if case.release.holdout is None:
        return Part()
    if case.crowd is None:
        return ReleasePart(notes=(NOTHING,), facts=Facts(visible=(NOTHING,)))
    blind = blind_auc(case.crowd, confidence=SURE)
    # A scorer with this AUC has an advantage of at most 2 AUC - 1, if its ROC is concave.
    explained = max(0.0, 2 * blind.high - 1) if blind.low > CHANCE else 0.0
    permuted = permuted_auc(case.crowd, case.plan.seed, confidence=case.plan.confidence)
    planted = planted_leaks(case)
    rows = [
        ("blind twin, AUC", *_figures(blind), "above 0.5: confounded"),
        ("permuted membership, AUC", *_figures(permuted), "should cover 0.5, in 19 of 20 audits"),
        *(row for each in planted for row in _rows(each)),
    ]
    grid = Grid("controls", "Controls", ("control", "value", "low", "high", "meaning"), tuple(rows), Section.SOUND)
    visible = (in_words(planted),)
    return ReleasePart(
        (_confounded(blind),) if explained else (),
        (grid,),
        tuple(_seen(each) for each in planted),
        visible,
        facts=Facts(visible=visible),
        explained=explained,
    )


def _figures(found: Estimate) -> tuple[Cell, ...]:
    return tuple(round(float(number), 4) for number in (found.value, found.low, found.high))


def _rows(planted: Planted) -> list[tuple[Cell, ...]]:
    meaning = "share of trials in which they were seen"
    return [
        (f"{planted.kind}, {rate:.1%} planted", *_figures(clopper_pearson(count, TRIALS, confidence=0.9)), meaning)
        for rate, count in zip(planted.rates, planted.seen, strict=True)
    ]


def _seen(planted: Planted) -> Series:
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
        Severity.LOW,
        Figure(*gain, blind.confidence, f"AUC above {CHANCE} ({blind.method})", blind.n),
        None,
        Figure(CHANCE, CHANCE, CHANCE, blind.confidence, "AUC of chance", blind.n),
        "Cut the holdout at random from the same people as the training data, then audit again.",
    )


CONTROLS = Check("controls and instrument check", controls_part)
