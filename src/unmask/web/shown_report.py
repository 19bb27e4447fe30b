"""Reports in a browser: the bytes of the file, under a policy that lets our own style and script through and nothing else."""

from __future__ import annotations

import base64
import functools
import hashlib

from starlette.responses import Response

from unmask.web.rendering import REPORT_STYLE


@functools.cache
def _policy() -> str:
    style, script = (_hash(REPORT_STYLE.with_name(name).read_bytes()) for name in ("style.css", "script.js"))
    return (
        f"default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


def _hash(content: bytes) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content).digest()).decode()


def report_response(content: bytes, *, links: bool = False) -> Response:
    """A page of the report as it is: of no origin, so that it could not ask for anything here even if it tried.

    Only a comparison has `links`, to the reports of its runs: from a page of no origin they would go without the session.
    """
    policy = _policy() + ("" if links else "; sandbox allow-scripts")
    return Response(content, media_type="text/html; charset=utf-8", headers={"content-security-policy": policy})
