"""Odd values, odd texts, and odd changes to what was in order."""

import copy
import json
import random
from typing import Any

NUMBERS: tuple[Any, ...] = (
    0, -1, 1, 2, 7, 0.5, -0.0, 1e308, -1e308, 1e299, -1e299, 1e150, 1.7976931348623157e308, 5e-324, 1e-320, 2**31, 2**53 + 1,
    -(2**63), 2**64,
    10**18, 10**400,
    65_000, 65_001, 1e15, float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
TEXTS = (
    "", " ", "a", "A", "0", "00", "007", "+5", "-5", "1e5", "1E400", "-1e308", "1e308", "nan", "NaN", "inf", "-inf", "NA",
    "?", "None",
    "null", "true", "1_000", "1,000", "12.50", ".5", "5.", "0x10", "2020-02-30", "2020-01-31", "9999-12-31", "0001-01-01",
    "2020-01-31 12:00:00", "31/01/2020", "é", "ß", "İ", "日本", "🙂", "a\u0301", "\u202eabc", "\u2066x\u2069", "\x1b[31mred",
    "\x9b31m",
    "\x07", "\x7f", "\u2028", "\u200b", "=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "-2+3", "'quoted", '"', '""', "a\nb",
    "a\tb", "a,b", "a;b", "a|b",
    "</script>", "<b>", "[x](http://evil.example)", "@team", "#12", "`", "${x}", "{train}", "%s", "%Y", "../../etc", "\\",
    "/", "x" * 300,
    "command: touch /tmp/never", "os:system", "./never.py:X", "raw", "9" * 5000, "9" * 400, "cart", "NUL", "con",
)  # fmt: skip
NAMES = (
    "age",
    "sex",
    "pay",
    "id",
    "date",
    "city",
    "x",
    "",
    " ",
    "a b",
    "é",
    "\x1b]0;t\x07",
    "=1+1",
    "\u202ex",
    "columns",
    "x" * 200,
    "1",
    "None",
    "a\nb",
)


def odd(rng: random.Random) -> Any:
    """Something that nobody expects in this place."""
    return rng.choice([
        lambda: rng.choice(NUMBERS), lambda: rng.choice(TEXTS), lambda: rng.choice([None, True, False, [], {}, [[]], [None],
        {"": None}]),
        lambda: [rng.choice(TEXTS) for _ in range(rng.randrange(4))], lambda: {rng.choice(NAMES): rng.choice(NUMBERS)},
        lambda: [rng.choice(NUMBERS) for _ in range(3)], lambda: nested(rng.choice([5, 100])),
    ])()  # fmt: skip


def nested(depth: int) -> Any:
    """Lists in lists."""
    inner: Any = 1
    for _ in range(depth):
        inner = [inner]
    return inner


def places(plain: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in plain data."""
    found = [path]
    if isinstance(plain, dict):
        for key, value in plain.items():
            found += places(value, (*path, key))
    elif isinstance(plain, list):
        for place, value in enumerate(plain[:30]):
            found += places(value, (*path, place))
    return found


def changed(plain: Any, rng: random.Random, times: int = 1) -> Any:
    """Plain data with something replaced, dropped, doubled or added, at random places."""
    plain = copy.deepcopy(plain)
    for _ in range(times):
        where = rng.choice(places(plain))
        if not where:
            if rng.random() < 0.1:
                plain = odd(rng)
            continue
        *path, last = where
        inside = plain
        for step in path:
            inside = inside[step]
        how = rng.randrange(5)
        if how == 0:
            del inside[last]
        elif how == 1 and isinstance(inside, list):
            inside.insert(last, odd(rng))
        elif how == 1:
            inside[rng.choice(NAMES)] = odd(rng)
        elif how == 2 and isinstance(inside[last], str):
            inside[last] = rng.choice(TEXTS)
        elif how == 3 and isinstance(inside[last], int | float):
            inside[last] = rng.choice(NUMBERS)
        else:
            inside[last] = odd(rng)
    return plain


def in_kind(plain: Any, rng: random.Random, share: float = 0.05) -> Any:
    """Plain data that is still what it should be, by its types, with a share of odd texts and numbers."""
    if isinstance(plain, dict):
        return {key: in_kind(value, rng, share) for key, value in plain.items()}
    if isinstance(plain, list):
        return [in_kind(value, rng, share) for value in plain]
    if isinstance(plain, bool) or plain is None or rng.random() > share:
        return plain
    if isinstance(plain, str):
        return rng.choice(TEXTS)
    kept = [number for number in NUMBERS if isinstance(number, type(plain)) and number == number]
    return rng.choice(kept)


def as_json(plain: Any, rng: random.Random) -> bytes:
    """Its text, and now and then a text that is damaged, endless or no text at all."""
    text = json.dumps(plain, ensure_ascii=rng.random() < 0.5).encode("utf-8", errors="surrogatepass")
    how = rng.randrange(20)
    if how == 0:
        return text[: rng.randrange(len(text) + 1)]
    if how == 1:
        return b"[" * 100_000
    if how == 2:
        return b'{"a":' * 100_000
    if how == 3:
        return b"\xff\xfe" + text
    if how == 4:
        return text.replace(b"1", b"1" + b"0" * 400, 1)
    if how == 5:
        return text.replace(b"1", b"9" * 5000, 1)
    if how == 6:
        return text.replace(b'"', b'"\\ud800', 1)
    if how == 7:
        return b"\xef\xbb\xbf" + text
    return text


def damaged(content: bytes, rng: random.Random) -> bytes:
    """A file that was cut off, overwritten or replaced."""
    how = rng.randrange(6)
    if how == 0 or not content:
        return b""
    if how == 1:
        return content[: rng.randrange(len(content))]
    if how == 2:
        return rng.randbytes(200)
    if how == 3:
        place = rng.randrange(len(content))
        return content[:place] + rng.randbytes(8) + content[place + 8 :]
    if how == 4:
        return b"[" * 50_000
    return content.replace(b"0", b"1e999", 1)
