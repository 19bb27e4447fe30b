"""The verdict of a result in one sentence, how sure it is, and what it cannot show.

Notebook, terminal, HTML and Markdown say the same thing because they take it from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.results.figures import in_words, percent
from unmask.results.policy import Severity
from unmask.results.result import Finding, Result

# Severity by word, shape and colour: no reader depends on one of them alone. "None" is never green: it is no promise.
SHAPES = {Severity.HIGH: "▲", Severity.MEDIUM: "◆", Severity.LOW: "●", Severity.NONE: "○"}
LABELS = {Severity.HIGH: "high", Severity.MEDIUM: "medium", Severity.LOW: "low", Severity.NONE: "none shown"}


@dataclass(frozen=True)
class Question:
    """A question about privacy; the first three are those of the Article 29 Working Party (opinion 05/2014)."""

    name: str
    title: str
    question: str
    legal: bool = False
    also: tuple[str, ...] = ()  # other names that audits give it
    remedy: str = ""


_AUDIT = "`unmask audit` tests it, given the real, the synthetic and a holdout table."

CRITERIA = (
    Question("singling out", "Singling out", "Can one person be picked out of the crowd?", True, (), _AUDIT),
    Question(
        "linking", "Linking", "Can two pieces about one person be put together?", True, ("linkability", "linkage"), _AUDIT
    ),
    Question(
        "inferring", "Inferring", "Can a secret of a person be guessed?", True, ("inference", "attribute"),
        "`unmask audit --secret` or `unmask attack --goal attribute` tests it.",
    ),
    Question(
        "membership", "Membership", "Can it be told who was in the data?", False, (),
        "`unmask audit` or `unmask attack` tests it.",
    ),
    Question("reconstruction", "Reconstruction", "Can records be rebuilt from what is published?"),
    Question(
        "dp claim", "Differential privacy claim", "Does the claimed epsilon hold?", False, ("claim", "epsilon"),
        "`unmask epsilon` tests it.",
    ),
)  # fmt: skip

AUDITS = {
    "attack": "Attack on a generator",
    "audit": "Audit of a synthetic table",
    "check": "Check of the files",
    "compare": "Comparison of generators",
    "demo": "Two releases of the bundled data",
    "describe": "Description of a table",
    "epsilon": "Test of a differential privacy claim",
    "everyone": "Risk of everyone in a table",
    "reconstruct": "Reconstruction of records",
    "release": "Audit of a synthetic table",
    "reverse-map": "A release as a permutation of the real table",
}

_CANNOT = {
    "attack": "It speaks of the releases that this generator makes of such people and of the targets that were tried, "
    "not of one published file; other people may be at higher risk.",
    "everyone": "It speaks of fits to half of these people, which gives more away than a fit to all of them, and of leaks that "
    "its features can see; who is not on the list may still be at risk.",
    "epsilon": "Runs can refute a claim of differential privacy; they can never confirm it.",
    "release": "It speaks of this file and of attackers who know no more than those below. People unlike anybody in the "
    "holdout may be at higher risk than the averages say.",
}
_CANNOT["demo"] = _CANNOT["release"]


@dataclass(frozen=True)
class Verdict:
    """The worst finding in one sentence, how sure it is, and what the audit cannot show."""

    severity: Severity | None  # None: nothing was attacked
    label: str
    sentence: str
    support: tuple[str, ...]
    cannot: tuple[str, ...]


def verdict(result: Result) -> Verdict:
    """Privacy is a maximum: the worst finding decides, and its absence proves nothing."""
    if not result.findings:
        return Verdict(
            None, "no verdict", "Nothing was attacked here, so this says nothing about what a release gives away.",
            _failures(result), _cannot(result),
        )  # fmt: skip
    worst = worst_of(result.findings)
    if worst.severity is not Severity.NONE:
        support = (f"{measure(worst)}: {in_words(worst.estimate)}.", f"Attacker: {worst.threat}", worst.advice)
        return Verdict(
            worst.severity,
            LABELS[worst.severity],
            sentence(worst.title),
            (*support, *_failures(result)),
            _cannot(result),
        )
    many = plural(len(result.findings), "comparison")
    sure = f"{percent(worst.estimate.confidence)} confidence"
    extra: tuple[str, ...] = ()
    if kind(worst) == "dp claim" and all(kind(finding) == "dp claim" for finding in result.findings):
        text = f"The claim was not refuted ({sure})."
        extra = (f"{measure(worst)}: {in_words(worst.estimate)}.",)
    elif any(finding.control is not None for finding in result.findings):
        text = f"No attack beat its control ({many}, {sure})."
    else:
        text = f"No leak was shown, but nothing here had a control to be compared with ({many})."
    visible = result.facts.visible or ("How large a leak would have been seen was not measured.",)
    return Verdict(Severity.NONE, LABELS[Severity.NONE], text, (*extra, *visible, *_failures(result)), _cannot(result))


def _failures(result: Result) -> tuple[str, ...]:
    count = result.failed_tasks
    if not count:
        return ()
    return (
        f"{plural(count, 'task')} failed and {'is' if count == 1 else 'are'} part of no number; the notes say why.",
    )


def _cannot(result: Result) -> tuple[str, ...]:
    lines = []
    if result.findings:
        lines.append(
            "It cannot show that a release is anonymous: a better attack, or an attacker who knows more, may find more."
        )
    if result.audit in _CANNOT:
        lines.append(_CANNOT[result.audit])
    if result.not_tested:
        lines.append(f"{plural(len(result.not_tested), 'test')} could not be run; the list below says why.")
    if any(item.schema.startswith("inferred") for item in result.inputs):
        lines.append(
            "The domains of the columns were inferred from the data; no differential privacy claim survives that."
        )
    return tuple(lines) or ("It describes tables and attacks nobody.",)


def worst_of(findings: Sequence[Finding]) -> Finding:
    """The finding of the highest severity; audits list the clearest first."""
    return max(findings, key=lambda finding: finding.severity.rank)


def kind(finding: Finding) -> str:
    """The name of the criterion that a finding is about."""
    for criterion in CRITERIA:
        if finding.criterion == criterion.name or finding.criterion in criterion.also:
            return criterion.name
    return finding.criterion


def measure(finding: Finding) -> str:
    """What the estimate of a finding is."""
    if kind(finding) == "dp claim":
        return "Epsilon"
    return "Success, with no control to compare it with" if finding.control is None else "Gain over the control"


def attack_rate(finding: Finding) -> float | None:
    """How often the attack succeeds: what it gains on top of its control; None where that is no share."""
    if finding.control is None or kind(finding) == "dp claim":
        return None
    rate = finding.control.value + finding.estimate.value
    return min(1.0, max(0.0, rate)) if -1e-6 <= rate <= 1 + 1e-6 else None


def plural(count: int, noun: str) -> str:
    """`1 comparison`, `24 comparisons`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def sentence(text: str) -> str:
    """With a capital and a full stop."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
