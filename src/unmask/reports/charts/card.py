"""The bar of a card."""

from __future__ import annotations

import math

from markupsafe import Markup

from unmask.reports.charts.svg import Axis, line, path, tag, text
from unmask.reports.words import attack_rate, frequency, kind, rounded
from unmask.results.result import Finding

CARD, BAR = 260, 46


def card_chart(name: str, finding: Finding, title: str) -> Markup:
    """The bar of a card: from the control to the attack, with the interval and a mark for guessing. Labels stand beside it."""
    estimate, rate = finding.estimate, attack_rate(finding)
    if rate is not None and finding.control is not None:
        control = finding.control.value
        x = Axis(0.0, 1.0, 6.0, CARD - 6.0)
        low, high, value = control + estimate.low, control + estimate.high, rate
        guess = finding.baseline.value if finding.baseline else None
        described = f"control {frequency(control)}, attack {frequency(rate)}."
    else:
        control, low, high, value = 0.0, estimate.low, estimate.high, estimate.value
        guess = finding.baseline.value if finding.baseline else None
        finite = [one for one in (low, high, value, guess) if one is not None and math.isfinite(one)]
        top = 1.0 if kind(finding) != "dp claim" and max(finite, default=1.0) <= 1 else 1.15 * max(finite, default=1.0)
        x = Axis(0.0, top or 1.0, 6.0, CARD - 6.0)
        described = f"{rounded(value)}, from {rounded(low)} to {rounded(high)}."
    y = 17.0
    parts = [line(x.start, y, x.end, y, "track")]
    if finding.control is not None:
        parts.append(line(x(control), y, x(value), y, f"gain {finding.severity}"))
        parts.append(line(x(control), y - 10, x(control), y + 10, "control"))
    parts.append(line(x(low), y, x(high), y, f"interval {finding.severity}"))
    parts += [
        line(x(end), y - 5, x(end), y + 5, f"interval {finding.severity}") for end in (low, high) if math.isfinite(end)
    ]
    parts.append(tag("rect", x=x(value) - 5, y=y - 5, width=10, height=10, class_=f"square {finding.severity}"))
    if guess is not None:
        place = x(guess)
        parts.append(path([(place, y - 7), (place + 5, y), (place, y + 7), (place - 5, y)], "other", closed=True))
    scale = ("0", "50", "100 in 100") if x.high == 1 and kind(finding) != "dp claim" else ("0", "", rounded(x.high))
    for value_, word, side in ((0.0, scale[0], ""), (x.high / 2, scale[1], "middle"), (x.high, scale[2], "end")):
        parts.append(text(x(value_), BAR - 4, word, class_=f"tick {side}"))
    inside = [
        tag("title", title, id=f"{name}-title"),
        tag("desc", described, id=f"{name}-desc"),
        *parts,
    ]
    return tag(
        "svg",
        *inside,
        viewBox=f"0 0 {CARD} {BAR}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        class_="card-bar",
    )
