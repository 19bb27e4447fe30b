"""Texts of strangers, made fit for a page, a terminal or a spreadsheet."""

from __future__ import annotations

import unicodedata

LONGEST = 240  # characters of a name or a value that anybody wants to read

# What JSON leaves as it is and a terminal obeys or hides: DEL and C1, marks and overrides of direction, line separators,
# halves of characters.
UNSEEN = "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # a text that begins like this is computed by spreadsheets


def readable(text: str, longest: int = LONGEST) -> str:
    """Text as it can be shown: control and direction-changing characters as signs, nothing endless.

    Names come from files of strangers. Escape sequences must not reach a terminal, and an override must not turn a
    sentence around.
    """
    if len(text) > longest:
        text = f"{text[:longest]}… ({len(text):,} characters)"
    if text.isprintable():
        return text
    return "".join(_sign(character) for character in text)


def one_line(text: str, longest: int = LONGEST) -> str:
    """The same with line ends as signs too: a name cannot pretend to be a line of ours."""
    return readable(text, longest).replace("\n", "␊")


def spreadsheet_text(text: str) -> str:
    """Text for a cell of a CSV file that people open: no control character, and nothing that is computed.

    An apostrophe before it is what spreadsheets themselves use to say "this is text".
    """
    begins = text.startswith(FORMULAS) and not _is_number(text)
    return ("'" if begins else "") + one_line(text, len(text))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip() == text


_DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_MARKS = "\u061c\u200e\u200f\u2028\u2029"


def _sign(character: str) -> str:
    if character == "\n" or character.isprintable():
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    hidden = unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn") or character in _MARKS
    if hidden or unicodedata.bidirectional(character) in _DIRECTIONS:
        return f"⟨U+{code:04X}⟩"
    return character
