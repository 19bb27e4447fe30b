"""Run every benchmark, or those named on the command line: `python -m benchmarks distance`."""

import importlib
import pkgutil
import sys

import benchmarks


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all; returns the exit code."""
    known = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_")]
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"No benchmark named {', '.join(unknown)}. There are: {', '.join(known)}.")
        return 2
    for name in names or known:
        print(f"\n== {name} ==")
        importlib.import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
