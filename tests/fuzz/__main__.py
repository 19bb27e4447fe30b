"""`python -m tests.fuzz --seed 1 --count 2000 --seconds 600`: exit code 1 if anything went wrong."""

import argparse
import sys
import time

from tests.fuzz.play import Tally, environment, limit_memory, play

APART = 50  # every so many cases one runs in a process of its own


def main() -> int:
    parser = argparse.ArgumentParser(description="Random files and options through the command line.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=900, help="no case is begun after that")
    parser.add_argument("--only", type=int, help="the number of one case")
    asked = parser.parse_args()
    environment()
    limit_memory(12)
    tally, began = Tally(), time.monotonic()
    for number in range(asked.count) if asked.only is None else [asked.only]:
        if time.monotonic() - began > asked.seconds:
            break
        before = len(tally.failures)
        play(asked.seed, number, tally, apart=number % APART == APART - 1)
        for failure in tally.failures[before:]:
            _tell(failure)
    _tell(
        f"seed {asked.seed}: {sum(tally.codes.values())} cases in {time.monotonic() - began:.0f} s; exit codes "
        f"{dict(sorted(tally.codes.items()))}; kinds {dict(sorted(tally.kinds.items()))}; {tally.compared} tables followed "
        f"from file to file; {len(tally.failures)} failures"
    )
    for text, count in tally.warned.most_common(10):
        _tell(f"warned {count} times: {text}")
    return 1 if tally.failures else 0


def _tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
