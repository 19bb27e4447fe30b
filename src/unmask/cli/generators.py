"""List the generators and what they claim."""

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
    for entry in listed():
        table.add_row(*(Text(cell) for cell in (entry.name, entry.parameters, entry.summary, entry.claims)))
    console = Console()
    console.print(table)
    console.print(
        "\nUse one with: unmask synthesize real.csv --generator privbayes --set epsilon=1\n"
        "Others: --generator package.module:Class, --generator ./file.py:Class,\n"
        "or --generator 'command: ./synth {train} {rows} {out} {seed}'",
        markup=False,
        highlight=False,
    )


command = verb("generators", __doc__, [], run)
