"""Compare runs, and decide: what the command line's own report verb writes."""

from __future__ import annotations

import datetime
import re
import secrets

from starlette.requests import Request
from starlette.responses import Response

from unmask.errors import InputError, ParameterError, RunError
from unmask.results.decision import DECISION, Decision, Publishing, read_decision, write_decision
from unmask.web.places import plain_file, read_bytes, run_directory
from unmask.web.posting import first, get, post, see
from unmask.web.processes import UNMASK, answer, environment
from unmask.web.rendering import message_page, page
from unmask.web.settings import OWN
from unmask.web.shown_report import report_response
from unmask.web.site import Site, site_of
from unmask.web.uploads import Form

MOST = 12  # runs side by side
SECONDS = 180
COMPARISON = "comparison.html"


def compare(request: Request, form: Form) -> Response:
    """Two or more runs side by side: the page that `unmask report a/ b/` writes."""
    site = site_of(request)
    names = list(dict.fromkeys(form.get("run", [])))
    if not 2 <= len(names) <= MOST:
        raise InputError(f"Mark between two and {MOST} finished runs, then compare them.")
    places = {name: _finished(site, name) for name in names}
    names.sort(key=lambda name: site.shelf.one(name).moment)  # before, after
    made = secrets.token_hex(8)
    target = site.settings.own / "comparisons" / made / COMPARISON
    target.parent.mkdir(mode=0o700)
    _report(site, [*(places[name] for name in names), f"--out={target}"])
    return see("runs", OWN, "comparisons", made, COMPARISON)


def comparison(request: Request) -> Response:
    """A comparison that was made here."""
    site, made = site_of(request), request.path_params["made"]
    folder = site.settings.own / "comparisons" / made
    known = re.fullmatch("[0-9a-f]{16}", made) is not None and not folder.is_symlink()
    content = read_bytes(folder, COMPARISON, 50_000_000) if known else None
    if content is None:
        return message_page(404, "There is no such comparison any more. Mark the runs and compare them again.")
    return report_response(content, links=True)


def _report(site: Site, words: list[str]) -> None:
    """Have the command line write a report."""
    code, _, said = answer(
        [*UNMASK, "report", *words],
        folder=site.settings.runs,
        variables=environment(site.settings.upload_limit),
        seconds=SECONDS,
    )
    if code:
        raise RunError(said[-2000:] or "The report could not be written.")


def renew(request: Request, form: Form) -> Response:
    """Write the report of a run anew."""
    site, name = site_of(request), request.path_params["name"]
    _report(site, [_finished(site, name), "--force"])
    return see("runs", name, "report.html")


def _finished(site: Site, name: str) -> str:
    run = site.shelf.now(name)
    if run.state != "finished":
        raise InputError("This run has no result that can be read.")
    return str(run_directory(site.settings, name))


def ask_decide(request: Request) -> Response:
    """The form of a decision, with what was decided before."""
    site = site_of(request)
    run = site.shelf.now(request.path_params["name"])
    return _form(site, run.name, {}, "")


def _form(site: Site, name: str, given: dict[str, str], problem: str) -> Response:
    run = site.shelf.now(name)
    directory = run_directory(site.settings, name)
    try:
        kept = read_decision(directory) if plain_file(directory, DECISION) else None
    except RunError:
        kept = None
    before = (
        {} if kept is None else {"reviewer": kept.reviewer, "decision": str(kept.decision), "reasons": kept.reasons}
    )
    today = datetime.datetime.now().astimezone().date().isoformat()
    shown = {"reviewer": "", "decision": "", "reasons": "", "date": today} | before | given
    return page(
        "decide.html", 400 if problem else 200, here="runs", run=run, given=shown, problem=problem,
        choices=[str(each) for each in Publishing],
    )  # fmt: skip


def decide(request: Request, form: Form) -> Response:
    """Keep a decision beside the result, and print it in the report."""
    site, name = site_of(request), request.path_params["name"]
    directory = _finished(site, name)
    given = {each: first(form, each).replace("\r\n", "\n") for each in ("reviewer", "decision", "reasons", "date")}
    try:
        if given["decision"] not in list(Publishing):
            raise ParameterError("Choose a decision: publish, publish with conditions, or do not publish.")
        write_decision(directory, Decision(**{**given, "decision": Publishing(given["decision"])}))
    except ParameterError as problem:
        return _form(site, name, given, str(problem))
    _report(site, [directory])
    return see("run", name)


ROUTES = [
    post("/compare", compare),
    get(f"/runs/{OWN}/comparisons/{{made}}/{COMPARISON}", comparison),
    post("/renew/{name:path}", renew),
    get("/decide/{name:path}", ask_decide),
    post("/decide/{name:path}", decide),
]
