"""Singling out: "there is exactly one person who ...", read off the synthetic table and true of the real one.

A predicate that matches exactly one synthetic row is a guess; it is right if it matches exactly one real row.

    univariate      one column: a value that occurs once (missing included), or the smallest or largest number ("<=", ">=")
    multivariate    a random synthetic row on a random set of columns: categories and missing values must be equal, numbers
                    at least as extreme, seen from the median of the synthetic table

The control puts the same predicates to holdout people, the baseline makes predicates without the synthetic table: values drawn
column by column from the reference, or evenly from the public domain. Whether one row matches depends on how many there are,
so real and holdout are cut to equal size at random. An attempt for which no predicate is found has failed on all sides.
Values are compared as codes and numbers, never as text; missing equals missing; a value outside the schema matches nothing.

Cost: sorting every column once, then per predicate the rows that meet its narrowest condition, up to the second match.
Several predicates may point at one person; they count as one unit in all intervals. In a table of few, numeric columns only
rows at the rim can be isolated by "at least as extreme", so multivariate predicates are scarce; read the univariate ones too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from unmask.errors import ParameterError
from unmask.metrics._predicates import ANY, Leveled, Predicates, join, on_common_levels
from unmask.metrics.legal import Attempts, Criterion, check_tables, chosen_rows, judged, persons
from unmask.stats.results import Estimate
from unmask.tables.schema import Schema, quoted
from unmask.tables.table import Table

MOST_ROWS = 100_000  # of a table that are asked: every one is sorted by every column
MOST_COMPARED = (
    1_000_000  # real rows, where the holdout has as many: so that no more people are left out than it leaves out
)
ROUNDS = 20  # how many times as many draws as attempts before the attacker gives up


class Mode(StrEnum):
    """How predicates are made."""

    UNIVARIATE = "univariate"
    MULTIVARIATE = "multivariate"


@dataclass(frozen=True, eq=False)
class SinglingOut(Criterion):
    """`rows` are the compared real rows, `successes` whether some predicate matches that row alone among them.

    The rates count predicates, not rows. `singled_out` are the rows that a predicate matches alone in the whole real table.
    """

    predicates: int  # found; the other attempts failed
    on_all: Estimate  # the attack on the whole real table, whatever the size of the holdout
    singled_out: np.ndarray


def singling_out(
    real: Table,
    synthetic: Table,
    *,
    holdout: Table | None = None,
    reference: Table | None = None,
    mode: Mode = Mode.MULTIVARIATE,
    width: int | None = None,
    attempts: int = 1000,
    confidence: float = 0.95,
    rng: np.random.Generator,
) -> SinglingOut:
    """How often a predicate that matches one synthetic row matches exactly one real row.

    `width` columns make a multivariate predicate; None = two to all, each number equally often. There are at most as many
    attempts as there are people to compare. Of a table of more than MOST_ROWS rows a random part is asked: predicates come from
    random published rows, so that a part of them serves as well. The baseline's `reference` is the holdout unless another
    table is given.
    """
    check_tables(real, synthetic, holdout=holdout, reference=reference, attempts=attempts)
    if mode not in list(Mode):
        raise ParameterError(f"mode is '{mode}'; choose one of {quoted(Mode)}.")
    most = max(MOST_ROWS, 0 if holdout is None else min(MOST_COMPARED, len(holdout)))
    if len(real) > most or len(synthetic) > MOST_ROWS:
        rows, published = _some(real, most, rng), _some(synthetic, MOST_ROWS, rng)
        source = reference or holdout
        if source is not None and len(source) > MOST_ROWS:  # the baseline draws some thousand values from it
            reference = source.take(_some(source, MOST_ROWS, rng))
        part = singling_out(
            real.take(rows), synthetic.take(published), holdout=holdout, reference=reference, mode=mode, width=width,
            attempts=attempts, confidence=confidence, rng=rng,
        )  # fmt: skip
        note = f"{len(published):,} of {len(synthetic):,} published rows and {len(rows):,} of {len(real):,} real rows were asked."
        return replace(part, rows=rows[part.rows], singled_out=rows[part.singled_out], notes=(*part.notes, note))
    size = len(real) if holdout is None else min(len(real), len(holdout))
    attempts = min(attempts, size)
    real_rows = chosen_rows(real, size, rng)
    control_rows = np.empty(0, dtype=np.int64) if holdout is None else chosen_rows(holdout, size, rng)
    source = reference or holdout or evenly_drawn(real.schema, max(attempts, 1000), rng)
    people = [real, source] + ([] if holdout is None else [holdout.take(control_rows)])
    release, everyone, elsewhere, *others = on_common_levels([synthetic, *people])
    compared = everyone if size == len(real) else everyone.take(real_rows)

    one = mode == Mode.UNIVARIATE
    widths = (1, 1) if one else _widths(width, len(real.schema.columns))
    blind = _random(elsewhere, attempts, widths, rng)
    guesses = _univariate(release, attempts, rng) if one else _multivariate(release, attempts, widths, rng)

    hits, blind_hits = (compared.only_match(asked) for asked in (guesses, blind))
    hits_on_all = hits if compared is everyone else everyone.only_match(guesses)
    control_hits = others[0].only_match(guesses) if others else np.empty(0, dtype=np.int64)
    baseline = _attempts(blind_hits, attempts, persons(real, real_rows)).rate(confidence)
    control = None
    if holdout is not None:
        control = _attempts(control_hits, attempts, persons(holdout, control_rows))
    fields = judged(_attempts(hits, attempts, persons(real, real_rows)), baseline, control, confidence=confidence)
    on_all = _attempts(hits_on_all, attempts, persons(real, np.arange(len(real)))).rate(confidence)
    fields["notes"] += _notes(len(guesses), attempts, on_all, len(real), size)
    return SinglingOut(
        name=f"singling out, {mode}",
        **fields,
        rows=real_rows,
        successes=_hit(hits, len(real_rows)),
        control_rows=control_rows,
        control_successes=_hit(control_hits, len(control_rows)),
        predicates=len(guesses),
        on_all=on_all,
        singled_out=np.unique(hits_on_all[hits_on_all >= 0]),
    )


def _some(table: Table, most: int, rng: np.random.Generator) -> np.ndarray:
    """All rows, or a random part of a very large table."""
    if len(table) <= most:
        return np.arange(len(table))
    return np.sort(rng.choice(len(table), most, replace=False))


def _widths(width: int | None, columns: int) -> tuple[int, int]:
    """Fewest and most columns of a predicate."""
    if width is None:
        return min(2, columns), columns
    if not 1 <= width <= columns:
        raise ParameterError(f"width is {width}; a predicate on this table uses 1 to {columns} columns.")
    return width, width


def _univariate(release: Leveled, attempts: int, rng: np.random.Generator) -> Predicates:
    """All values that occur once and all single extremes, or a random choice of them."""
    parts = [np.empty((0, 3), dtype=np.int32)]  # column, low, high: spread over all columns only once they are chosen
    for column, top in enumerate(release.tops):
        counts = release.counts(column)
        once = np.flatnonzero(counts == 1)
        once = once[once != release.unlisted[column]]
        bounds = [(column, level, level) for level in once]
        if release.numeric[column]:
            present = np.flatnonzero(counts[:top])
            bounds += [(column, 0, low) for low in present[:1] if counts[low] == 1]
            bounds += [(column, high, top - 1) for high in present[-1:] if counts[high] == 1]
        parts.append(np.array(bounds, dtype=np.int32).reshape(-1, 3))
    together = np.concatenate(parts)
    _, first = np.unique(together, axis=0, return_index=True)
    found = together[np.sort(first)]
    chosen = found[rng.permutation(len(found))[:attempts]]
    shape, places = (len(chosen), len(release.tops)), np.arange(len(chosen))
    lows, highs = np.zeros(shape, np.int32), np.full(shape, ANY, np.int32)
    lows[places, chosen[:, 0]], highs[places, chosen[:, 0]] = chosen[:, 1], chosen[:, 2]
    return Predicates(lows, highs)


def _multivariate(release: Leveled, attempts: int, widths: tuple[int, int], rng: np.random.Generator) -> Predicates:
    """Distinct conjunctions that match one synthetic row; fewer than `attempts` if they are hard to find."""
    found = Predicates(*(np.empty((0, len(release.tops)), dtype=np.int32) for _ in range(2)))
    for _ in range(ROUNDS):
        rows = release.levels[rng.integers(len(release), size=attempts)]
        drawn = release.conditions(rows, _columns(attempts, len(release.tops), widths, rng))
        found = join([found, drawn.take(release.only_match(drawn) >= 0)]).distinct()
        if len(found) >= attempts:
            break
    return found.take(np.arange(min(attempts, len(found))))


def _random(source: Leveled, attempts: int, widths: tuple[int, int], rng: np.random.Generator) -> Predicates:
    """Conjunctions of values drawn column by column, so that no row stands behind them."""
    columns = len(source.tops)
    rows = source.levels[rng.integers(len(source), size=(attempts, columns)), np.arange(columns)]
    return source.conditions(rows, _columns(attempts, columns, widths, rng))


def _columns(attempts: int, columns: int, widths: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """A random set of columns for each attempt (bool)."""
    places = rng.random((attempts, columns)).argsort(axis=1).argsort(axis=1)
    return places < rng.integers(widths[0], widths[1] + 1, size=(attempts, 1))


def evenly_drawn(schema: Schema, rows: int, rng: np.random.Generator) -> Table:
    """Rows drawn evenly from the public domain, column by column; all that is known without any data."""
    codes = np.empty((rows, len(schema.columns)), dtype=schema.code_type, order="F")
    numbers = np.empty((rows, len(schema.numeric)), order="F")
    for position, column in enumerate(schema.columns):
        if not column.is_numeric:
            codes[:, position] = rng.integers(max(column.size, 1), size=rows)
            continue
        drawn = rng.uniform(column.lower, column.upper, size=rows)
        if column.is_integral:
            drawn = rng.integers(int(column.lower), int(column.upper) + 1, size=rows).astype(np.float64)
        numbers[:, schema.numeric.index(position)] = drawn
        codes[:, position] = column.bin_of(drawn)
    return Table(schema, codes, numbers)


def _attempts(hits: np.ndarray, attempts: int, people: np.ndarray | None) -> Attempts:
    """One entry per attempt. Hits on one row (or person) form a unit, all other attempts stand alone."""
    matched = np.full(attempts, -1, dtype=np.int64)
    matched[: len(hits)] = hits
    successes = matched >= 0
    units = np.arange(attempts) + (matched.max(initial=0) if people is None else people.max(initial=0)) + 1
    units[successes] = matched[successes] if people is None else people[matched[successes]]
    alone = len(np.unique(units)) == attempts
    return Attempts(successes, None if alone else units)


def _hit(hits: np.ndarray, rows: int) -> np.ndarray:
    found = np.zeros(rows, dtype=bool)
    found[hits[hits >= 0]] = True
    return found


def _notes(found: int, attempts: int, on_all: Estimate, rows: int, size: int) -> tuple[str, ...]:
    notes = []
    if found < attempts:
        notes.append(
            f"Only {found:,} predicates match one synthetic row; the other {attempts - found:,} attempts count as failed."
        )
    if size < rows:
        notes.append(
            f"Compared on {size:,} real rows drawn at random, as many as the holdout has. On all {rows:,} real rows "
            f"{round(on_all.value * attempts):,} of {attempts:,} attempts single somebody out."
        )
    return tuple(notes)
