"""List the generators, what they claim and what they need."""

from __future__ import annotations

from unmask.cli.verb import verb


def run() -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from unmask.generators import listed

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("generator", "parameters", "what it does", "claims"):
        table.add_column(name, overflow="fold")
    extras = set()
    for entry in listed():
        summary = f"{entry.summary} Needs the extra {entry.extra}." if entry.extra else entry.summary
        extras |= {entry.extra} if entry.extra else set()
        table.add_row(*(Text(cell) for cell in (entry.name, entry.parameters, summary, entry.claims)))
    console = Console()
    console.print(table)
    for extra in sorted(extras):
        console.print(f'\nThe extra {extra}: pip install "unmask[{extra}]"', markup=False, highlight=False)
    console.print(
        "\nUse one with: unmask synthesize real.csv --generator privbayes --set epsilon=1\n"
        "Others: --generator package.module:Class, --generator ./file.py:Class,\n"
        "or --generator 'command: ./synth {train} {rows} {out} {seed}'",
        markup=False,
        highlight=False,
    )


command = verb("generators", __doc__, [], run)
