"""Measures of a release that need no generator: similarity, matching, linkage, the three legal criteria.

One file per measure, and those that begin with an underscore for what several share.

copies                               real records that stand verbatim in the release
Similarity, minimal_distance         IMS, DCR and NNDR against a holdout; `mostlyai_qa` and `sdmetrics_...` as others define them
filters                              the customary filters, and why they do not help
singling_out, linkability, inference the criteria of WP29, each a `Criterion`; `groups` and `over_secrets` read several
cap, cap_over_keys, cap_continuous   what known keys tell about a secret
completion, linear_reconstruction    records completed from known columns, a secret column solved for from counts
reverse_mapping, permutation,        the attacker who knows the real table
rank_linkage, attribute_scenario

All take tables and return frozen results with intervals. Public are the functions to call, what they take and what they return;
parts of a result are reached through it. Loaded when first used: together they take two seconds.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmask.metrics import filters
    from unmask.metrics.attribute_scenario import AttributeScenario, attribute_scenario
    from unmask.metrics.cap import Cap, Matches, cap, matches
    from unmask.metrics.cap_continuous import ContinuousCap, Neighbourhood, cap_continuous
    from unmask.metrics.cap_over_keys import CapOverKeys, cap_over_keys
    from unmask.metrics.completing.completion import Completion, completion
    from unmask.metrics.copies import Copies, copies
    from unmask.metrics.filters import Cleaned, OutlierFilter, SimilarityFilter
    from unmask.metrics.inference import Inference, Inferences, Tolerance, inference, inferences
    from unmask.metrics.legal import Criterion, Group, groups, over_secrets
    from unmask.metrics.linear_reconstruction import LinearReconstruction, linear_reconstruction
    from unmask.metrics.linkability import Linkability, linkability
    from unmask.metrics.permutation import Permutation, permutation
    from unmask.metrics.rank_linkage import RankLinkage, rank_linkage
    from unmask.metrics.reverse_mapping import ReverseMapping, reverse_mapping
    from unmask.metrics.similarity import (
        Baseline,
        Comparison,
        Distance,
        MinimalDistance,
        MostlyQa,
        Overfitting,
        Quantile,
        Reference,
        Similarity,
        SimilarityVerdict,
        Statistic,
        Uniform,
        minimal_distance,
        mostlyai_qa,
        sdmetrics_baseline,
        sdmetrics_overfitting,
    )
    from unmask.metrics.singling_out import Mode, SinglingOut, singling_out

_FILES: dict[str, tuple[str, ...]] = {
    "attribute_scenario": ("AttributeScenario", "attribute_scenario"),
    "cap": ("Cap", "Matches", "cap", "matches"),
    "cap_continuous": ("ContinuousCap", "Neighbourhood", "cap_continuous"),
    "cap_over_keys": ("CapOverKeys", "cap_over_keys"),
    "completing.completion": ("Completion", "completion"),
    "copies": ("Copies", "copies"),
    "filters": ("Cleaned", "OutlierFilter", "SimilarityFilter"),
    "inference": ("Inference", "Inferences", "Tolerance", "inference", "inferences"),
    "legal": ("Criterion", "Group", "groups", "over_secrets"),
    "linear_reconstruction": ("LinearReconstruction", "linear_reconstruction"),
    "linkability": ("Linkability", "linkability"),
    "permutation": ("Permutation", "permutation"),
    "published_numbers": ("PublishedNumbers", "published_numbers"),
    "rank_linkage": ("RankLinkage", "rank_linkage"),
    "reverse_mapping": ("ReverseMapping", "reverse_mapping"),
    "similarity": (
        "Baseline", "Comparison", "Distance", "MinimalDistance", "MostlyQa", "Overfitting", "Quantile", "Reference",
        "Similarity", "Statistic", "Uniform", "SimilarityVerdict", "minimal_distance", "mostlyai_qa", "sdmetrics_baseline",
        "sdmetrics_overfitting",
    ),
    "singling_out": ("Mode", "SinglingOut", "singling_out"),
}  # fmt: skip
_PLACES = {name: f"unmask.metrics.{file}" for file, names in _FILES.items() for name in names}

__all__ = [  # noqa: RUF022 - by subject
    "Copies", "copies", "PublishedNumbers", "published_numbers",
    "Similarity", "Distance", "Statistic", "Uniform", "Quantile", "Comparison", "Reference", "SimilarityVerdict",
    "MinimalDistance", "minimal_distance", "MostlyQa", "mostlyai_qa",
    "Baseline", "sdmetrics_baseline", "Overfitting", "sdmetrics_overfitting",
    "filters", "SimilarityFilter", "OutlierFilter", "Cleaned",
    "Criterion", "Group", "groups", "over_secrets",
    "Mode", "SinglingOut", "singling_out", "Linkability", "linkability",
    "Inference", "Inferences", "Tolerance", "inference", "inferences",
    "Cap", "Matches", "cap", "matches", "CapOverKeys", "cap_over_keys",
    "ContinuousCap", "Neighbourhood", "cap_continuous",
    "Completion", "completion", "LinearReconstruction", "linear_reconstruction",
    "ReverseMapping", "reverse_mapping", "Permutation", "permutation",
    "RankLinkage", "rank_linkage", "AttributeScenario", "attribute_scenario",
]  # fmt: skip


class _Metrics(ModuleType):
    """This package. Importing the file cap.py binds its name here; `unmask.metrics.cap` must stay the function all the same."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _PLACES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Metrics


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name]), name)
    if name == "filters":
        return importlib.import_module("unmask.metrics.filters")
    raise AttributeError(f"module 'unmask.metrics' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
