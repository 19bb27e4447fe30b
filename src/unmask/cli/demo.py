"""Audit two releases of the bundled data: needs nothing.

Half of 8,000 people of the bundled Adult data set is published twice: by a leaky generator (cart) and by a careful one
(privbayes, epsilon 1). The audit of both takes about a minute the first time, since loops are compiled.
"""

from __future__ import annotations

from unmask.cli.options import ALL_CORES, Json, Out, Quiet, Seed, Workers, check_out, deliver, watch


def run(
    seed: Seed = 0, workers: Workers = ALL_CORES, out: Out = None, as_json: Json = False, quiet: Quiet = False
) -> None:
    from unmask.audits.demo import demo, expected

    check_out(out, expected(seed), growing=("inputs",))  # the tables are made on the way
    with watch("Auditing two releases", quiet=quiet or as_json) as progress:
        result = demo(seed=seed, workers=workers, progress=progress)
    deliver(result, out=out, as_json=as_json, quiet=quiet, workers=workers)
