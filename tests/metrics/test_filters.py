"""What the filters drop, and what they say."""

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from unmask.datasets import gaussian
from unmask.errors import InputError, ParameterError
from unmask.metrics.filters import OutlierFilter, SimilarityFilter, get, names, parse
from unmask.metrics.similarity import Distance
from unmask.tables.encode import Unlisted
from unmask.tables.table import Table, concatenate


def test_similarity_drops_identical_rows(people):
    synthetic = concatenate([people.take(range(150, 200)), people.take([3, 4])])
    found = SimilarityFilter().clean(people.take(range(100)), synthetic)
    assert found.dropped.tolist() == [50, 51]
    assert found.table.digest() == people.take(range(150, 200)).digest()
    assert "holes" in found.warnings[0]
    assert found.notes == ("2 of 52 synthetic rows were dropped.",)


def test_similarity_drops_rows_within_the_radius():
    real, synthetic = gaussian(2, 300, seed=1), gaussian(2, 300, seed=2)
    away = cdist(synthetic.numbers / 16, real.numbers / 16, "cityblock").min(axis=1) / 2
    found = SimilarityFilter(radius=0.002).clean(real, synthetic)
    assert np.array_equal(found.dropped, np.flatnonzero(away <= 0.002))
    assert 0 < len(found.dropped) < 300
    assert len(found.table) + len(found.dropped) == 300


def test_outlier_filter_drops_outliers_and_not_the_others():
    """PEERS.md, defect 5 (synthgauge has it the wrong way round)."""
    real = gaussian(2, 1000, seed=1)
    synthetic = gaussian(2, 1000, seed=2)
    found = OutlierFilter(share=0.1, distance=Distance.EUCLID).clean(real, synthetic)
    radius = np.hypot(*synthetic.numbers.T)
    assert radius[found.dropped].min() > 1.2
    assert np.hypot(*found.table.numbers.T).max() < 3.5
    assert radius[found.dropped].mean() > radius.mean() + 1
    assert len(found.dropped) == pytest.approx(100, abs=40)


def test_outlier_filter_equals_its_definition():
    real, synthetic = gaussian(3, 150, seed=1), gaussian(3, 90, seed=2)
    own = np.sort(cdist(real.numbers, real.numbers), axis=1)[:, 1:5].mean(axis=1)
    scale = real.numbers.std(axis=0)
    own = np.sort(cdist(real.numbers / scale, real.numbers / scale), axis=1)[:, 1:5].mean(axis=1)
    other = np.sort(cdist(synthetic.numbers / scale, real.numbers / scale), axis=1)[:, :4].mean(axis=1)
    found = OutlierFilter(share=0.2, neighbours=4, distance=Distance.EUCLID).clean(real, synthetic)
    assert found.threshold == pytest.approx(np.quantile(own, 0.8))
    assert np.array_equal(found.dropped, np.flatnonzero(other > found.threshold))


@pytest.mark.parametrize("kind", [SimilarityFilter, OutlierFilter])
def test_awkward_tables(kind, people):
    frame = pd.DataFrame(
        {"c": ["x"] * 6, "void": [np.nan] * 6, "t": ['"', "</script>"] * 3, "n": [1, 2, 3, 4, 5, np.nan]}
    )
    real = Table.from_pandas(frame)
    strange = Table.from_pandas(frame.assign(t="unseen"), real.schema, unlisted=Unlisted.NOTE)
    for distance in Distance:
        assert len(kind(distance=distance).clean(real, real.take([])).table) == 0
        kept = kind(distance=distance).clean(real, strange)
        assert len(kept.table) + len(kept.dropped) == 6
    assert len(SimilarityFilter().clean(real, strange).table) == 6  # an unlisted value equals nothing
    gone = SimilarityFilter().clean(people, people)
    assert len(gone.table) == 0
    assert "Nothing is left" in gone.notes[1]
    assert any("does not" in warning for warning in gone.warnings)


def test_filters_by_name(people):
    assert get("similarity", radius=0.1) == SimilarityFilter(radius=0.1)
    assert get("outlier", share=0.2, distance="euclid") == OutlierFilter(0.2, distance=Distance.EUCLID)
    assert get("outlier", share=np.float32(0.25), neighbours=np.int64(3)) == OutlierFilter(0.25, 3)
    assert [type(get(name)).name for name in names()] == list(names()) == ["similarity", "outlier"]
    for wrong in ({"share": 0}, {"neighbours": 0}, {"neighbours": 65}, {"neighbours": 2.0}, {"share": "much"}):
        with pytest.raises(ParameterError, match=f"{next(iter(wrong))} is"):
            OutlierFilter(**wrong)
    for wrong in (float("nan"), -1, None, "wide", True):
        with pytest.raises(ParameterError, match="radius is"):
            SimilarityFilter(radius=wrong)
    with pytest.raises(InputError, match="at least two"):
        OutlierFilter().clean(people.take([0]), people)
    with pytest.raises(InputError, match="no rows"):
        SimilarityFilter().clean(people.take([]), people)


def test_filters_from_text():
    assert parse("outlier") == OutlierFilter()
    assert parse("similarity:radius=0.05") == SimilarityFilter(radius=0.05)
    assert parse("outlier:share=0.2, neighbours=3,distance=euclid") == OutlierFilter(0.2, 3, Distance.EUCLID)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("magic", "There is no filter 'magic'. There are: similarity, outlier."),
        ("magic:radius=1", "There is no filter 'magic'. There are: similarity, outlier."),
        ("os:path", "There is no filter 'os'. There are: similarity, outlier."),
        ("similarity:0.05", "'0.05' is not a setting. Write it as name=value, such as radius=0.05."),
        ("similarity:", "'' is not a setting. Write it as name=value, such as radius=0.05."),
        ("similarity:width=1", "The filter 'similarity' has no parameter width. It has: radius, distance."),
        ("similarity:radius=wide", "radius is wide; use 0 (identical rows only) or more."),
        ("similarity:distance=far", "'far' is no distance; choose one of hamming, euclid, gower."),
        ("outlier:neighbours=2.5", "neighbours is 2.5; use a whole number from 1 to 64."),
    ],
)
def test_errors_name_what_is_wrong_in_the_text(text, says):
    with pytest.raises(ParameterError) as caught:
        parse(text)
    assert str(caught.value) == says
