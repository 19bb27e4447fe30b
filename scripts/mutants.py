"""`python scripts/mutants.py --seed 1 --count 100`: one fault at a time into the statistics and the judges; do the tests see it?

A fault is a comparison turned round (`<` becomes `>=`), a sign (`+` becomes `-`, `-x` becomes `x`), a number plus one, or `and`
for `or`. Each goes into a copy of `src/`, never into the tree that people work in, and the tests of the folder of the same name
run until one fails. A test that also fails without the fault has seen nothing: it is named, left out, and the others go on.
docs/explanation/mutants.md has the result on record, and why what is unseen changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/unmask")
JUDGED = (
    "stats",
    "results/policy.py",
    "audits/attack/judges.py",
    *(f"audits/everyone/{name}.py" for name in ("judging", "evidence", "people", "pooled", "claim")),
    *(f"audits/release/{name}.py" for name in ("copies", "criteria", "membership", "soundness")),
    "audits/release/leading",
    "audits/release/preflight",
    "audits/epsilon/fixed.py",
)
SHORT = ("-m", "not calibration and not papers and not soak")
LIBRARIES = ("numba", "pandas", "scipy.stats", "sklearn.ensemble")  # slow to import: once, not for each fault
OPPOSITE: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
SIGNS = {
    "Lt": "<",
    "GtE": ">=",
    "Gt": ">",
    "LtE": "<=",
    "Eq": "==",
    "NotEq": "!=",
    "Is": "is",
    "IsNot": "is not",
    "In": "in",
    "NotIn": "not in",
    "Add": "+",
    "Sub": "-",
    "And": "and",
    "Or": "or",
}


@dataclass(frozen=True)
class Fault:
    """One change in one file: the place is its number in the order of `places`."""

    path: str  # below src/unmask
    place: int
    line: int
    change: str  # in words

    def source(self) -> str:
        """The file with the fault in it."""
        tree = ast.parse((ROOT / PACKAGE / self.path).read_text())
        node, part = list(places(tree))[self.place]
        if isinstance(node, ast.Compare):
            node.ops[part] = OPPOSITE[type(node.ops[part])]()
        elif isinstance(node, ast.Constant):
            node.value += 1
        elif isinstance(node, ast.UnaryOp):
            node.op = ast.UAdd()
        else:
            node.op = OPPOSITE[type(node.op)]()
        return ast.unparse(tree)


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, int]]:
    """Where a fault fits: a node, and which of its comparisons. Type annotations, which nothing runs, are passed over."""
    for name, field in ast.iter_fields(tree):
        if name in ("annotation", "returns"):
            continue
        for node in field if isinstance(field, list) else [field]:
            if not isinstance(node, ast.AST):
                continue
            if isinstance(node, ast.Compare):
                yield from ((node, part) for part in range(len(node.ops)))
            elif _fits(node):
                yield node, 0
            yield from places(node)


def _fits(node: ast.AST) -> bool:
    match node:
        case ast.BinOp() | ast.AugAssign():
            return isinstance(node.op, ast.Add | ast.Sub)
        case ast.UnaryOp():
            return isinstance(node.op, ast.USub)
        case ast.Constant():
            return type(node.value) in (int, float)
    return isinstance(node, ast.BoolOp)


def faults(path: str) -> list[Fault]:
    """Every fault that fits into a file."""
    text = (ROOT / PACKAGE / path).read_text()
    return [
        Fault(path, place, node.lineno, _words(node, part))
        for place, (node, part) in enumerate(places(ast.parse(text)))
    ]


def _words(node: ast.AST, part: int) -> str:
    shown = ast.unparse(node)
    shown = shown if len(shown) <= 70 else shown[:67] + "..."
    if isinstance(node, ast.Constant):
        return f"{node.value!r} becomes {node.value + 1!r}"
    if isinstance(node, ast.UnaryOp):
        return f"`{shown}` without its minus"
    old = type(node.ops[part] if isinstance(node, ast.Compare) else node.op)
    return f"`{SIGNS[old.__name__]}` becomes `{SIGNS[OPPOSITE[old].__name__]}` in `{shown}`"


def draw(asked: list[str], count: int, seed: int) -> list[Fault]:
    """So many faults, from each file in proportion to its places (largest remainders), without repetition."""
    source = ROOT / PACKAGE
    files = sorted(
        {
            str(file.relative_to(source))
            for name in asked
            for file in _python_files(source / name.removeprefix("src/unmask/"))
        }
    )
    fitting = {path: faults(path) for path in files}
    total = sum(map(len, fitting.values()))
    count = min(count, total)
    shares = {path: count * len(found) / total for path, found in fitting.items()}
    left = count - sum(int(share) for share in shares.values())
    more = sorted(files, key=lambda path: int(shares[path]) - shares[path])[:left]
    drawn = []
    for path in files:
        rng = random.Random(f"{seed} {path}")  # of its own, so that a file has its faults whatever else is drawn
        drawn += sorted(rng.sample(fitting[path], int(shares[path]) + (path in more)), key=lambda fault: fault.place)
    return drawn


def _python_files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def tests_of(path: str) -> list[str]:
    """The tests of the folder of the same name; those that mention the names of the file most come first."""
    parts = Path(path).parts
    folder = ROOT / "tests" / Path(*parts[: 2 if parts[0] == "audits" else 1])
    tree = ast.parse((ROOT / PACKAGE / path).read_text())
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    stem = Path(path).stem.strip("_").removesuffix("_kernel")
    names = re.compile(rf"\b({'|'.join([*defined, rf'import {stem}'])})\b")

    def distance(test: Path) -> tuple[bool, int, str]:
        return test.stem != f"test_{stem}", -len(names.findall(test.read_text())), test.name

    return [str(test.relative_to(ROOT)) for test in sorted(folder.rglob("test_*.py"), key=distance)]


class Bench:
    """A copy of the sources that takes one fault at a time."""

    def __init__(self, folder: Path, near: int | None, hang: int) -> None:
        self.folder, self.near, self.hang = folder, near, hang
        self.red: dict[str, bool] = {}  # tests that failed once, and whether they fail without a fault too
        shutil.copytree(ROOT / "src", folder / "src")

    def seen_by(self, fault: Fault) -> str:
        """The test that saw the fault; empty if none did."""
        file = self.folder / PACKAGE / fault.path
        sound = file.read_bytes(), file.stat()
        for kept in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
            kept.unlink()  # compiled from what the file was
        try:
            while True:
                file.write_text(fault.source())
                left_out = [f"--deselect={test}" for test, red in self.red.items() if red]
                failed = self._first_failure(
                    [*tests_of(fault.path)[: self.near], *left_out], fresh="_kernel" in fault.path
                )
                file.write_bytes(sound[0])
                os.utime(file, ns=(sound[1].st_atime_ns, sound[1].st_mtime_ns))
                if self.red.get(failed):
                    raise SystemExit(f"{failed} fails without a fault and cannot be left out: mend it first.")
                if not failed.startswith("tests/") or not self._red_anyway(failed):
                    return failed
        finally:
            file.write_bytes(sound[0])
            os.utime(file, ns=(sound[1].st_atime_ns, sound[1].st_mtime_ns))

    def _red_anyway(self, test: str) -> bool:
        if test not in self.red:
            self.red[test] = bool(self._first_failure([test], fresh=False))
        return self.red[test]

    def _first_failure(self, tests: list[str], *, fresh: bool) -> str:
        """Run until a test fails, and name it. Compiled loops are kept, unless one of them has the fault."""
        compiled = tempfile.mkdtemp(dir=self.folder) if fresh else str(self.folder / "numba")
        hang = ("-o", f"faulthandler_timeout={self.hang}", "-o", "faulthandler_exit_on_timeout=true")
        asked = ["-p", "no:cacheprovider", "-x", "-rfE", "--tb=no", *hang, *SHORT, *tests]
        told = self.folder / "told"
        child = os.fork()
        if not child:
            _run_tests(self.folder / "src", compiled, asked, told)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            return ""
        named = re.search(r"^(?:FAILED|ERROR) (\S+::[^\n]*?|\S+)(?: - .*)?$", told.read_text(), re.MULTILINE)
        return named[1] if named else f"a hang or a crash (exit code {code})"


def _run_tests(source: Path, compiled: str, asked: list[str], told: Path) -> NoReturn:
    """In a process of its own, which has the libraries already and imports unmask from a copy; never returns."""
    file = os.open(told, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ |= {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": compiled, "UNMASK_WORKERS": "1"}
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(source))
    code = 3
    try:
        os.chdir(ROOT)
        code = int(pytest.main(asked))
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def main() -> int:
    """Draw, try, tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--paths", nargs="+", default=list(JUDGED), help="files or folders below src/unmask")
    parser.add_argument(
        "--near", type=int, help="run so many test files, those that mention the file most (quick, stricter)"
    )
    parser.add_argument("--hang", type=int, default=120, help="seconds that a single test may take")
    parser.add_argument("--only", default="", help="of what is drawn, try files whose path begins so")
    parser.add_argument("--list", action="store_true", help="name the faults, run nothing")
    asked = parser.parse_args()
    drawn = [fault for fault in draw(asked.paths, asked.count, asked.seed) if fault.path.startswith(asked.only)]
    unseen = []
    for library in () if asked.list else LIBRARIES:
        import_module(library)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        bench = Bench(Path(folder), asked.near, asked.hang)
        for number, fault in enumerate(drawn, start=1):
            seen = "" if asked.list else bench.seen_by(fault)
            if not seen:
                unseen.append(fault)
            told = "" if asked.list else f" -- seen by {seen}" if seen else " -- UNSEEN"
            _tell(f"{number}/{len(drawn)} {fault.path}:{fault.line}: {fault.change}{told}")
        if asked.list:
            return 0
        for test in (test for test, red in bench.red.items() if red):
            _tell(f"left out, it fails without a fault: {test}")
    _tell(f"seed {asked.seed}: of {len(drawn)} faults {len(drawn) - len(unseen)} are seen, {len(unseen)} are not")
    return 0


def _tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
