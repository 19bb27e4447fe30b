"""List the attacks, their parameters and what they need."""

from __future__ import annotations

from unmask.cli.verb import verb


def run() -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from unmask.attacks import get, listed

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("attack", "parameters", "what it does", "goals", "needs"):
        table.add_column(name, overflow="fold")
    for entry in listed():
        attack = get(entry.name)
        needs = ", ".join(sorted(attack.needs)) or "nothing"
        cells = (entry.name, entry.parameters, entry.summary, ", ".join(sorted(attack.goals)), needs)
        table.add_row(*(Text(cell) for cell in cells))
    console = Console()
    console.print(table)
    console.print(
        "\nUse some with: unmask attack population.csv --generator cart --attacks queries:order=1 --attacks closest-record",
        markup=False, highlight=False,
    )  # fmt: skip


command = verb("attacks", __doc__, [], run)
