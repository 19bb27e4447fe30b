"""Results made by hand, with everything that a report knows how to show, and results of real runs.

`python -m tests.reports.examples` writes those made by hand to golden/, with `runs` the others too (under a minute).
"""

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

from unmask.results.figures import Figure
from unmask.results.grid import Grid, GridKind, Role, Section, Series, SeriesKind
from unmask.results.policy import Severity
from unmask.results.result import Exposure, Facts, Finding, Input, NotTested, Records, Result

GOLDEN = Path(__file__).parent / "golden"
VERSIONS = {"python": "3.11.7", "unmask": "0.1.0", "numpy": "2.4.6"}
RELEASE_THREAT = (
    "Someone who holds the release and knows a person's record wants to know whether the person was in the data."
)
HOLDER = "Someone who holds the release and some columns of a person"
SEEN = "Verbatim copies of 3% of the records would have been seen in 8 of 10 trials; other leaks may not."
NAMED = "24 people are named as at risk; at most 10 in 100 of them by mistake (records.csv)."
REDO = "Drop or coarsen what makes these people stand out, generate anew, and audit again with the same seed."


def figure(value: float, width: float = 0.05, n: int = 1000) -> Figure:
    return Figure(value, value - width, value + width, 0.95, "Newcombe (MOVER, Wilson)", n)


def exposure(share: float, attacked: int = 1000) -> Exposure:
    """A share of the attacked records is above tolerance."""
    return Exposure(attacked, round(2 * share * attacked), figure(0.5, 0.1), figure(share * attacked, 10))


def finding(
    name, title, criterion, severity, gain, control, guess=None, threat=HOLDER, advice=REDO, exposed=None
) -> Finding:
    return Finding(
        name,
        title,
        threat,
        criterion,
        severity,
        figure(gain),
        None if guess is None else figure(guess, 0.01),
        None if control is None else figure(control, 0.02),
        advice,
        exposed,
    )


