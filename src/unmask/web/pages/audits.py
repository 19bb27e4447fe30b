"""A new audit: which one, which files, what we found in them, what you chose; then it runs. The same way for every verb."""

from __future__ import annotations

import datetime
import json
import re
import shutil

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from unmask.errors import InputError, UnmaskError
from unmask.files import make_folder
from unmask.web.drafts import (
    Draft,
    begun,
    check_files,
    discard,
    drafts,
    gathered,
    new_draft,
    plain_given,
    read_draft,
    words_of,
)
from unmask.web.forms import VerbForm, generator_names, verb_forms
from unmask.web.places import offered_files, run_directory
from unmask.web.posting import get, post, see
from unmask.web.processes import UNMASK, answer, environment
from unmask.web.rendering import page
from unmask.web.site import Site, site_of
from unmask.web.uploads import Form, receive

FIRST = "audit"  # the audit that most people come for
TRIAL = "demo"
PLAN, CHECKED = "plan.toml", "checked.toml"
SECONDS = 120


def new(request: Request) -> Response:
    """Which audit."""
    site = site_of(request)
    forms = verb_forms()
    others = [form for name, form in forms.items() if name not in (FIRST, TRIAL)]
    waiting = [(draft, forms[draft.verb]) for draft in drafts(site.settings) if not draft.run and draft.verb in forms]
    return page("new.html", here="new", first=forms[FIRST], others=others, waiting=waiting)


def ask_files(request: Request) -> Response:
    """Which files."""
    site = site_of(request)
    form = site.form(request.path_params["verb"])
    if not form.files:
        return see("new")
    return _files(site, form, "")


def _files(site: Site, form: VerbForm, problem: str) -> Response:
    return page(
        "files.html", 400 if problem else 200, here="new", form=form, problem=problem,
        offered=offered_files(site.settings), roots=[str(root) for root in site.settings.roots],
        limit=site.settings.upload_limit,
    )  # fmt: skip


async def take_files(request: Request) -> Response:
    """Files arrive, or are named: a draft is made of them."""
    site = site_of(request)
    form = site.form(request.path_params["verb"])
    given, uploaded = await receive(request, site.settings)

    def made() -> Response:
        try:
            draft = new_draft(form.name, gathered(site.settings, form, given, uploaded), {})
        except InputError as problem:
            for file in uploaded:
                shutil.rmtree(file.path.parent, ignore_errors=True)
            return _files(site, form, str(problem))
        draft.write(site.settings)
        return see("draft", draft.id)

    return await run_in_threadpool(made)


def shown_draft(request: Request) -> Response:
    """What we found in the files, and what can be chosen."""
    site = site_of(request)
    draft = read_draft(site.settings, request.path_params["draft"])
    if draft.run:
        return see("run", draft.run)
    return _draft(site, draft, "")


def _draft(site: Site, draft: Draft, problem: str) -> Response:
    form = site.form(draft.verb)
    look = site.looks.of(draft, form)
    return page(
        "draft.html", 400 if problem else 200, here="new", draft=draft, form=form, problem=problem, look=look,
        generators=generator_names(), trust=site.settings.trust, refresh=2 if look.state == "looking" else 0,
        name="".join(draft.given.get("name", ())) or _proposed(draft.verb),
    )  # fmt: skip


def take_roles(request: Request, form: Form) -> Response:
    """Corrected columns."""
    site = site_of(request)
    draft = read_draft(site.settings, request.path_params["draft"])
    draft = Draft(**{**vars(draft), "given": plain_given(form)}).write(site.settings)
    try:
        site.looks.correct(draft, site.form(draft.verb))
    except UnmaskError as problem:
        return _draft(site, draft, str(problem))
    return see("draft", draft.id)


def look(request: Request) -> Response:
    """Whether the files are read, for the script of the page."""
    site = site_of(request)
    draft = read_draft(site.settings, request.path_params["draft"])
    return Response(
        json.dumps({"state": site.looks.of(draft, site.form(draft.verb)).state}), media_type="application/json"
    )


