"""Random tables as files."""

import csv
import gzip
import io
import random
from pathlib import Path

from tests.fuzz.odd import NAMES, TEXTS

MAKERS = {
    "integer": lambda rng: str(rng.randrange(-50, 5000)),
    "few": lambda rng: str(rng.randrange(4)),
    "real": lambda rng: repr(rng.lognormvariate(0, 3)),
    "money": lambda rng: f"{rng.uniform(0, 1e5):.2f}",
    "huge": lambda rng: rng.choice(["1e308", "-1e308", "1.7e308", "5e-324", "0", "-1.7976931348623157e308", "1e-300"]),
    "long": lambda rng: str(rng.choice([2**53 + 1, 2**63, 10**30, -(10**400), 7])),
    "word": lambda rng: rng.choice(["north", "south", "east", "west"]),
    "date": lambda rng: (
        f"{rng.choice([1, 1700, 1999, 2020, 9999]):04}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
    ),
    "code": lambda rng: f"{rng.randrange(1000):05}",
    "day first": lambda rng: f"{rng.randrange(1, 29):02}.{rng.randrange(1, 13):02}.{rng.choice([1999, 2020])}",
    "either first": lambda rng: f"{rng.randrange(1, 13)}/{rng.randrange(1, 13)}/{rng.choice([1999, 2020])}",
    "comma": lambda rng: f"{rng.uniform(0, 1e3):.{rng.choice([1, 2, 3])}f}".replace(".", ","),
    "thousands": lambda rng: f"{rng.randrange(10**7):,}",
    "spaces": lambda rng: f"{rng.uniform(0, 1e6):,.2f}".replace(",", " ").replace(".", ","),
    "apostrophes": lambda rng: f"{rng.randrange(-(10**6), 10**6):,}".replace(",", "'"),
    "digits": lambda rng: f"0.1234567890123456789{rng.randrange(10)}",
    "signed": lambda rng: rng.choice(["+5", "-5", "5", "+0", "-0", "5.0"]),
    "yes": lambda rng: rng.choice(["true", "false"]),
    "odd": lambda rng: rng.choice(TEXTS[:-6]),
    "same": lambda rng: "x",
    "none": lambda rng: "",
    "unique": lambda rng: f"p{rng.randrange(10**9)}",
}


def rows_of(rng: random.Random) -> tuple[list[str], list[list[str]]]:
    """A header, and rows that go with it."""
    kinds = [rng.choice(list(MAKERS)) for _ in range(rng.choice([1, 2, 3, 3, 4, 5, 8]))]
    names = [rng.choice(NAMES) if rng.random() < 0.15 else f"{kind}{place}" for place, kind in enumerate(kinds)]
    count = rng.choice([0, 1, 2, 5, 12, 12, 30])
    gaps = rng.choice([0, 0, 0, 0.2])
    rows = [["" if rng.random() < gaps else MAKERS[kind](rng) for kind in kinds] for _ in range(count)]
    return names, rows


def write_table(path: Path, rng: random.Random, names: list[str], rows: list[list[str]]) -> Path:
    """A file in some dialect, encoding and compression; now and then one that is broken. Returns its path."""
    text = io.StringIO()
    writer = csv.writer(
        text, delimiter=rng.choice([",", ",", ",", ";", "\t", "|"]), lineterminator=rng.choice(["\n", "\n", "\r\n"])
    )
    writer.writerow(names)
    writer.writerows(rows)
    content = text.getvalue().encode("utf-8", errors="surrogatepass")
    how = rng.randrange(24)
    if how == 0:
        content = text.getvalue().encode("latin-1", errors="replace")
    elif how == 1:
        content = text.getvalue().encode("utf-16")
    elif how == 2:
        content = b"\xef\xbb\xbf" + content
    elif how == 3:
        content = content[: rng.randrange(len(content) + 1)]
    elif how == 4:
        content += b'a,"b'
    elif how == 5:
        content = content.replace(b"\n", b"\r")
    elif how == 6:
        content = rng.randbytes(300)
    elif how == 7:
        content = b"\0" + content
    if rng.random() < 0.1:
        path = path.with_suffix(".csv.gz")
        content = gzip.compress(content)[: None if rng.random() < 0.7 else 30]
    path.write_bytes(content)
    return path
