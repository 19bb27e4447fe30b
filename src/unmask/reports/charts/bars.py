"""Charts with bars: histograms of scores, and the strip of everybody's risk."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from unmask.reports.charts.lines import finite, label, legend_of, numbers_of, stairs, style
from unmask.reports.charts.svg import Axis, Chart, Words, around, chart, frame, path, tag
from unmask.reports.words import frequency, number
from unmask.results.grid import Grid, Series

STRIP = 100  # bars of the strip: one per hundredth of the people


def histogram_chart(name: str, title: str, series: Sequence[Series], *, about: str = "") -> Chart:
    """Outlines over one another, so that members and controls can be compared; x holds the left edges of the bins."""
    series, edges = [finite(one) for one in series], [_edges(finite(one)) for one in series]
    x = around((value for one in edges for value in one), room=0)
    y = around((value for one in series for value in one.y), zero=True)

    def draw(width: int) -> tuple[int, list[Markup]]:
        height = 300
        across, up, parts = frame(x, y, series[0].x_label, series[0].y_label, width, height)
        for place, (one, bounds) in enumerate(zip(series, edges, strict=True)):
            heights = one.y[: len(bounds) - 1]
            points = [
                (across(a), up(b)) for a, b in zip(bounds, (*heights, heights[-1] if heights else 0.0), strict=True)
            ]
            outline = [(across(bounds[0]), up(0)), *stairs(points), (across(bounds[-1]), up(0))]
            parts.append(path(outline, f"area area-{place % 2 + 1}", closed=True))
            parts.append(path(outline, style(place)))
        return height, parts

    tops = ", ".join(f"{label(one)} at {number(one.x[one.y.index(max(one.y))])}" for one in series if one.y)
    described = f"{about} Highest bins: {tops}.".strip()
    return chart(Words(name, title, described), draw, numbers_of(series), legend_of(series))


def scores_chart(name: str, title: str, series: Sequence[Series]) -> Chart:
    """Scores of people in the data beside those of others."""
    return histogram_chart(
        name,
        title,
        series,
        about="A higher score means more likely in the data. Bins of fewer than ten are joined with their neighbours, and the "
        "outer ones hold all beyond.",
    )


def _edges(series: Series) -> tuple[float, ...]:
    """Left edges and the end of the last bin: where a last point has height 0, else as wide as the one before it."""
    if not series.x:
        return (0.0,)
    if len(series.x) > 1 and series.y[-1] == 0:
        return series.x
    last = series.x[-1] - series.x[-2] if len(series.x) > 1 else 1.0
    return (*series.x, series.x[-1] + last)


def risk_chart(name: str, title: str, series: Series, *, tolerance: float | None = None) -> Chart:
    """Everybody's risk in order, as hundredths of the people: quantiles, never a person."""
    risks = sorted(finite(series).y)
    bars = (
        [risks[min(len(risks) - 1, int((place + 0.5) / STRIP * len(risks)))] for place in range(STRIP)] if risks else []
    )
    x, y = Axis(0.0, 1.0), around((*bars, *risks[-1:]), zero=True)

    def draw(width: int) -> tuple[int, list[Markup]]:
        height = 220
        across, up, parts = frame(
            x, y, "people, from least to most exposed", series.y_label, width, height, share=(True, False)
        )
        step = (across.end - across.start) / STRIP
        for place, risk in enumerate(bars):
            over = " over" if tolerance is not None and risk >= tolerance else ""
            top, zero = min(up(risk), up(0)), max(up(risk), up(0))
            parts.append(
                tag("rect", x=across.start + place * step, y=top, width=max(step - 0.6, 0.6), height=max(zero - top, 0.8),
                    class_=f"bar{over}")
            )  # fmt: skip
        return height, parts

    shares = (0.01, 0.05, 0.10, 0.25, 0.50)
    rows = tuple((frequency(share), float(f"{_at_least(risks, share):.4g}")) for share in shares) if risks else ()
    described = f"For the most exposed {rows[2][0]}: {series.y_label} of at least {number(rows[2][1])}." if rows else ""
    numbers = Grid("numbers", "Quantiles", ("most exposed", f"{series.y_label}, at least"), rows)
    return chart(Words(name, title, described), draw, numbers)


def _at_least(risks: Sequence[float], share: float) -> float:
    """The risk that a share of the people has at least."""
    return risks[min(len(risks) - 1, int((1 - share) * len(risks)))]
