"""What tests share: random streams, small tables, and where the larger data sets are."""

import os

# Tests run side by side: one process each, unless a test asks for more. Before unmask is imported.
os.environ.setdefault("UNMASK_WORKERS", "1")

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings

from unmask import kept
from unmask.tables.table import Table

# The same examples in every run, so that a red run means a changed program; explore with --hypothesis-profile=explore.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile("repeatable")

DATA = Path(os.environ.get("UNMASK_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20261115)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of data sets that are not bundled; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip("set UNMASK_DATA to the folder with the data sets (see docs/how-to/data.md)")
    return DATA


@pytest.fixture
def caches(tmp_path, monkeypatch) -> Iterator[Path]:
    """A place for what is kept from run to run that nobody has used."""
    place = tmp_path / "caches"
    place.mkdir()
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    monkeypatch.setattr(kept.sys, "platform", "linux")
    kept.kept_folder.cache_clear()
    yield place
    kept.kept_folder.cache_clear()


@pytest.fixture
def people() -> Table:
    """Two hundred made-up people with every kind of column and some missing values."""
    rng = np.random.default_rng(7)
    rows = 200
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], rows),
            "region": rng.choice(["north", "south", "east", None], rows, p=[0.5, 0.3, 0.1, 0.1]),
            "age": rng.integers(18, 90, rows),
            "income": np.where(rng.random(rows) < 0.1, np.nan, rng.lognormal(10, 1, rows).round(2)),
            "joined": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, rows), unit="D"),
            "smoker": rng.random(rows) < 0.2,
        }
    )
    return Table.from_pandas(frame)
