"""Who may enter. A token opens one session and is then gone; a session is a cookie whose digest is kept.

Tokens are files named by their digest: taking one away is what uses it up, so that two requests cannot both have it. A second
`unmask serve` can put a new one there for a server that runs already.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from unmask.errors import UnmaskError
from unmask.files import parse_json, read_text, write_atomically
from unmask.web.settings import Settings

SECONDS = 7 * 24 * 3600  # of a session
TOKEN = re.compile("[0-9a-f]{64}")  # the name of its file
KEPT = "sessions.json"


def digest(text: str) -> str:
    """What is kept of a token or a session: enough to know it again, and not to be it."""
    return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()


def new_token(settings: Settings) -> str:
    """A token that lets one browser in, once."""
    token = secrets.token_urlsafe(32)
    write_atomically(settings.own / "tokens" / digest(token), "", private=True)
    return token


def forget_tokens(settings: Settings) -> None:
    """Tokens that nobody used belong to a server that is gone."""
    for path in (settings.own / "tokens").iterdir():
        if TOKEN.fullmatch(path.name):
            with suppress(OSError):
                path.unlink()


class Sessions:
    """The sessions of a server. They outlast it, so that a page goes on after a restart."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.cookie = f"unmask-{digest(str(settings.runs))[:12]}"  # cookies know no port: one name per directory
        self._path = settings.own / KEPT
        self._lock = threading.Lock()
        self._ends = _kept(self._path)

    def enter(self, token: str) -> str | None:
        """The cookie of a new session, if the token is there to be used up."""
        try:
            (self.settings.own / "tokens" / digest(token)).unlink()
        except OSError:
            return None
        session = secrets.token_urlsafe(32)
        with self._lock:
            now = time.time()
            self._ends = {kept: end for kept, end in self._ends.items() if end > now} | {digest(session): now + SECONDS}
            write_atomically(self._path, json.dumps(self._ends), private=True)
        secure = "; Secure" if self.settings.is_secret else ""
        return f"{self.cookie}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age={SECONDS}{secure}"

    def knows(self, headers: Mapping[str, str]) -> bool:
        """Whether a request comes from a session."""
        from starlette.requests import cookie_parser  # not above: without it, `unmask serve` says what to install

        given = cookie_parser(headers.get("cookie", "")).get(
            self.cookie
        )  # whatever other servers of this machine have set
        if given is None:
            return False
        mine = digest(given)
        return any(hmac.compare_digest(mine, kept) and end > time.time() for kept, end in list(self._ends.items()))


def _kept(path: Path) -> dict[str, float]:
    try:
        plain = parse_json(read_text(path), path.name)
    except (FileNotFoundError, UnmaskError):
        return {}
    if not isinstance(plain, dict):
        return {}
    return {key: end for key, end in plain.items() if isinstance(end, int | float)}
