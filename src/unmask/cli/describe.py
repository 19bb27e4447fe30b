"""Describe a table before it is attacked.

Rows, units, columns with their kinds, missing values, uniqueness, and the ten most isolated records by row number (mean
Gower distance to the 5 nearest).
"""

from __future__ import annotations

from unmask.cli.options import ALL_CORES, Json, Out, Quiet, Real, SchemaFile, Seed, Workers, check_out, deliver


def run(
    real: Real,
    schema: SchemaFile = None,
    seed: Seed = 0,
    workers: Workers = ALL_CORES,
    out: Out = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    from unmask.audits.describe import describe
    from unmask.results.result import Result, describe_input
    from unmask.tables.read import read_table

    check_out(out)
    table = read_table(real, schema)
    check_out(out, Result("describe", seed, {}, (describe_input("real", table),)))
    result = describe(table, seed=seed, workers=workers)
    deliver(result, out=out, as_json=as_json, quiet=quiet, workers=workers)
