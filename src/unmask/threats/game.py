"""The game: a challenger draws the real table, with or without each target, and keeps the secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unmask.errors import ParameterError
from unmask.tables.schema import Kind
from unmask.tables.table import Table, concatenate
from unmask.tables.units import units
from unmask.threats.knowledge import Access, Data, Placement, SecretValues, ShadowTables
from unmask.threats.rules import Game as Game  # its rules load no arrays, so that plans can check them


@dataclass(frozen=True, eq=False)
class Ground:
    """The people of a game: the targets, and those from whom shadow tables and real tables are drawn."""

    targets: Table
    reference: Table  # the attacker's side
    people: Table  # the challenger's side
    others: Table  # exact knowledge: who stands in the place of each target that is absent


def lay_ground(
    population: Table, target_rows: np.ndarray, game: Game, rng: np.random.Generator, *, apart: Sequence[int] = ()
) -> Ground:
    """Take the targets out of the population and split the rest, so that the two sides share nobody.

    People at the rows `apart` are on neither side: nobody draws them.
    Where the reference may overlap, real tables are drawn from all but the targets, as Stadler et al. (2022) do.
    With exact knowledge both sides hold the same fixed people: the real table but for the targets.
    """
    check_targets(population, target_rows, game)
    unit = units(population)
    outside = np.concatenate([target_rows, np.asarray(apart, dtype=np.int64)])
    rest = population.take(~np.isin(unit.of_row, unit.of_row[outside]))
    targets = population.take(target_rows)
    if game.data is Data.EXACT:
        replaced = len(targets) if game.placement is Placement.REPLACE else 0
        fixed = game.rows - replaced
        if fixed < 1 or fixed + replaced > len(rest):
            raise ParameterError(_too_few(len(population), game, game.rows + len(targets)))
        order = rng.permutation(len(rest))
        known = rest.take(np.sort(order[:fixed]))
        return Ground(targets, known, known, rest.take(order[fixed : fixed + replaced]))
    if units(rest).count < 2:
        raise ParameterError(_too_few(len(population), game, 2 * game.rows))
    reference, people = rest.split(0.5, seed=int(rng.integers(2**31)))
    if game.reference_rows is not None:
        reference, people = _sized(reference, people, game.reference_rows, rng)
    if game.reference_overlaps:
        people = rest
    wanted = game.reference_rows or game.rows
    least = min(wanted, game.rows) if Access.SHADOWS in game.allowed else 1
    if len(people) < game.rows or len(reference) < least or len(rest) < wanted:
        needed = max(game.rows, wanted) if game.reference_overlaps else game.rows + wanted
        raise ParameterError(_too_few(len(population), game, needed))
    return Ground(targets, reference, people, people.take([]))


def _sized(reference: Table, people: Table, rows: int, rng: np.random.Generator) -> tuple[Table, Table]:
    """A reference of this many rows, or a few less where the next person does not fit: whoever is too many goes home, and
    whoever is lacking comes from the other side. Fewer rows leave the other side as it is."""
    if rows <= len(reference):
        return reference.take(_first_rows(reference, rows, rng)), people
    more = _first_rows(people, rows - len(reference), rng)
    rest = np.setdiff1d(np.arange(len(people)), more)
    return concatenate([reference, people.take(more)]), people.take(rest)


def _first_rows(table: Table, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of people in random order, as many as fit."""
    unit = units(table)
    order = rng.permutation(unit.count)
    fit = np.cumsum(unit.sizes[order]) <= rows
    return unit.rows(np.sort(order[fit]))


