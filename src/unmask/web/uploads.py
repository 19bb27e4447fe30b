"""Uploads, written to disk as they arrive: nothing waits in memory, and no name that came along is used as a path.

A request that is too large is refused before it is read, or as soon as it turns out to be; one that dawdles is given up. What
had arrived by then is removed.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import parse_qs

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from unmask.files import make_folder, set_rights
from unmask.results.readable import one_line
from unmask.web.places import suffix_of
from unmask.web.settings import Settings

FIELD = 1 << 20  # bytes of everything in a form that is not a file
FIELDS = 40_000
PARTS = 200  # of an upload
IDLE = 30.0  # seconds in which something must arrive
SLOWEST = 20_000  # bytes a second, on the average, once a minute is over
PATIENCE = 60.0
RESERVE = 1 << 28  # bytes of the disk that an upload leaves free

Form = dict[str, list[str]]


@dataclass(frozen=True)
class Uploaded:
    """A file that arrived, under a name of ours; `called` is what its owner calls it, for people to read."""

    role: str
    path: Path
    called: str
    size: int


@dataclass
class Arriving:
    """What a request has brought so far."""

    folder: Path
    form: Form = field(default_factory=dict)
    files: list[Uploaded] = field(default_factory=list)
    plain: int = 0  # bytes of fields

    def add(self, name: str, value: bytes) -> None:
        self.form.setdefault(name, []).append(value.decode("utf-8", errors="replace"))


async def form_of(request: Request) -> Form:
    """The fields of an ordinary form."""
    body = bytearray()
    async for chunk in _chunks(request, FIELD):
        body += chunk
    try:
        return parse_qs(body.decode("utf-8", errors="replace"), keep_blank_values=True, max_num_fields=FIELDS)
    except ValueError:
        raise HTTPException(413, "This form has too many fields.") from None


async def receive(request: Request, settings: Settings) -> tuple[Form, list[Uploaded]]:
    """The fields and files of a form with files. Files lie in a new folder that only the owner can read."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise HTTPException(415, "A form with files was expected.")
    announced = request.headers.get("content-length", "")
    if shutil.disk_usage(settings.own).free < (int(announced) if announced.isdigit() else 0) + RESERVE:
        raise HTTPException(507, "There is too little room on the disk for these files.")
    arriving = Arriving(settings.own / "uploads" / secrets.token_hex(8))
    make_folder(arriving.folder)
    reader = _PartReader(arriving)
    try:
        parser = MultipartParser(options[b"boundary"], reader.callbacks)
        async for chunk in _chunks(request, settings.upload_limit):
            await asyncio.to_thread(parser.write, chunk)
        await asyncio.to_thread(parser.finalize)
        if not reader.is_whole:
            raise HTTPException(400, "The upload was cut off.")
    except BaseException as problem:
        reader.close()
        await asyncio.to_thread(shutil.rmtree, arriving.folder, ignore_errors=True)
        if isinstance(problem, FormParserError):
            raise HTTPException(400, "The upload was cut off, or is no form.") from None
        if isinstance(problem, ClientDisconnect):
            raise HTTPException(400, "The upload was cut off.") from None
        if isinstance(problem, OSError):
            raise HTTPException(507, f"The upload cannot be written ({problem.strerror}).") from None
        raise
    if not arriving.files:
        arriving.folder.rmdir()
    return arriving.form, arriving.files


async def _chunks(request: Request, most: int) -> Any:
    """The body piece by piece, as long as it is neither too large nor too slow."""
    told = f"This is more than {_megabytes(most)} in one go. "
    advice = "Copy large files below the data directory and name them, or start with a larger --upload-limit."
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > most:
        raise HTTPException(413, told + advice, headers={"connection": "close"})
    began, size = time.monotonic(), 0
    pieces = request.stream().__aiter__()
    while True:
        try:
            chunk = await asyncio.wait_for(anext(pieces), IDLE)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise HTTPException(408, "The upload stood still for too long.", headers={"connection": "close"}) from None
        size += len(chunk)
        if size > most:
            raise HTTPException(413, told + advice, headers={"connection": "close"})
        if time.monotonic() - began > PATIENCE + size / SLOWEST:
            raise HTTPException(408, "The upload is too slow.", headers={"connection": "close"})
        if chunk:
            yield chunk


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size >= 1e6 else f"{size:,} bytes"


class _PartReader:
    """The callbacks of the parser: fields are gathered, files are written."""

    def __init__(self, arriving: Arriving) -> None:
        self.arriving = arriving
        self.parts = 0
        self.is_whole = False
        self.file: IO[bytes] | None = None
        self._reset()
        self.callbacks: Any = {
            "on_part_begin": self._reset,
            "on_header_field": lambda data, start, end: self._head.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._told.extend(data[start:end]),
            "on_header_end": self._header,
            "on_headers_finished": self._begin,
            "on_part_data": self._data,
            "on_part_end": self._end,
            "on_end": self._finish,
        }

    def _reset(self) -> None:
        self._head, self._told = bytearray(), bytearray()
        self.name, self.called = "", ""
        self.content, self.size = bytearray(), 0
        self.path: Path | None = None

    def _header(self) -> None:
        if bytes(self._head).lower() == b"content-disposition":
            _, options = parse_options_header(bytes(self._told))
            self.name = options.get(b"name", b"").decode("utf-8", errors="replace")
            self.called = options.get(b"filename", b"").decode("utf-8", errors="replace")
        self._head, self._told = bytearray(), bytearray()

    def _begin(self) -> None:
        self.parts += 1
        if self.parts > PARTS:
            raise HTTPException(413, f"More than {PARTS} files and fields in one form.")
        if not self.called:
            return
        role = self.name if self.name.isidentifier() and len(self.name) < 40 else "file"
        number = sum(each.role == role for each in self.arriving.files)
        end = suffix_of(self.called) if not self.called.lower().endswith(".json") else ".json"
        self.path = self.arriving.folder / f"{role}{f'-{number + 1}' if number else ''}{end}"
        self.file = open(self.path, "xb")  # noqa: SIM115 - closed at the end of the part
        set_rights(self.path, 0o600)

    def _data(self, data: bytes, start: int, end: int) -> None:
        self.size += end - start
        if self.file is not None:
            self.file.write(data[start:end])
            return
        self.arriving.plain += end - start
        if self.arriving.plain > FIELD:
            raise HTTPException(413, "The fields of this form hold too much text.")
        self.content += data[start:end]

    def _end(self) -> None:
        if self.file is not None and self.path is not None:
            self.file.close()
            self.file = None
            called = one_line(self.called.replace("\\", "/").rpartition("/")[2] or "file", 120)
            self.arriving.files.append(
                Uploaded(self.path.name.split(".")[0].split("-")[0], self.path, called, self.size)
            )
        else:
            self.arriving.add(self.name, bytes(self.content))

    def _finish(self) -> None:
        self.is_whole = True

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None
