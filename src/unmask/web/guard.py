"""Stands before every page: who speaks, from where, and what a browser may do with the answer."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unmask.web.rendering import message_page
from unmask.web.sessions import Sessions

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-dns-prefetch-control": "off",
    "referrer-policy": "same-origin",  # with no-referrer browsers would send `Origin: null` with our own forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "no-store",
}
OPEN = ("/enter", "/static/")  # without a session
NO_SESSION = (
    "This browser has no session. Use the address that `unmask serve` printed; it works once. For a new one, repeat the command "
    "in another terminal: it finds this server."
)


class Guard:
    """Refuses strangers before any of our pages is asked, and puts the headers on every answer."""

    def __init__(self, app: ASGIApp, sessions: Sessions) -> None:
        self.app, self.sessions, self.settings = app, sessions, sessions.settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._refused(scope)
        if refused is not None:
            await message_page(*refused)(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)

    def _refused(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self.settings.hosts:
            return 421, f"This page answers under {self.settings.address} only."
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "Pages are read and forms are sent here, and nothing else."
        origin = headers.get("origin")
        if (origin is not None or scope["method"] == "POST") and origin not in self.settings.origins:
            return 403, "This request comes from another site, or does not say where from. Nothing was done."
        site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "navigate")
        if site not in ("none", "same-origin") and (mode != "navigate" or scope["method"] == "POST"):
            return 403, "This request comes from another site. Nothing was done."
        path = scope["path"]
        if not path.startswith(OPEN) and not self.sessions.knows(headers):
            return 403, NO_SESSION
        return None
