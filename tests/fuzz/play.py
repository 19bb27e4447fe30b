"""Plays cases: in this process, with a watchdog, or in a process of its own as a user would; and says what went wrong."""

import contextlib
import csv
import faulthandler
import io
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.cases import Case, make
from unmask.cli import main
from unmask.errors import UnmaskError
from unmask.tables.schema import Column

PATIENCE = 300  # seconds that a case may take: machines are busy, and a hang lasts for ever
ALLOWED = (0, 1, 2, 4)
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Hung(BaseException):
    """A case that took too long; not an Exception, so that nothing on the way catches it."""


@dataclass
class Tally:
    """What came of the cases so far."""

    codes: Counter[int] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    warned: Counter[str] = field(default_factory=Counter)
    compared: int = 0  # tables whose values were followed from file to file
    failures: list[str] = field(default_factory=list)


@contextlib.contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Raise `Hung` after some seconds; dump where everything stands and leave if even that does not help."""

    def bark(*_: object) -> None:
        raise Hung

    old = signal.signal(signal.SIGALRM, bark)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    faulthandler.dump_traceback_later(4 * seconds, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        faulthandler.cancel_dump_traceback_later()


def play(seed: int, number: int, tally: Tally, *, apart: bool = False) -> None:
    """Make and play one case; what went wrong goes to the tally."""
    rng = random.Random(f"{seed}/{number}")
    with tempfile.TemporaryDirectory(prefix="unmask-fuzz-") as name, contextlib.chdir(name):
        case = make(rng, Path(name))
        told = f"case {seed}/{number} ({case.kind}): unmask {' '.join(map(ascii, case.arguments))}"
        try:
            with patience(PATIENCE):
                code, out, errors = (_apart if apart else _here)(case, tally)
                problems = list(_problems(code, out, errors))
                if case.table is not None:
                    problems += _silent_changes(case.table, tally)
        except Hung:
            code, problems = -1, ["hangs"]
        tally.codes[code] += 1
        tally.kinds[case.kind] += 1
        tally.failures += [f"{told[:600]}: {problem}" for problem in problems]


def _here(case: Case, tally: Tally) -> tuple[int, str, str]:
    out, errors = io.StringIO(), io.StringIO()
    path = list(sys.path)
    with (
        warnings.catch_warnings(record=True) as caught,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
    ):
        warnings.simplefilter("always")
        code = main.answer(list(case.arguments))
    sys.path[:] = path
    tally.warned.update(f"{Path(one.filename).name}: {one.message}" for one in caught)
    return code, out.getvalue(), errors.getvalue()


def _apart(case: Case, tally: Tally) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "unmask", *case.arguments],
        capture_output=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def _problems(code: int, out: str, errors: str) -> Iterator[str]:
    if code not in ALLOWED:
        yield f"exit code {code}: {errors[-300:]}"
    if "Traceback" in errors or "Traceback" in out:
        yield f"a traceback: {errors[-600:]}"
    if "Out of memory" in errors:
        yield "a small file filled the memory"
    if code and not errors.strip() and not out.strip():
        yield f"exit code {code} without a word"
    for name, text in (("output", out), ("errors", errors)):
        if found := CONTROLS.search(text.replace("\r\n", "\n")):
            yield f"a control character in the {name}: {text[max(0, found.start() - 40) : found.end() + 40]!r}"


def _silent_changes(path: Path, tally: Tally) -> list[str]:
    """Read, write, read: every value is what it was, or something was said."""
    import unmask
    from unmask.tables.read import read_frame

    try:
        table = unmask.read_table(path)
        again = path.with_name("again.csv")
        unmask.write_csv(table, again)
        back = unmask.read_table(again, table.schema)
    except UnmaskError:
        return []
    tally.compared += 1
    if back.digest() != table.digest():
        return ["written and read again, the table is another one"]
    if table.notes and any("latin-1" in note for note in table.notes):
        return []
    before = read_frame(path).frame
    with open(again, encoding="utf-8", newline="") as handle:
        after = list(csv.reader(handle))
    for place, name in enumerate(after[0]):
        texts = ["" if text != text else text for text in before[name].tolist()]
        for row, (old, new) in enumerate(zip(texts, (line[place] if line else "" for line in after[1:]), strict=True)):
            if not _same(old, new, table.schema.column(name)):
                return [f"column {name!r} row {row}: {old!r} became {new!r} without a word"]
    return []


def _same(old: str, new: str, column: Column) -> bool:
    if old == new or (old in column.missing and new in column.missing):
        return True
    a, b = column.numerals.numbers((old, new)) if column.is_numeric else (math.nan, math.nan)
    return math.isfinite(a) and a == b


def limit_memory(gigabytes: int) -> None:
    """A file that fills the memory must not take the machine with it."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (gigabytes * 2**30, resource.getrlimit(resource.RLIMIT_AS)[1]))


def environment() -> None:
    """The same for every case: no terminal, no colours, one worker."""
    os.environ.update({"COLUMNS": "120", "NO_COLOR": "1", "UNMASK_WORKERS": "1"})
    os.environ.pop("UNMASK_DEBUG", None)
