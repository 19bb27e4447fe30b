"""What people are told on the error stream, and texts for the output stream: nothing in them steers a terminal."""

from __future__ import annotations

import re
import sys

from unmask.results.readable import UNSEEN, readable

LONGEST = 20_000  # characters of one message


def say(text: str) -> None:
    """Tell people something. It may quote names and values of strangers, so that control characters become signs."""
    print(readable(text, LONGEST), file=sys.stderr, flush=True)


def safe_json(text: str) -> str:
    """JSON that means the same and holds no character that a terminal would obey or hide."""
    return re.sub(UNSEEN, lambda found: f"\\u{ord(found[0]):04x}", text)