def release() -> Result:
    """A release audit that met every criterion."""
    none, low, medium, high = Severity
    findings = (
        finding(
            "closest-record",
            "closest-record: 19 in 100 members are recognised at 1 in 100 false alarms",
            "membership",
            high,
            0.31,
            0.22,
            threat=RELEASE_THREAT,
        ),
        finding(
            "gen-lra",
            "gen-lra: 17 in 100 members are recognised at 1 in 100 false alarms",
            "membership",
            high,
            0.28,
            0.25,
            threat=RELEASE_THREAT,
            exposed=exposure(0.016, 1500),
        ),
        finding(
            "copies",
            "2 in 100 unique real people stand verbatim in the release (24 of 1,500)",
            "singling out",
            high,
            0.06,
            0.001,
            threat=f"{HOLDER} looks for it.",
        ),
        finding(
            "linking",
            "linking: the attack succeeds in 12 in 100 attempts, 5 in 100 on people who are not in the data",
            "linking",
            medium,
            0.09,
            0.05,
            0.01,
            exposed=exposure(0.09),
        ),
        finding(
            "inferring income",
            "inferring income: the attack succeeds in 79 in 100 attempts, 76 in 100 on people who are not in the data",
            "inferring",
            low,
            0.055,
            0.74,
            0.72,
            exposed=Exposure(1000, 795, undefined="there is no holdout to compare with"),
        ),
        finding("reconsyn", "3 in 100 records were rebuilt, 2 in 100 by chance", "reconstruction", none, 0.01, 0.02),
        Finding(
            "epsilon",
            "The claim epsilon <= 1 is refuted: epsilon is at least 2.3",
            "Someone who knows all but one record.",
            "dp claim",
            high,
            Figure(2.6, 2.3, math.inf, 0.95, "Clopper-Pearson", 400),
            Figure(1, 1, 1, 1, "claim", 1),
            None,
            "Do not rely on the claim.",
        ),
    )
    x = tuple(10 ** (-4 + place / 20) for place in range(81))
    roc = [
        Series(
            f"roc/attack-{k}",
            f"ROC of attack-{k}",
            "false positive rate",
            "true positive rate",
            x,
            tuple(min(1, a ** (0.4 + 0.08 * k)) for a in x),
            SeriesKind.ROC,
        )
        for k in range(8)
    ]
    grid = tuple(place / 50 for place in range(51))
    ecdf = [
        Series(
            f"ecdf/gower/{who}",
            f"Nearest distance, {who}",
            "gower distance",
            "share of rows",
            grid,
            tuple(1 - math.exp(-rate * a) for a in grid),
            SeriesKind.ECDF,
        )
        for who, rate in (("synthetic to real", 9), ("holdout to real", 5))
    ]
    scores = [
        Series(
            f"histogram/closest-record/{who}",
            who,
            "score",
            "people",
            tuple(-3 + 0.25 * k for k in range(24)),
            tuple(round(400 * math.exp(-((-3 + 0.25 * k - at) ** 2))) for k in range(24)),
            SeriesKind.HISTOGRAM,
        )
        for who, at in (("members", 0.8), ("controls", -0.2))
    ]
    others = [
        Series(
            "risk/closest-record",
            "Risk of everyone",
            "share of people",
            "probability of being recognised",
            tuple(k / 200 for k in range(201)),
            tuple(0.5 + 0.5 * (k / 200) ** 8 for k in range(201)),
            SeriesKind.RISK,
            Section.RISK,
        ),
        Series(
            "power/copies",
            "Planted copies",
            "copies planted",
            "trials in which they were seen",
            (0.0, 0.01, 0.03, 0.1),
            (0.0, 0.4, 0.9, 1.0),
            SeriesKind.POWER,
            Section.SOUND,
        ),
        Series(
            "wealth",
            "Wealth against the claim; 1.3 refutes it at 95 %",
            "runs",
            "log10 wealth",
            tuple(range(10, 401, 10)),
            tuple(2.3 * (1 - math.exp(-k / 12)) for k in range(40)),
            SeriesKind.WEALTH,
            Section.EPSILON,
        ),
        *(
            Series(
                f"tradeoff/{name}",
                name,
                "utility lost",
                "advantage of the best attack",
                (a, a + 0.03),
                (b, b + 0.02),
                SeriesKind.TRADEOFF,
                Section.UTILITY,
            )
            for name, a, b in (
                ("raw", 0.0, 0.96),
                ("cart", 0.05, 0.4),
                ("privbayes", 0.25, 0.05),
                ("sanitiser", 0.2, 0.6),
                ("mst", 0.17, 0.08),
            )
        ),
        Series(
            "something new",
            "Nobody has drawn this before",
            "step",
            "loss",
            tuple(range(20)),
            tuple(1 / (k + 1) for k in range(20)),
        ),
    ]
    grids = (
        Grid(
            "groups",
            "Who is at risk, by group",
            ("column", "value", "people", "named at risk", "low", "high"),
            (
                ("sex", "Female", 700, 0.02, 0.011, 0.034),
                ("sex", "Male", 800, 0.04, 0.03, 0.06),
                ("race", "A", 1400, 0.03, 0.02, 0.04),
                ("race", "B", 60, 0.05, 0.01, 0.12),
                ("race", "C", 33, 0.09, 0.02, 0.2),
                ("race", "tiny", 7, 0.7, 0.3, 0.9),
            ),
            Section.RISK,
            GridKind.GROUPS,
            (Role.BY, Role.GROUP, Role.PEOPLE, Role.ESTIMATE, Role.LOW, Role.HIGH),
        ),
        Grid(
            "criteria",
            "Singling out, linking, inferring",
            ("criterion", "attack", "baseline", "control", "gain", "low", "high"),
            (
                ("linking", 0.14, 0.01, 0.05, 0.09, 0.04, 0.14),
                ("inferring income", 0.79, 0.72, 0.74, 0.055, 0.005, 0.105),
            ),
            Section.ATTACKS,
        ),
        Grid(
            "epsilon",
            "Bounds by method",
            ("method", "epsilon", "low", "high", "claim"),
            (("pooled", 2.6, 2.3, math.inf, 1.0), ("per person", 1.4, 0.8, math.inf, 1.0)),
            Section.EPSILON,
            roles=(Role.TEXT, Role.ESTIMATE, Role.LOW, Role.HIGH, Role.CLAIM),
        ),
        Grid(
            "controls",
            "Is this audit sound?",
            ("control", "value", "low", "high", "meaning"),
            (
                ("blind classifier, AUC", 0.502, 0.47, 0.53, "must cover 0.5"),
                ("copies of 1% planted", 0.4, math.nan, math.nan, "share of trials"),
            ),
            Section.SOUND,
        ),
        Grid(
            "correlations",
            "Correlations lost",
            ("column", "age", "sex", "income"),
            (("age", 0.0, 0.1, 0.4), ("sex", 0.1, 0.0, 0.2), ("income", 0.4, 0.2, None)),
            kind=GridKind.HEAT,
        ),
        Grid(
            "anything",
            "A table that nobody knows",
            ("what", "value", "good"),
            (("alpha", 1, True), ("beta", None, False), ("gamma", 2.5, None)),
        ),
        Grid("more", "Kept for later", ("what", "value"), (("alpha", 1),), detail=True),
        Grid("scores", "Scores of people", ("row", "score"), ((4711, 0.99),), kind=GridKind.RECORDS),
    )
    return Result(
        audit="release",
        seed=1,
        plan={"secrets": ["income"], "attempts": 1000, "confidence": 0.95, "claim": "epsilon 1"},
        inputs=(
            Input("real", 1500, 1400, 15, "public", "ab" * 32),
            Input("synthetic", 1500, 1500, 15, "public", "cd" * 32),
            Input("holdout", 1500, 1500, 15, "public", "ef" * 32),
        ),
        findings=findings,
        grids=grids,
        series=(*roc, *ecdf, *scores, *others),
        notes=(SEEN, NAMED, "A note about what would have been seen by people at risk."),
        facts=Facts((SEEN,), (NAMED,), ("The generator claims: epsilon 1.",)),
        not_tested=(NotTested("likelihood", "there is no fitted model", "use `unmask attack --access white-box`"),),
        versions=VERSIONS,
        records=Records(("row", "person", "score"), ((4711, "p-secret", 0.99),)),
    )


