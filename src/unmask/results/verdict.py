"""The verdict of a result in one sentence and one badge, how sure it is, and what it cannot show.

Notebook, terminal, HTML and Markdown say the same thing because they take it from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.results.figures import in_words, more_in_100, number, percent
from unmask.results.grid import GridKind
from unmask.results.policy import Severity
from unmask.results.result import Finding, Result
from unmask.results.state import DOUBT, State, reasons_of, silence_of

# Severity by word, shape and colour: no reader depends on one of them alone. "None" is never green: it is no promise.
SHAPES = {Severity.HIGH: "▲", Severity.MEDIUM: "◆", Severity.LOW: "●", Severity.NONE: "○"}


@dataclass(frozen=True)
class Badge:
    """A verdict at a glance: a colour, a shape and a word. Looking and finding nothing has another one than not being able to."""

    name: str  # of the colour
    shape: str
    label: str


LEVELS = {severity: Badge(str(severity), SHAPES[severity], str(severity)) for severity in Severity}  # of a leak
SILENCES = {
    State.NONE: Badge("none", SHAPES[Severity.NONE], "no leak found"),
    State.INCONCLUSIVE: Badge("inconclusive", "?", "inconclusive"),
    State.CONFOUNDED: Badge("confounded", "≠", "confounded"),
}
NO_VERDICT = Badge("untested", "—", "no verdict")
SIDE_BY_SIDE = Badge("untested", "⇄", "comparison")


@dataclass(frozen=True)
class Question:
    """A question about privacy; the first three are those of the Article 29 Working Party (opinion 05/2014)."""

    name: str
    title: str
    question: str
    legal: bool = False
    also: tuple[str, ...] = ()  # other names that audits give it
    remedy: str = ""
    answer: str = ""  # if the release leaks


_AUDIT = "`unmask audit` tests it, given the real, the synthetic and a holdout table."

CRITERIA = (
    Question(
        "singling out", "Singling out", "Can one person be picked out of the crowd?", True, (), _AUDIT,
        "Single people can be picked out of the crowd",
    ),
    Question(
        "linking", "Linking", "Can two pieces about one person be put together?", True, ("linkability", "linkage"), _AUDIT,
        "Two pieces about one person can be put together",
    ),
    Question(
        "inferring", "Inferring", "Can a secret of a person be guessed?", True, ("inference", "attribute"),
        "`unmask audit --secret` or `unmask attack --goal attribute` tests it.",
        "Secrets of people can be guessed",
    ),
    Question(
        "membership", "Membership", "Can it be told who was in the data?", False, (),
        "`unmask audit` or `unmask attack` tests it.",
        "It can be told who was in the data",
    ),
    Question(
        "reconstruction", "Reconstruction", "Can records be rebuilt from what is published?", False, (),
        "`unmask audit` or `unmask reconstruct` tests it.",
        "Records can be rebuilt from what is published",
    ),
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
    "utility": "Utility of a synthetic table",
}

_CANNOT = {
    "attack": "It speaks of the releases that this generator makes of such people and of the targets that were tried, "
    "not of one published file; other people may be at higher risk.",
    "compare": "It speaks of tables of this size from this population, of the targets and attacks that were tried and of the "
    "measures of use that were taken: another attack, or another use, may change the order. It is no verdict on a "
    "published file.",
    "everyone": "It speaks of fits to half of these people, which gives more away than a fit to all of them, and of leaks that "
    "its features can see; who is not on the list may still be at risk.",
    "epsilon": "Runs can refute a claim of differential privacy; they can never confirm it.",
    "reconstruct": "It speaks of a provider who answers as this oracle does. A provider who shows no metrics is not attacked "
    "this way, and may leak in others.",
    "release": "It speaks of this file and of attackers who know no more than those below. People unlike anybody in the "
    "holdout may be at higher risk than the averages say.",
}
_CANNOT["demo"] = _CANNOT["release"]
_CANNOT_FILES = (
    "It speaks of what these files keep of the real table, by the measures that were taken: another use may change the order. "
    "What they hide was not measured."
)
OF_A_RELEASE = ("release", "demo")  # audits of one published table
NO_CONTROL = "Success, with no control to compare it with"


@dataclass(frozen=True)
class Verdict:
    """What the audit comes to in one sentence, how sure it is, and what it cannot show."""

    state: State | None  # None: nobody was to be attacked
    badge: Badge
    sentence: str
    support: tuple[str, ...]
    left_out: tuple[str, ...]  # columns that no attack looked at
    cannot: tuple[str, ...]


def of_files(result: Result) -> bool:
    """Whether finished releases are compared, not the mechanisms behind them."""
    return result.audit == "compare" and not result.plan.get("generators")


def title_of(result: Result) -> str:
    """What kind of audit it is, over a report."""
    if of_files(result):
        return "Comparison of releases"
    return AUDITS.get(result.audit, f"Audit: {result.audit}")


def verdict(result: Result) -> Verdict:
    """Privacy is a maximum: the worst finding decides, and its absence proves nothing."""
    state = result.state
    if answers := answers_of(result):
        told: tuple[str, ...] = (answers[0][1],)  # readers show the others under their questions
    elif state is None:
        told = ("Nothing was attacked here, so this says nothing about what a release gives away.",)
    elif state is State.LEAK:
        told = _leak(result)
    elif state is State.CONFOUNDED:
        told = _confounded(result)
    elif state is State.INCONCLUSIVE:
        told = (_no_answer(result), *reasons_of(result), *result.facts.visible)
    else:
        told = _no_leak(result)
    support = tuple(dict.fromkeys((*told[1:], *_failures(result))))
    return Verdict(state, badge_of(result), told[0], support, result.facts.left_out, _cannot(result))


def badge_of(result: Result) -> Badge:
    """The badge of a whole result."""
    state = result.state
    if state is State.LEAK:
        level = LEVELS[result.severity]
        return Badge(level.name, level.shape, f"{state} ({level.label})")
    if state is None:
        return SIDE_BY_SIDE if answers_of(result) else NO_VERDICT
    return SILENCES[state]


def answers_of(result: Result) -> tuple[tuple[str, str], ...]:
    """Questions and answers of a result that has no single verdict, the most important first."""
    found = (grid for grid in result.grids if grid.kind is GridKind.ANSWERS)
    return tuple((str(row[0]), str(row[-1])) for grid in found for row in grid.rows if row)


def by_question(result: Result) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The answers after the first, which is the verdict, under their questions."""
    found: dict[str, list[str]] = {}
    for question, answer in answers_of(result)[1:]:
        found.setdefault(question, []).append(answer)
    return tuple((question, tuple(told)) for question, told in found.items())


