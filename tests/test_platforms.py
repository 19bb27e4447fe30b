"""What other systems lack is not called there. No such machine is at hand: what is missing on them is taken away here."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from unmask import files, threads
from unmask.files import make_folder, write_atomically
from unmask.generators.adapters import command
from unmask.tables.read import read_table, write_csv

SOURCE = Path(__file__).parents[1] / "src" / "unmask"
FILES = sorted(SOURCE.rglob("*.py"))
POSIX_ONLY = (
    "killpg",
    "sched_getaffinity",
    "geteuid",
    "fork",
    "mkfifo",
    "setsid",
    "getuid",
    "SIGKILL",
    "SIGALRM",
    "SIGHUP",
)


class Lacking:
    """A module without some of its names: what another system has of it."""

    def __init__(self, module, *absent, **other):
        self.__dict__.update({name: value for name, value in vars(module).items() if name not in absent})
        self.__dict__.update(other)


WINDOWS = Lacking(os, "killpg", "sched_getaffinity", "geteuid", "chmod", "fork", "getuid", name="nt")


@pytest.fixture
def windows(monkeypatch):
    """The modules that care see a system without POSIX; os.name itself cannot be changed, since paths follow it."""
    for module in (command, files, threads):
        monkeypatch.setattr(module, "os", WINDOWS)


def test_posix_calls_are_asked_for_before_they_are_made():
    """`hasattr(os, "killpg")` stands in the same function as `os.killpg`."""
    for path in FILES:
        for function in [
            node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
        ]:
            text = ast.unparse(function)
            for name in POSIX_ONLY:
                if re.search(rf"\b(os|signal)\.{name}\b", text):
                    assert f"hasattr(os, '{name}')" in text or "hasattr(os, 'killpg')" in text, (
                        f"{path}: {function.name}: {name}"
                    )
        guarded = re.sub(
            r"try:\n\s+import (fcntl|resource)\n\s+except ImportError:", "", path.read_text(encoding="utf-8")
        )
        assert "import fcntl" not in guarded, path
        assert "import resource" not in guarded, path


def test_every_text_file_has_an_encoding():
    calls = re.compile(
        r"\.(read_text|write_text)\(([^()]*)\)|\bopen\((?![^)]*[\"'][rwax]b)([^()]+)\)|\.decode\(\)|text=True"
    )
    for path in FILES:
        for line in path.read_text(encoding="utf-8").splitlines():
            if "zipfile" in line or "gzip.open" in line or "os.open" in line or "webbrowser" in line:
                continue
            if found := calls.search(line):
                assert "encoding" in line or "base64" in line or "def " in line or "read_text(path" in line, (
                    f"{path}: {found[0]}"
                )


def test_a_program_is_ended_with_its_tree_where_there_are_no_groups(windows, monkeypatch):
    asked = []
    real_run = subprocess.run

    def run(words, **more):
        asked.append(words)
        return real_run([sys.executable, "-c", ""], **more)

    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    monkeypatch.setattr(command.subprocess, "run", run)
    command._end_tree(process)
    assert asked == [["taskkill", "/T", "/F", "/PID", str(process.pid)]]
    assert process.poll() is not None
    command._end_tree(process)
    assert len(asked) == 1, "what has ended is not ended again: its number may be another's"


def test_a_program_is_started_apart_on_posix():
    assert command._apart() == {"start_new_session": True}
    assert command._words(r"./synth a\ b {train}") == ["./synth", "a b", "{train}"]


def test_a_program_is_started_apart_on_windows_and_keeps_its_backslashes(windows, monkeypatch):
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 512, raising=False)
    assert command._apart() == {"creationflags": 512}
    text = r"""C:\tools\synth.exe "C:\my data\x.txt" {train} {out} 'a b'"""
    assert command._words(text) == [r"C:\tools\synth.exe", r"C:\my data\x.txt", "{train}", "{out}", "a b"]


def test_files_are_written_without_rights_where_there_are_none(windows, tmp_path):
    write_atomically(tmp_path / "x.txt", "text", private=True)
    write_atomically(tmp_path / "x.txt", "again\n")
    make_folder(tmp_path / "new")
    assert (tmp_path / "x.txt").read_bytes() == b"again\n"
    assert (tmp_path / "new").is_dir()


def test_all_cores_where_affinity_is_not_known(windows, monkeypatch):
    monkeypatch.delenv("UNMASK_WORKERS", raising=False)
    assert threads.all_cores() == os.cpu_count()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system_are_the_same_table(tmp_path, end):
    rows = ["a,b", "1,x", "2,y", '3,"é"']
    (tmp_path / "real.csv").write_bytes(end.join(rows).encode() + end.encode())
    table = read_table(tmp_path / "real.csv")
    assert table.to_pandas()["b"].tolist() == ["x", "y", "é"]
    write_csv(table, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == "a,b\n1,x\n2,y\n3,é\n".encode()


def test_files_and_pipes_get_utf_8_whatever_the_system_speaks(tmp_path):
    """A schema that is redirected into a file on a system with another code page can be read again."""
    pd.DataFrame({"stadt": ["Köln", "Łódź", "東京"] * 4, "n": np.arange(12) % 3}).to_csv(
        tmp_path / "real.csv", index=False
    )
    code = (
        "import sys; sys.stdout.reconfigure(encoding='cp1252'); sys.argv = ['unmask', 'schema', 'real.csv']; "
        "from unmask.cli import main; main.run()"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=tmp_path, timeout=120)
    assert answer.returncode == 0, answer.stderr
    assert "東京" in answer.stdout.decode("utf-8")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    answer = subprocess.run(
        [sys.executable, "-m", "unmask", "describe", "real.csv"],
        capture_output=True,
        cwd=tmp_path,
        timeout=120,
        env=ascii_only,
    )
    assert answer.returncode == 0, answer.stderr
