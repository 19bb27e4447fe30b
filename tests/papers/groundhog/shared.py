"""What Groundhog's experiments share: feature sets, mechanisms and their names, and charts of privacy gain by person."""

from collections.abc import Sequence

import pandas as pd

from tests.papers.drawing import Limit, Panel, marks_chart
from unmask.reports.charts import Chart
from unmask.reports.charts.svg import Axis, Words

FEATURES = ("naive", "histogram", "correlation")
SANITISER = "sanitiser:k=10,rare=2,cap=0.99"  # the authors' run configuration; the paper's text caps at 95 %
PRIVATE = ("privbayes:epsilon=10", "privbayes:epsilon=1", "privbayes:epsilon=0.1")
MECHANISMS = (SANITISER, "bayesnet", *PRIVATE)  # of figures 4, 6, 11, 15
GAIN = "privacy gain"
NAMES = {
    SANITISER: "sanitiser",
    "privbayes:epsilon=10": "privbayes 10",
    "privbayes:epsilon=1": "privbayes 1",
    "privbayes:epsilon=0.1": "privbayes .1",
}


def name_of(generator: str) -> str:
    """A mechanism as the head of a column."""
    return NAMES.get(generator, generator)


def gains(found: pd.DataFrame, rows: Sequence[int], columns: Sequence[str], by: str, value: str = GAIN) -> pd.DataFrame:
    """A line per person and a column per mechanism (or whatever it is by); what is not there is NaN."""
    wide = found.pivot(index="row", columns=by, values=value).reindex(index=rows, columns=columns)
    return wide.rename(columns=name_of)


def named(frame: pd.DataFrame, **before: str) -> pd.DataFrame:
    """A frame whose index is shown as the column `row`, after columns with one text each."""
    shown = frame.rename_axis("row").reset_index().astype({"row": str})
    for place, (head, text) in enumerate(before.items()):
        shown.insert(place, head.replace("_", " "), text)
    return shown


def panel_of(title: str, frame: pd.DataFrame, *, alike: bool = False) -> Panel:
    """A panel with the columns of a frame and a mark per line."""
    values = tuple(tuple(None if v != v else float(v) for v in row) for row in frame.to_numpy(float))
    return Panel(title, tuple(str(column) for column in frame.columns), values, alike)


def gain_chart(
    words: Words, panels: Sequence[Panel], people: Sequence[object], *, limit: Limit | None = None, low: float = -0.1
) -> Chart:
    """Privacy gain by person: 1 is all that could be gained, 0 as if the real table were published."""
    return marks_chart(words, panels, [str(each) for each in people], y_label=GAIN, limit=limit, y=Axis(low, 1.25))
