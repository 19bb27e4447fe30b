"""What is taken from the queue on disk: only what a form of this page could have put there."""

import json
import math

import pytest

from tests.web.conftest import TABLES
from tests.web.served import until
from unmask.errors import InputError
from unmask.web import server
from unmask.web.jobs import Jobs, PageJob, _read
from unmask.web.pages.runs import _check_deletable
from unmask.web.settings import Settings
from unmask.web.site import Site

ID = "0123456789abcdef"
SOUND = {"id": ID, "run": "x", "verb": "audit", "words": [], "queued": 1.5, "state": "waiting", "pid": 0, "began": ""}


@pytest.fixture
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    made = Settings(tmp_path / "runs", data=TABLES)
    made.prepare()
    return made


@pytest.mark.parametrize(
    "change",
    [
        {"id": "../../../x"}, {"id": "f" * 16}, {"queued": "1"}, {"queued": None}, {"queued": math.nan}, {"queued": True},
        {"cancelled": "0"}, {"cancelled": math.inf}, {"state": "paused"}, {"pid": -1}, {"pid": 1.5}, {"pid": True},
        {"began": 1}, {"words": [1]}, {"words": None}, {"draft": 1}, {"exit_code": "0"}, {"more": 1},
    ],
)  # fmt: skip
def test_a_strange_job_is_none(tmp_path, change):
    path = tmp_path / f"{ID}.json"
    path.write_text(json.dumps(SOUND))
    assert _read(path) is not None
    path.write_text(json.dumps(SOUND | change))
    assert _read(path) is None


@pytest.mark.parametrize(
    ("verb", "words", "ours"),
    [
        ("audit", ["{0}/real.csv", "{0}/synthetic.csv", "--holdout={0}/holdout.csv"], True),
        ("audit", ["{0}/real.csv", "{0}/synthetic.csv", "--plan={0}/real.csv", "--schema={0}/real.csv"], True),
        ("demo", [], True),
        ("report", ["{0}/real.csv"], False),
        ("serve", [], False),
        ("audit", ["real.csv", "{0}/synthetic.csv"], False),
        ("audit", ["/etc/passwd"], False),
        ("audit", ["{0}/real.csv", "--policy={0}/real.csv"], False),
        ("audit", ["{0}/real.csv", "--force"], False),
        ("audit", ["{0}/real.csv", "--out={0}"], False),
        ("audit", ["-o", "{0}/real.csv"], False),
        ("epsilon", ["--trust"], False),
        ("epsilon", ["{0}/real.csv", "--generator=raw"], False),
    ],
)
def test_only_the_words_of_a_form_are_run(settings, verb, words, ours):
    job = PageJob(ID, "x", verb, tuple(word.format(TABLES.resolve()) for word in words), 1.0)
    assert Jobs(settings)._is_ours(job) == ours


def test_the_thread_outlives_a_defect(settings, monkeypatch):
    jobs, looks = Jobs(settings), []

    def broken():
        looks.append(1)
        raise ZeroDivisionError

    monkeypatch.setattr(jobs, "look", broken)
    jobs.open()
    until(lambda: len(looks) > 2)
    jobs.close()


def test_a_parent_of_the_data_is_not_deleted(settings):
    data = settings.runs / "study" / "data"
    data.mkdir(parents=True)
    (settings.runs / "study" / "result.json").write_text("{}")
    site = Site(Settings(settings.runs, data=data))
    with pytest.raises(InputError, match="holds the data"):
        _check_deletable(site, "study", settings.runs / "study")


def test_the_address_of_an_earlier_server_is_gone_at_once(settings, monkeypatch):
    (settings.own / server.RUNNING).write_text('{"host": "127.0.0.1", "port": 1, "public": ""}')
    seen = []

    def listening(told):
        seen.append((told.own / server.RUNNING).exists())
        raise InputError("no port")

    monkeypatch.setattr(server, "_listening", listening)
    with pytest.raises(InputError, match="no port"):
        server.serve(settings, print, print)
    assert seen == [False]
