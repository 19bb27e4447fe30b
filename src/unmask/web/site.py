"""What the pages share: the settings, the queue, the runs, and the forms of the verbs."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path

from starlette.requests import Request

from unmask.errors import InputError
from unmask.web.forms import VerbForm, verb_forms
from unmask.web.jobs import Jobs
from unmask.web.looks import Looks
from unmask.web.sessions import Sessions
from unmask.web.settings import Settings
from unmask.web.shelf import Shelf

COMPARISON = re.compile("[0-9a-f]{16}")  # the name of its folder
DAYS = 7  # that a comparison is kept


class Site:
    """One server."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.sessions = Sessions(settings)
        self.jobs = Jobs(settings)
        self.shelf = Shelf(settings, self.jobs)
        self.looks = Looks(settings)

    def open(self) -> None:
        """Begin to look after jobs; the forms are there before anybody needs them."""
        verb_forms()
        _sweep(self.settings.own / "comparisons")
        self.jobs.open()

    def close(self) -> None:
        self.jobs.close()

    def form(self, verb: str) -> VerbForm:
        """The form of a verb, or an error in words."""
        found = verb_forms().get(verb)
        if found is None:
            raise InputError("There is no such audit.")
        return found


def _sweep(folder: Path) -> None:
    """Comparisons are made anew in a second: old ones go."""
    for each in folder.iterdir():
        if COMPARISON.fullmatch(each.name) and each.lstat().st_mtime < time.time() - DAYS * 86_400:
            shutil.rmtree(each, ignore_errors=True)


def site_of(request: Request) -> Site:
    """The server that a request was sent to."""
    site: Site = request.app.state.site
    return site
