"""How the server is started, and when it is not."""

import os
import sys

import pytest

from unmask.cli.main import answer
from unmask.web.corrected import corrections_of, shown_columns
from unmask.web.forms import verb_forms
from unmask.web.settings import Settings


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host=0.0.0.0"], "--public-address"),
        (["--host=192.168.0.7"], "SSH tunnel"),
        (["--host=0.0.0.0", "--public-address=audit.example"], "https://NAME"),
        (["--public-address=https://a.example/x?y"], "https://NAME"),
        (["--data=nowhere"], "no such directory"),
        (["--upload-limit=much"], "no size"),
        (["--upload-limit=0"], "no size"),
        (["--at-once=0"], "at-once"),
        (["--port=99999"], "port"),
    ],
)
def test_what_cannot_be_served_is_told(tmp_path, capsys, words, told):
    assert answer(["serve", str(tmp_path / "runs"), "--no-browser", *words]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_without_the_extra_it_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert answer(["serve", str(tmp_path / "runs"), "--no-browser"]) == 2
    assert "pip install 'unmask[web]'" in capsys.readouterr().err


def test_runs_must_be_a_folder_of_runs(tmp_path, capsys):
    (tmp_path / "result.json").write_text("{}")
    assert answer(["serve", str(tmp_path), "--no-browser"]) == 2
    assert "run directory itself" in capsys.readouterr().err


def test_a_folder_of_somebody_else_is_not_used(tmp_path, capsys):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "runs").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "runs" / ".unmask-page")
    assert answer(["serve", str(tmp_path / "runs"), "--no-browser"]) == 2
    assert "not a folder of yours" in capsys.readouterr().err
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_hosts_and_origins_are_those_of_the_address(tmp_path):
    plain = Settings(tmp_path, port=7)
    assert plain.origins == {"http://127.0.0.1:7", "http://[::1]:7", "http://localhost:7"}
    public = Settings(tmp_path, port=7, host="0.0.0.0", public="https://audit.example")
    assert public.hosts == {"audit.example"}
    assert public.is_secret
    assert not plain.is_secret


def test_every_audit_has_a_form():
    """From the plans: a new audit has one without a line about it."""
    forms = verb_forms()
    assert {"audit", "attack", "everyone", "epsilon", "compare", "reconstruct", "utility", "demo"} <= set(forms)
    assert [each.name for each in forms["audit"].files] == ["real", "synthetic", "holdout", "schema"]
    assert forms["compare"].folders == {"releases"}
    assert "policy" not in [each.name for each in forms["audit"].fields]  # it would name a file
    assert forms["attack"].takes_trust


COLUMNS = [
    {"name": "id", "kind": "", "role": "identifier"},
    {"name": "age", "kind": "integer", "role": "key"},
    {"name": "income", "kind": "categorical", "role": ""},
]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, {}),
        ({"role-1": ["key"], "kind-1": ["integer"], "role-0": ["identifier"], "kind-0": [""]}, {}),
        ({"role-2": ["secret"]}, {"keys": ["age"], "secrets": ["income"], "identifiers": ["id"]}),
        ({"role-0": [""]}, {"keys": ["age"], "secrets": [], "identifiers": [], "kinds": {"id": "categorical"}}),
        ({"role-0": ["person"]}, {"keys": ["age"], "secrets": [], "identifiers": [], "person": "id"}),
        (
            {"kind-1": ["continuous"], "range-1": ["0..120"]},
            {"kinds": {"age": "continuous"}, "ranges": {"age": ["0", "120"]}},
        ),
        (
            {"values-2": ["low\r\n\r\nhigh "], "public-domains": ["yes"]},
            {"values": {"income": ["low", "high"]}, "public": True},
        ),
        ({"role-1": ["nonsense"], "kind-2": ["nonsense"], "role-99": ["key"]}, {}),
    ],
)
def test_a_form_becomes_corrections(given, wanted):
    assert corrections_of({"columns": COLUMNS}, given) == wanted


def test_what_was_typed_stands_in_the_form_again():
    found = {"columns": [{**COLUMNS[1], "role": ""}]}
    shown = shown_columns({"columns": COLUMNS}, found, {"role-2": ["secret"], "range-1": ["0..120"]})
    assert [each["role"] for each in shown] == ["identifier", "", "secret"]
    assert shown[1]["range"] == "0..120"
    assert [each["place"] for each in shown] == [0, 1, 2]
