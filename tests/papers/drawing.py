"""Charts in the style of the report as files of their own, and the two that only papers need: marks by column, and pictures."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

import unmask.reports
from unmask.reports.charts import Chart
from unmask.reports.charts.heat import SHADES
from unmask.reports.charts.svg import WIDE, Axis, Words, around, chart, line, shortened, tag, text, tick
from unmask.reports.charts.tradeoff import mark
from unmask.reports.tables import sample

STYLE = Path(unmask.reports.__file__).parent / "templates" / "style.css"
FONT = 'svg { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif; }'
ALIKE = 8  # a place beyond the colours, whose mark is a circle
LEFT, GAP = 12.0, 18.0  # edge; between entries of a legend
LETTER, CAPITAL = 6.9, 9.2  # widths in 13 px


@dataclass(frozen=True)
class Panel:
    """Columns side by side, each with a value for every mark (None: not measured)."""

    title: str
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]  # by mark, then by column
    alike: bool = False  # grey circles: people who are not told apart


@dataclass(frozen=True)
class Limit:
    """A dashed line with its meaning."""

    value: float
    label: str


def marks_chart(
    words: Words,
    panels: Sequence[Panel],
    marks: Sequence[str],
    *,
    y_label: str,
    limit: Limit | None = None,
    y: Axis | None = None,
) -> Chart:
    """Panels under one another on one scale: for each column a mark per person, as in the figures of the papers."""
    every = [v for panel in panels for line_ in panel.values for v in line_ if v is not None]
    scale = y or around([*every, *([limit.value] if limit else [])], zero=True)

    def draw(width: int) -> tuple[int, list[Markup]]:
        parts: list[Markup] = []
        height = 0.0
        for panel in panels:
            made, height = _panel(panel, scale, limit, y_label if panel is panels[0] else "", (width, height))
            parts += made
        return int(height), parts

    legend = [(f"point line-{place + 1}", name) for place, name in enumerate(marks)]
    legend += [("mark", limit.label)] if limit else []
    return chart(words, draw, None, legend)


def _panel(
    panel: Panel, scale: Axis, limit: Limit | None, y_label: str, where: tuple[int, float]
) -> tuple[list[Markup], float]:
    width, above = where
    top, bottom = above + 44.0, above + 224.0
    left, right = 52.0, width - 14.0
    up = scale.between(bottom, top)
    parts = [text(left, above + 34, panel.title, class_="label")]
    if y_label:
        parts.append(text(8, above + 14, y_label, class_="tick"))
    for value in up.ticks(5):
        parts.append(line(left, up(value), right, up(value), "grid"))
        parts.append(text(left - 8, up(value) + 4, tick(value, up, False), class_="tick end"))
    if limit is not None:
        parts.append(line(left, up(limit.value), right, up(limit.value), "mark"))
    room = (right - left) / len(panel.columns)
    for place, name in enumerate(panel.columns):
        middle = left + room * (place + 0.5)
        if place:
            parts.append(line(left + room * place, top, left + room * place, bottom + 5, "grid"))
        for row, words in enumerate(_broken(name, room - 6)):
            parts.append(text(middle, bottom + 17 + 15 * row, words, class_="tick middle"))
        apart = min(16.0, room / (len(panel.values) + 1))
        for number, values in enumerate(panel.values):
            if (value := values[place]) is not None and math.isfinite(value):
                x = middle + apart * (number - (len(panel.values) - 1) / 2)
                parts.append(mark(x, up(value), ALIKE if panel.alike else number))
    parts.append(line(left, bottom, right, bottom, "axis"))
    rows = max(len(_broken(name, room - 6)) for name in panel.columns)
    return parts, bottom + 17 + 15 * rows


def _broken(name: str, width: float) -> list[str]:
    """A name in lines that fit."""
    lines: list[str] = []
    for word in name.split():
        if lines and len(f"{lines[-1]} {word}") * 0.53 * 12 <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [shortened(each, width, size=12) for each in lines[:3]]


def pictures_chart(
    words: Words, lines: Sequence[tuple[str, Sequence[Sequence[int] | None]]], *, side: int, levels: int
) -> Chart:
    """Lines of small square pictures, each a list of pixels row by row; None is a gap."""
    pixel, apart, left = 4.5, 5.0, 172.0

    def draw(width: int) -> tuple[int, list[Markup]]:
        parts: list[Markup] = []
        room = side * pixel + apart
        many = int((width - left) // room)
        for number, (label, pictures) in enumerate(lines):
            top = 8 + number * (room + 4)
            parts.append(text(left - 8, top + side * pixel / 2 + 4, label, class_="tick end"))
            boxes: dict[int, list[str]] = {}
            for place, picture in enumerate(pictures[:many]):
                for at, level in enumerate(picture or ()):
                    x, y = left + place * room + at % side * pixel, top + at // side * pixel
                    shade = 1 + min(SHADES - 1, int(level) * SHADES // levels)
                    boxes.setdefault(shade, []).append(f"M{x:.1f} {y:.1f}h{pixel}v{pixel}h-{pixel}z")
            parts += [
                tag("path", d="".join(each), class_=f"heat heat-{shade}") for shade, each in sorted(boxes.items())
            ]
        return int(8 + len(lines) * (room + 4)), parts

    return chart(words, draw, None)


def alone(made: Chart) -> str:
    """A chart as a file: title, legend, drawing, with the colours and strokes of the report, dark ones included."""
    style = STYLE.read_text(encoding="utf-8")
    drawn = style[style.index("svg text {") :]
    rules = style[: style.index("* {")] + drawn[: drawn.index("\n\n")]
    inside = re.fullmatch(r'<svg viewBox="0 0 \d+ (\d+)".*?>(.*)</svg>', made.wide, re.DOTALL)
    if inside is None:
        raise ValueError(f"{made.name}: not a chart of the report")
    legend, below = _legend(made.legend)
    height = below + int(inside[1]) + 8
    return tag(
        "svg",
        tag("style", Markup(f"\n{FONT}\n{rules}\n.title {{ font-weight: 600; font-size: 15px; }}\n")),
        tag("rect", width=WIDE, height=height, style="fill: var(--paper)"),
        text(LEFT, 24, made.title, class_="title"),
        *legend,
        tag("g", Markup(inside[2]), transform=f"translate(0 {below})"),
        xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDE} {height}", role="img", width=WIDE, height=height,
    ) + "\n"  # fmt: skip


def _legend(entries: Sequence[tuple[str, str]]) -> tuple[list[Markup], int]:
    """The entries in as many lines as they need, and where the drawing begins."""
    parts: list[Markup] = []
    x, y = LEFT, 36
    for class_, label in entries:
        wide = 30 + sum(CAPITAL if letter.isupper() else LETTER for letter in label)
        if x > LEFT and x + wide > WIDE - LEFT:
            x, y = LEFT, y + 20
        parts.append(tag("g", _inner(sample(class_)), transform=f"translate({x:.0f} {y})"))
        parts.append(text(x + 28, y + 11, label))
        x += wide + GAP
    return parts, (y + 22 if entries else 32)


def _inner(drawn: Markup) -> Markup:
    """What is inside an svg element."""
    return Markup(drawn[drawn.index(">") + 1 : drawn.rindex("<")])
