"""The run directory: result.json (equal runs, equal bytes), records.csv (local eyes), run.json (when, where, how)."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from unmask.errors import InputError, RunError
from unmask.files import digest_of_file, is_stream, parse_json, read_text, shown, write_atomically
from unmask.results.grid import Cell
from unmask.results.plain import from_plain, to_plain
from unmask.results.readable import FORMULAS, spreadsheet_text
from unmask.results.result import Cost, InputFile, Records, Result

RESULT, RECORDS, RUN = "result.json", "records.csv", "run.json"
WRITTEN = "written"  # in run.json: the digests of the other two

Kept = TypeVar("Kept")


def write(result: Result, directory: str | Path, *, run: Mapping[str, Any] | None = None) -> Path:
    """Write a result into a directory; refuse to replace the result of another plan. Returns the directory.

    What may grow between runs of one directory, such as the number of draws, is no other plan.
    """
    directory = Path(directory)
    check_plan(directory, result)
    texts = {RESULT: json.dumps(result.to_plain(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"}
    if result.records is not None:
        texts[RECORDS] = _records_text(result.records)
        write_atomically(directory / RECORDS, texts[RECORDS], private=True)
    if run is not None or result.files or result.costs:
        local = {"files": result.files, "costs": result.costs}
        kept = {**(run or {}), **{name: to_plain(told) for name, told in local.items() if told}}
        kept[WRITTEN] = {name: _digest_of_text(text) for name, text in sorted(texts.items())}
        write_atomically(directory / RUN, json.dumps(kept, indent=2) + "\n")
    write_atomically(directory / RESULT, texts[RESULT])
    return directory


def check_directory(directory: str | Path, expected: Result | None = None) -> None:
    """Whether results can be written here, and whether those of another plan are: asked before the work begins.

    `expected` is a result without findings: what is known beforehand of the one to come.
    """
    directory = Path(directory)
    if os.path.exists(directory) and not os.path.isdir(directory):
        raise RunError(f"{directory}: this is a file. Name a directory with --out.")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as problem:
        raise RunError(
            f"{shown(directory)}: nothing can be written here ({problem.strerror}). Choose another --out."
        ) from None
    if expected is not None:
        check_plan(directory, expected)


def holds_result(directory: str | Path) -> bool:
    """Whether there is the result of a run already."""
    return os.path.exists(Path(directory) / RESULT)


def load(directory: str | Path) -> Result:
    """Read the result of a run directory (or of a result.json), with its records and the names of its files if they are there.

    Where run.json says what was written, nothing else is read: a damaged or altered file is an error.
    """
    path = Path(directory)
    path = path / RESULT if os.path.isdir(path) or not path.suffix else path
    run = read_run(path.parent)
    _check_written(path.parent, run, (path.name, RECORDS))
    return _read(path, run)


def _check_written(directory: Path, run: Mapping[str, Any], names: Iterable[str]) -> None:
    written = run.get(WRITTEN)
    for name in names:
        digest = written.get(name) if isinstance(written, dict) else None
        if digest is not None and os.path.isfile(directory / name) and digest_of_file(directory / name) != digest:
            raise RunError(
                f"{shown(directory / name)}: this is not what the audit wrote ({RUN} has another digest): damaged, or altered "
                "since. Repeat the command of the audit; it writes it anew."
            )


def _read(path: Path, run: Mapping[str, Any]) -> Result:
    try:
        plain = parse_json(read_text(path, error=RunError), shown(path), error=RunError)
    except FileNotFoundError:
        unfinished = os.path.isdir(path.parent / "draws")
        advice = (
            "Its run is not finished: repeat its command."
            if unfinished
            else "Name the directory that an audit wrote (--out)."
        )
        raise RunError(f"{shown(path.parent)}: there is no {RESULT} here. {advice}") from None
    result = replace(
        Result.from_plain(plain, path.name),
        files=_local(InputFile, run.get("files")),
        costs=_local(Cost, run.get("costs")),
    )
    records = path.with_name(RECORDS)
    if not os.path.exists(records):
        return result
    try:
        return replace(result, records=_records_from(read_text(records, error=RunError)))
    except csv.Error as problem:
        raise RunError(f"{shown(records)}: not a readable table ({problem}). Remove it, or run again.") from None


def read_run(directory: Path) -> dict[str, Any]:
    """How a result came about, if that was kept and can be read: nothing depends on it."""
    try:
        run = parse_json(read_text(directory / RUN), RUN)
    except (FileNotFoundError, InputError):
        return {}
    return run if isinstance(run, dict) else {}


def _local(kind: type[Kept], told: Any) -> tuple[Kept, ...]:
    """What run.json says of the files that went in, or of costs, if it can be read."""
    try:
        return tuple(from_plain(kind, item, RUN) for item in told or [])
    except (RunError, TypeError):
        return ()


def input_files(sources: Mapping[str, Any]) -> tuple[InputFile, ...]:
    """Names and digests of the files among these sources, by role; several under one role are numbered. Streams have none."""
    found = []
    for role, source in sources.items():
        each = source if isinstance(source, list | tuple) else [source]
        roles = [role] if len(each) == 1 else [f"{role} {place}" for place in range(1, len(each) + 1)]
        for name, path in zip(roles, each, strict=True):
            if isinstance(path, Path) and os.path.isfile(path) and not is_stream(path):
                found.append(InputFile(name, path.name, digest_of_file(path)))
    return tuple(found)


def _digest_of_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="backslashreplace")).hexdigest()


def check_plan(directory: Path, result: Result) -> None:
    """A directory that holds the result of another plan is not overwritten: the error names what differs.

    A field that one of the two plans does not have takes its usual value: plans gain fields from version to version.
    """
    if not os.path.exists(directory / RESULT):
        return
    theirs, mine = _plan(_read(directory / RESULT, {})), _plan(result)
    usual = to_plain(result.usual)
    for name in {**mine, **theirs}:
        old, new = (plan[name] if name in plan else usual.get(name) for plan in (theirs, mine))
        if name not in result.growing and old != new:
            raise RunError(
                f"{directory}: this directory holds another run: {name} was {_short(old)}, now it is {_short(new)}.\n"
                "Choose another --out, or remove the directory."
            )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _plan(result: Result) -> dict[str, Any]:
    """Everything that makes a run this run and no other."""
    inputs = [item.digest for item in result.inputs]
    return {"audit": result.audit, "seed": result.seed, **to_plain(result.plan), "inputs": inputs}


def _records_text(records: Records) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(spreadsheet_text(name) for name in records.columns)
    writer.writerows(
        [spreadsheet_text(cell) if isinstance(cell, str) else cell for cell in row] for row in records.rows
    )
    return text.getvalue()


def _records_from(text: str) -> Records:
    header, *rows = csv.reader(io.StringIO(text)) if text.strip() else [[]]
    return Records(tuple(map(_unquoted, header)), tuple(tuple(_cell(cell) for cell in row) for row in rows))


def _unquoted(text: str) -> str:
    """Without the apostrophe that is for spreadsheets."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULAS) else text


def _cell(text: str) -> Cell:
    if text.startswith("'"):
        return _unquoted(text)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None
