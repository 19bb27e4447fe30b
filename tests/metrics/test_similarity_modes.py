"""Definitions of other tools: against their formulas written out, and against their defects."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import QuantileTransformer, normalize

from unmask.datasets import gaussian, planted
from unmask.errors import InputError
from unmask.metrics._similarity_modes import mostlyai_qa, random_rows, sdmetrics_baseline, sdmetrics_overfitting
from unmask.tables.table import Table


def sdmetrics_dcr(dataset: pd.DataFrame, reference: pd.DataFrame) -> np.ndarray:
    """Its formula: mean over columns of min(|a - b| / range in the reference, 1); categories 0/1; missing equals missing."""
    result = np.empty((len(dataset), len(reference)))
    for i, j in itertools.product(range(len(dataset)), range(len(reference))):
        total = 0.0
        for name in dataset:
            a, b = dataset[name].iloc[i], reference[name].iloc[j]
            if pd.isna(a) or pd.isna(b):
                total += not (pd.isna(a) and pd.isna(b))
            elif pd.api.types.is_numeric_dtype(reference[name]) and not pd.api.types.is_bool_dtype(reference[name]):
                span = reference[name].max() - reference[name].min()
                total += min(abs(a - b) / span, 1) if span else float(a != b)
            else:
                total += a != b
        result[i, j] = total / len(dataset.columns)
    return result.min(axis=1)


@pytest.fixture
def frames(people):
    table = people.select(["sex", "region", "age", "income", "smoker"])
    return table, [table.take(rows) for rows in (range(40), range(40, 90), range(90, 130))]


def test_sdmetrics_overfitting_follows_its_formula(frames):
    _, (real, synthetic, holdout) = frames
    to_real, to_holdout = (sdmetrics_dcr(synthetic.to_pandas(), t.to_pandas()) for t in (real, holdout))
    found = sdmetrics_overfitting(real, synthetic, holdout=holdout)
    closer = np.mean(to_real < to_holdout - 1e-12)
    assert found.closer_to_training == pytest.approx(closer)
    assert found.closer_to_holdout == pytest.approx(1 - closer)
    assert found.score == pytest.approx(min(2 * (1 - closer), 1))


def test_sdmetrics_baseline_follows_its_formula(frames):
    _, (real, synthetic, _) = frames
    found = sdmetrics_baseline(real, synthetic, rng=np.random.default_rng(3))
    random = random_rows(real, len(synthetic), np.random.default_rng(3))
    medians = [np.median(sdmetrics_dcr(t.to_pandas(), real.to_pandas())) for t in (synthetic, random)]
    assert (found.synthetic_median, found.random_median) == pytest.approx(tuple(medians))
    assert found.score == pytest.approx(min(medians[0] / medians[1], 1))
    assert sdmetrics_baseline(real, real, rng=np.random.default_rng(3)).score == 0


def test_random_rows_stay_in_the_observed_range(people):
    drawn = random_rows(people, 3000, np.random.default_rng(1))
    low, high = np.nanmin(people.numbers, axis=0), np.nanmax(people.numbers, axis=0)
    assert (np.nanmin(drawn.numbers, axis=0) >= low).all()
    assert (np.nanmax(drawn.numbers, axis=0) <= high).all()
    region = people.schema.position("region")
    absent = people.schema.column("region").missing_code
    expected = np.mean(people.codes[:, region] == absent)
    assert np.mean(drawn.codes[:, region] == absent) == pytest.approx(expected, abs=0.03)
    drawn.to_pandas()


def test_sdmetrics_is_perfect_with_a_tenth_of_the_rows_copied():
    """PEERS.md, defect 4: reproduced, and said. `HoldoutShare` finds these copies (test_similarity.py)."""
    data = planted(rows=1000, leaked=100, seed=1)
    found = sdmetrics_overfitting(data.real, data.synthetic, holdout=data.holdout)
    assert found.score == 1
    assert found.tied > 0.3
    assert "Ties count for the holdout" in found.warnings[0]


def test_a_random_median_of_zero_has_no_score():
    real = Table.from_pandas(pd.DataFrame({"a": ["x"] * 5, "n": [3] * 5}))
    assert np.isnan(sdmetrics_baseline(real, real, rng=np.random.default_rng(0)).score)


def test_mostlyai_qa_follows_its_formulas_on_numbers(rng):
    real, synthetic, holdout = (gaussian(3, 300, seed=seed) for seed in (1, 2, 3))
    found = mostlyai_qa(real, synthetic, holdout=holdout, rng=rng)
    encoded = [[], [], []]
    for column in range(3):
        known = np.concatenate([real.numbers[:, column], holdout.numbers[:, column]])
        scaler = QuantileTransformer(n_quantiles=100, subsample=len(known)).fit(known.reshape(-1, 1))
        for table, parts in zip((synthetic, real, holdout), encoded, strict=True):
            parts.append(scaler.transform(table.numbers[:, [column]]) - 0.5)
    s, r, h = (normalize(np.hstack(parts)) for parts in encoded)

    def two(data: np.ndarray, query: np.ndarray) -> np.ndarray:
        return NearestNeighbors(n_neighbors=2, algorithm="kd_tree").fit(data).kneighbors(query)[0]

    to_real, to_holdout, held = two(r, s), two(h, s), two(r, h)
    near, far = to_real[:, 0], to_holdout[:, 0]
    assert found.share == np.mean(near < far) + np.mean(near == far) / 2
    assert found.dcr == pytest.approx(near.mean())
    assert found.dcr_holdout == pytest.approx(held[:, 0].mean())
    tenth = [np.sort((d[:, 0] + 1e-8) / (d[:, 1] + 1e-8))[9] for d in (to_real, to_holdout)]
    assert found.nndr == pytest.approx(tenth[0] / tenth[1])
    assert (found.ims, found.ims_holdout) == (0, 0)
    assert found.worst_columns == real.schema.names  # few columns: no groups


def test_the_worst_group_is_never_called_all_columns():
    """PEERS.md, defect 5: the largest of several shares lies above one half without a leak, so it has a name of its own."""
    shares, worst = [], []
    for seed in range(20):
        real, synthetic, holdout = (gaussian(12, 150, seed=3 * seed + i) for i in range(3))
        found = mostlyai_qa(real, synthetic, holdout=holdout, rng=np.random.default_rng(seed))
        assert found.worst_share >= found.share
        assert set(found.worst_columns) <= set(real.schema.names)
        shares.append(found.share)
        worst.append(found.worst_share)
    assert abs(np.mean(shares) - 0.5) < 0.03
    assert np.mean(worst) > np.mean(shares) + 0.02


def test_modes_survive_awkward_tables(people, rng):
    frame = pd.DataFrame(
        {"c": ["x"] * 6, "void": [np.nan] * 6, "t": ['"', "</script>"] * 3, "n": [1, 2, 3, 4, 5, np.nan]}
    )
    table = Table.from_pandas(frame)
    one = table.take([0])
    for real, synthetic, holdout in ((table, table, table), (one, one, one), (people, people, people)):
        found = mostlyai_qa(real, synthetic, holdout=holdout, rng=rng)
        assert found.ims == 1
        assert sdmetrics_overfitting(real, synthetic, holdout=holdout).score >= 0
        sdmetrics_baseline(real, synthetic, rng=rng)
    with pytest.raises(InputError, match="no rows"):
        mostlyai_qa(table, table.take([]), holdout=table, rng=rng)
