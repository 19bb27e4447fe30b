"""The pages: one file per group of pages. Handlers read a request, ask those who know, and fill in a template."""

from __future__ import annotations

from starlette.routing import BaseRoute

from unmask.web.pages import audits, entrance, review, runs


def routes() -> list[BaseRoute]:
    """Every address that there is."""
    return [*entrance.ROUTES, *review.ROUTES, *audits.ROUTES, *runs.ROUTES]
