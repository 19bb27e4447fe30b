"""A result in a notebook: the verdict, the findings and what to do, in the colours of the page around it.

Everything passes `for_sharing`, is made readable and escaped. There is no script, no stylesheet and nothing to load.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from unmask.results.figures import in_words
from unmask.results.next_steps import next_steps
from unmask.results.readable import readable
from unmask.results.result import Finding, Result
from unmask.results.sharing import for_sharing
from unmask.results.verdict import Badge, finding_badge, measure, plural, sentence, title_of, verdict

TOP = 8  # findings in the table
HEADS = ("severity", "finding", "measured")
_LINE = "color-mix(in srgb, currentColor 30%, transparent)"  # of the text's colour, light or dark
_BOX = f"max-width:60em;padding:.2em 1em .6em;border:1px solid {_LINE};border-left:5px solid currentColor;color:inherit"
_CELL = f"text-align:left;vertical-align:top;padding:.3em .8em .3em 0;border-top:1px solid {_LINE};white-space:normal"


def notebook_html(result: Result) -> str:
    """What `_repr_html_` shows."""
    result = for_sharing(result)
    said = verdict(result)
    title = title_of(result)
    parts = [
        _tag("p", _text(f"{title}, seed {result.seed}"), "margin:.6em 0 0;opacity:.85"),
        _tag(
            "p", f"<strong>{_badge(said.badge)}</strong> · {_text(said.sentence)}", "margin:.2em 0 .6em;font-size:115%"
        ),
        _list("", (*said.support, *said.left_out)),
        _findings(result),
        _list("What to do next", [f"{step.text} {step.command}".strip() for step in next_steps(result)]),
        _tag("p", _text(said.cannot[0]), "margin:.6em 0 0;opacity:.85"),
    ]
    return _tag("div", "".join(parts), _BOX)


def _badge(badge: Badge) -> str:
    """By shape and word: colours are those of the page."""
    return _text(f"{badge.shape} {badge.label}".replace(" ", "\N{NO-BREAK SPACE}"))


def _findings(result: Result) -> str:
    if not result.findings:
        return ""
    worst_first = sorted(result.findings, key=lambda finding: -finding.severity.rank)
    head = _row("th", map(_text, HEADS))
    rows = "".join(_row("td", _cells(finding, result)) for finding in worst_first[:TOP])
    more = len(result.findings) - TOP
    note = f"{plural(more, 'more finding')}: see .findings or .to_frame()" if more > 0 else ""
    table = _tag("table", f"<thead>{head}</thead><tbody>{rows}</tbody>", "border-collapse:collapse;width:100%;margin:0")
    return _tag("div", table, "overflow-x:auto") + (_tag("p", _text(note), "margin:.3em 0;opacity:.85") if note else "")


def _cells(finding: Finding, result: Result) -> Iterable[str]:
    measured = f"{measure(finding)}: {in_words(finding.estimate)}"
    return _badge(finding_badge(finding, result)), _text(sentence(finding.title)), _text(measured)


def _list(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    head = _tag("p", f"<strong>{title}</strong>", "margin:.6em 0 .1em") if title else ""
    return head + _tag("ul", "".join(f"<li>{_text(line)}</li>" for line in lines), "margin:.1em 0;padding-left:1.4em")


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(_tag(tag, cell, _CELL) for cell in cells)}</tr>"


def _tag(name: str, inside: str, style: str) -> str:
    """An element around what is escaped already."""
    return f'<{name} style="{style}">{inside}</{name}>'


def _text(text: str) -> str:
    return f"<bdi>{escape(readable(text), quote=False)}</bdi>"
