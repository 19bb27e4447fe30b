"""All runs, and one of them: watch it, read it, cancel it, continue it, delete it, take its files along."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from unmask.errors import InputError, UnmaskError
from unmask.results.decision import DECISION, read_decision
from unmask.results.progress import RunProgress
from unmask.web.drafts import discard, read_draft
from unmask.web.places import is_run, plain_file, read_bytes, run_directory
from unmask.web.posting import first, get, post, see
from unmask.web.rendering import duration, message_page, page
from unmask.web.shelf import Shelved
from unmask.web.shown_report import report_response
from unmask.web.site import Site, site_of
from unmask.web.uploads import Form

DOWNLOADS = {  # what may be taken along: the file, and what is said of it
    "report.html": "The report, for anybody: it holds no real record.",
    "summary.md": "The same in short, as text.",
    "result.json": "Every number, for programs.",
    "decision.json": "What the reviewer decided.",
    "records.csv": "Risks of single people. LOCAL: do not pass on.",
    "run.json": "When, where and how it ran, with names of files. LOCAL.",
}
LOCAL = ("records.csv", "run.json")
LARGEST = 500_000_000  # bytes of a download
WAIT = 10  # seconds until a page without script asks again: time enough to walk to a button by keyboard


def listed(request: Request) -> Response:
    """All runs, or those that match a search."""
    site = site_of(request)
    query = request.query_params.get("q", "")[:200]
    everything = site.shelf.all()
    shown = [each for each in everything if each.matches(query.split())]
    busy = any(each.state in ("running", "waiting", "unread") for each in shown)
    return page(
        "runs.html", here="runs", runs=shown, total=len(everything), query=query, refresh=WAIT if busy else 0,
        place=str(site.settings.runs), bars={each.name: _bar(each.progress) for each in shown if each.state == "running"},
    )  # fmt: skip


def one(request: Request) -> Response:
    """A run: how far it is, or what it came to."""
    site = site_of(request)
    run = site.shelf.one(request.path_params["name"])
    directory = run_directory(site.settings, run.name)
    files = [(name, told, name in LOCAL) for name, told in DOWNLOADS.items() if plain_file(directory, name)]
    waits = run.state in ("running", "waiting", "unread")
    return page(
        "run.html", here="runs", run=run, files=files, progress=_progress(site, run), refresh=WAIT if waits else 0,
        said=_said(site, run), decision=_decision(site, run), draft=_draft(site, run),
    )  # fmt: skip


def _said(site: Site, run: Shelved) -> list[str]:
    """Why a run failed, in the words of the command line."""
    if run.job is None or run.state != "failed":
        return []
    told = site.jobs.progress(site.settings.runs / run.name)
    if told is not None and told.message and told.pid == run.job.pid:
        return told.message.splitlines()
    return (site.jobs.said(run.job) or "The process ended without a word: it may have been killed.").splitlines()[-12:]


def _decision(site: Site, run: Shelved) -> Any:
    directory = run_directory(site.settings, run.name)
    try:
        return read_decision(directory) if plain_file(directory, DECISION) else None
    except UnmaskError:
        return None


def _draft(site: Site, run: Shelved) -> Any:
    if run.job is None or not run.job.draft:
        return None
    try:
        return read_draft(site.settings, run.job.draft)
    except InputError:
        return None


def _bar(told: RunProgress | None) -> dict[str, Any]:
    """How far a run is, as a page shows it."""
    if told is None:
        return {"stage": "Starting", "share": None, "left": ""}
    share = None if not told.total else min(1.0, max(0.0, told.done / told.total))
    left = _left(told)
    return {"stage": told.stage, "share": None if share is None else round(share, 4), "left": left}


def _left(told: RunProgress) -> str:
    """How long it will still take; nothing if nobody can tell, or if it has taken longer than it said."""
    if told.eta_seconds is None:
        return ""
    age = datetime.datetime.now(datetime.UTC) - datetime.datetime.fromisoformat(told.updated)
    left = told.eta_seconds - age.total_seconds()
    return f"about {duration(left)} left" if left > 0 else ""


def _progress(site: Site, run: Shelved) -> dict[str, Any]:
    if run.state == "waiting" and run.job is not None:
        before = site.jobs.before(run.job)
        return {"stage": f"Waiting for {before} other run{'s' * (before != 1)}", "share": None, "left": ""}
    bar = _bar(run.progress)
    if run.job is not None and run.job.cancelled:
        return {**bar, "stage": "Cancelling: it stops at the next safe point", "left": ""}
    return bar


def progress(request: Request) -> Response:
    """The same for the script of the page."""
    site = site_of(request)
    run = site.shelf.one(request.path_params["name"])
    return Response(json.dumps({"state": run.state, **_progress(site, run)}), media_type="application/json")


def report(request: Request) -> Response:
    """The report, as the file is."""
    site = site_of(request)
    run = site.shelf.now(request.path_params["name"])
    directory = run_directory(site.settings, run.name)
    content = read_bytes(directory, "report.html", LARGEST)
    if content is None:
        return message_page(404, "There is no report here yet.", back=f"/run/{run.name}")
    if hashlib.sha256(content).hexdigest() != run.seen.get("report"):
        return page("altered.html", here="runs", run=run)
    return report_response(content)


def download(request: Request) -> Response:
    """A file of a run, to keep: never shown as a page."""
    site, name, file = site_of(request), request.path_params["name"], request.path_params["file"]
    directory = run_directory(site.settings, name)
    content = read_bytes(directory, file, LARGEST) if file in DOWNLOADS else None
    if content is None:
        return message_page(404, "There is no such file in this run.")
    kept = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:80] or "run"
    called = f"{kept}-{'LOCAL-' if file in LOCAL else ''}{file}"
    headers = {"content-disposition": f'attachment; filename="{called}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


def cancel(request: Request, form: Form) -> Response:
    """Stop a run; what it has done so far is kept."""
    site, name = site_of(request), request.path_params["name"]
    run_directory(site.settings, name)
    site.jobs.cancel(name)
    return see("run", name)


def again(request: Request, form: Form) -> Response:
    """Continue a run that was cancelled or failed."""
    site, name = site_of(request), request.path_params["name"]
    run_directory(site.settings, name)
    site.jobs.again(name)
    return see("run", name)


def ask_delete(request: Request) -> Response:
    """The question before a run is deleted."""
    site = site_of(request)
    run = site.shelf.now(request.path_params["name"])
    return page("delete.html", here="runs", run=run, decision=_decision(site, run))


def delete(request: Request, form: Form) -> Response:
    """Remove a run directory, and the uploads that were only for it."""
    site, name = site_of(request), request.path_params["name"]
    directory = run_directory(site.settings, name)
    if first(form, "sure") != "yes":
        raise InputError("Nothing was deleted. Mark that you are sure.")
    if site.shelf.one(name).state == "running":
        raise InputError("This run is not over. Cancel it first.")
    _check_deletable(site, name, directory)
    job = site.jobs.forget(name)
    gone = site.settings.own / f"deleted-{secrets.token_hex(8)}"
    directory.rename(gone)  # at once, whatever its size
    shutil.rmtree(gone, ignore_errors=True)
    if job is not None and job.draft:
        with suppress(InputError):
            discard(site.settings, read_draft(site.settings, job.draft))
    return see("runs")


def _check_deletable(site: Site, name: str, directory: Path) -> None:
    """A run, and not a folder that holds other things."""
    data = site.settings.data
    if data is not None and data.is_relative_to(directory):
        raise InputError("This folder holds the data directory: nothing was deleted.")
    if not is_run(directory) and site.jobs.of(name) is None:
        raise InputError("This folder is no run: nothing was deleted.")


ROUTES = [
    get("/runs", listed),
    get("/runs/{name:path}/report.html", report),
    get("/run/{name:path}", one),
    get("/progress/{name:path}", progress),
    get("/download/{file}/{name:path}", download),
    post("/cancel/{name:path}", cancel),
    post("/again/{name:path}", again),
    get("/delete/{name:path}", ask_delete),
    post("/delete/{name:path}", delete),
]
