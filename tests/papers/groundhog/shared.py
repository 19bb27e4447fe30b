"""What Groundhog's experiments share: targets, feature sets, the sanitiser, and charts of privacy gain by person."""

import pandas as pd

from tests.papers.drawing import Limit, Panel, marks_chart
from tests.papers.groundhog.texas import AUTHORS_TARGETS
from unmask.reports.charts import Chart
from unmask.reports.charts.svg import Axis, Words

EVERYBODY = f"{AUTHORS_TARGETS}+rare:5+random:5"  # named ones first: two of them are among the rarest five
FEATURES = ("naive", "histogram", "correlation")
SANITISER = "sanitiser:k=10,rare=2,cap=0.99"  # the authors' run configuration; the paper's text caps at 95 %
GAIN = "privacy gain"


def gain_chart(
    words: Words, panels: dict[str, pd.DataFrame], *, limit: Limit | None = None, low: float = -0.1
) -> Chart:
    """A panel per frame, a column per column, a mark per line of the index."""
    frames = list(panels.values())
    people = [str(each) for each in frames[0].index]
    drawn = [
        Panel(
            title,
            tuple(str(column) for column in frame.columns),
            tuple(tuple(None if v != v else float(v) for v in row) for row in frame.to_numpy(float)),
        )
        for title, frame in panels.items()
    ]
    return marks_chart(words, drawn, people, y_label="privacy gain", limit=limit, y=Axis(low, 1.2))
