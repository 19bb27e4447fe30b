"""Pages from templates: every text is escaped and made readable on its way out, as in the report."""

from __future__ import annotations

import datetime
import functools
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from unmask.results.readable import readable
from unmask.versions import version_of

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"
REPORT_STYLE = Path(__file__).parents[1] / "reports" / "templates" / "style.css"


def page(template: str, status: int = 200, **shown: Any) -> HTMLResponse:
    """An answer made from a template."""
    return HTMLResponse(environment().get_template(template).render(**shown), status_code=status)


def message_page(status: int, text: str, **shown: Any) -> HTMLResponse:
    """A page that says one thing."""
    titles = {403: "Not allowed", 404: "Not found", 413: "Too large", 408: "Too slow", 421: "Another address"}
    title = titles.get(status, "Something is wrong" if status < 500 else "This went wrong")
    return page("message.html", status, title=title, text=text, **({"inside": status not in (403, 421)} | shown))


@functools.cache
def environment() -> Environment:
    """The templates, and what they may call."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, finalize=_readable,
    )  # fmt: skip
    made.globals |= {"version": version_of("unmask"), "inside": True, "here": "", "refresh": 0}
    made.filters |= {
        "ticked": _ticked, "size": size, "address": address, "plural": plural, "duration": duration,
        "day": day,
    }  # fmt: skip
    return made


def _readable(value: Any) -> Any:
    return readable(value, 2000) if isinstance(value, str) and not isinstance(value, Markup) else value


def _ticked(text: str) -> Markup:
    """Text in which `commands` stand between backticks."""
    parts = readable(text, 2000).split("`")
    marks = ("{}", "<code>{}</code>")
    return Markup("").join(Markup(marks[place % 2]).format(part) for place, part in enumerate(parts))


def address(name: str) -> str:
    """A name as part of an address; slashes stay."""
    return quote(name, safe="/")


def size(count: float) -> str:
    """Bytes for people."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return (
                f"{count:,.0f} {unit}" if unit == "bytes" or count >= 100 else f"{count:.1f} {unit}".replace(".0 ", " ")
            )
        count /= 1000
    return ""


def plural(count: int, word: str) -> str:
    """A number with its word."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def day(moment: float) -> str:
    """A moment on this machine's clock; a dash for one that no calendar has."""
    try:
        return datetime.datetime.fromtimestamp(moment).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "—"


def duration(seconds: float) -> str:
    """About how long."""
    if seconds < 90:
        return plural(max(1, round(seconds)), "second")
    if seconds < 5400:
        return plural(round(seconds / 60), "minute")
    return plural(round(seconds / 3600), "hour")
