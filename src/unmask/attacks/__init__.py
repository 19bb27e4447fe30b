"""Attacks: one file each, found by name; those that begin with an underscore are for what several share."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

from unmask.attacks._attack import Attack, Prediction, PreparedAttack, ReleaseAttack, Secret, ShadowAttack
from unmask.attacks._own import pool_of
from unmask.registry import Entry, build, describe, names_code, settings_from
from unmask.threats.knowledge import Access
from unmask.threats.pool import Pool
from unmask.threats.view import View

__all__ = [
    "Access",
    "Attack",
    "Entry",
    "Pool",
    "Prediction",
    "PreparedAttack",
    "ReleaseAttack",
    "Secret",
    "ShadowAttack",
    "View",
    "get",
    "listed",
    "names",
    "parse",
    "pool_of",
]

# The built-ins: name -> where its class lives. Imported only when asked for.
BUILT_IN: dict[str, str] = {
    "naive": "unmask.attacks.shadow:Naive",
    "histogram": "unmask.attacks.shadow:Histogram",
    "correlation": "unmask.attacks.shadow:Correlation",
    "groundhog": "unmask.attacks.shadow:Groundhog",
    "queries": "unmask.attacks.shadow:Queries",
    "synthetic-predictor": "unmask.attacks.synthetic_predictor:SyntheticPredictor",
    "linear": "unmask.attacks.linear:Linear",
    "record-linkage": "unmask.attacks.record_linkage:RecordLinkage",
    "link-then-classify": "unmask.attacks.link_then_classify:LinkThenClassify",
    "closest-record": "unmask.attacks.closest_record:ClosestRecord",
    "closest-votes": "unmask.attacks.closest_votes:ClosestVotes",
    "trained-distance": "unmask.attacks.trained_distance:TrainedDistance",
    "stacked-shadow": "unmask.attacks.stacked_shadow:StackedShadow",
    "linkage-weights": "unmask.attacks.linkage_weights:LinkageWeights",
    "local-neighbourhood": "unmask.attacks.local_neighbourhood:LocalNeighbourhood",
    "density": "unmask.attacks.density:Density",
    "density-ratio": "unmask.attacks.density_ratio:DensityRatio",
    "gen-lra": "unmask.attacks.gen_lra:GenLra",
    "marginal-ratio": "unmask.attacks.marginal_ratio:MarginalRatio",
    "classifier": "unmask.attacks.classifier:Classifier",
    "likelihood": "unmask.attacks.likelihood:Likelihood",
    "denoising-loss": "unmask.attacks.denoising_loss:DenoisingLoss",
    "discriminator": "unmask.attacks.discriminator:Discriminator",
}


@cache
def _places() -> dict[str, str]:
    """Built-ins and what other packages offer under the entry point `unmask.attacks`; built-ins win."""
    return {point.name: point.value for point in entry_points(group="unmask.attacks")} | BUILT_IN


def names() -> tuple[str, ...]:
    """The names that `get` knows."""
    return tuple(_places())


def get(name: str, **parameters: Any) -> Attack:
    """An attack by name, such as `get("queries", order=1)`, or by `module:Class`."""
    found: Attack = build(name, parameters, _places(), what="attack")
    return found


def parse(text: str) -> Attack:
    """An attack from text such as `queries:order=1,count=50`; the same strings work everywhere."""
    name, _, settings = text.partition(":")
    return get(name, **settings_from(settings.split(","))) if settings and name in _places() else get(text)


def is_code(text: str) -> bool:
    """Whether this attack is code that its user brings along: a class or a file."""
    return names_code(text, _places())


def listed() -> tuple[Entry, ...]:
    """Every attack that can be had by name."""
    return tuple(describe(name, place) for name, place in _places().items())
