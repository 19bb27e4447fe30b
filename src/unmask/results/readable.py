"""Texts of strangers, made fit for a page or a terminal."""

from __future__ import annotations

import unicodedata

LONGEST = 240  # characters of a name or a value that anybody wants to read


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


_DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def _sign(character: str) -> str:
    if character == "\n" or character.isprintable():
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    category = unicodedata.category(character)
    if category in ("Cc", "Cs", "Co", "Cn") or unicodedata.bidirectional(character) in _DIRECTIONS:
        return f"⟨U+{code:04X}⟩"
    return character