def start(request: Request, form: Form) -> Response:
    """Everything is there: check the choices, and put the run into the queue."""
    site = site_of(request)
    draft = read_draft(site.settings, request.path_params["draft"])
    if draft.run:
        return see("run", draft.run)
    draft = Draft(**{**vars(draft), "given": plain_given(form)}).write(site.settings)
    try:
        site.looks.correct(draft, site.form(draft.verb))
        name = _begin(site, draft)
    except UnmaskError as problem:
        return _draft(site, draft, str(problem))
    return see("run", name)


def try_it(request: Request, form: Form) -> Response:
    """The bundled data: needs nothing."""
    site = site_of(request)
    name = _free(site, "try-it")
    site.jobs.add(name, TRIAL, [])
    return see("run", name)


def _begin(site: Site, draft: Draft) -> str:
    verb = site.form(draft.verb)
    check_files(site.settings, draft)
    folder = draft.folder(site.settings)
    plan = folder / PLAN if verb.write(draft.given, folder / PLAN) else None
    words = words_of(draft, verb, plan, site.looks.schema(draft))
    trust = ["--trust"] if site.settings.trust and verb.takes_trust else []
    _check(site, draft, [*words, *trust])
    name = _free(site, _slug("".join(draft.given.get("name", ()))) or _proposed(draft.verb))
    begun(site.settings, draft, name)
    site.jobs.add(name, draft.verb, [*words, *trust], draft.id)
    return name


def _check(site: Site, draft: Draft, words: list[str]) -> None:
    """Whether the choices make a plan, by the command line itself; code that a form names is refused there without --trust."""
    target = draft.folder(site.settings) / CHECKED
    code, _, said = answer(
        [*UNMASK, draft.verb, *words, f"--write-plan={target}"],
        folder=site.settings.runs,
        variables=environment(site.settings.upload_limit),
        seconds=SECONDS,
    )
    if code:
        hidden = said.replace(str(draft.folder(site.settings) / PLAN), "The form")
        advice = "If you trust it, add --trust; or name the code yourself on the command line."
        told = "Code can be entered only if the server was started with `unmask serve --trust`."
        raise InputError(hidden.replace(advice, told)[-2000:])


def _proposed(verb: str) -> str:
    return f"{verb}-{datetime.datetime.now().astimezone():%Y-%m-%d}"


def _slug(text: str) -> str:
    """A name for a directory: letters, digits and hyphens only."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60]


def _free(site: Site, name: str) -> str:
    """The name, or the next one that is free; the directory is made, so that nobody else takes it."""
    for number in range(1, 10_000):
        tried = name if number == 1 else f"{name}-{number}"
        if not (site.settings.runs / tried).exists() and site.jobs.of(tried) is None:
            make_folder(site.settings.runs / tried)
            return tried
    raise InputError("There are too many runs of this name. Choose another.")


def throw_away(request: Request, form: Form) -> Response:
    """Discard a draft and its uploads."""
    site = site_of(request)
    draft = read_draft(site.settings, request.path_params["draft"])
    if draft.run:
        raise InputError("This draft has become a run. Delete the run instead.")
    discard(site.settings, draft)
    return see("new")


def anew(request: Request, form: Form) -> Response:
    """A new draft with the files and choices of a run."""
    site, name = site_of(request), request.path_params["name"]
    run_directory(site.settings, name)
    job = site.jobs.of(name)
    if job is None or not job.draft:
        raise InputError("This run was not begun here: begin a new audit with its files.")
    old = read_draft(site.settings, job.draft)
    check_files(site.settings, old)
    draft = new_draft(old.verb, old.files, {key: value for key, value in old.given.items() if key != "name"})
    draft.write(site.settings)
    site.looks.copy(old, draft)
    return see("draft", draft.id)


ROUTES = [
    get("/new", new),
    post("/try", try_it),
    get("/new/{verb}", ask_files),
    Route("/new/{verb}", take_files, methods=["POST"]),
    get("/draft/{draft}", shown_draft),
    get("/look/{draft}", look),
    post("/roles/{draft}", take_roles),
    post("/start/{draft}", start),
    post("/discard/{draft}", throw_away),
    post("/anew/{name:path}", anew),
]
