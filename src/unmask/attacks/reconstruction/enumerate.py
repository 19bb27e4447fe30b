"""Asking about every row of a domain that is small enough: what any search must beat."""

from __future__ import annotations

import math

import numpy as np

from unmask.attacks.reconstruction.asked_rows import AskedRows
from unmask.attacks.reconstruction.padding import Reader
from unmask.attacks.reconstruction.sample import Rebuilt, nothing, sample_attack
from unmask.tables.regions import Region
from unmask.tables.schema import Schema

MOST_ROWS = 10_000_000
SMALL = (
    200_000  # rows of a domain that is swept at the end of a search: records stand so close that they hide one another
)
CHUNK = 100_000


def domain_size(schema: Schema) -> int:
    """How many different rows there are."""
    return math.prod(int(size) for size in schema.sizes)


def enumerate_domain(reader: Reader, history: AskedRows, region: Region | None = None) -> Rebuilt:
    """Every train record (of the region), for as many rows read as it has rows that were not asked about before."""
    schema = reader.oracle.schema
    found = nothing(len(schema.columns), schema.code_type)
    total = domain_size(schema)
    for low in range(0, total, CHUNK):
        each = np.arange(low, min(total, low + CHUNK))
        codes = np.stack(np.unravel_index(each, tuple(schema.sizes)), axis=1).astype(schema.code_type)
        codes = codes if region is None else codes[region.holds(codes)]
        found += sample_attack(reader, history, codes, np.full(len(codes), -1))
    return found
