"""How each person stands against a release, in numbers: what the learnt auditor learns from.

All of it compares the release with reference people, and a person's own row is no part of the reference: so a number says
nothing about whether the person is a member unless the release does. Exact values (`tables.exact`) stand beside bins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from unmask.attacks._agreements import Agreements, CodedRows, SharedValues, WeightedLinks, alike, blocks
from unmask.attacks._known import Coarsening
from unmask.tables.distance import kth_distances
from unmask.tables.exact import ROUGH, ExactValues, is_wide, rounded_like
from unmask.tables.metric import Gower
from unmask.tables.table import Table

NEAREST = 3  # distances to either table


@dataclass(frozen=True, eq=False)
class Standing:
    """Numbers about people (people x numbers); larger means nearer to the release than to the reference."""

    names: tuple[str, ...]
    values: np.ndarray
    exact: SharedValues
    links: WeightedLinks  # of everybody, also beyond those whom the numbers are about


def standing(
    people: Table, release: Table, reference: Table, *, own: np.ndarray | None = None, first: int | None = None
) -> Standing:
    """Numbers about every person. `own` is the place of each person in the reference, None if they are not in it.

    With `first`, numbers are made about the first so many people only, and linkage weights, which cost a fraction, about all.
    Cost: people x (rows of the release + reference) x columns; 0.5 s for 2,000 people against 20,000 rows of 15 columns.
    """
    everybody, reference = _as_released(release, people, reference)
    count = len(people) if first is None else first
    values = ExactValues(everybody)
    published, known = CodedRows(values, release), CodedRows(values, reference)
    compared = Agreements.of(values.codes, published, known, own, fully=count)
    people = everybody if count == len(everybody) else everybody.between(0, count)
    own = None if own is None else own[:count]
    exact, links = compared.shared.of_first(count), compared.links
    parts: list[tuple[str, np.ndarray]] = [
        ("linkage", links.weights[:count]),
        ("found", links.found[:count]),
        *_near(compared),
    ]
    parts += _value_numbers(exact, people.schema.names, "exact")
    parts += _pairs(compared, exact)
    if wide := [place for place in people.schema.numeric if is_wide(people.schema.columns[place])]:
        rough = ExactValues(everybody, digits=ROUGH)
        coded, others = (CodedRows(rough, rows.table, like=rows, differing=tuple(wide)) for rows in (published, known))
        roughly = Agreements.of(rough.codes[:count], coded, others, own, fully=0)
        parts.append(("linkage, rough", roughly.links.weights))
        names = tuple(people.schema.names[place] for place in wide)
        parts += _value_numbers(roughly.shared.only(wide), names, "rough")
    if people.schema.numeric:
        parts += _value_numbers(_bins(people, release, reference, own), people.schema.names, "bin")
    parts += _distances(people, release, reference, own)
    names, numbers = tuple(name for name, _ in parts), np.column_stack([value for _, value in parts])
    return Standing(names, numbers, exact, links)


def links_of(people: Table, release: Table, reference: Table, *, own: np.ndarray | None) -> WeightedLinks:
    """Linkage weights alone, which cost a fraction of all numbers."""
    people, reference = _as_released(release, people, reference)
    values = ExactValues(people)
    return Agreements.of(values.codes, CodedRows(values, release), CodedRows(values, reference), own, fully=0).links


def _as_released(release: Table, *tables: Table) -> Iterator[Table]:
    """People as the release would write them."""
    coarse = Coarsening.of(release)
    return (rounded_like(coarse.apply(table), release) for table in tables)


def _near(compared: Agreements) -> Iterator[tuple[str, np.ndarray]]:
    """Log ratio of the shares of either table that are equal but for so many columns."""
    rows = np.cumsum(compared.found.near, axis=1) + 0.5, np.cumsum(compared.others.near, axis=1) + 0.5
    sizes = compared.shared.release_rows + 1.0, compared.shared.reference_rows + 1.0
    for unequal in range(rows[0].shape[1]):
        ratio = np.log(rows[0][:, unequal] / sizes[0]) - np.log(rows[1][:, unequal] / sizes[1])
        yield f"within {unequal} columns", ratio


def _value_numbers(compared: SharedValues, names: tuple[str, ...], kind: str) -> Iterator[tuple[str, np.ndarray]]:
    """Each value of a person: more often in the release? And together: how rare are those that occur?"""
    ratios, weights = compared.ratios, compared.weights
    for place, name in enumerate(names):
        yield f"{kind}: {name}", ratios[:, place]
    yield f"{kind}: all", ratios.sum(axis=1)
    occurring = np.where(compared.in_release > 0, weights, 0.0)
    yield f"{kind}: rarity of those that occur", occurring.sum(axis=1)
    yield f"{kind}: the rarest that occurs", occurring.max(axis=1)


def _pairs(compared: Agreements, shared: SharedValues) -> Iterator[tuple[str, np.ndarray]]:
    """The same for pairs of columns."""
    if not compared.pairs:
        return
    found, known = compared.found.pairs, compared.others.pairs
    whole = np.stack([(shared.people[:, pair] >= 0).all(axis=1) for pair in map(list, compared.pairs)], axis=1)
    if compared.own is not None:
        known = known - whole
    rarity = -np.log((np.maximum(known, 0.0) + 0.5) / (shared.reference_rows + 1.0))
    ratios = np.where(whole, np.log((found + 0.5) / (shared.release_rows + 1.0)) + rarity, 0.0)
    occurring = np.where(found > 0, rarity, 0.0)
    yield "pairs: all", ratios.sum(axis=1)
    yield "pairs: rarity of those that occur", occurring.sum(axis=1)
    yield "pairs: the five rarest that occur", np.sort(occurring, axis=1)[:, -5:].sum(axis=1)
    yield "pairs: new to the reference", (occurring * (known <= 0)).sum(axis=1)


def _bins(people: Table, release: Table, reference: Table, own: np.ndarray | None) -> SharedValues:
    """Codes as they are: numbers by their bin."""
    mine = people.codes.astype(np.int32)
    found, known = (
        np.asarray(sum(alike(mine, part.codes) for _, part in blocks(table))) for table in (release, reference)
    )
    return SharedValues(mine, len(release), len(reference), found, known - (own is not None))


def _distances(
    people: Table, release: Table, reference: Table, own: np.ndarray | None
) -> Iterator[tuple[str, np.ndarray]]:
    """Log ratio of the distances to the nearest reference people and the nearest rows of the release (Gower)."""
    skipped = own is not None  # the nearest reference person is the person, at distance 0
    ks = [min(k, len(release)) for k in range(1, NEAREST + 1)]
    others = [min(k + skipped, len(reference)) for k in range(1, NEAREST + 1)]
    found = kth_distances(people, release, ks=ks, metric=Gower())
    known = kth_distances(people, reference, ks=others, metric=Gower())
    floor = 0.1 / len(people.schema.columns)
    for place in range(NEAREST):
        yield f"distance {place + 1}", np.log((known[:, place] + floor) / (found[:, place] + floor))
