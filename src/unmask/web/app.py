"""The pages and who stands before them, as one application."""

from __future__ import annotations

import os
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from unmask.errors import UnmaskError
from unmask.web.guard import Guard
from unmask.web.pages import routes
from unmask.web.places import NoSuchRun
from unmask.web.rendering import message_page
from unmask.web.settings import Settings
from unmask.web.site import Site

SENTENCES = {404: "There is no such page.", 405: "This address takes no such request."}


def application(settings: Settings) -> Guard:
    """Everything that a server answers with."""
    site = Site(settings)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await run_in_threadpool(site.open)
        yield
        await run_in_threadpool(site.close)

    app = Starlette(
        routes=routes(),
        lifespan=lifespan,
        exception_handlers={HTTPException: _refused, UnmaskError: _told, Exception: _defect},
    )
    app.state.site = site
    return Guard(app, site.sessions)


def _refused(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    answer = message_page(problem.status_code, SENTENCES.get(problem.status_code, problem.detail))
    answer.headers.update(problem.headers or {})
    return answer


def _told(request: Request, problem: Exception) -> Response:
    """What is wrong with a name, a file or a choice, in the words of the error."""
    return message_page(404 if isinstance(problem, NoSuchRun) else 400, str(problem))


def _defect(request: Request, problem: Exception) -> Response:
    """The last line of defence: no traceback reaches a browser, and the terminal only with UNMASK_DEBUG."""
    if os.environ.get("UNMASK_DEBUG"):
        traceback.print_exception(problem)
    return message_page(500, f"This is a defect of unmask ({type(problem).__name__}). Nothing was sent anywhere.")
