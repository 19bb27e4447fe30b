"""The local page in a real browser, from `unmask serve` as a process to the verdict."""

import os
import shutil
from contextlib import suppress

import pytest

from tests.browser.test_report import CONTRAST
from tests.web.conftest import TABLES
from tests.web.served import PATIENCE, Served, until

Error = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright").Error
HOSTILE = "<img src=x onerror=document.title='ran'>"
LONG = 1000 * PATIENCE  # milliseconds
WIDTHS = [(1400, "light"), (360, "dark")]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A server with hostile files and columns in its data directory, and runs of several verbs of the command line."""
    folder = tmp_path_factory.mktemp("site")
    runs, data = folder / "runs", folder / "data"
    for name in ("audit", "everyone", "epsilon"):
        shutil.copytree(TABLES / name, runs / "older" / name)
    (runs / "older" / "everyone" / "report.html").write_text(f"<!doctype html><title>x</title>{HOSTILE}")
    data.mkdir()
    for name in ("real", "synthetic", "holdout"):
        text = (TABLES / f"{name}.csv").read_text()
        (data / f"{name}.csv").write_text(text)
        lines = text.splitlines()
        hostile = [f'"{HOSTILE}",{lines[0]}', *(f'"{HOSTILE}{row % 3}",{line}' for row, line in enumerate(lines[1:]))]
        (data / f"{name} {HOSTILE.replace('/', '')}.csv").write_text("\n".join(hostile) + "\n")
    server = Served(runs, (f"--data={data}",)).start()
    yield server
    server.end()


@pytest.fixture
def enter(browser, site):
    """A browser with a session of its own, and what its console said and asked for."""
    contexts = []

    def opened(*, width=1400, scheme="light", script=True):
        second = Served(site.runs)
        second.start()
        second.process.wait(timeout=PATIENCE)
        second.process.stderr.close()
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script
        )
        context.set_default_timeout(LONG)
        contexts.append(context)
        page = context.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("dialog", lambda dialog: (page.said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(second.entrance)
        assert page.title() == "Runs · unmask"
        return page

    yield opened
    for context in contexts:
        context.close()


def test_from_three_files_to_a_decision(enter, site):
    """Upload, correct a role, watch, restart the server meanwhile, read, decide, compare."""
    page = enter()
    page.get_by_role("link", name="New audit").first.click()
    page.get_by_role("link", name="Bring your files").click()
    for name in ("real", "synthetic", "holdout"):
        page.set_input_files(f"#file-{name}", TABLES / f"{name}.csv")
    page.get_by_role("button", name="Look at these files").click()
    page.wait_for_selector("#columns")
    assert "120 rows, 15 columns" in page.inner_text("#noticed + p")
    page.get_by_label("Role of income").select_option("secret")
    page.get_by_label("Role of fnlwgt").select_option("identifier")
    page.get_by_role("button", name="Look again").click()
    page.wait_for_selector("#columns")
    assert page.get_by_label("Role of income").input_value() == "secret"
    assert "left out" in page.locator("li.column", has_text="fnlwgt").inner_text()
    page.get_by_label("Name", exact=True).fill("Before the fix")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url("**/run/before-the-fix")
    page.wait_for_selector(".badge.busy")
    site.stop()
    site.start()  # on the same port: the script of the page goes on asking
    page.wait_for_selector("text=Read the report")
    assert page.said == [] or all("Failed to load" in line for line in page.said)  # while nobody answered
    page.get_by_role("link", name="Read the report").click()
    assert "Audit of a synthetic table" in page.inner_text("h1")
    page.go_back()
    page.get_by_role("link", name="Decide").click()
    page.get_by_label("Do not publish").check()
    page.get_by_label("Reasons").fill("Too many people are named.")
    page.get_by_label("Reviewer").fill("A. Reviewer")
    page.get_by_role("button", name="Keep the decision").click()
    page.wait_for_selector("#decision")
    page.get_by_role("link", name="Read the report").click()
    assert "Too many people are named." in page.inner_text("body")
    page.goto(f"{site.origin}/runs?q=audit")
    page.wait_for_selector("[aria-label='Mark older/audit to compare it']")
    page.goto(f"{site.origin}/runs")
    page.get_by_label("Mark older/audit to compare it").check()
    page.get_by_label("Mark before-the-fix to compare it").check()
    page.get_by_role("button", name="Compare the marked runs").click()
    page.wait_for_selector("text=2 runs side by side")
    assert "What has changed" in page.inner_text("body")
    page.get_by_role("link", name="Its report").first.click()
    assert "Verdict" in page.inner_text("h2")
    assert [url for url in page.asked if not url.startswith((site.origin, "data:"))] == []


def test_without_script_and_by_keyboard_a_run_is_begun_and_cancelled(enter, site):
    page = enter(script=False, width=360)

    def press(name, role="button"):
        """Walk there with the tabulator, and press. A page that asks again meanwhile begins at its top."""
        wanted = page.get_by_role(role, name=name, exact=True).first
        for _ in range(20):
            wanted.wait_for()
            with suppress(Error):  # the page was loaded anew under our feet
                for _ in range(150):
                    page.keyboard.press("Tab")
                    if wanted.evaluate("node => node === document.activeElement"):
                        assert wanted.evaluate("node => getComputedStyle(node).outlineStyle") != "none"
                        page.keyboard.press("Enter")
                        return
                raise AssertionError(f"the keyboard does not reach {name}")
        raise AssertionError(f"the page is loaded anew all the time, and nobody reaches {name}")

    press("New audit", "link")
    page.wait_for_url("**/new")
    press("Epsilon", "link")
    page.wait_for_url("**/new/epsilon")
    press("Look at these files")
    page.wait_for_url("**/draft/*")
    page.locator("#choice-generator").focus()
    page.keyboard.type("privbayes")
    page.locator("#name").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("by keyboard")
    page.locator("summary").focus()
    page.keyboard.press("Enter")
    page.locator("#choice-runs").focus()
    page.keyboard.type("100000")
    page.locator("#choice-stop_early").select_option("no")
    press("Run")
    page.wait_for_url("**/run/by-keyboard")
    page.wait_for_selector("button:has-text('Cancel')")  # the page asks again by itself
    press("Cancel")
    page.wait_for_selector("text=The run was cancelled")
    assert page.is_visible("text=Continue")
    press("Delete this run", "link")
    page.wait_for_selector("text=this cannot be undone")
    page.locator("#sure").focus()
    page.keyboard.press("Space")
    press("Delete")
    page.wait_for_url("**/runs")
    assert not os.path.exists(site.runs / "by-keyboard")


def pages_of(site) -> list[str]:
    until(lambda: (site.runs / "older" / "audit").is_dir())
    return [
        "/runs", "/runs?q=nothing", "/new", "/new/audit", "/new/compare", "/run/older/audit", "/run/older/everyone",
        "/decide/older/audit", "/runs/older/everyone/report.html",
        "/delete/older/audit", "/run/nothing", "/runs/older/audit/report.html",
    ]  # fmt: skip


@pytest.mark.parametrize(("width", "scheme"), WIDTHS)
def test_every_page_is_usable_at_every_width_and_axe_finds_nothing_serious(enter, site, axe, width, scheme):
    page = enter(width=width, scheme=scheme)
    page.goto(f"{site.origin}/run/older/audit")
    page.wait_for_selector("#verdict")
    drafts = []
    for verb, files in (("audit", ("real", "synthetic", "holdout")), ("attack", ("population",))):
        page.goto(f"{site.origin}/new/{verb}")
        for name in files:
            page.fill(f"#path-{name}", f"{name if name != 'population' else 'real'} {HOSTILE}.csv")
        page.get_by_role("button", name="Look at these files").click()
        page.wait_for_selector("#columns")
        drafts.append(page.url.removeprefix(site.origin))
    for path in (*pages_of(site), *drafts):
        page.goto(site.origin + path)
        page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0, path
        assert page.evaluate(CONTRAST) == [], path
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        serious = [
            (rule["id"], [node["target"] for node in rule["nodes"]][:3])
            for rule in found["violations"]
            if rule["impact"] in ("serious", "critical")
        ]
        assert serious == [], path
        assert page.locator("img").count() == 0
    assert page.title() != "ran"
    assert [line for line in page.said if "404" not in line] == []
    assert [url for url in page.asked if not url.startswith((site.origin, "data:"))] == []
    for draft in drafts:
        page.goto(site.origin + draft)
        assert HOSTILE in page.inner_text("main")
    page.emulate_media(media="print")
    page.goto(f"{site.origin}/run/older/audit")
    assert not page.is_visible(".bar nav")
    assert page.evaluate("getComputedStyle(document.querySelector('h1')).color") == "rgb(26, 31, 38)"
