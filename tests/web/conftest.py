"""A server that the tests of a file share: each starts it once."""

from pathlib import Path

import pytest

from tests.web.served import Served

TABLES = Path(__file__).parents[1] / "golden" / "format2"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server with a session, two finished runs of the command line, and a data directory."""
    folder = tmp_path_factory.mktemp("page")
    runs, data = folder / "runs", folder / "data"
    data.mkdir()
    for name in ("real", "synthetic", "holdout"):
        (data / f"{name}.csv").write_bytes((TABLES / f"{name}.csv").read_bytes())
    server = Served(runs, (f"--data={data}", "--upload-limit=1MB")).start()
    server.enter()
    yield server
    server.end()
