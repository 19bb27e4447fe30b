"""Is the audit itself sound on this data?"""

from __future__ import annotations

from unmask.audits.part import DOUBT, Part
from unmask.audits.release.case import Case, Check, ReleasePart
from unmask.audits.release.controls import TRIALS, blind_auc, instrument_check, permuted_auc
from unmask.results.figures import Figure
from unmask.results.grid import Grid, Section, Series, SeriesKind
from unmask.results.policy import Severity
from unmask.results.result import Facts, Finding
from unmask.stats import Estimate

CHANCE = 0.5  # the AUC of someone who knows nothing


def controls_part(case: Case) -> Part:
    """Is the audit itself sound on this data?"""
    release, plan = case.release, case.plan
    if case.sides is None:
        return Part()
    blind = blind_auc(case.sides, plan.seed, confidence=0.99)
    # A scorer with this AUC has an advantage of at most 2 AUC - 1, if its ROC is concave.
    explained = max(0.0, 2 * blind.high - 1) if blind.low > CHANCE else 0.0
    permuted = permuted_auc(case.scores[0], plan.seed, confidence=plan.confidence)
    instrument = instrument_check(release, plan.seed, confidence=case.strict)
    rows = [
        (
            "blind classifier, AUC",
            round(blind.value, 4),
            round(blind.low, 4),
            round(blind.high, 4),
            "above 0.5: confounded",
        ),
        (
            "permuted membership, AUC",
            round(permuted.value, 4),
            round(permuted.low, 4),
            round(permuted.high, 4),
            "should cover 0.5, in 19 of 20 audits",
        ),
    ]
    rows += [
        (
            f"copies of {rate:.0%} planted",
            count / TRIALS,
            float("nan"),
            float("nan"),
            "share of trials in which they were seen",
        )
        for rate, count in zip(instrument.rates, instrument.seen, strict=True)
    ]
    grid = Grid("controls", "Controls", ("control", "value", "low", "high", "meaning"), tuple(rows), Section.SOUND)
    findings = (_confounded(blind),) if explained else ()
    seen = Series(
        "power/copies", "Planted verbatim copies", "share of the real records copied", "share of trials in which they were seen",
        instrument.rates, tuple(count / TRIALS for count in instrument.seen), SeriesKind.POWER, Section.SOUND,
    )  # fmt: skip
    visible = (instrument.in_words(),)
    return ReleasePart(findings, (grid,), (seen,), visible, facts=Facts(visible=visible), explained=explained)


def _confounded(blind: Estimate) -> Finding:
    """The gain of the blind classifier: its AUC above one half."""
    gain = (blind.value - CHANCE, blind.low - CHANCE, blind.high - CHANCE)
    return Finding(
        DOUBT,
        "Confounded: real table and holdout differ by themselves; only differences beyond that are evidence, and nobody is named",
        "Nobody attacks here: a classifier that never saw the release tells the two tables apart.",
        "membership",
        Severity.LOW,
        Figure(*gain, blind.confidence, f"AUC above {CHANCE} ({blind.method})", blind.n),
        None,
        Figure(CHANCE, CHANCE, CHANCE, blind.confidence, "AUC of chance", blind.n),
        "Cut the holdout at random from the same people as the training data, then audit again.",
    )


CONTROLS = Check("controls and instrument check", controls_part)
