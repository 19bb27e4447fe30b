"""`unmask serve` as a process, and a client that speaks HTTP and nothing more."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from unmask.web.processes import is_same

PATIENCE = 600  # seconds: only for what hangs, also on a machine that is ten times too busy
BOUNDARY = "a-boundary-of-ours"


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", errors="replace")

    @property
    def location(self) -> str:
        return self.headers.get("location", "")


@dataclass
class Served:
    """A server on a free port of loopback, with a session once somebody has entered."""

    runs: Path
    options: tuple[str, ...] = ()
    process: subprocess.Popen | None = None
    entrance: str = ""
    cookie: str = ""
    port: int = 0
    said: list[str] = field(default_factory=list)

    def start(self) -> "Served":
        port = self.port or 0
        words = [sys.executable, "-P", "-m", "unmask", "serve", str(self.runs), "--no-browser", f"--port={port}"]
        self.process = subprocess.Popen(
            [*words, *self.options], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd=self.runs.parent,
            env=os.environ | {"XDG_STATE_HOME": str(self.runs.parent / "state")},
        )  # fmt: skip
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            if found := re.search(r"http://\S+token=\S+", line):
                self.entrance = found[0]
                break
        assert self.entrance, self.said
        self.port = urlsplit(self.entrance).port or 80
        until(self._answers)
        return self

    def _answers(self) -> bool:
        try:
            return self.ask("GET", "/static/page.css").status == 200
        except OSError:
            return False

    def stop(self, how=signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(timeout=PATIENCE)
            if self.process.stderr is not None:
                self.process.stderr.close()
            self.process = None

    def end(self) -> None:
        """Stop, and end the jobs that a failed test has left: they would go on."""
        self.stop()
        for path in (self.runs / ".unmask-page" / "jobs").glob("*.json"):
            job = json.loads(path.read_text())
            if job["state"] == "running" and is_same(job["pid"], job["began"]):
                os.kill(job["pid"], signal.SIGKILL)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def enter(self) -> Answer:
        parts = urlsplit(self.entrance)
        answer = self.ask("GET", f"{parts.path}?{parts.query}", cookie=False)
        self.cookie = answer.headers.get("set-cookie", "").partition(";")[0]
        return answer

    def ask(self, method, path, body=None, *, cookie=True, timeout=PATIENCE, **headers) -> Answer:
        """One request. Keywords are headers; underscores are hyphens."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if cookie and self.cookie:
            given.setdefault("Cookie", self.cookie)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path, **headers) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path, fields=(), **headers) -> Answer:
        headers = {"Origin": self.origin, "Content-Type": "application/x-www-form-urlencoded"} | headers
        return self.ask("POST", path, urlencode(list(fields)), **headers)

    def upload(self, path, parts, **headers) -> Answer:
        """Parts are (name, file name or None, content)."""
        headers = {"Origin": self.origin, "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"} | headers
        return self.ask("POST", path, multipart(parts), **headers)

    def state(self, run: str) -> str:
        return json.loads(self.get(f"/progress/{run}").text)["state"]

    def wait(self, run: str, *states: str) -> str:
        until(lambda: self.state(run) in states)
        return self.state(run)


def multipart(parts) -> bytes:
    made = b""
    for name, file, content in parts:
        told = f'; filename="{file}"' if file is not None else ""
        made += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{told}\r\n\r\n'.encode()
        made += (content if isinstance(content, bytes) else content.encode()) + b"\r\n"
    return made + f"--{BOUNDARY}--\r\n".encode()


def until(true, seconds=PATIENCE) -> None:
    """Wait for something to be so; the limit is for machines that hang."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def rss(process: int) -> float:
    """Memory of a process in MB."""
    import psutil

    return psutil.Process(process).memory_info().rss / 1e6


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
