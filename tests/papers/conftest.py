"""What the paper tests share: the populations, and a place for their tables."""

import os
import time
from pathlib import Path

import pytest

from tests.papers.census import census
from tests.papers.texas import recoded, texas, widened


@pytest.fixture(scope="session")
def texans(data):
    """Texas under the authors' schema."""
    return texas(data)


@pytest.fixture(scope="session")
def texans_widened(texans):
    """Texas with public ranges that are widened to round limits."""
    return recoded(texans, widened(texans.schema))


@pytest.fixture(scope="session")
def britons(data):
    """The 2011 census of England and Wales."""
    return census(data)


@pytest.fixture
def keep(request, tmp_path):
    """Writes a table of results to the folder PAPER_RESULTS, with the CPU time of this process (workers not counted)."""
    folder = Path(os.environ.get("PAPER_RESULTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    start = time.process_time()

    def write(frame, name=request.node.name):
        text = frame.round(3).to_string()
        (folder / f"{name}.txt").write_text(f"{text}\nCPU {time.process_time() - start:.0f} s\n", encoding="utf-8")

    return write
