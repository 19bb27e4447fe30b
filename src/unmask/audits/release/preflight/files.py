"""Are the tables what they should be? Holdouts that are no holdouts, tables that were swapped, rows that stand in line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unmask.attacks.classifier import Classifier
from unmask.audits.release.tables import Release
from unmask.errors import InputError
from unmask.metrics.verbatim import met
from unmask.stats import Estimate, auc
from unmask.stats.labels import fisher
from unmask.stream import stream
from unmask.tables.exact import ExactValues
from unmask.tables.matching import occur_in, occur_once, row_keys
from unmask.tables.noticed import Level, Noticed
from unmask.tables.table import Table
from unmask.tables.units import units

UNLIKELY = 1e-4  # by chance, before a file is said not to be what it should be
SAME = 0.9  # of the holdout in the real table: it is no holdout
NOTABLE = 0.02  # of the holdout: fewer rows in common change nothing
FEWEST_ROWS = 4  # of a holdout
UNEVEN = 10  # times as many equal rows as independent columns make
RESEMBLANCE = 0.05  # more values in common with the row at the same place than with its neighbours
MOST = 1_000  # rows of a table that are looked at by a learner
MOST_IN_LINE = 100_000  # rows that are compared place by place
FEW_PEOPLE = 100  # of a holdout
DIFFERENT = 0.55  # AUC from which on two tables differ enough to be said
TREES = Classifier(rounds=30, leaves=8)

_MADE = re.compile(r"synth|(^|[^a-z])syn([^a-z]|$)|fake|generated|release", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Preflight:
    """The release as it can be audited, and what was noticed about it."""

    release: Release
    seen: tuple[Noticed, ...] = ()

    @property
    def questions(self) -> tuple[str, ...]:
        """Somebody may have made a mistake, such as tables in the wrong order."""
        return tuple(each.sentence for each in self.seen if each.level is Level.QUESTION)

    @property
    def remarks(self) -> tuple[str, ...]:
        return tuple(each.sentence for each in self.seen if each.level is Level.NOTE)

    @property
    def noticed(self) -> tuple[str, ...]:
        return *self.questions, *self.remarks

    @property
    def lines(self) -> tuple[str, ...]:
        """What people should know before the work begins."""
        names, reasons = self.release.schema.names, dict[str, list[str]]()
        for each in self.release.left_out:
            reasons.setdefault(each.why, []).append(each.name)
        examined = f"{len(names)} columns are examined." if reasons else f"All {len(names)} columns are examined."
        return (examined, *(f"Left out: {', '.join(left)} ({why})." for why, left in reasons.items()), *self.remarks)


def looked_over(release: Release, names: Sequence[str] = ()) -> Preflight:
    """Look over a release before it is attacked; `names` are those of the files: real, synthetic, holdout."""
    release, seen = _apart(release)
    seen += _by_names(names)
    if release.holdout is not None:
        _check_release_is_no_holdout(release)
        seen += _by_learner(release, release.holdout)
        if (people := units(release.holdout).count) < FEW_PEOPLE:
            told = f"The holdout has {people:,} people: only large leaks can be told from chance. Hundreds are needed."
            seen.append(Noticed("few-people", told))
    seen += _in_line(release)
    return Preflight(release, tuple(seen))


def _by_names(names: Sequence[str]) -> Iterator[Noticed]:
    """Files that are called synthetic and were not given as that, while the synthetic one is not called so."""
    real, synthetic, holdout = (*names, "", "", "")[:3]
    for role, name in (("real table", real), ("holdout", holdout)):
        if _MADE.search(name) and not _MADE.search(synthetic):
            told = (
                f"'{name}' was given as the {role} and '{synthetic}' as the synthetic table. Is it the other way round?"
            )
            yield Noticed("swapped-names", told, level=Level.QUESTION)


def _apart(release: Release) -> tuple[Release, list[Noticed]]:
    """Real table and holdout without people who are in both; an error where hardly anybody is left."""
    holdout = release.holdout
    if holdout is None:
        return release, []
    mine, theirs = _shared_rows(release.real, holdout)
    for each in release.left_out:
        if each.real is not None and each.holdout is not None:
            same = met(each.real, each.holdout, least=NOTABLE, level=UNLIKELY)
            mine, theirs = mine | same[0], theirs | same[1]
    if not theirs.any():
        return release, []
    share, many = theirs.mean(), f"{int(theirs.sum()):,} of the {len(holdout):,} rows of the holdout"
    if share >= SAME or mine.all() or len(holdout) - theirs.sum() < FEWEST_ROWS:
        raise InputError(
            f"{many} stand in the real table too, far more than chance explains: this is no holdout.\n"
            "A holdout is people whom the generator never saw: cut them off before training, and give a file of them alone."
        )
    kept = np.flatnonzero(~mine)
    rows = kept if release.rows is None else release.rows[kept]
    parted = replace(release, real=release.real.take(kept), holdout=holdout.take(~theirs), rows=rows)
    told = f"{many} stand in the real table too, far more than chance explains. They count neither as members nor as others, "
    return parted, [Noticed("shared-rows", told + f"nor do the {int(mine.sum()):,} real rows that they equal.")]


def _shared_rows(real: Table, holdout: Table) -> tuple[np.ndarray, np.ndarray]:
    """Rows of either table that stand in the other, if there are more of them than equal rows within a table explain.

    If the holdout is a random cut, a row of it has an equal among real people as often as a real person has. Where the real
    table was rid of equal rows, those within the holdout tell, or, if it was too, how often independent columns meet.
    """
    mine, theirs = row_keys(real, holdout)
    shared = occur_in(theirs, mine)
    twins, cousins = ~occur_once(mine), ~occur_once(theirs)
    explained = max(twins.mean(), 1 - (1 - cousins.mean()) ** max(1.0, len(real) / len(holdout)))
    if not explained:
        explained = np.minimum(1.0, UNEVEN * len(real) * _frequency(holdout)).mean()
    more = fisher((int(shared.sum()), len(shared)), (int(twins.sum()), len(twins))) <= UNLIKELY
    if not more or shared.mean() - explained < NOTABLE:
        return np.zeros(len(real), dtype=bool), np.zeros(len(holdout), dtype=bool)
    return occur_in(mine, theirs[shared]), shared


def _frequency(table: Table) -> np.ndarray:
    """How often each row would occur if columns were independent, numbers by their value."""
    total = np.zeros(len(table))
    for values in ExactValues(table).codes.T:
        _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        total += np.log(counts[place] / len(table))
    return np.asarray(np.exp(total))


def _check_release_is_no_holdout(release: Release) -> None:
    """The holdout itself cannot be a release of the real table."""
    holdout = release.holdout
    for table in release.sets:
        if holdout is not None and len(table) == len(holdout) and len(table) > 1:
            rows, held = (np.sort(keys) for keys in row_keys(table, holdout))
            if np.array_equal(rows, held) and rows[0] != rows[-1]:
                raise InputError(
                    "The synthetic table and the holdout hold the same rows: there is nothing to compare.\n"
                    "Name the published table first, and a file of people whom the generator never saw with --holdout."
                )


def _by_learner(release: Release, holdout: Table) -> Iterator[Noticed]:
    """Whether real table and holdout can be told apart, and whether the release looks more like the holdout than it should."""
    mine, theirs = _told_apart(release.real, holdout), _told_apart(release.synthetic, holdout)
    if mine is None or theirs is None or mine.low < DIFFERENT:
        return
    if theirs.high < mine.low and theirs.value < DIFFERENT:
        told = (
            f"The holdout looks like the table that was given as synthetic (AUC {theirs.value:.2f}) and unlike the one that was "
            f"given as real ({mine.value:.2f}). Were the two swapped? The real table comes first."
        )
        yield Noticed("swapped", told, level=Level.QUESTION)
    else:
        told = (
            f"The holdout differs from the real table by itself (AUC {mine.value:.2f}, where 0.5 is no difference). Was it cut "
            "at random from the same people?"
        )
        yield Noticed("shifted", told)


def _told_apart(one: Table, other: Table) -> Estimate | None:
    """How well boosted trees tell rows of two tables apart, each half judged by what the other taught; None for few rows."""
    rng = stream(0, "preflight")
    sides = [_part(table, rng) for table in (one, other)]
    if min(map(len, sides)) < 2 * FEW_PEOPLE:
        return None
    scores: list[list[np.ndarray]] = [[], []]
    for half in range(2):
        taught = [side.take(np.arange(len(side)) % 2 != half) for side in sides]
        tell = TREES.between(taught[0], taught[1], rng)
        for place, side in enumerate(sides):
            found = tell(side.take(np.arange(len(side)) % 2 == half))
            scores[place].append(found)
    return auc(np.concatenate(scores[0]), np.concatenate(scores[1]))


def _part(table: Table, rng: np.random.Generator) -> Table:
    rows = rng.permutation(len(table))[:MOST]
    return Table(table.schema, table.take(rows).codes, table.take(rows).numbers)


def _in_line(release: Release) -> Iterator[Noticed]:
    """Releases whose row k is made of the real row k, as sanitised and partly synthetic ones are."""
    for role, table in release.tables[1:]:
        if role == "holdout" or len(table) != len(release.real) or len(table) < FEW_PEOPLE or release.rows is not None:
            continue
        first = np.arange(min(len(table), MOST_IN_LINE))
        exact = ExactValues(release.real.take(first))
        mine, published = exact.codes, exact.find(table.take(first))
        same = float((mine == published).mean())
        beside = max(float((mine == np.roll(published, step, axis=0)).mean()) for step in (1, -1, 2, -2))
        if same - beside > RESEMBLANCE:
            told = (
                f"The {role} table stands in the order of the real one: {same:.0%} of the values equal those of the real row at "
                f"the same place, {beside:.0%} those of its neighbours. Whoever knows the order knows who is who: shuffle it."
            )
            yield Noticed("rows-in-line", told)
