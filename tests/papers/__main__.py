"""`python -m tests.papers [NAME ...]`: run the papers' experiments and write their pages.

What is finished is kept in build/papers, so that an interrupted run continues; a change of the program runs it anew.
"""

import argparse
import sys
import time
import traceback
from collections.abc import Sequence

from tests.conftest import DATA
from tests.papers.experiment import Experiment, Terms
from tests.papers.experiments import EXPERIMENTS
from tests.papers.kept import Kept
from tests.papers.page import Places, body, write
from unmask.errors import UnmaskError


def main(words: Sequence[str] | None = None) -> int:
    asked = arguments().parse_args(words)
    if asked.list:
        for each in EXPERIMENTS:
            tell(f"{each.name:32} about {minutes(each.seconds):>6}   {each.about}")
        return 0
    chosen = [each for each in EXPERIMENTS if not asked.names or each.name.startswith(tuple(asked.names))]
    unknown = [name for name in asked.names if not any(each.name.startswith(name) for each in EXPERIMENTS)]
    if unknown:
        tell(f"No experiment begins with {unknown[0]!r}. There are: {', '.join(each.name for each in EXPERIMENTS)}.")
        return 2
    if not DATA.is_dir():
        tell("The data sets are not there: set UNMASK_DATA to their folder (docs/how-to/data.md).")
        return 2
    terms = Terms(DATA, asked.seed, asked.share, older=asked.keep, write=asked.write, seeds=asked.seeds, say=tell)
    if asked.again:
        forget(chosen, terms)
    return run_all(chosen, terms)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.papers", description="Run the papers' experiments.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments, or how their names begin; else all")
    parser.add_argument("--list", action="store_true", help="what there is")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--share",
        type=float,
        default=1.0,
        help="of the repetitions, to try; below 1 no page is written but with --write",
    )
    parser.add_argument(
        "--seeds", type=int, default=Terms.seeds, help="of long experiments over several seeds, so many only"
    )
    parser.add_argument(
        "--write", action="store_true", help="write the page of a share, too, and say there that it is one"
    )
    parser.add_argument("--again", action="store_true", help="run also what is finished, and the games of its paper")
    parser.add_argument(
        "--keep", action="store_true", help="draw what is finished, though the program has changed since"
    )
    return parser


def forget(chosen: Sequence[Experiment], terms: Terms) -> None:
    """Throw away what these experiments found, and the games of their papers."""
    for name in {each.name for each in chosen} | {f"{each.page}-game-*" for each in chosen}:
        for path in terms.folder.glob(terms.place(name).name):
            path.unlink()


def run_all(chosen: Sequence[Experiment], terms: Terms, places: Places = Places()) -> int:
    """One after the other. One that fails is said and the others go on; the exit code is then 1."""
    failed: list[str] = []
    waiting = [each for each in chosen if each.recall(terms) is None]
    left, began, expected = terms.share * sum(each.seconds for each in waiting), time.monotonic(), 0.0
    for number, each in enumerate(chosen, start=1):
        where = f"[{number} of {len(chosen)}] {each.name}"
        if each in waiting:
            pace = (time.monotonic() - began) / expected if expected else 1.0
            tell(f"{where} ... all that is left takes about {minutes(pace * left)}")
        try:
            tell(f"{where}: {done(each, terms, each.recall(terms) or each.measure(terms), places)}")
        except UnmaskError as error:
            failed.append(each.name)
            tell(f"{where} FAILED: {error}")
        except Exception:  # noqa: BLE001 (whatever it is, the others go on)
            failed.append(each.name)
            tell(f"{where} FAILED\n{traceback.format_exc()}")
        if each in waiting:
            left, expected = left - terms.share * each.seconds, expected + terms.share * each.seconds
    if failed:
        tell(f"{len(failed)} of {len(chosen)} failed: {', '.join(failed)}")
    return 1 if failed else 0


def done(experiment: Experiment, terms: Terms, kept: Kept, places: Places) -> str:
    """Write the page; a share of an experiment is only shown."""
    if not terms.whole and not terms.write:
        return f"a share of {terms.share:g}, not written to its page\n{body(experiment, terms, kept)}"
    page = write(experiment, terms, kept, places)
    return f"{kept.cpu:.0f} CPU s, {page.relative_to(places.root)}"


def minutes(seconds: float) -> str:
    """A time as people say it."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
