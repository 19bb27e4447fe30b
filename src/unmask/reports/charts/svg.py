"""The few pieces that every chart is made of: escaped tags, axes, ticks, frames.

Colours, fonts and line styles live in the stylesheet; a chart only says which class a part has. Every chart is a pure
function of numbers and a width, so that a phone gets a drawing of its own and not a shrunken one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from unmask.reports.words import short
from unmask.results.grid import Grid
from unmask.results.readable import readable

WIDE, NARROW = 680, 340
SHORTEST = 8  # letters that are left of a part of a label
LINES = 6  # line styles in the stylesheet; what comes after is grey


@dataclass(frozen=True)
class Chart:
    """A drawing in two widths, its words for those who cannot see it, and its numbers."""

    name: str
    title: str
    description: str
    wide: Markup
    narrow: Markup
    numbers: Grid | None
    legend: tuple[tuple[str, str], ...] = ()  # class of the sample, label


@dataclass(frozen=True)
class Words:
    """Title and description of a drawing, with the name that its ids are made of."""

    name: str
    title: str
    description: str


def chart(
    words: Words,
    draw: Callable[[int], tuple[int, Iterable[Markup]]],
    numbers: Grid | None,
    legend: Sequence[tuple[str, str]] = (),
) -> Chart:
    """Draw for a desk and for a phone; `draw` gives the height and the parts for a width."""
    wide, narrow = (_svg(f"{words.name}-{width}", width, *draw(width), words) for width in (WIDE, NARROW))
    return Chart(words.name, words.title, words.description, wide, narrow, numbers, tuple(legend))


def _svg(name: str, width: int, height: int, parts: Iterable[Markup], words: Words) -> Markup:
    inside = [
        tag("title", words.title, id=f"{name}-title"),
        tag("desc", words.description, id=f"{name}-desc"),
        *parts,
    ]
    return tag(
        "svg", *inside, viewBox=f"0 0 {width} {height}", role="img", width=width, height=height,
        aria_labelledby=f"{name}-title {name}-desc",
    )  # fmt: skip


def tag(kind: str, *children: str, **attributes: object) -> Markup:
    """An element; `class_` and `aria_x` become `class` and `aria-x`. Texts are made readable and escaped, Markup is not."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-") if key != "viewBox" else key}="{escape(_plain(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(child if isinstance(child, Markup) else escape(readable(child, 600)) for child in children)
    return Markup(f"<{kind}{written}>{inside}</{kind}>" if children else f"<{kind}{written}/>")


def _plain(value: object) -> object:
    return f"{value:.1f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def text(x: float, y: float, words: str, **attributes: object) -> Markup:
    """A label; what does not fit is the caller's business (see `shortened`)."""
    return tag("text", words, x=float(x), y=float(y), **attributes)


def shortened(words: str, width: float, *, size: float = 13) -> str:
    """As much of a label as fits into a width."""
    words = readable(words).replace("\n", " ")
    most = max(4, int(width / (0.56 * size)))
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def fitted(label: str, width: float) -> str:
    """A label of several parts that fits into a width: the first give way, in their middle; the last tells lines apart."""
    *parts, last = readable(label).replace("\n", " ").split(" · ")
    over = len(label) - int(width / (0.56 * 13))
    for place, part in enumerate(parts):
        kept = max(SHORTEST, len(part) - over) if over > 0 else len(part)
        if kept < len(part):
            parts[place] = f"{part[: kept // 2]}…{part[len(part) - (kept - 1 - kept // 2) :]}"
            over -= len(part) - kept
    return shortened(" · ".join([*parts, last]), width)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return tag("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_)


def path(points: Sequence[tuple[float, float]], class_: str, *, closed: bool = False) -> Markup:
    """A line through points."""
    steps = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return tag("path", d=f"M{steps}{'Z' if closed else ''}", class_=class_)


@dataclass(frozen=True)
class Axis:
    """From values to places; logarithmic axes hold what is too small at their lower end."""

    low: float
    high: float
    start: float = 0.0
    end: float = 1.0
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = self.low, self.high, min(max(value, self.low), self.high)
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def between(self, start: float, end: float) -> Axis:
        """The same axis on another piece of paper."""
        return Axis(self.low, self.high, start, end, self.log)

    def ticks(self, most: int = 6) -> list[float]:
        """Round numbers, about as many as wanted."""
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [10.0**power for power in range(first, last + 1)]
        span = self.high - self.low
        if not span > 0:
            return [self.low]
        rough = 10 ** math.floor(math.log10(span / most))
        step = next(rough * factor for factor in (1, 2, 5, 10) if span / (rough * factor) <= most)
        first = math.ceil(self.low / step - 1e-9)
        count = math.floor(self.high / step + 1e-9) - first + 1
        return [round((first + place) * step, 10) + 0.0 for place in range(count)]


def around(values: Iterable[float], *, zero: bool = False, room: float = 0.04) -> Axis:
    """An axis on which all finite values have room."""
    finite = [value for value in values if math.isfinite(value)]
    if zero:
        finite.append(0.0)
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if low == high:
        low, high = (low, low + 1) if low == 0 else (low - abs(low) / 2, high + abs(high) / 2)
    margin = room * (high - low)
    return Axis(low if zero and low == 0 else low - margin, high if zero and high == 0 else high + margin)


def frame(
    x: Axis, y: Axis, x_label: str, y_label: str, width: int, height: int, *, share: tuple[bool, bool] = (False, False)
) -> tuple[Axis, Axis, list[Markup]]:
    """Axes with grid, ticks and labels; returns the placed axes. `share`: ticks as percentages."""
    left, right, top, bottom = 52.0, width - 14.0, 30.0, height - 46.0
    x, y = x.between(left, right), y.between(bottom, top)
    parts = []
    for value in y.ticks(5):
        parts.append(line(left, y(value), right, y(value), "grid"))
        parts.append(text(left - 8, y(value) + 4, tick(value, y, share[1]), class_="tick end"))
    for value in x.ticks(6 if width > NARROW else 4):
        parts.append(line(x(value), bottom, x(value), bottom + 5, "axis"))
        parts.append(text(x(value), bottom + 19, tick(value, x, share[0]), class_="tick middle"))
    parts.append(line(left, bottom, right, bottom, "axis"))
    parts.append(text((left + right) / 2, height - 8, shortened(x_label, right - left), class_="label middle"))
    parts.append(text(8, 16, shortened(y_label, width - 16), class_="label"))
    return x, y, parts


def tick(value: float, axis: Axis, share: bool) -> str:
    """A tick as people write it."""
    if axis.log:
        return f"{value:g}" if value >= 1e-4 else f"{value:.0e}"
    if share:
        return f"{100 * value:g} %"
    return (
        short(value) if abs(value) < 1e5 else f"{value:.1e}".replace(".0e", "e").replace("e+0", "e").replace("e+", "e")
    )
