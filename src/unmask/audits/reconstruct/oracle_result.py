"""What the game with the oracle comes to: shares of records, their control, the cost, and the records themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.attacks.reconstruction.asked_rows import EMPTY, AskedRows
from unmask.attacks.reconstruction.enumerate import domain_size
from unmask.audits.advice import advice_for
from unmask.audits.part import Part
from unmask.audits.reconstruct.oracle_game import Reconstruction, listed
from unmask.audits.reconstruct.oracle_pictures import map_series, pictures
from unmask.audits.reconstruct.oracle_rounds import Deployment
from unmask.audits.reconstruct.plan import Locator, ReconstructPlan, Wanted
from unmask.errors import InputError
from unmask.results.figures import figure, in_100
from unmask.results.grid import Cell, Grid, Section, Series
from unmask.results.policy import Severity
from unmask.results.result import Exposure, Facts, Finding
from unmask.stats import clopper_pearson, difference
from unmask.stream import stream
from unmask.tables.regions import CodeScale, smallest_clusters
from unmask.threats.oracle import table_of

CUSTOMER = "A customer who may draw from the generator and have rows judged by IMS, DCR and NNDR. Knows no real row."
READER = "Somebody who draws from the generator as often, and has no metrics to ask."
POINTS = 120  # of a line
NEAR = 0.1  # of the domain read: hardly less than trying everything


@dataclass(frozen=True, eq=False)
class JudgedRecords:
    """An outcome held against the truth, which only the auditor knows."""

    plan: ReconstructPlan
    deployment: Deployment
    outcome: Reconstruction
    targets: np.ndarray  # of train rows: wanted by the attacker
    controls: np.ndarray  # of holdout rows: would have been

    @property
    def places(self) -> np.ndarray:
        """For each train row the place of its record among the found, or EMPTY."""
        return self.among(self.deployment.train.codes, self.outcome.found.codes)

    def among(self, rows: np.ndarray, found: np.ndarray) -> np.ndarray:
        return listed(rows, found, AskedRows(self.deployment.train.schema, stream(0, "compare")))

    def hits(self, found: np.ndarray) -> tuple[tuple[int, int], tuple[int, int]]:
        """Wanted train rows among the found, and holdout rows of the same kind: successes and attempts."""
        hit, held = (
            self.among(table.codes, found) != EMPTY for table in (self.deployment.train, self.deployment.holdout)
        )
        ours = (int(hit[self.targets].sum()), int(self.targets.sum()))
        theirs = (int(held[self.controls].sum()), int(self.controls.sum()))
        return ours, theirs

    def share(self, outcome: Reconstruction) -> float:
        """The share of wanted train rows whose record was found."""
        (hit, total), _ = self.hits(outcome.found.codes)
        return hit / total


def check_targets(targets: np.ndarray, controls: np.ndarray) -> None:
    """Whether there is anybody to attack, and to compare with."""
    if not targets.any() or not controls.any():
        raise InputError(
            "No train or no holdout record is an outlier by these clusters. Use --goal any, a larger --outlier-share, or fewer "
            "--clusters."
        )


def shared_confidence(plan: ReconstructPlan) -> float:
    """Of each headline finding: those with and without the oracle, and differencing, share the error."""
    return 1 - (1 - plan.confidence) / (3 if plan.differencing else 2)


def oracle_part(judged: JudgedRecords) -> Part:
    """Findings, lines, the cost, and records."""
    plan, outcome = judged.plan, judged.outcome
    confidence = shared_confidence(plan)
    places = judged.places
    false = int((judged.among(outcome.found.codes, judged.deployment.train.codes) == EMPTY).sum())
    rebuilt = len(outcome.found)
    notes = [
        f"{rebuilt:,} records were claimed; {false} of them are not in the train table.",
        "A record is rebuilt if every column is right; numbers count as right in their bin.",
    ]
    domain = domain_size(judged.deployment.train.schema)
    if outcome.read > NEAR * domain:
        notes.append(
            f"Near enumeration: distances of {outcome.read:,} rows were read, and the whole domain has {domain:,}. "
            "The generator hardly mattered."
        )
    findings = (_with_oracle(judged, confidence), *_without_oracle(judged, confidence))
    part = Part(
        findings=findings,
        grids=(_cost_grid(judged), *(pictures(outcome.found.codes) if plan.pictures else ())),
        series=(
            *_lines(judged, places),
            *(map_series(judged.deployment.train, outcome.found.codes, plan.seed) if rebuilt else ()),
        ),
        notes=(*notes, *_afterwards(judged), *outcome.notes, *plan.domain_notes),
        facts=Facts(at_risk=_at_risk(judged, places)),
    )
    return part


def _wanted(plan: ReconstructPlan) -> str:
    return "train records" if plan.goal == Wanted.ANY else "outliers of the train table"


def _with_oracle(judged: JudgedRecords, confidence: float) -> Finding:
    ours, theirs = judged.hits(judged.outcome.found.codes)
    gain = difference(ours, theirs, confidence=confidence)
    severity = Severity.HIGH if gain.low > 0 else Severity.NONE  # records rebuilt beyond chance
    guesses, _ = judged.hits(judged.outcome.guesses)
    advice = (
        "Show no scores of similarity for rows that customers choose. What each change would have left stands under mitigations; "
        "a guarantee is only noise for differential privacy on every answer, with the calls counted."
        if severity is Severity.HIGH
        else advice_for(severity)
    )
    return Finding(
        "reconsyn",
        f"{in_100(ours[0] / ours[1])} {_wanted(judged.plan)} were rebuilt exactly from what the privacy metrics answer "
        f"({in_100(theirs[0] / theirs[1])} holdout records stand on the same list by chance)",
        CUSTOMER,
        "reconstruction",
        severity,
        figure(gain),
        figure(clopper_pearson(*guesses, confidence=confidence)),
        figure(clopper_pearson(*theirs, confidence=confidence)),
        advice,
        Exposure(ours[1], ours[0], undefined="a record is rebuilt or not"),
    )


def _without_oracle(judged: JudgedRecords, confidence: float) -> tuple[Finding, ...]:
    """As many guesses as were found, the most frequent of the samples: what the generator gives away by itself."""
    if not len(judged.outcome.guesses):
        return ()
    ours, theirs = judged.hits(judged.outcome.guesses)
    gain = difference(ours, theirs, confidence=confidence)
    severity = judged.plan.policy.severity(max(0.0, gain.low))
    return (
        Finding(
            "frequent-samples",
            f"Without the metrics {in_100(ours[0] / ours[1])} {_wanted(judged.plan)} are among as many guesses "
            f"({in_100(theirs[0] / theirs[1])} of the holdout)",
            READER,
            "reconstruction",
            severity,
            figure(gain),
            None,
            figure(clopper_pearson(*theirs, confidence=confidence)),
            advice_for(severity),
            Exposure(ours[1], ours[0], undefined="a record is guessed or not"),
        ),
    )


def _afterwards(judged: JudgedRecords) -> tuple[str, ...]:
    """Where outliers are looked for in what was rebuilt: how many of the wanted ones its smallest clusters hold."""
    plan, codes = judged.plan, judged.outcome.found.codes
    if plan.goal == Wanted.ANY or plan.locator != Locator.AFTERWARDS or len(codes) < plan.clusters:
        return ()
    rebuilt = table_of(judged.deployment.train.schema, codes)
    most = max(1, round(plan.outlier_share * len(codes)))
    seed = int(stream(plan.seed, "afterwards").integers(2**31))
    region = smallest_clusters(rebuilt, clusters=plan.clusters, rows=most, scale=CodeScale.ONE_HOT, seed=seed)
    wanted = judged.targets & (judged.places != EMPTY)
    held = region.holds(judged.deployment.train.codes[wanted])
    share = f"{held.mean():.0%}" if len(held) else "none"
    return (f"The smallest clusters of what was rebuilt hold {share} of the {int(wanted.sum()):,} rebuilt outliers.",)


def _at_risk(judged: JudgedRecords, places: np.ndarray) -> tuple[str, ...]:
    count = int((places != EMPTY).sum())
    return (
        f"{count:,} of {len(places):,} people in the train table have a record that was rebuilt; records.csv says who.",
    )


def _cost_grid(judged: JudgedRecords) -> Grid:
    outcome = judged.outcome
    sampled, _ = judged.hits(outcome.sampled.codes)
    both, _ = judged.hits(outcome.found.codes)
    rows: tuple[tuple[Cell, ...], ...] = (
        ("samples", len(outcome.sampled), round(sampled[0] / sampled[1], 4), outcome.read_sampling,
         outcome.cost_sampling.calls, outcome.cost_sampling.rows),
        ("samples and search", len(outcome.found), round(both[0] / both[1], 4), outcome.read, outcome.cost.calls,
         outcome.cost.rows),
    )  # fmt: skip
    columns = ("stage", "records", f"share of the {both[1]:,} wanted", "rows read", "calls", "rows sent")
    return Grid("cost", "What it took", columns, rows, Section.ATTACKS)


def _lines(judged: JudgedRecords, places: np.ndarray) -> tuple[Series, ...]:
    """The share of wanted rows over rounds (samples), and over rows whose distance was read (all)."""
    found, total = judged.outcome.found, int(judged.targets.sum())
    of_target = places[judged.targets]
    of_target = of_target[of_target != EMPTY]
    rounds, read = found.rounds[of_target], found.read[of_target]
    by_round = rounds[rounds >= 0] + 1
    lines = []
    for name, at, end, label in (
        ("rounds", by_round, judged.plan.rounds, "rounds"),
        ("rows read", read, judged.outcome.read, "rows whose distance was read"),
    ):
        x = np.unique(np.linspace(1, max(2, end), POINTS).astype(int))
        y = np.searchsorted(np.sort(at), x, side="right") / total
        lines.append(
            Series(
                f"rebuilt by {name}/{name}", f"Share of {_wanted(judged.plan)} rebuilt, by {label}", label, "share rebuilt",
                tuple(float(each) for each in x), tuple(float(each) for each in y), section=Section.ATTACKS,
            )
        )  # fmt: skip
    return tuple(lines)