def quiet() -> Result:
    """An audit that found nothing."""
    calm = tuple(
        finding(
            f"attack {k}",
            f"attack {k}: nothing was seen",
            "membership",
            Severity.NONE,
            0.001 * k,
            0.05,
            threat=RELEASE_THREAT,
            advice="Others may see more.",
        )
        for k in range(3)
    )
    return replace(release(), findings=calm, grids=(), series=(), not_tested=())


def crowded() -> Result:
    """Large and small leaks of every kind, four of each."""
    kinds = ("singling out", "linking", "inferring", "membership")
    findings = tuple(
        finding(f"{kind} {k}", f"{kind} {k}: the attack succeeds in 79 in 100 attempts, 76 in 100 on people who are not in the "
                "data", kind, severity, 0.2, 0.5, 0.4, threat=f"{HOLDER} tries {kind}, and knows other people of the population.")
        for severity in (Severity.HIGH, Severity.LOW) for kind in kinds for k in range(4)
    )  # fmt: skip
    return replace(release(), findings=findings)


def epsilon() -> Result:
    """The audit of a claim."""
    full = release()
    return replace(
        full,
        audit="epsilon",
        plan={"generator": "privbayes:epsilon=1", "claim": "epsilon 1", "runs": 400},
        findings=full.findings[-1:],
        grids=full.grids[2:3],
        series=tuple(s for s in full.series if s.section in (Section.EPSILON, Section.SOUND)),
    )


def runs() -> dict[str, Result]:
    """What audits really give, in small: an attack, the demonstration, a description, the audits of a claim and of everyone."""
    from unmask.audits.attack.audit import attack
    from unmask.audits.demo import demo
    from unmask.audits.describe import describe
    from unmask.audits.epsilon.audit import audit_epsilon
    from unmask.audits.everyone.audit import everyone
    from unmask.datasets import adult
    from unmask.tables.read import read_table

    people = adult().take(range(2500)).to_pandas()  # the schema is inferred on the way
    sizes = {"targets": "isolated:4+random:4", "shadows": 60, "tests": 60, "train_rows": 400}
    return {
        "attack": attack("cart", people, **sizes),
        "demo": demo(),
        "describe": describe(read_table(people)),
        "epsilon-run": audit_epsilon("histogram:epsilon=1", runs=200),
        "everyone": everyone("cart", people[:400], runs=48, secrets=("income",), confirm=2, confirm_runs=60),
    }


def write(*, again: bool = False) -> None:
    """Write the golden files made by hand, and those of real runs if these are to run again."""
    made = {make.__name__: make() for make in (release, quiet, epsilon)}
    for name, result in (made | (runs() if again else {})).items():
        (GOLDEN / f"{name}.json").write_text(json.dumps(result.to_plain(), indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    write(again="runs" in sys.argv)
