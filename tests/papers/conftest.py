"""What the paper tests share: the populations, and what the experiments found."""

import pytest

from tests.papers.experiment import Terms
from tests.papers.groundhog.texas import recoded, texas, widened
from tests.papers.tapas.census import census


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


@pytest.fixture(scope="session")
def found(data):
    """What an experiment finds in full, with seed 1: kept by `make papers`, or run now."""
    return lambda experiment: experiment.outcome(Terms(data))
