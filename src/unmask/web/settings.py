"""What a server was started with: the directories that may be named, who may speak to it, and how much at once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from unmask.errors import ParameterError
from unmask.files import make_folder, shown
from unmask.web.own_folder import prepare_own

OWN = ".unmask-page"  # the server's own folder below RUNS: uploads, drafts, queue, sessions
LOOPBACK = ("127.0.0.1", "::1", "localhost")
UPLOAD = 1 << 30  # bytes of one upload, unless told otherwise


@dataclass(frozen=True)
class Settings:
    """Everything that a server needs to know; nothing of it changes while it runs."""

    runs: Path
    data: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0
    public: str = ""  # scheme://name[:port] by which browsers elsewhere reach it
    at_once: int = 1
    upload_limit: int = UPLOAD
    trust: bool = False

    @property
    def own(self) -> Path:
        return self.runs / OWN

    @property
    def roots(self) -> tuple[Path, ...]:
        """The directories below which files may be named, all real paths."""
        return (self.runs,) if self.data is None else (self.runs, self.data)

    @cached_property
    def origins(self) -> frozenset[str]:
        """What a browser may give as Origin: scheme, name and port."""
        if self.public:
            return frozenset({self.public})
        return frozenset(f"http://{_bracketed(name)}:{self.port}" for name in (*LOOPBACK, self.host))

    @cached_property
    def hosts(self) -> frozenset[str]:
        """What may stand in the Host header. A name that merely leads here (DNS rebinding) is none of them."""
        return frozenset(origin.partition("://")[2] for origin in self.origins)

    @property
    def address(self) -> str:
        """Where people find the page."""
        return self.public or f"http://{_bracketed(self.host)}:{self.port}"

    @property
    def is_secret(self) -> bool:
        """Whether the cookie goes over TLS only."""
        return self.public.startswith("https://")

    def prepare(self) -> None:
        """Make the folders. Those of the server are for its owner alone, and nobody else may have made them."""
        make_folder(self.runs)
        if os.path.exists(self.runs / "result.json"):
            raise ParameterError(
                f"{shown(self.runs)}: this is a run directory itself. Name the folder that holds it, or one for runs."
            )
        prepare_own(self.own)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
