"""Feature sets for shadow modelling: what a synthetic table is summed up by. One file each, all compiled."""

from unmask.attacks.features.correlation import CorrelationFeatures
from unmask.attacks.features.histogram import HistogramFeatures
from unmask.attacks.features.matches import MatchFeatures
from unmask.attacks.features.naive import NaiveFeatures
from unmask.attacks.features.nearest_rows import NearestRowFeatures
from unmask.attacks.features.neighbourhood import NeighbourhoodFeatures
from unmask.attacks.features.queries import QueryFeatures

__all__ = [
    "CorrelationFeatures",
    "HistogramFeatures",
    "MatchFeatures",
    "NaiveFeatures",
    "NearestRowFeatures",
    "NeighbourhoodFeatures",
    "QueryFeatures",
]
