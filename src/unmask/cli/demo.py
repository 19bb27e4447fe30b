"""Look at the bundled data: needs nothing.

Describes 10,000 people of the bundled Adult data set and shows how near two random halves of it are to each other.
"""

from __future__ import annotations

from unmask.cli.options import ALL_CORES, Json, Out, Quiet, Seed, Workers, deliver


def run(
    seed: Seed = 0, workers: Workers = ALL_CORES, out: Out = None, as_json: Json = False, quiet: Quiet = False
) -> None:
    from unmask.audits.demo import demo

    deliver(demo(seed=seed, workers=workers), out=out, as_json=as_json, quiet=quiet, workers=workers)
