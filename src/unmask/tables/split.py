"""Disjoint parts of a table: no unit of privacy is in two of them."""

from __future__ import annotations

import numpy as np

from unmask.errors import ParameterError
from unmask.tables.table import Table
from unmask.tables.units import units


def split(table: Table, share: float, rng: np.random.Generator) -> tuple[Table, Table]:
    """Two disjoint tables, the first with this share of the units (rounded), drawn at random; rows keep their order."""
    if not 0 < share < 1:
        raise ParameterError(f"A split needs a share between 0 and 1, not {share}.")
    unit = units(table)
    first = round(share * unit.count)
    if first in (0, unit.count):
        raise ParameterError(
            f"A share of {share} of {unit.count} units leaves one part empty. Use a share nearer to one half."
        )
    chosen = np.zeros(unit.count, dtype=bool)
    chosen[rng.permutation(unit.count)[:first]] = True
    inside = chosen[unit.of_row]
    return table.take(inside), table.take(~inside)
