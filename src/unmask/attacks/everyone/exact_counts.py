"""How often a person's exact amounts are published, alone and beside their other values, and the row that fits them best.

Other features see numbers in bins. Generators that draw donors publish people's own amounts, and the single question
"does this very amount occur?" says more than all bins together. Releases round, so a coarser rounding is asked for as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.attacks.everyone.subset_counts import AskedKeys, Subset, alike_in_unit, count_keys, keys_of
from unmask.tables.exact import MISSING, NOBODY, ExactValues
from unmask.tables.search.best_match import BestMatch
from unmask.tables.table import Table
from unmask.tables.units import Units

COARSE = 3  # significant digits of the coarser rounding
MOST_PAIRS = 60  # of an exact amount with another column; those of the columns with most amounts come first


@dataclass(frozen=True, eq=False)
class ExactCounts:
    """Questions about exact values of some rows; which values there are is known from all candidates."""

    exact: ExactValues
    coarse: ExactValues
    rows: Table
    units: Units

    @classmethod
    def of(cls, candidates: Table, units: Units) -> ExactCounts:
        return cls(ExactValues(candidates), ExactValues(candidates, digits=COARSE), candidates, units)

    def about(self, rows: Table, units: Units) -> ExactCounts:
        """The same questions about some of the candidates' rows alone."""
        return ExactCounts(self.exact, self.coarse, rows, units)

    @cached_property
    def sets(self) -> tuple[Subset, ...]:
        """Columns by position, exact; then, counted on, the same columns rounded. Only what bins and digits do not show."""
        width = len(self._names)
        present = self.exact.codes != MISSING
        bins = [len(np.unique(self.exact.people.codes[present[:, place], place])) for place in range(width)]
        finer = [place for place in self.exact.people.schema.numeric if self.exact.counts[place] > bins[place]]
        finer.sort(key=lambda place: -self.exact.counts[place])
        rounded = [place for place in finer if bins[place] < self.coarse.counts[place] < self.exact.counts[place]]
        pairs = dict.fromkeys(
            (min(place, other), max(place, other)) for place in finer for other in range(width) if other != place
        )
        alone = [*((place,) for place in finer), *((width + place,) for place in rounded)]
        return (*alone, *list(pairs)[:MOST_PAIRS])

    @property
    def names(self) -> tuple[str, ...]:
        """One for each set, its group before the colon."""
        return tuple(f"{group}:{name}" for group, name in zip(self.groups, map(self._name, self.sets), strict=True))

    @property
    def groups(self) -> tuple[str, ...]:
        width = len(self._names)
        return tuple("exact pair" if len(each) > 1 else "exact" if each[0] < width else "digits" for each in self.sets)

    def count(self, found: np.ndarray, counts: np.ndarray) -> None:
        """Fill the first of `counts` (rows x sets): how many synthetic rows have the same exact values. Missing agrees with
        nothing."""
        self._keys.count(found, self.sets, 0, counts)

    def best_match(self, found: np.ndarray) -> np.ndarray:
        """The largest sum of weights of equal values over the synthetic rows (rows x 1): rare values weigh most.

        Fellegi and Sunter's linkage. The best match among other people is the same in every run, so it is left out.
        """
        return self._matches.among(found[:, : len(self._names)])[:, None]

    def find(self, table: Table) -> np.ndarray:
        """The codes of a table: exact ones, then, where a set asks for them, rounded ones."""
        width = len(self._names)
        found = np.full((len(table), 2 * width), NOBODY, dtype=np.int32, order="F")
        found[:, :width] = self.exact.find(table)
        for place in (places[0] for places in self.sets if places[0] >= width):
            found[:, place] = self.coarse.find_column(table, place - width)
        return found

    @property
    def _names(self) -> tuple[str, ...]:
        return self.exact.people.schema.names

    def _name(self, places: Subset) -> str:
        return "+".join(self._names[place % len(self._names)] for place in places)

    @cached_property
    def _asked(self) -> np.ndarray:
        found = self.find(self.rows)
        found[found == NOBODY] = MISSING
        return found

    @cached_property
    def _matches(self) -> BestMatch:
        return BestMatch(self._asked[:, : len(self._names)], self._weights)

    @cached_property
    def _keys(self) -> AskedKeys:
        return AskedKeys.of(keys_of(self._asked, self.sets))

    @cached_property
    def _weights(self) -> np.ndarray:
        """-log of the share of others who have the value; half a person is added, so that nobody's is finite."""
        everybody = self.exact.codes
        alone = tuple((place,) for place in range(len(self._names)))
        asked = keys_of(self._asked, alone)
        sharing = count_keys(asked, keys_of(everybody, alone)).astype(np.int64)
        others = sharing - 1 - alike_in_unit(asked, self.units.of_row)
        return np.asarray(-np.log((others + 0.5) / (len(everybody) + 1)), dtype=np.float32)
