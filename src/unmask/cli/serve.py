"""The local page: bring files, correct what the columns are, watch, read, compare, decide.

Answers on this machine only, sends nothing anywhere and needs no account. RUNS is the directory of your runs; those that the
command line wrote there are shown too. Audits run as processes of their own: they go on if the page is closed or the server
stopped.
"""

from __future__ import annotations

import re
from pathlib import Path

import click

from unmask.cli.options import PATH
from unmask.cli.saying import say
from unmask.cli.verb import verb

PUBLIC = (
    "WARNING: this page is reachable from other machines. Whoever gets hold of the address that is printed, or listens to "
    "unencrypted traffic, reads everything below RUNS. Put it behind TLS, or better: use an SSH tunnel to a server on loopback."
)


def run(
    runs: Path,
    *,
    data: Path | None,
    host: str,
    port: int,
    public_address: str | None,
    at_once: int,
    upload_limit: int,
    trust: bool,
    no_browser: bool,
) -> None:
    from unmask.errors import ParameterError
    from unmask.web.server import real_directory, serve
    from unmask.web.settings import LOOPBACK, Settings

    if data is not None and not data.is_dir():
        raise ParameterError(f"{data}: there is no such directory. Name the one that holds your tables with --data.")
    if host not in LOOPBACK and not public_address:
        raise ParameterError(
            f"--host {host}: other machines could reach the page. If that is what you want, say by which address:\n"
            "--public-address https://NAME[:PORT]. To use it from elsewhere yourself, an SSH tunnel is safer."
        )
    if public_address is not None:
        if not re.fullmatch(r"https?://[\w.-]+(:\d{1,5})?", public_address):
            raise ParameterError(f"--public-address is '{public_address}'; write it as https://NAME[:PORT].")
        say(PUBLIC)
    settings = Settings(
        runs=real_directory(runs),
        data=None if data is None else real_directory(data),
        host="127.0.0.1" if host == "localhost" else host,
        port=port,
        public=(public_address or "").lower(),
        at_once=at_once,
        upload_limit=upload_limit,
        trust=trust,
    )
    serve(settings, say, (lambda _: None) if no_browser else _open)


def _open(address: str) -> None:
    """In the user's browser, where there is one; never in the terminal."""
    import os
    import sys
    import webbrowser

    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    webbrowser.open(address)


def _bytes(ctx: click.Context, param: click.Parameter, text: str) -> int:
    """Bytes from a text such as 500MB or 2GB."""
    found = re.fullmatch(r"(\d{1,12})\s*(kB|MB|GB|TB)?", text.strip(), re.IGNORECASE)
    if not found or not int(found[1]):
        raise click.BadParameter(f"'{text}' is no size; write 500MB or 2GB", ctx, param)
    return int(found[1]) * {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}[(found[2] or "")[:1].lower()]


OPTIONS = [
    click.Option(["--data"], type=PATH, metavar="DIR", help="Files below DIR can be named on the page, as can those of RUNS."),
    click.Option(
        ["--host"], default="127.0.0.1", show_default=True, help="Address to listen on; elsewhere needs --public-address."
    ),
    click.Option(["--port"], type=click.IntRange(0, 65535), default=0, help="Port. [default: 8623, or any free one]"),
    click.Option(
        ["--public-address"], metavar="URL", help="How browsers elsewhere reach it, as https://NAME[:PORT]. Think twice."
    ),
    click.Option(
        ["--at-once"], type=click.IntRange(1, 64), default=1, show_default=True, help="Audits at a time; others wait."
    ),
    click.Option(
        ["--upload-limit"], default="1GB", show_default=True, callback=_bytes, metavar="SIZE", help="Most that one upload brings."
    ),
    click.Option(["--trust"], is_flag=True, help="Code (command: ..., module:Class) may be entered on the page."),
    click.Option(["--no-browser"], is_flag=True, help="Only print the address."),
]  # fmt: skip

command = verb(
    "serve",
    __doc__,
    [click.Argument(["runs"], type=PATH, default=Path("unmask-runs"), metavar="[RUNS]"), *OPTIONS],
    run,
)
