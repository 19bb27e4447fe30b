"""The result in Markdown, for pull requests and mails."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from unmask.reports import words
from unmask.reports.notes import merged
from unmask.reports.record import criteria_of
from unmask.results.decision import Decided
from unmask.results.next_steps import NextStep, next_steps
from unmask.results.readable import LONGEST, one_line, readable
from unmask.results.result import Result
from unmask.results.sharing import for_sharing

TOP = 5
NO_WIDTH = "&#8203;"
ANOTHER_RESULT = "It is about another result than this one: decide again."


def summary(result: Result, run: Mapping[str, Any] | None = None, decision: Decided | None = None) -> str:
    """Verdict, what to do, criteria, the worst findings, and what was not tested.

    `run` is what run.json holds, `decision` what a person decided about the result.
    """
    result = for_sharing(result)
    said = words.verdict(result)
    title = words.title_of(result)
    lines = [f"## {safe(title)}", "", f"**{said.badge.shape} {said.badge.label}: {safe(said.sentence)}**", ""]
    lines += [f"- {safe(line)}" for line in (*said.support, *said.left_out)]
    lines += _decision(decision)
    for question, told in words.by_question(result):
        lines += ["", f"{safe(question)}", "", *(f"- {safe(line)}" for line in told)]
    lines += ["", "What to do next:", "", *(f"1. {_step(step)}" for step in next_steps(result, run))]
    lines += ["", "What this cannot show:", "", *(f"- {safe(line)}" for line in said.cannot)]
    if result.findings:
        grid = criteria_of(result)
        lines += ["", "| " + " | ".join(grid.columns) + " |", "|" + "---|" * len(grid.columns)]
        lines += ["| " + " | ".join(safe(words.cell_text(cell)) for cell in row) + " |" for row in grid.rows]
    lines += _findings(result)
    if result.not_tested:
        lines += ["", "Not tested:", ""]
        lines += [
            f"- {safe(item.name)}: {safe(item.reason)}. {safe(words.sentence(item.remedy))}"
            for item in result.not_tested
        ]
    if result.notes:
        lines += ["", "Notes:", "", *(f"- {safe(note)}" for note in merged(result.notes))]
    lines += ["", f"Seed {result.seed}, unmask {safe(result.versions.get('unmask', '?'))}. Details: report.html."]
    return "\n".join(lines) + "\n"


def _step(step: NextStep) -> str:
    """A command stands as code, which shows everything as it is; a backtick would end it."""
    command = one_line(step.command, 2000).replace("`", "'")
    return safe(step.text) + (f" `{command}`" if command else "")


def _decision(decided: Decided | None) -> Sequence[str]:
    if decided is None:
        return ()
    made = decided.decision
    if made is None:
        return "", f"Decision: there is one, but it cannot be shown. {safe(decided.problem)}"
    stale = "" if decided.is_about_this else f" {ANOTHER_RESULT}"
    told = f"Decision: **{made.decision}**, {safe(made.reviewer)}, {safe(made.date)}.{stale}"
    return "", told, "", f"> {safe(made.reasons, len(made.reasons))}"


def _findings(result: Result) -> Sequence[str]:
    worst = result.leaks
    if not worst:
        return ()
    lines = ["", "Findings:", ""]
    for finding in sorted(worst, key=lambda finding: -finding.severity.rank)[:TOP]:
        numbers = safe(f"{words.measure(finding)}: {words.in_words(finding.estimate)}.")
        lines.append(
            f"- {words.SHAPES[finding.severity]} **{finding.severity}** {safe(words.sentence(finding.title))} "
            f"{numbers} {safe(finding.advice)}"
        )
    if len(worst) > TOP:
        lines.append(f"- {len(worst) - TOP} more in report.html")
    return lines


def safe(text: str, longest: int = LONGEST) -> str:
    """Text that Markdown shows as it is: no markup, no link, no mention, one line.

    Forges look for mentions, numbers of issues and addresses in the page that they have made, after escapes are gone: only a
    character of no width in between stops them.
    """
    text = readable(text, longest).replace("\n", " ")
    text = re.sub(r"([\\`*_\[\]|~$])", r"\\\1", text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub("[@#]", lambda found: f"&#{ord(found[0])};{NO_WIDTH}", text)
    return re.sub(r"(?i)(\bGH)(-\d)|(:)(//)|(\bwww)(\.)|(\b(?:mailto|xmpp))(:)", _parted, text)


def _parted(found: re.Match[str]) -> str:
    """What was found, in two parts that are no link together."""
    return NO_WIDTH.join(part for part in found.groups() if part is not None)
