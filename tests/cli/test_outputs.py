"""Nothing is overwritten by accident: inputs never, files of another kind with --force only, links and devices as they are."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from unmask.cli import main
from unmask.cli.main import app
from unmask.errors import ParameterError, RunError
from unmask.files import write_atomically

UNMASK = Path(sys.executable).with_name("unmask")


@pytest.fixture
def data(tmp_path, monkeypatch):
    frame = pd.DataFrame({"a": [k % 7 for k in range(30)], "b": [k % 5 for k in range(30)]})
    frame[:20].to_csv(tmp_path / "real.csv", index=False)
    frame[10:].to_csv(tmp_path / "synthetic.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments):
    answer = CliRunner().invoke(app, [*map(str, arguments)])
    if answer.exception and not isinstance(answer.exception, SystemExit):
        raise answer.exception
    return answer


SAME = ("real.csv", "./real.csv", "../{here}/real.csv", "link.csv", "hard.csv")


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("verb", ["schema", "synthesize", "filter", "plan", "export-scores"])
def test_an_input_is_never_replaced(data, verb, name):
    os.symlink("real.csv", "link.csv")
    os.link("real.csv", "hard.csv")
    name = name.format(here=data.name)
    before = (data / "real.csv").read_bytes()
    command = {
        "schema": ["schema", "real.csv", "-o", name],
        "synthesize": ["synthesize", "real.csv", "--generator", "random", "-o", name],
        "filter": ["filter", "synthetic.csv", "real.csv", "--filter", "similarity", "-o", name],
        "plan": ["everyone", "real.csv", "--generator", "random", "--write-plan", name],
        "export-scores": ["everyone", "real.csv", "--generator", "random", "--runs", "4", "--export-scores", name],
    }[verb]
    for force in ([], ["--force"]):
        with pytest.raises(ParameterError, match="this is what is read"):
            call(*command, *force)
    assert (data / "real.csv").read_bytes() == before
    assert Path("link.csv").is_symlink()


def test_inputs_of_other_options_are_not_replaced_either(data):
    call("schema", "real.csv", "-o", "schema.json")
    with pytest.raises(ParameterError, match="this is what is read"):
        call(
            "synthesize", "real.csv", "--schema", "schema.json", "--generator", "random", "-o", "schema.json", "--force"
        )
    Path("policy.toml").write_text("high = 0.2\n")
    with pytest.raises(ParameterError, match="this is what is read"):
        call("audit", "real.csv", "synthetic.csv", "--policy", "policy.toml", "--write-plan", "policy.toml", "--force")
    call("describe", "real.csv", "--out", "run")
    with pytest.raises(ParameterError, match="this is what is read"):
        call("report", "run", "-o", "run/result.json", "--force")
    with pytest.raises(ParameterError, match="this is what is read"):
        call("describe", "run/records.csv", "--out", "run")


@pytest.mark.parametrize(
    ("command", "name", "content"),
    [
        (["schema", "real.csv", "-o"], "package.json", '{"name": "x"}'),
        (["schema", "real.csv", "-o"], "thesis.txt", "years of work"),
        (["synthesize", "real.csv", "--generator", "random", "-o"], "script.py", "import os\nprint(1, 2)\n"),
        (["synthesize", "real.csv", "--generator", "random", "-o"], "notes.json", "{}"),
        (["synthesize", "real.csv", "--generator", "random", "-o"], "picture.csv", "\x00\x01"),
        (["describe", "real.csv", "--write-plan"], "pyproject.toml", "[project]\n"),
        (["audit", "real.csv", "synthetic.csv", "--write-plan"], "notes.md", "# Notes\n"),
        (
            ["everyone", "real.csv", "--generator", "random", "--runs", "8", "--fail-on", "none", "--export-scores"],
            "x.npz",
            "text",
        ),
    ],
)
def test_a_file_of_another_kind_needs_force(data, command, name, content):
    Path(name).write_text(content)
    with pytest.raises(ParameterError, match="--force"):
        call(*command, name)
    assert Path(name).read_text() == content
    assert call(*command, name, "--force").exit_code == 0
    assert Path(name).read_bytes() != content.encode()
    assert call(*command, name).exit_code == 0, "its own kind is replaced without a question"


def test_a_page_and_the_files_of_a_run(data):
    call("describe", "real.csv", "--out", "run")
    Path("letter.html").write_text("Dear all")
    with pytest.raises(ParameterError, match="not a page"):
        call("report", "run", "-o", "letter.html")
    Path("run/report.html").write_text("my own")
    with pytest.raises(ParameterError, match="not a page"):
        call("report", "run")
    call("report", "run", "--force")
    Path("comparison.html").write_text("my own")
    with pytest.raises(ParameterError, match="not a page"):
        call("report", "run", "run")
    Path("home").mkdir()
    Path("home/summary.md").write_text("my own")
    with pytest.raises(ParameterError, match=r"holds summary\.md, but no result"):
        call("describe", "real.csv", "--out", "home")
    assert Path("home/summary.md").read_text() == "my own"
    assert call("describe", "real.csv", "--out", "home", "--force").exit_code == 0


def test_two_outputs_are_two_files(data):
    with pytest.raises(ParameterError, match="the same file"):
        call("everyone", "real.csv", "--generator", "random", "--export-scores", "x", "--write-plan", "./x")


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "target.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("target.txt")
    (tmp_path / "new.txt").symlink_to("not-there-yet.txt")
    for name in ("link.txt", "new.txt"):
        write_atomically(tmp_path / name, "new")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / name).read_text() == "new"
    assert (tmp_path / "target.txt").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "link.txt",
        "new.txt",
        "not-there-yet.txt",
        "target.txt",
    ]


def test_a_pipe_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_atomically(tmp_path / "pipe", "through")
    reader.join(10)
    assert found == ["through"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_standard_output_is_written_to_and_appended_to(data):
    command = [str(UNMASK), "synthesize", "real.csv", "--generator", "random", "--quiet", "-o", "/dev/stdout"]
    piped = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert piped.returncode == 0, piped.stderr
    assert piped.stdout.startswith("a,b\n")
    Path("log.csv").write_text("kept\n")
    with open("log.csv", "a") as log:
        assert subprocess.run(command, stdout=log, timeout=120).returncode == 0
    assert Path("log.csv").read_text() == "kept\n" + piped.stdout
    write_atomically(Path("/dev/null"), "nothing")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_long_names_and_rights_are_kept(tmp_path):
    path = tmp_path / ("x" * 250)
    write_atomically(path, "old")
    path.chmod(0o640)
    write_atomically(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    with pytest.raises(RunError, match="cannot be written"):
        write_atomically(tmp_path / ("x" * 5000), "new")
    with pytest.raises(RunError, match="cannot be written"):
        write_atomically(tmp_path / "a\0b", "new")


def test_what_concerns_single_people_is_for_their_owner_only(data):
    old = os.umask(0)
    try:
        call(
            "everyone",
            "real.csv",
            "--generator",
            "random",
            "--runs",
            "8",
            "--fail-on",
            "none",
            "--out",
            "run",
            "--export-scores",
            "s.npz",
        )
        call("pool", "export", "real.csv", "--out", "pool", "--runs", "8")
    finally:
        os.umask(old)
    private = [Path("run/records.csv"), Path("s.npz"), *Path("run/draws").iterdir(), *Path("pool/private").iterdir()]
    assert len(private) > 12
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}
    assert {stat.S_IMODE(Path(name).stat().st_mode) for name in ("run/draws", "pool/private")} == {0o700}
    assert stat.S_IMODE(Path("run/result.json").stat().st_mode) == 0o666


def test_exit_code_2(data, capsys):
    assert main.answer(["schema", "real.csv", "-o", "real.csv"]) == 2
    assert "this is what is read (real.csv)" in capsys.readouterr().err
