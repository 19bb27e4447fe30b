"""What one synthetic table says about every unit: a row of numbers each, in the same order in every run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unmask.attacks.everyone.exact_counts import ExactCounts
from unmask.attacks.everyone.prediction_errors import prediction_errors
from unmask.attacks.everyone.subset_counts import (
    AskedKeys,
    Subset,
    alike_in_unit,
    choose_subsets,
    count_keys,
    keys,
    weighted_sums,
)
from unmask.attacks.everyone.white_box import LIKELIHOOD, MEASURED, white_box
from unmask.tables.distance import kth_distances
from unmask.tables.metric import HAMMING, Gower, Hamming
from unmask.tables.table import Table
from unmask.tables.units import Units
from unmask.threats.view import FittedModel

NEIGHBOURS = (1, 5, 20)
MATCH = "match"  # the best one by weight of equal exact values
METRICS: dict[str, Hamming | Gower] = {"hamming": HAMMING, "gower": Gower()}


@dataclass(frozen=True)
class FeaturePlan:
    """Which features are computed. They decide what the audit can see, so they belong to the plan."""

    distances: bool = True  # k-nearest distances; they alone cost units x synthetic rows
    white_box: bool = False  # likelihood and noisy measurements of the fitted model
    exact: bool = True  # counts of exact values, beside those of bins
    prediction_errors: bool = False  # how well each column is predicted from the others; costs a model fit per column


@dataclass(frozen=True, eq=False)
class Features:
    """The features of these units, with all that is the same in every run computed once.

    Units of several rows add up counts and take the nearest distance and the best match. References are all candidates but
    the unit itself, whatever their coins: a reference that depends on coins would leak the answer.
    """

    plan: FeaturePlan
    candidates: Table
    units: Units
    subsets: tuple[Subset, ...]
    exact: ExactCounts | None

    @classmethod
    def of(cls, plan: FeaturePlan, candidates: Table, units: Units, rng: np.random.Generator) -> Features:
        exact = ExactCounts.of(candidates, units) if plan.exact and candidates.schema.numeric else None
        return cls(plan, candidates, units, choose_subsets(candidates, rng), exact)

    @property
    def names(self) -> tuple[str, ...]:
        """Counts first, the one of all columns last among them; then values."""
        counts = tuple("count:" + "+".join(self.candidates.schema.names[p] for p in each) for each in self.subsets)
        return (*(self.exact.names if self.exact else ()), *counts, *self.value_names)

    @property
    def groups(self) -> tuple[str, ...]:
        """Of each count: which others are of its kind."""
        return (*(self.exact.groups if self.exact else ()), *(f"count {len(subset)}" for subset in self.subsets))

    @property
    def value_names(self) -> tuple[str, ...]:
        names = [f"ratio:{len(self.subsets[start])}" for start in self._starts]
        if self.plan.distances:
            names += [f"{metric}:{k}" for metric in METRICS for k in NEIGHBOURS]
            names += [MATCH] if self.exact else []
        if self.plan.white_box:
            names += [LIKELIHOOD, MEASURED]
        if self.plan.prediction_errors:
            names += [f"error:{name}" for name in self.candidates.schema.names]
        return tuple(names)

    def compute(self, synthetic: Table, model: FittedModel | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Counts (units x sets, uint16 if they fit) and values (units x others, float32), in the order of `names`."""
        exact = self.exact.find(synthetic) if self.exact else None
        found = self._counts(synthetic, exact)
        ratios = weighted_sums(found[:, -len(self.subsets) :], self._weights, self._starts)
        values = [self._summed(ratios / np.float32(max(len(synthetic), 1)))]  # numpy 1 takes a large int for a double
        if self.plan.distances:
            ks = [min(k, len(synthetic)) for k in NEIGHBOURS]  # the last one where there are fewer
            values += [
                self._least(kth_distances(self.candidates, synthetic, ks=ks, metric=metric))
                for metric in METRICS.values()
            ]
            if self.exact and exact is not None:
                values.append(-self._least(-self.exact.best_match(exact)))
        if self.plan.white_box:
            values.append(self._summed(white_box(model, self.candidates)))
        if self.plan.prediction_errors:
            values.append(self._summed(prediction_errors(synthetic, self.candidates)))
        if not self._one_row_each:
            found = self._summed(found.astype(np.uint32))
        small = found.dtype if found.max(initial=0) >= 2**16 else np.dtype(np.uint16)
        return found.astype(small, copy=False), np.concatenate(values, axis=1).astype(np.float32)

    def _counts(self, synthetic: Table, exact: np.ndarray | None) -> np.ndarray:
        """How many synthetic rows agree with each row (rows x sets): no more than there are."""
        kind = np.uint16 if len(synthetic) < 2**16 else np.uint32
        others = len(self.exact.sets) if self.exact else 0
        found = np.empty((len(self.candidates), others + len(self.subsets)), dtype=kind)
        if self.exact and exact is not None:
            self.exact.count(exact, found)
        self._keys.count(synthetic.codes, self.subsets, others, found)
        return found

    @cached_property
    def _keys(self) -> AskedKeys:
        return AskedKeys.of(keys(self.candidates, self.subsets))

    @cached_property
    def _starts(self) -> np.ndarray:
        """Where each size of sets begins; sets come in order of size."""
        sizes = [len(subset) for subset in self.subsets]
        return np.array([place for place, size in enumerate(sizes) if place == 0 or size != sizes[place - 1]])

    @cached_property
    def others(self) -> np.ndarray:
        """How many candidates outside the unit share each row's cell (rows x sets)."""
        own = keys(self.candidates, self.subsets)
        alike = count_keys(own, own).astype(np.int64) - 1
        return alike if self._one_row_each else alike - alike_in_unit(own, self.units.of_row)

    @cached_property
    def _weights(self) -> np.ndarray:
        """One over the others in the cell (one imaginary one added): rare cells tell most."""
        return np.ascontiguousarray(len(self.candidates) / (self.others + 1.0), dtype=np.float32)

    @cached_property
    def _one_row_each(self) -> bool:
        return self.units.count == len(self.candidates)

    def _summed(self, rows: np.ndarray) -> np.ndarray:
        """From rows to units, adding up."""
        if self._one_row_each:
            return rows
        total = np.zeros((self.units.count, rows.shape[1]), dtype=rows.dtype)
        np.add.at(total, self.units.of_row, rows)
        return total

    def _least(self, rows: np.ndarray) -> np.ndarray:
        """From rows to units, taking the least."""
        if self._one_row_each:
            return rows
        least = np.full((self.units.count, rows.shape[1]), np.inf, dtype=rows.dtype)
        np.minimum.at(least, self.units.of_row, rows)
        return least
