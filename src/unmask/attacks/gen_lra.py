"""Gen-LRA (Ward 2024): would the synthetic rows around the target be likelier if it belonged to the population sample?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.attacks._attack import Secret
from unmask.attacks._density import Kernel, check_count, check_kernel, part_of
from unmask.attacks._kernel_search import nearest_rows
from unmask.tables.table import Table
from unmask.threats.knowledge import Access, Goal
from unmask.threats.view import View


@dataclass(frozen=True)
class GenLra:
    """Sum over the k synthetic rows s nearest to the target t of log p_{reference + t}(s) - log p_reference(s).

    If the target was in the real table, adding it to the reference explains the synthetic rows around it better: higher = more
    likely a member. With a kernel density of fixed bandwidths nothing is refitted. With n reference rows r,

        p_reference(s) = 1/n sum_r K(s, r)        p_{reference + t}(s) = (n p_reference(s) + K(s, t)) / (n + 1)

    so the term of s is log(n / (n + 1)) + log(1 + K(s, t) / sum_r K(s, r)). Nearest means largest K(s, t). The authors
    refit bandwidths with the target; one row in n moves them by about 1/n.

    CPU per release: (rows near any target, at most all) x `reference_rows` kernels, 3 ms for one target and 12 ms for 25; and to
    find the near ones targets x rows, of a large table mostly few of them (`_kernel_search`).
    """

    name: ClassVar[str] = "gen-lra"
    goals: ClassVar[frozenset[Goal]] = frozenset({Goal.MEMBERSHIP})
    needs: ClassVar[frozenset[Access]] = frozenset({Access.SYNTHETIC, Access.REFERENCE})

    k: int = 200
    bandwidth: float | None = None  # of numbers, in standard deviations; none = Scott's rule
    spread: float = 0.1  # of categories: the probability of all other values together
    reference_rows: int = 1000  # at most: beyond, a random part of the reference

    def __post_init__(self) -> None:
        check_count("k", self.k)
        check_kernel(self.bandwidth, self.spread)
        check_count("reference_rows", self.reference_rows)

    def prepare(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> PreparedGenLra:
        reference = part_of(view.reference, self.reference_rows, rng)
        return PreparedGenLra(self.k, Kernel.fitted_to(reference, self.bandwidth, self.spread), reference)


@dataclass(frozen=True, eq=False)
class PreparedGenLra:
    """The part of the reference that is used, and the kernel that was fitted to it."""

    k: int
    kernel: Kernel
    reference: Table

    def score(self, view: View, targets: Table, secret: Secret | None, rng: np.random.Generator) -> np.ndarray:
        synthetic = view.synthetic
        k = min(self.k, len(synthetic))
        if k == 0:
            return np.zeros(len(targets))
        near, n = nearest_rows(self.kernel, synthetic, targets, k), len(self.reference)
        return self._gain(synthetic, near.rows, near.logs) + k * np.log(n / (n + 1))

    def _gain(self, synthetic: Table, near: np.ndarray, to_targets: np.ndarray) -> np.ndarray:
        """Sum of log(1 + K(s, t) / sum_r K(s, r)) over the nearest rows of each target; each row's sum is found once."""
        asked, place = np.unique(near, return_inverse=True)
        to_reference = self.kernel.log_sums(self.reference, synthetic.take(asked))[place.reshape(near.shape)]
        return np.asarray(np.logaddexp(0.0, to_targets - to_reference).sum(axis=1))
