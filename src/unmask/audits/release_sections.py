"""The parts of a release audit, in the order in which they are reported."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from unmask.audits.evaluation import FPR_GRID
from unmask.audits.judge import Policy, figure, in_100
from unmask.audits.release import HOW_TO_GET_A_HOLDOUT, ReleasePlan, Section
from unmask.audits.release_controls import TRIALS, blind_auc, instrument_check, permuted_auc
from unmask.audits.release_membership import ATTACKS, LEADING, Scores, judge_scores, people_of, score_all
from unmask.audits.release_tables import Release
from unmask.audits.result import Cell, Figure, Finding, Grid, Series, Severity
from unmask.metrics.attribute_scenario import attribute_scenario
from unmask.metrics.cap import cap
from unmask.metrics.copies import copies
from unmask.metrics.inference import inferences
from unmask.metrics.legal import Criterion
from unmask.metrics.linkability import linkability
from unmask.metrics.similarity import Comparison, Distance, Similarity
from unmask.metrics.singling_out import Mode, singling_out
from unmask.simulation.task import stream
from unmask.stats import (
    LOG_GRID,
    Estimate,
    benjamini_hochberg,
    clopper_pearson,
    conformal_p_values,
    roc_curve,
    roc_on_grid,
    smallest_visible_leak,
)
from unmask.stats.intervals import difference_limits
from unmask.tables.matching import By
from unmask.tables.schema import Origin
from unmask.tables.units import units
from unmask.threats.targets import independent_log_likelihood

KNOWS_RELEASE = "Someone who holds the release and knows a person's record"
REDO = "Drop or coarsen what makes these people stand out, generate anew, and audit again with the same seed."
SMALLEST_GROUP = 10


def secrets_of(release: Release) -> tuple[str, ...]:
    """The columns that are guessed: the secrets, or every column if none is named."""
    return release.schema.secrets or release.schema.names


def headline_tests(release: Release) -> int:
    """How many findings share the error of the verdict."""
    return len(ATTACKS) + 1 + 1 + 2 + 1 + len(secrets_of(release))


def _adjusted(release: Release, plan: ReleasePlan) -> float:
    return 1 - (1 - plan.confidence) / headline_tests(release)


def _words(rate: float) -> str:
    return in_100(rate) if rate > 0 else "none in 100"


def copies_section(release: Release, plan: ReleasePlan, workers: int) -> Section:
    """Unique real people who stand verbatim in the release."""
    found = copies(release.real, release.synthetic, holdout=release.holdout, confidence=plan.confidence)
    strict = copies(release.real, release.synthetic, holdout=release.holdout, confidence=_adjusted(release, plan))
    findings = []
    if found.unique is not None:
        excess = found.excess or found.unique
        low = (strict.excess or strict.unique or excess).low
        severity = Severity.HIGH if low > 0 else Severity.NONE
        if found.excess is None:  # without a holdout: only records that nobody draws by chance
            severity = _unrepeatable(release, found.published, _adjusted(release, plan))
        findings.append(
            Finding(
                "copies",
                f"{_words(found.unique.value)} unique real people stand verbatim in the release "
                f"({int(found.published.sum()):,} of {found.unique.n:,})",
                f"{KNOWS_RELEASE} looks for it.",
                "singling out",
                severity,
                figure(excess),
                None,
                figure(_plus(found.unique, found.excess)) if found.excess else None,
                f"{REDO} Deleting the copies alone leaves holes, which tell as much."
                if severity.rank
                else "No more often than chance or people who are not in the data explain.",
            )
        )
    return Section(
        tuple(findings), notes=found.notes, columns=(("verbatim in the release", found.published.astype(np.int64)),)
    )


def _unrepeatable(release: Release, published: np.ndarray, confidence: float) -> Severity:
    """Severity from the share published of records so odd that chance would hardly ever draw one of them.

    Chance: independent columns with the frequencies of the real table, as many draws as the release has rows.
    """
    expected = len(release.synthetic) * np.exp(independent_log_likelihood(release.real))
    odd = expected < 1e-3
    if not odd.any():
        return Severity.NONE
    low = clopper_pearson(int(published[odd].sum()), int(odd.sum()), confidence=confidence).low
    return Policy().severity(low) if low >= Policy().medium else Severity.NONE


def _plus(unique: Estimate, excess: Estimate) -> Estimate:
    """The control behind an excess, as an estimate without an interval of its own."""
    value = unique.value - excess.value
    return Estimate(
        value, (value, value), excess.confidence, "share of unique holdout rows", excess.assumption, excess.n
    )


def similarity_section(release: Release, plan: ReleasePlan, workers: int) -> Section:
    """IMS, DCR and NNDR: shown because people ask for them, with the warnings that belong to them."""
    rows, series = [], []
    notes: list[str] = []
    for distance in (Distance.HAMMING, Distance.GOWER):
        rng = stream(plan.seed, "similarity", distance)
        how = Similarity(distance=distance, repeats=3, confidence=plan.confidence)
        found = how.compare(release.real, release.synthetic, holdout=release.holdout, workers=workers, rng=rng)
        for metric in (found.ims, found.dcr, found.nndr):
            held = metric.holdout.value if metric.holdout else float("nan")
            verdict = "no holdout" if metric.passed is None else "pass" if metric.passed else "fail"
            rows.append((metric.name, str(distance), round(metric.synthetic.value, 4), round(held, 4), verdict))
        if found.share is not None:
            rows.append(
                (
                    "holdout share",
                    str(distance),
                    round(found.share.share.value, 4),
                    0.5,
                    f"p = {found.share.p_value:.3g}",
                )
            )
            notes += found.share.warnings
        series += _distance_series(found, str(distance))
        notes += [*found.warnings, *found.notes]
    columns = ("metric", "distance", "synthetic", "holdout", "verdict of the metric")
    grid = Grid("similarity", "Similarity scores (passing them proves nothing)", columns, tuple(rows))
    return Section(grids=(grid,), series=tuple(series), notes=tuple(dict.fromkeys(notes)))


def _distance_series(found: Comparison, distance: str) -> list[Series]:
    curves, made = found.dcr_curves, []
    for name, shares in (
        ("synthetic to real", curves.synthetic_to_real),
        ("synthetic to holdout", curves.synthetic_to_holdout),
        ("holdout to real", curves.holdout_to_real),
    ):
        if shares is not None:
            grid = tuple(round(float(x), 6) for x in curves.grid)
            made.append(
                Series(f"ecdf/{distance}/{name}", f"Nearest {distance} distance, {name}", f"{distance} distance",
                       "share of rows", grid, tuple(round(float(y), 6) for y in shares))
            )  # fmt: skip
    return made


def membership_section(release: Release, plan: ReleasePlan, workers: int) -> Section:
    """Real people against the half of the holdout that the attacker does not hold, and the people who stand out."""
    if release.holdout is None:
        return Section()
    people = people_of(release.real, release.holdout, plan.seed)
    findings, series = [], []
    rows: list[tuple[Cell, ...]] = []
    leading: Scores | None = None
    for scores in score_all(people, release.synthetic, plan.seed):
        outcome = judge_scores(scores, plan.seed, confidence=plan.confidence, tests=headline_tests(release))
        if outcome is None:
            continue
        point = outcome.tpr_at[FPR_GRID.index(0.01)]
        severity = Policy().severity(max(0.0, outcome.adjusted_low), tpr_at_1_percent=outcome.certain_tpr)
        findings.append(
            Finding(
                scores.name,
                f"{scores.name}: {_words(point.tpr.value)} members are recognised at 1 in 100 false alarms "
                f"({_words(outcome.tpr.value)} at {_words(outcome.fpr.value)})",
                f"{KNOWS_RELEASE}, and other people of the population, and wants to know whether the person was in the data.",
                "membership",
                severity,
                figure(outcome.advantage),
                None,
                figure(outcome.fpr),
                REDO if severity.rank else "This attack told members from others no better than chance.",
            )
        )
        a = outcome.auc
        rates = (p.tpr.value for p in outcome.tpr_at)
        cells = (a.value, a.low, a.high, *rates, outcome.advantage.value, outcome.advantage.low, outcome.advantage.high)
        rows.append(
            (scores.name, *(round(float(cell), 4) for cell in cells), len(scores.members), len(scores.controls))
        )
        curve = roc_on_grid(roc_curve(scores.members, scores.controls))
        series.append(
            Series(f"roc/{scores.name}", f"ROC of {scores.name}", "false positive rate", "true positive rate",
                   tuple(float(x) for x in LOG_GRID), tuple(round(float(y), 6) for y in curve))
        )  # fmt: skip
        if scores.name == LEADING:
            leading = scores
    heads = ("attack", "AUC", "low", "high", *(f"TPR at FPR {fpr:g}" for fpr in FPR_GRID), "advantage", "advantage low",
             "advantage high", "members", "others")  # fmt: skip
    naming = _named(release, plan, leading) if leading is not None else None
    grid = Grid("membership", "Membership: real people against people whom the generator never saw", heads, tuple(rows))
    judged = len(people.members) // 2, len(people.controls) // 2  # the other halves set the thresholds
    visible = smallest_visible_leak(*judged, confidence=_adjusted(release, plan)) if min(judged) > 0 else np.inf
    notes = (
        f"At best, with this holdout: a leak of {visible:.1%} of the members would be seen in 8 of 10 audits."
        if np.isfinite(visible)
        else "This holdout is too small to show any leak by membership.",
    )
    return Section(tuple(findings), (grid,), tuple(series), notes, naming=naming)


def _named(release: Release, plan: ReleasePlan, scores: Scores) -> Section:
    """People at risk: conformal p-values against the holdout scores of one attack fixed beforehand, then BH."""
    p = conformal_p_values(scores.members, scores.controls)
    listing = benjamini_hochberg(p, rate=plan.people_rate)
    count = int(listing.rejected.sum())
    least = 1 / (len(scores.controls) + 1)
    needed = int(np.ceil(least * len(p) / plan.people_rate))
    note = (
        f"{count:,} people are named as at risk (records.csv); on average at most {in_100(plan.people_rate)} of them by mistake."
        if count
        else f"Nobody is named as at risk. With this holdout a list must hold at least {needed:,} people to be sure of them."
    )
    everyone = units(release.real).of_row  # what holds for a person holds for all of their rows
    place = np.empty(everyone.max() + 1, dtype=np.int64)
    place[everyone[scores.member_rows]] = np.arange(len(p))
    named, exposure = listing.rejected[place[everyone]], -np.log10(p)[place[everyone]]
    columns = (("named at risk", named.astype(np.int64)), ("exposure", exposure))
    quantiles = np.linspace(0, 1, 101)
    strip = Series(
        "risk/exposure", "Exposure of everybody", "share of the people", "exposure (-log10 of the p-value against the holdout)",
        tuple(float(share) for share in quantiles), tuple(round(float(value), 4) for value in np.quantile(-np.log10(p), quantiles)),
    )  # fmt: skip
    return Section(grids=_groups(release, named), series=(strip,), notes=(note,), columns=columns)


def _groups(release: Release, named: np.ndarray) -> tuple[Grid, ...]:
    """The share of named people by value of each key; small groups and values that are not public are not shown."""
    if not named.any() or release.schema.origin is not Origin.PUBLIC:
        return ()
    rows = []
    for key in release.schema.keys:
        position = release.schema.position(key)
        column = release.schema.columns[position]
        if column.is_numeric:
            continue
        for code, value in enumerate(column.values):
            here = release.real.codes[:, position] == code
            if here.sum() >= SMALLEST_GROUP:
                share = clopper_pearson(int(named[here].sum()), int(here.sum()))
                rows.append(
                    (key, str(value), int(here.sum()), round(share.value, 4), round(share.low, 4), round(share.high, 4))
                )
    if not rows:
        return ()
    heads = ("column", "value", "people", "named at risk", "low", "high")
    return (Grid("groups", "Who is at risk, by group (groups under 10 people are left out)", heads, tuple(rows), True),)


def legal_section(release: Release, plan: ReleasePlan, workers: int) -> Section:
    """Singling out, linking and inferring, each with a baseline and a control."""
    common: dict[str, Any] = {"holdout": release.holdout, "attacks": plan.attacks, "confidence": plan.confidence}
    found: list[tuple[str, str, Criterion]] = []
    for mode in Mode:
        rng = stream(plan.seed, "singling out", mode)
        single = singling_out(release.real, release.synthetic, mode=mode, rng=rng, **common)
        found.append(("singling out", f"singling out, {mode}", single))
    if len(release.schema.columns) > 1:
        rng = stream(plan.seed, "linkability")
        linked = linkability(release.real, release.synthetic, workers=workers, rng=rng, **common)
        found.append(("linking", "linking", linked))
        guessed = inferences(
            release.real, release.synthetic, secrets=secrets_of(release), workers=workers,
            rng=stream(plan.seed, "inference"), **common,
        )  # fmt: skip
        found += [("inferring", f"inferring {item.secret}", item) for item in guessed.criteria]
    findings = tuple(_criterion_finding(release, plan, *item) for item in found)
    rows = tuple(_criterion_row(name, criterion) for _, name, criterion in found)
    heads = ("criterion", "attack", "baseline", "control", "gain", "low", "high", "risk", "p")
    grid = Grid("criteria", "Singling out, linking, inferring (shares of attempts that succeed)", heads, rows)
    notes = tuple(f"{name}: {note}" for _, name, criterion in found for note in criterion.notes)
    return Section(findings, (grid,), notes=notes)


def _criterion_row(name: str, criterion: Criterion) -> tuple[Cell, ...]:
    def of(estimate: Estimate | None) -> float:
        return round(estimate.value, 4) if estimate is not None else float("nan")

    gain = criterion.difference
    low, high = (round(gain.low, 4), round(gain.high, 4)) if gain is not None else (float("nan"), float("nan"))
    p = criterion.p_value if criterion.p_value is not None else float("nan")
    cells = (
        of(criterion.attack),
        of(criterion.baseline),
        of(criterion.control),
        of(gain),
        low,
        high,
        of(criterion.risk),
    )
    return (name, *cells, float(f"{p:.3g}"))


_PURPOSE = {
    "singling out": "tries to describe a real person so that only that person fits",
    "linking": "holds two halves of a person's record and tries to bring them together",
    "inferring": "knows some columns of a person and guesses another",
}


def _criterion_finding(release: Release, plan: ReleasePlan, kind: str, name: str, found: Criterion) -> Finding:
    control = found.control.value if found.control else None
    against = f", {_words(control)} on people who are not in the data" if control is not None else ""
    severity = Severity.NONE
    if found.difference is not None:
        p_limit = 1 - _adjusted(release, plan)
        shown = found.p_value is not None and found.p_value <= p_limit / 2
        severity = Policy().severity(_lower(found, _adjusted(release, plan))) if shown else Severity.NONE
    estimate = found.difference or found.attack
    return Finding(
        name,
        f"{name}: the attack succeeds in {_words(found.attack.value)} attempts{against}",
        f"Someone who holds the release {_PURPOSE[kind]}.",
        kind,
        severity,
        figure(estimate),
        figure(found.baseline),
        figure(found.control) if found.control else None,
        REDO
        if severity.rank
        else ("No more often than on other people." if found.difference else HOW_TO_GET_A_HOLDOUT),
    )


def _lower(found: Criterion, confidence: float) -> float:
    """Lower bound of the gain at another confidence.

    The interval of a difference widens like its normal quantile, or faster where a rate is near 0; units that are not
    independent are in its width already. So the lower of two: the given interval stretched, and the exact one of the rates.
    """
    if found.difference is None or found.control is None:
        return 0.0
    gap = found.difference
    wider = float(ndtri(0.5 + confidence / 2) / ndtri(0.5 + gap.confidence / 2))
    attack, control = found.attack, found.control
    of_rates, _ = difference_limits(
        attack.value * attack.n, attack.n, c=control.value * control.n, n_c=control.n, confidence=confidence
    )
    return max(0.0, min(gap.value - wider * (gap.value - gap.low), float(of_rates)))


def matching_section(release: Release, plan: ReleasePlan, workers: int) -> Section:
    """CAP of each secret from the keys, and what many sets tell an attacker who knows the rest of the table."""
    keys = [key for key in release.schema.keys if key not in secrets_of(release)]
    rows: list[tuple[Cell, ...]] = []
    known: list[tuple[Cell, ...]] = []
    if release.schema.secrets and keys:
        for secret in release.schema.secrets:
            found = cap(
                release.real, release.synthetic, keys=keys, secrets=[secret], holdout=release.holdout, by=By.CODES,
                confidence=plan.confidence, workers=workers, generalised=len(release.real) <= 20_000,
            )  # fmt: skip
            for measure in found.measures:
                if measure.real is not None:
                    rows.append((secret, measure.name, *(_value(e) for e in (measure.real, measure.original, measure.holdout)),
                                 round(found.mode.value, 4), *_interval(measure.excess)))  # fmt: skip
            known += _scenario_rows(release, plan, secret, workers)
    grids = []
    if rows:
        heads = (
            "secret",
            "measure",
            "real people",
            "on real data",
            "holdout",
            "always the mode",
            "gain",
            "low",
            "high",
        )
        grids.append(Grid("cap", "Correct attribution of secrets from the keys (CAP)", heads, tuple(rows), detail=True))
    if known:
        columns = (
            "secret",
            "sets",
            "range holds the truth",
            "share of the ranks in the range",
            "gain over the holdout",
        )
        grids.append(
            Grid(
                "maximum knowledge",
                "An attacker who knows all ranks but the secret's",
                columns,
                tuple(known),
                detail=True,
            )
        )
    return Section(grids=tuple(grids))


def _scenario_rows(release: Release, plan: ReleasePlan, secret: str, workers: int) -> list[tuple[Cell, ...]]:
    if len(release.real) > 20_000:
        return []
    found = attribute_scenario(
        release.real, release.sets, attribute=secret, holdout=release.holdout, confidence=plan.confidence, workers=workers,
        rng=stream(plan.seed, "maximum knowledge", secret),
    )  # fmt: skip
    return [(secret, risk.sets, _value(risk.contains), _value(risk.width), _value(risk.excess)) for risk in found.risks]


def _value(estimate: Estimate | None) -> float:
    return round(estimate.value, 4) if estimate is not None else float("nan")


def _interval(estimate: Estimate | None) -> tuple[float, float, float]:
    if estimate is None:
        return (float("nan"),) * 3
    return round(estimate.value, 4), round(estimate.low, 4), round(estimate.high, 4)


def controls_section(release: Release, plan: ReleasePlan, workers: int) -> Section:
    """Is the audit itself sound on this data?"""
    if release.holdout is None:
        return Section()
    people = people_of(release.real, release.holdout, plan.seed)
    blind = blind_auc(people, plan.seed, confidence=0.99)
    # A scorer with this AUC has an advantage of at most 2 AUC - 1, if its ROC is concave.
    explained = max(0.0, 2 * blind.high - 1) if blind.low > 0.5 else 0.0
    leading = next(iter(score_all(people, release.synthetic, plan.seed)))
    permuted = permuted_auc(leading, plan.seed, confidence=plan.confidence)
    instrument = instrument_check(release, plan.seed, confidence=_adjusted(release, plan))
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
    grid = Grid("controls", "Is this audit sound?", ("control", "value", "low", "high", "meaning"), tuple(rows))
    findings = (_confounded(blind),) if explained else ()
    seen = Series(
        "power/copies", "Planted verbatim copies", "share of the real records copied", "share of trials in which they were seen",
        instrument.rates, tuple(count / TRIALS for count in instrument.seen),
    )  # fmt: skip
    return Section(findings, (grid,), (seen,), (instrument.in_words(),), explained=explained)


def _confounded(blind: Estimate) -> Finding:
    return Finding(
        "holdout",
        "Confounded: real table and holdout differ by themselves; only differences beyond that are evidence, and nobody is named",
        "Nobody attacks here: a classifier that never saw the release tells the two tables apart.",
        "membership",
        Severity.LOW,
        figure(blind),
        None,
        Figure(0.5, 0.5, 0.5, blind.confidence, "chance", blind.n),
        "Cut the holdout at random from the same people as the training data, then audit again.",
    )


SECTIONS = (
    copies_section,
    membership_section,
    legal_section,
    matching_section,
    similarity_section,
    controls_section,
)