def finding_badge(finding: Finding, result: Result) -> Badge:
    """The badge of one finding: what its silence means depends on the whole audit, and on whether it had a control."""
    if finding.name == DOUBT:
        return SILENCES[State.CONFOUNDED]
    if finding.severity is not Severity.NONE:
        return LEVELS[finding.severity]
    silence = silence_of(result)
    if silence is None:
        return NO_VERDICT
    if silence is State.NONE and measure(finding) == NO_CONTROL:
        silence = State.INCONCLUSIVE
    return SILENCES[silence]


def _leak(result: Result) -> tuple[str, ...]:
    worst = worst_of(result.leaks)
    doubts = (f"{sentence(one.title)} {one.advice}" for one in result.findings if one.name == DOUBT)
    return (
        in_one_sentence(worst, result),
        sentence(worst.title),
        f"{measure(worst)}: {in_words(worst.estimate)}.",
        f"Attacker: {worst.threat}",
        *doubts,
        *result.facts.at_risk,
    )


def in_one_sentence(finding: Finding, result: Result) -> str:
    """A leak for people who read no other sentence."""
    if kind(finding) == "dp claim":
        return f"The claimed differential privacy does not hold: epsilon is at least {number(finding.estimate.low)}."
    answer = next((each.answer for each in CRITERIA if each.name == kind(finding)), "")
    if not answer or finding.control is None or result.audit not in OF_A_RELEASE:
        return sentence(finding.title)
    return f"{answer}: {more_in_100(finding.estimate.value)} than on people who are not in the data."


def _confounded(result: Result) -> tuple[str, ...]:
    doubt = next(one for one in result.findings if one.name == DOUBT)
    told = doubt.title.removeprefix("Confounded: ")
    no_answer = "Whether the release leaks cannot be said: no attack went beyond that difference."
    return sentence(told), no_answer, *reasons_of(result)


def _no_answer(result: Result) -> str:
    if not result.findings:
        return "Nothing was attacked, so that nothing can be said."
    if _only_a_claim(result):
        return "The claim was not refuted, but these runs could not have refuted it."
    return "No leak was shown, but a leak of 10 in 100 people could not have been seen."


def _no_leak(result: Result) -> tuple[str, ...]:
    first = worst_of(result.findings)
    sure = f"{percent(first.estimate.confidence)} confidence"
    visible = result.facts.visible
    if _only_a_claim(result):
        return f"The claim was not refuted ({sure}).", f"{measure(first)}: {in_words(first.estimate)}.", *visible
    many = plural(len(result.findings), "comparison")
    return f"No attack did better on people in the data than on people who are not ({many}, {sure}).", *visible


def _only_a_claim(result: Result) -> bool:
    return all(kind(finding) == "dp claim" for finding in result.findings)


def _failures(result: Result) -> tuple[str, ...]:
    count = result.failed_tasks
    if not count:
        return ()
    return (
        f"{plural(count, 'task')} failed and {'is' if count == 1 else 'are'} part of no number; the notes say why.",
    )


def _spoken_of(result: Result) -> str:
    """What an audit speaks of: a reconstruction without rounds has no oracle, but a release."""
    return "release" if result.audit == "reconstruct" and "rounds" not in result.plan else result.audit


def _cannot(result: Result) -> tuple[str, ...]:
    lines = []
    if result.findings:
        lines.append(
            "It cannot show that a release is anonymous: a better attack, or an attacker who knows more, may find more."
        )
    if about := _CANNOT_FILES if of_files(result) else _CANNOT.get(_spoken_of(result)):
        lines.append(about)
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
    return NO_CONTROL if finding.control is None else "Gain over the control"


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
