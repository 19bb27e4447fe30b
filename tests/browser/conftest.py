"""A headless Chromium of this machine, driven by Playwright. Without them the tests are skipped, and say why."""

import os
import shutil
import subprocess
import tarfile
from dataclasses import replace

import pytest

from tests.reports import examples
from tests.reports.test_html import GOLDEN, HOSTILE, hostile, read
from tests.results.test_state import BLIND, CONFOUNDED
from unmask.errors import RunError
from unmask.files import write_atomically
from unmask.reports.browser import find_browser
from unmask.reports.html import render, render_comparison
from unmask.results.result import InputFile

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    try:
        path = find_browser()
    except RunError:
        pytest.skip("needs Chromium: run scripts/ensure-browser, or set UNMASK_BROWSER")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Reports on disk, by name."""
    folder = tmp_path_factory.mktemp("reports")
    texts = {path.stem: render(read(path), {"command": ["unmask", "demo"]}) for path in GOLDEN}
    texts["hostile"] = render(hostile(" ".join(text for text in HOSTILE if len(text) < 100)))
    texts["long"] = render(hostile("x" * 10_000))
    texts["crowded"] = render(examples.crowded())
    files = (InputFile("real", "people of 2024.csv", "12" * 32), InputFile("holdout", "others.csv", "34" * 32))
    for name, result in (("inconclusive", BLIND), ("confounded", CONFOUNDED)):
        texts[name] = render(replace(result, files=files), {"finished": "2026-11-16T08:05:09+00:00"})
    texts["comparison"] = render_comparison({path.stem: read(path) for path in GOLDEN})
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in texts}


@pytest.fixture
def visit(browser, pages):
    """Open a report and keep what the console said and what was requested."""
    contexts = []

    def opened(name, *, width=1400, scheme="light", script=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script
        )
        contexts.append(context)
        page = context.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("dialog", lambda dialog: (page.said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(pages[name].as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def axe(request):
    """The source of axe-core (MPL-2.0), fetched by npm and kept in pytest's cache; UNMASK_AXE names a copy."""
    if given := os.environ.get("UNMASK_AXE"):
        with open(given, encoding="utf-8") as file:
            return file.read()
    folder = request.config.cache.mkdir("axe-core")
    kept = folder / "axe.min.js"
    if not kept.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("axe-core is fetched by npm, which is not there; set UNMASK_AXE to a copy of axe.min.js")
        done = subprocess.run(
            [npm, "pack", "--silent", "axe-core@4"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        packed = sorted(folder.glob("axe-core-*.tgz"))
        if done.returncode or not packed:
            pytest.skip(f"npm could not fetch axe-core: {done.stderr.strip()[-200:]}")
        with tarfile.open(packed[-1]) as archive:
            inside = archive.extractfile("package/axe.min.js")
            assert inside is not None
            write_atomically(kept, inside.read())
    return kept.read_text(encoding="utf-8")
