"""The report: one self-contained page that needs no network and no script.

Everything passes `results.sharing.for_sharing` first, every text is escaped and made readable, and the content security policy
allows one stylesheet and one script by their hashes, so that nothing that came in through a table can run.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import urllib.parse
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from unmask.files import write_atomically
from unmask.kept import kept_folder
from unmask.reports import words
from unmask.reports.sections import IN_FULL, page_of
from unmask.reports.summary import summary
from unmask.reports.tables import sample, table_of
from unmask.results.decision import Decided, decided
from unmask.results.directory import read_run
from unmask.results.readable import readable
from unmask.results.result import Result
from unmask.results.sharing import for_sharing

if TYPE_CHECKING:
    from jinja2 import Environment

REPORT, SUMMARY = "report.html", "summary.md"
TEMPLATES = Path(__file__).parent / "templates"


def render(result: Result, run: Mapping[str, Any] | None = None, decision: Decided | None = None) -> str:
    """The page of one result; `run` is what run.json holds, `decision` what a person decided about it."""
    page = page_of(for_sharing(result), run)
    return _environment().get_template("report.html").render(page=page, decided=decision)


def render_comparison(results: Mapping[str, Result], links: Mapping[str, str] | None = None) -> str:
    """The page of several results side by side, by name; `links` lead to their own reports."""
    from unmask.reports.comparison import comparison_of

    shared = {name: for_sharing(result) for name, result in results.items()}
    page = comparison_of(shared, links or {})
    return _environment().get_template("comparison.html").render(page=page)


def write_report(result: Result, path: str | Path) -> Path:
    """Write the report of a result; returns the path of the page.

    Into a directory go report.html and summary.md, beside result.json. A path that ends in .html gets the page alone.
    """
    path = Path(path)
    if path.suffix.lower() == ".html" and not os.path.isdir(path):
        write_atomically(path, render(result))
        return path
    run, found = read_run(path), decided(path)
    write_atomically(path / REPORT, render(result, run, found))
    write_atomically(path / SUMMARY, summary(result, run, found))
    return path / REPORT


def link(start: Path, directory: Path) -> str:
    """The address of a report as seen from the folder of another page."""
    path = os.path.relpath(directory.resolve() / REPORT, start.resolve())
    return urllib.parse.quote(Path(path).as_posix())


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined

    class KeptTemplates(FileSystemBytecodeCache):
        """What jinja makes of a template, beside the compiled loops: it checks that the template is still the same."""

        def load_bytecode(self, bucket: Any) -> None:
            try:
                super().load_bytecode(bucket)
            except Exception:  # noqa: BLE001 - a file that was cut off raises anything, and is made anew
                bucket.reset()

        def dump_bytecode(self, bucket: Any) -> None:
            with suppress(OSError):  # a full disk, or a folder that can only be read
                super().dump_bytecode(bucket)

    place, _ = kept_folder()
    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, finalize=_readable, bytecode_cache=None if place is None else KeptTemplates(str(place)),
    )  # fmt: skip
    style, script = ((TEMPLATES / name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    made.globals |= {
        "style": Markup(style),
        "script": Markup(script),
        "policy": f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        "IN_FULL": IN_FULL,
    }
    made.filters |= {
        "figure": words.in_words, "measure": words.measure, "sentence": words.sentence, "plural": words.plural,
        "table": table_of, "sample": sample, "ticked": _ticked, "short": words.short, "long": _long,
    }  # fmt: skip
    return made


def _readable(value: Any) -> Any:
    """Every text that a template prints passes here; Markup is our own."""
    return readable(value, 600) if isinstance(value, str) and not isinstance(value, Markup) else value


def _long(text: str) -> Markup:
    """A sentence that may be longer than most."""
    return Markup("{}").format(readable(text, 2000))


def _ticked(text: str) -> Markup:
    """Text in which `commands` stand between backticks."""
    parts: Sequence[str] = readable(text, 600).split("`")
    made = [
        Markup("<code>{}</code>").format(part) if place % 2 else Markup("{}").format(part)
        for place, part in enumerate(parts)
    ]
    return Markup("").join(made)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
