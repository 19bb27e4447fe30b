"""Starting the server: one per directory, on loopback unless the user insists, with an address that lets one browser in."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from unmask.errors import MissingExtraError, ParameterError, UnmaskError
from unmask.files import parse_json, read_text, shown, write_atomically
from unmask.web.sessions import forget_tokens, new_token
from unmask.web.settings import Settings

USUAL = 8623  # the port, if it is free
CONNECTIONS = 1_000  # at once; more are told to come back
RUNNING = "server.json"


def serve(settings: Settings, say: Callable[[str], None], opened: Callable[[str], None]) -> None:
    """Answer until somebody stops it. A server that runs already for this directory gets a new token instead."""
    try:
        import uvicorn

        from unmask.web.app import application
    except ImportError as problem:
        raise MissingExtraError(
            f"The local page needs three small packages ({problem}). Install them with: pip install 'unmask[web]'"
        ) from None
    settings.prepare()
    with _alone(settings) as alone:
        if not alone:
            settings = _running(settings)
            address = _entrance(settings)
            say(f"A server runs here already. Open {address}")
            opened(address)
            return
        (settings.own / RUNNING).unlink(
            missing_ok=True
        )  # of an earlier server: another program may have its port by now
        sock = _listening(settings)
        settings = replace(settings, port=sock.getsockname()[1])
        kept = {"host": settings.host, "port": settings.port, "public": settings.public}
        write_atomically(settings.own / RUNNING, json.dumps(kept) + "\n", private=True)
        forget_tokens(settings)
        config = uvicorn.Config(
            application(settings),
            log_level="critical",
            access_log=False,
            server_header=False,
            lifespan="on",
            ws="none",
            http="h11",
            limit_concurrency=CONNECTIONS,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=2,
            h11_max_incomplete_event_size=32_768,
        )
        server = uvicorn.Server(config)
        address = _entrance(settings)
        say(f"Open {address}\nThe address works once. Stop with Ctrl-C; runs that have begun go on.")
        opened(address)
        with suppress(KeyboardInterrupt):
            asyncio.run(server.serve(sockets=[sock]))


def _entrance(settings: Settings) -> str:
    return f"{settings.address}/enter?token={new_token(settings)}"


def _listening(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    asked = [settings.port] if settings.port else [USUAL, 0]
    for port in asked:
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((settings.host, port))
            sock.listen()  # at once: two servers that start together can both bind a port, and one of them listen
        except OSError as problem:
            sock.close()
            if port == asked[-1]:
                raise ParameterError(
                    f"{settings.host}:{port}: cannot listen here ({problem.strerror}). Choose another --port or --host."
                ) from None
            continue
        return sock
    raise ParameterError("There is no free port.")


@contextmanager
def _alone(settings: Settings) -> Iterator[bool]:
    """Whether no other server looks after this directory."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: the port is the lock
        yield True
        return
    handle = os.open(settings.own / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
    finally:
        os.close(handle)


def _running(settings: Settings) -> Settings:
    """The settings of the server that looks after this directory already."""
    path = settings.own / RUNNING
    try:
        plain = parse_json(read_text(path), RUNNING)
        return replace(settings, host=str(plain["host"]), port=int(plain["port"]), public=str(plain["public"]))
    except (OSError, UnmaskError, KeyError, TypeError, ValueError):
        raise ParameterError(
            f"{shown(settings.runs)}: another server is about to start here. Try again in a moment."
        ) from None


def real_directory(path: Path) -> Path:
    """A directory by its real path, so that what lies below it can be told."""
    return Path(os.path.realpath(path))
