"""What the pages share: the settings, the queue, the runs, and the forms of the verbs."""

from __future__ import annotations

import json
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from starlette.requests import Request

from unmask.errors import InputError, RunError
from unmask.web.forms import VerbForm, forms_from
from unmask.web.jobs import Jobs
from unmask.web.looks import Looks
from unmask.web.processes import answer, environment
from unmask.web.sessions import Sessions
from unmask.web.settings import Settings
from unmask.web.shelf import Shelf

FORMS = (sys.executable, "-P", "-m", "unmask.web.forms")


class Site:
    """One server."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.sessions = Sessions(settings)
        self.jobs = Jobs(settings)
        self.shelf = Shelf(settings, self.jobs)
        self.looks = Looks(settings)
        self._pool = ThreadPoolExecutor(1, "forms")
        self._asked: Future[dict[str, Any]] | None = None
        self._lock = threading.Lock()

    def open(self) -> None:
        """Begin to look after jobs, and ask for the forms before anybody needs them."""
        self.jobs.open()
        self._described()

    def close(self) -> None:
        self.jobs.close()
        self.looks.close()
        self._pool.shutdown(wait=False, cancel_futures=True)

    @property
    def forms(self) -> dict[str, VerbForm]:
        return forms_from(self._described().result())

    @property
    def generators(self) -> list[str]:
        return list(self._described().result()["generators"])

    def form(self, verb: str) -> VerbForm:
        """The form of a verb, or an error in words."""
        found = self.forms.get(verb)
        if found is None:
            raise InputError("There is no such audit.")
        return found

    def _described(self) -> Future[dict[str, Any]]:
        with self._lock:
            if self._asked is None or (self._asked.done() and self._asked.exception() is not None):
                self._asked = self._pool.submit(self._ask)
            return self._asked

    def _ask(self) -> dict[str, Any]:
        variables = environment(self.settings.upload_limit)
        code, out, said = answer(FORMS, folder=self.settings.runs, variables=variables, seconds=120)
        if code:
            raise RunError(f"The command line does not answer: {said[-300:]}")
        told: dict[str, Any] = json.loads(out)
        return told


def site_of(request: Request) -> Site:
    """The server that a request was sent to."""
    site: Site = request.app.state.site
    return site
