"""The short form of `make fuzz`."""

import os
import time
import warnings

import pytest

from tests.fuzz import odd
from tests.fuzz.play import ALLOWED, Hung, Tally, environment, patience, play

FEW, MANY = 60, 500


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    before = dict(os.environ)
    environment()
    yield
    os.environ.clear()
    os.environ.update(before)


def played(seed, count):
    tally = Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(count):
            play(seed, number, tally)
    return tally


def test_a_few_random_cases():
    tally = played(20, FEW)
    assert not tally.failures, "\n".join(tally.failures)


@pytest.mark.calibration
def test_many_random_cases():
    tally = played(21, MANY)
    assert not tally.failures, "\n".join(tally.failures)
    assert set(tally.codes) <= set(ALLOWED)
    assert tally.codes[0] > MANY / 10, "cases that go through"
    assert len(tally.kinds) == 9
    assert tally.compared > MANY / 20


def test_the_watchdog_barks():
    with pytest.raises(Hung), patience(0.2):
        time.sleep(20)


def test_what_goes_wrong_is_seen(monkeypatch):
    """The instrument itself: a traceback, exit 70, a control character, a changed value."""
    import unmask
    from unmask.cli import main

    def failures(answer):
        monkeypatch.setattr(main, "answer", answer)
        return played(1, 3).failures

    def shout(_):
        os.sys.stderr.write("\x1b[31m")
        return 0

    assert "exit code 70" in failures(lambda _: 70)[0]
    assert "control character" in failures(shout)[0]
    monkeypatch.setattr(main, "answer", lambda _: 0)
    real = unmask.write_csv
    monkeypatch.setattr(unmask, "write_csv", lambda table, path: real(table.take(range(len(table))[::-1]), path))
    changed = played(1, 40).failures
    assert any("became" in failure or "another one" in failure for failure in changed)


def test_changes_are_repeatable():
    import random

    plain = {"a": [1, {"b": "x"}], "c": None}
    assert [repr(odd.changed(plain, random.Random(k), 3)) for k in range(50)] == [
        repr(odd.changed(plain, random.Random(k), 3)) for k in range(50)
    ]
    assert plain == {"a": [1, {"b": "x"}], "c": None}
