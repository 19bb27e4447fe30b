"""Express a release as a permutation of the real table plus noise.

Each synthetic value becomes the real value of the same rank, so the sets that are written keep every margin of the real table
exactly. Printed is how far ranks moved, how much of the change is permutation and how much is noise that protects nobody. What is
written consists of real values.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from unmask.cli import options
from unmask.cli.outputs import check_output
from unmask.cli.saying import safe_json, say
from unmask.cli.verb import verb
from unmask.cli.watching import watch


def run(
    real: Path,
    synthetic: tuple[Path, ...],
    *,
    out: Path,
    aligned: bool,
    schema: Path | None,
    seed: int,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    from unmask.audits.reverse_map import ReverseMap, ReverseMapPlan
    from unmask.audits.runner import Runner
    from unmask.tables.read import write_csv
    from unmask.threads import one_thread

    files = [out] if len(synthetic) == 1 else [numbered(out, place) for place in range(1, len(synthetic) + 1)]
    for file in files:
        check_output(file, "table")
    plan = ReverseMapPlan(aligned=aligned, seed=seed)
    hush = quiet or as_json
    with watch("Reading", quiet=hush):
        ready = ReverseMap.of(plan, real=real, synthetic=list(synthetic), schema=schema)
    with one_thread(), watch("Mapping", quiet=hush) as bar:
        found = ready.run(Runner.of(workers, progress=bar.progress))
    for file, table in zip(files, found.sets, strict=True):
        write_csv(table, file)
    if as_json:
        print(safe_json(json.dumps(found.result.to_plain(), indent=1, ensure_ascii=False)))
    elif not quiet:
        from rich.console import Console

        from unmask.reports.terminal import show

        show(found.result, Console())
        for file, table in zip(files, found.sets, strict=True):
            say(f"Wrote {len(table):,} rows to {file}.")


def numbered(path: Path, place: int) -> Path:
    """mapped-2.csv.gz beside mapped.csv.gz: where the second of several sets goes."""
    stem, dot, ending = path.name.partition(".")
    return path.with_name(f"{stem}-{place}{dot}{ending}")


command = verb(
    "reverse-map",
    __doc__,
    [
        options.real(),
        options.table("synthetic", "The published table or tables: sets of one release.", many=True),
        options.written_to("CSV file to write (.gz compresses); of several sets each gets its number: mapped-1.csv."),
        click.Option(
            ["--aligned"], is_flag=True,
            help="Row i of each synthetic table stems from row i of the real one (sanitised, perturbed, partly synthetic).",
        ),
        options.schema(),
        click.Option(["--seed"], type=click.IntRange(0), default=0, show_default=True, help="Seed of every random step."),
        click.Option(["--workers"], type=int, help="Threads to use. [default: all cores]"),
        options.as_json(),
        options.quiet(),
    ],
    run,
)  # fmt: skip
