"""The way in, and the few files that pages need."""

from __future__ import annotations

import functools
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from unmask.web.posting import get, see
from unmask.web.rendering import REPORT_STYLE, STATIC, message_page
from unmask.web.site import site_of

USED = (
    "This address was used already, or is not from this server. Repeat `unmask serve` in another terminal for a new one; runs "
    "and their progress are not lost."
)
KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


def enter(request: Request) -> Response:
    """A token for a session, once."""
    site = site_of(request)
    cookie = site.sessions.enter(request.query_params.get("token", "")[:200])
    if cookie is None:
        if site.sessions.knows(request.headers):  # the same browser again, from its history
            return see("runs")
        return message_page(403, USED)
    answer = RedirectResponse("/runs", status_code=303)
    answer.headers["set-cookie"] = cookie
    return answer


def home(request: Request) -> Response:
    """Everything begins with the runs."""
    return see("runs")


@functools.cache
def _static() -> dict[str, bytes]:
    """The style of the report, what pages add to it, and a script that pages can do without."""
    return {
        "report.css": REPORT_STYLE.read_bytes(),
        **{name: (STATIC / name).read_bytes() for name in ("page.css", "page.js")},
    }


def _file(name: str) -> Callable[[Request], Response]:
    def handler(request: Request) -> Response:
        kind = KINDS[name.rpartition(".")[2]]
        return Response(_static()[name], media_type=kind, headers={"cache-control": "private, max-age=60"})

    return handler


ROUTES = [
    get("/enter", enter),
    get("/", home),
    *(get(f"/static/{name}", _file(name)) for name in ("report.css", "page.css", "page.js")),
]