def check_targets(population: Table, rows: np.ndarray, game: Game) -> None:
    """Targets are rows of the population, each named once, and fit into a real table."""
    if len(rows) == 0:
        raise ParameterError("There are no targets. Choose some, such as --targets 5.")
    if len(outside := rows[(rows < 0) | (rows >= len(population))]):
        raise ParameterError(f"Row {outside[0]} is no target: the population has rows 0 to {len(population) - 1}.")
    if len(np.unique(rows)) < len(rows):
        raise ParameterError("A row is named twice among the targets. Name each once.")
    if len(rows) > game.rows:
        raise ParameterError(f"{len(rows)} targets do not fit a real table of {game.rows} rows.")
    if game.secret is not None:
        column = population.schema.column(game.secret)
        if column.kind is Kind.CATEGORICAL and len(column.values) < 2:
            raise ParameterError(f"The secret '{game.secret}' has one value only, so there is nothing to learn.")
        if column.is_numeric and column.lower == column.upper:
            raise ParameterError(f"The secret '{game.secret}' has one value only, so there is nothing to learn.")


def _too_few(have: int, game: Game, need: int) -> str:
    return (
        f"The population has {have:,} rows; a game with {game.data} knowledge and real tables of {game.rows:,} rows needs about "
        f"{need:,}.\nUse more people, or fewer --train-rows."
    )


@dataclass(frozen=True, eq=False)
class Deal:
    """One draw of the challenger: the real table, who of the targets is in it, and their secrets."""

    real: Table
    members: np.ndarray  # bool, one per target
    secrets: np.ndarray  # code of each target's secret (attribute game), or its number for numeric secrets


def deal(
    ground: Ground,
    game: Game,
    rng: np.random.Generator,
    *,
    shadow: bool,
    only: int | None = None,
    mirrored: bool = False,
) -> Deal:
    """Draw a real table. `shadow` draws from the attacker's side, `only` plays with one target alone.

    `mirrored` turns all coins round. Where shadow tables are paired, two deals from one stream, one of them mirrored, have
    the same people but for the targets, and those whose places they take.
    """
    active = np.zeros(len(ground.targets), dtype=bool)
    active[slice(None) if only is None else only] = True
    members = ((rng.random(len(active)) < game.prior) != mirrored) & active
    # The attacker does not know the secrets, so in tables of their own they try all values.
    uniform = shadow or game.secret_values is SecretValues.UNIFORM
    targets, secrets = _with_secrets(ground.targets, game, rng, uniform=uniform)
    inside = targets.take(members)
    side = ground.reference if shadow else ground.people
    if game.data is Data.EXACT:  # all but the targets is fixed: an absent (or idle) target's place has its own stand-in
        base = [side, ground.others.take(~members)] if len(ground.others) else [side]
    else:
        wanted = game.rows - (len(inside) if game.placement is Placement.REPLACE else 0)
        paired = shadow and game.shadow_tables is ShadowTables.PAIRED
        order = rng.permutation(len(side))[:wanted] if paired else rng.choice(len(side), wanted, replace=False)
        base = [side.take(order)]
    real = concatenate([replace(part, persons=None) for part in (*base, inside) if len(part)])
    return Deal(real.take(rng.permutation(len(real))), members, secrets)


def _with_secrets(targets: Table, game: Game, rng: np.random.Generator, *, uniform: bool) -> tuple[Table, np.ndarray]:
    if game.secret is None:
        return targets, np.zeros(len(targets))
    position = targets.schema.position(game.secret)
    column = targets.schema.columns[position]
    codes, numbers = targets.codes.copy(order="F"), targets.numbers.copy(order="F")
    if uniform:
        if column.is_numeric:
            drawn = rng.uniform(column.lower, column.upper, len(targets))
            drawn = np.round(drawn) if column.is_integral else drawn
            numbers[:, targets.schema.numeric.index(position)] = drawn
            codes[:, position] = column.bin_of(drawn)
        else:
            codes[:, position] = rng.integers(0, column.listed, len(targets))
    changed = replace(targets, codes=codes, numbers=numbers)
    if column.is_numeric:
        return changed, numbers[:, targets.schema.numeric.index(position)].copy()
    return changed, codes[:, position].astype(np.float64)
