"""Handlers of forms: the fields are read as they arrive, the work is done off the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from unmask.web.rendering import address
from unmask.web.uploads import Form, form_of


def post(path: str, handler: Callable[[Request, Form], Response]) -> Route:
    """An address that takes an ordinary form."""

    async def endpoint(request: Request) -> Response:
        form = await form_of(request)
        return await run_in_threadpool(handler, request, form)

    return Route(path, endpoint, methods=["POST"])


def get(path: str, handler: Callable[[Request], Response]) -> Route:
    """An address that shows something."""
    return Route(path, handler, methods=["GET"])


def see(*parts: str) -> RedirectResponse:
    """On to another page, which is then read anew."""
    return RedirectResponse("/" + "/".join(address(part) for part in parts), status_code=303)


def first(form: Form, name: str, most: int = 10_000) -> Any:
    """The first value of a field, trimmed."""
    return (form.get(name) or [""])[0].strip()[:most]
