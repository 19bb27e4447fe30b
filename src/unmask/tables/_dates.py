"""Dates as texts and back, the same under pandas 2 and 3."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

SHAPE = re.compile(
    r"([0-9]{1,4})([-/.])([0-9]{1,2})\2([0-9]{1,4})(?:([ T])([0-9]{1,2}):[0-9]{2}(:[0-9]{2})?(\.[0-9]{6})?)?"
)
ISO = "%Y-%m-%d"
UNPADDED = "%-"  # a layout such as %-d/%-m/%Y writes 1/2/2020, on every platform
CUT = "\x01"


@cache
def is_pandas_2() -> bool:
    """Whether pandas reads texts into nanoseconds, which reach from 1677 to 2262 only, and writes the year 999 without its
    leading zero. Whatever asks for this can go when pandas 2 does."""
    import pandas as pd

    return pd.__version__.startswith("2.")


def layouts_of(texts: Sequence[str]) -> tuple[str, ...]:
    """The layouts in which every text is a date: day first, then month first; with %y if years have two digits."""
    found = []
    for text in texts:
        if (match := SHAPE.fullmatch(text)) is None:
            return ()
        found.append(match.groups(""))
    if not found or len({_outline(groups) for groups in found}) > 1:
        return ()
    first, mark, _, last, between, hour, seconds, parts = found[0]
    year_first = len(first) > 2
    days = [(groups[2], groups[3]) if year_first else (groups[0], groups[2]) for groups in found]
    day, month = ("%-d", "%-m") if any(len(part) == 1 for pair in days for part in pair) else ("%d", "%m")
    orders = [["%Y", month, day]] if year_first else [[day, month, "%Y" if len(last) == 4 else "%y"]]
    if not year_first and mark != ".":
        orders.append([month, day, orders[0][2]])
    hours = "%-H" if any(len(groups[5]) == 1 for groups in found) else "%H"
    time = f"{between}{hours}:%M{':%S' if seconds else ''}{'.%f' if parts else ''}" if hour else ""
    layouts = (mark.join(order) + time for order in orders)
    return tuple(layout for layout in layouts if not np.isnat(dates_of_texts(tuple(texts), layout)).any())


def _outline(groups: tuple[str, ...]) -> tuple[object, ...]:
    """What all texts of a layout have in common: how long the year is and where, the marks, the parts of the time."""
    first, mark, _, last, between, _, seconds, parts = groups
    return len(first) > 2 and len(first), mark, len(last) > 2 and len(last), between, bool(seconds), bool(parts)


def dates_of_texts(texts: tuple[str, ...], layout: str) -> np.ndarray:
    """The date of each text that is written in exactly this layout; NaT for the others."""
    import pandas as pd

    padded = layout.replace(UNPADDED, "%")
    stamps = pd.to_datetime(pd.Series(texts, dtype=object), format=padded, errors="coerce")
    if is_pandas_2() and stamps.dt.tz is None:
        stamps = stamps.astype("datetime64[us]")
        unread = np.flatnonzero(stamps.isna())
        stamps.iloc[unread] = np.array([_far_date(texts[place], padded) for place in unread], dtype="datetime64[us]")
    exact = texts_of_dates(stamps, layout) == np.array(texts, dtype=object)
    if padded != layout:  # 01/02/2020 is the same date
        exact |= texts_of_dates(stamps, padded) == np.array(texts, dtype=object)
    return stamps.where(exact).to_numpy()


def texts_of_dates(stamps: pd.Series, layout: str) -> np.ndarray:
    """Each date written in this layout; NaN for none."""
    if UNPADDED in layout:
        texts = texts_of_dates(stamps, layout.replace(UNPADDED, CUT + "%"))
        return np.array(
            [re.sub(f"{CUT}0?", "", text) if isinstance(text, str) else text for text in texts], dtype=object
        )
    texts = stamps.dt.strftime(layout).to_numpy(dtype=object)
    if is_pandas_2():
        for place in np.flatnonzero(stamps.dt.year < 1000):
            year = f"{stamps.iloc[place].year:04}"
            texts[place] = stamps.iloc[place].strftime(layout.replace("%Y", year))
    return texts


def _far_date(text: str, layout: str) -> datetime.datetime | None:
    """A text that pandas 2 could not read: a date beyond its reach, or none."""
    try:
        return datetime.datetime.strptime(text, layout)
    except ValueError:
        return None
