"""The report as a PDF or a picture, made by a Chromium that is already on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from unmask.errors import RunError
from unmask.files import write_atomically

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
)
SECONDS = 120
QUIET = (
    "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-pdf-header-footer", "--hide-scrollbars",
)  # fmt: skip


def find_browser() -> str:
    """The path of a Chromium, Chrome or Edge: UNMASK_BROWSER, or what is on the path."""
    for name in (os.environ.get("UNMASK_BROWSER", ""), *BROWSERS):
        if name and (found := shutil.which(name)):
            return found
    raise RunError(
        "A PDF needs Chromium, Chrome or Edge, and none was found. Install one (Debian: apt install chromium), set\n"
        "UNMASK_BROWSER to its path, or open report.html in any browser and print it."
    )


def write_pdf(page: Path) -> Path:
    """Print a page to a PDF beside it."""
    target = page.with_suffix(".pdf")
    write_atomically(target, _made(page, "page.pdf", "--print-to-pdf={}"))
    return target


def write_picture(page: Path, target: Path, *, width: int = 1240, height: int = 1390) -> Path:
    """A picture of the top of a page."""
    write_atomically(target, _made(page, "page.png", "--screenshot={}", f"--window-size={width},{height}"))
    return target


def _made(page: Path, name: str, what: str, *more: str) -> bytes:
    """What the browser made of a page, in an empty profile."""
    browser = find_browser()
    # Root cannot use the sandbox; everything that is shown is our own page, and it loads nothing.
    sandbox = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
    with tempfile.TemporaryDirectory(prefix="unmask-browser-") as folder:
        made = Path(folder) / name
        profile = f"--user-data-dir={folder}/profile"
        command = (browser, *QUIET, *sandbox, profile, what.format(made), *more, page.resolve().as_uri())
        try:
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise RunError(f"{browser} did not print {page} ({problem}). Open it and print it by hand.") from None
        if done.returncode or not made.exists():
            said = done.stderr.decode("utf-8", errors="replace").strip().splitlines()
            raise RunError(f"{browser} did not print {page}: {said[-1] if said else 'no reason given'}.")
        return made.read_bytes()
