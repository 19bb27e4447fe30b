"""The strip of everybody's risk."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from unmask.reports.charts.lines import finite
from unmask.reports.charts.svg import Axis, Chart, Words, around, chart, frame, tag
from unmask.reports.words import frequency, number
from unmask.results.grid import Grid, Series

STRIP = 100  # bars of the strip: one per hundredth of the people


def risk_chart(name: str, _about: str, series: Sequence[Series]) -> Chart:
    """Everybody's risk in order, as hundredths of the people: quantiles, never a person."""
    (one,) = series
    risks = sorted(finite(one).y)
    bars = (
        [risks[min(len(risks) - 1, int((place + 0.5) / STRIP * len(risks)))] for place in range(STRIP)] if risks else []
    )
    x, y = Axis(0.0, 1.0), around((*bars, *risks[-1:]), zero=True)

    def draw(width: int) -> tuple[int, list[Markup]]:
        height = 220
        across, up, parts = frame(
            x, y, "people, from least to most exposed", one.y_label, width, height, share=(True, False)
        )
        step = (across.end - across.start) / STRIP
        for place, risk in enumerate(bars):
            top, zero = min(up(risk), up(0)), max(up(risk), up(0))
            parts.append(
                tag("rect", x=across.start + place * step, y=top, width=max(step - 0.6, 0.6), height=max(zero - top, 0.8),
                    class_="bar")
            )  # fmt: skip
        return height, parts

    shares = (0.01, 0.05, 0.10, 0.25, 0.50)
    rows = tuple((frequency(share), float(f"{_at_least(risks, share):.4g}")) for share in shares) if risks else ()
    described = f"For the most exposed {rows[2][0]}: {one.y_label} of at least {number(rows[2][1])}." if rows else ""
    numbers = Grid("numbers", "Quantiles", ("most exposed", f"{one.y_label}, at least"), rows)
    return chart(Words(name, one.title, described), draw, numbers)


def _at_least(risks: Sequence[float], share: float) -> float:
    """The risk that a share of the people has at least."""
    return risks[min(len(risks) - 1, int((1 - share) * len(risks)))]
