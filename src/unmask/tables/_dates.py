"""Dates as texts and back, the same under pandas 2 and 3."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd

# pandas 2 reads texts into nanoseconds, which reach from 1677 to 2262 only, and writes the year 999 without its leading
# zero. Whatever asks for this constant can go when pandas 2 does.
PANDAS_2 = pd.__version__.startswith("2.")


def dates_of_texts(texts: tuple[str, ...], layout: str) -> np.ndarray:
    """The date of each text that is written in exactly this layout; NaT for the others."""
    stamps = pd.to_datetime(pd.Series(texts, dtype=object), format=layout, errors="coerce")
    if PANDAS_2 and stamps.dt.tz is None:
        stamps = stamps.astype("datetime64[us]")
        unread = np.flatnonzero(stamps.isna())
        stamps.iloc[unread] = np.array([_far_date(texts[place], layout) for place in unread], dtype="datetime64[us]")
    exact = texts_of_dates(stamps, layout) == np.array(texts, dtype=object)
    return stamps.where(exact).to_numpy()


def texts_of_dates(stamps: pd.Series, layout: str) -> np.ndarray:
    """Each date written in this layout; NaN for none."""
    texts = stamps.dt.strftime(layout).to_numpy(dtype=object)
    if PANDAS_2:
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
