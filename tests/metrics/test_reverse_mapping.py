"""Reverse mapping against Table 2 of ruiz2018 and its own definition."""

import numpy as np
import pandas as pd
import pytest

from unmask.errors import InputError, ParameterError
from unmask.metrics.reverse_mapping import aligned_rows, reverse_mapping
from unmask.tables.encode import Unlisted
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

# ruiz2018, Table 2: X1 and its rank; for each synthetic set X1, rank, reverse-mapped X1, small noise
TABLE_2 = """
38 3   46 9 51 -5    33 2 37 -4     38 4 39 -1
66 19  36 1 31 5     54 19 66 -12   46 14 57 -11
56 12  43 5 41 2     50 16 63 -13   42 8 50 -8
53 11  59 14 57 2    37 6 45 -8     41 6 45 -4
31 1   41 4 39 2     43 13 56 -13   49 16 63 -14
63 16  61 16 63 -2   45 15 61 -16   49 17 63 -14
39 4   44 7 49 -5    33 3 38 -5     56 20 70 -14
63 17  56 13 56 0    41 11 53 -12   42 9 51 -9
51 9   76 20 70 6    40 9 51 -11    45 12 56 -11
56 13  49 10 51 -2   37 5 41 -4     53 19 66 -13
70 20  65 17 63 2    37 4 39 -2     42 7 49 -7
61 15  59 15 61 -2   43 12 56 -13   35 3 38 -3
41 5   40 3 38 2     32 1 31 1      44 11 53 -9
49 7   43 6 45 -2    51 17 63 -12   47 15 61 -14
51 10  53 12 56 -3   58 20 70 -12   28 1 31 -3
64 18  51 11 53 -2   39 8 50 -11    50 18 64 -14
45 6   66 18 64 2    45 14 57 -12   33 2 37 -4
57 14  44 8 50 -6    39 7 49 -10    42 10 51 -9
37 2   72 19 66 6    41 10 51 -10   40 5 41 -1
50 8   39 2 37 2     53 18 64 -11   46 13 56 -10
"""
PRINTED = np.array([line.split() for line in TABLE_2.strip().splitlines()], dtype=float)
SETS = [PRINTED[:, 2 + 4 * number : 6 + 4 * number] for number in range(3)]


def column(values):
    schema = Schema((Column("X1", Kind.CONTINUOUS, lower=0.0, upper=100.0),))
    values = np.asarray(values, dtype=float)[:, None]
    return Table(schema, schema.columns[0].bin_of(values).astype(schema.code_type), np.asfortranarray(values))


def test_table_2_first_set_as_printed(rng):
    """Ties in order of appearance, straight from the printed integers."""
    values, rank, mapped, noise = SETS[0].T
    found = reverse_mapping(column(PRINTED[:, 0]), column(values), rng=rng)
    np.testing.assert_array_equal(found.release.numbers[:, 0], mapped)
    np.testing.assert_array_equal(found.noise[:, 0], noise)
    np.testing.assert_array_equal(PRINTED[found.permutation[:, 0], 1], rank)


def test_table_2_of_all_sets(rng):
    """The printed values are rounded: rows printed as equal are told apart by the rank printed beside them."""
    releases = [column(values + 0.01 * rank) for values, rank, _, _ in (part.T for part in SETS)]
    found = [reverse_mapping(column(PRINTED[:, 0]), release, rng=rng) for release in releases]
    for part, mapping in zip(SETS, found, strict=True):
        values, rank, mapped, noise = part.T
        np.testing.assert_array_equal(mapping.release.numbers[:, 0], mapped)
        np.testing.assert_array_equal(values - mapping.release.numbers[:, 0], noise)
        np.testing.assert_allclose(mapping.noise[:, 0], noise + 0.01 * rank)


def test_it_is_a_permutation_plus_noise_that_changes_no_rank(people, rng):
    """Y = P X + E for every column; margins are kept exactly, and the order within each column is that of the synthetic."""
    real, synthetic = people.take(range(0, 100)), people.take(range(100, 200))
    found = reverse_mapping(real, synthetic, rng=rng)
    frame, mapped = real.to_pandas(), found.release.to_pandas()
    for position, name in enumerate(real.schema.names):
        assert sorted(found.permutation[:, position]) == list(range(100))
        pd.testing.assert_series_equal(
            mapped[name], frame[name].iloc[found.permutation[:, position]].reset_index(drop=True)
        )
    place = real.schema.numeric.index(real.schema.position("age"))
    ages = found.release.numbers[:, place]
    np.testing.assert_allclose(ages + found.noise[:, real.schema.position("age")], synthetic.numbers[:, place])
    assert (np.diff(ages[np.argsort(synthetic.numbers[:, place], kind="stable")]) >= 0).all()


def test_nominal_values_follow_the_order_of_the_schema(rng):
    schema = Schema((Column("size", Kind.CATEGORICAL, values=("small", "large", "huge"), missing=("",)),))
    real = Table.from_pandas(pd.DataFrame({"size": ["huge", "small", "small", "large"]}), schema)
    synthetic = Table.from_pandas(pd.DataFrame({"size": ["large", "large", None, "small"]}), schema)
    found = reverse_mapping(real, synthetic, rng=rng)
    assert list(found.release.to_pandas()["size"]) == ["small", "large", "huge", "small"]
    np.testing.assert_array_equal(found.noise[:, 0], [1, 0, np.nan, 0])


def test_the_real_table_maps_to_itself(people, rng):
    found = reverse_mapping(people, people, rng=rng)
    assert found.release.digest() == people.digest()
    assert (found.displacement == 0).all()
    assert np.nanmax(np.abs(found.noise)) == 0


@pytest.mark.parametrize("rows", [37, 200, 1])
def test_sizes_are_aligned(people, rng, rows):
    """A larger synthetic table is subsampled; a smaller one keeps all rows and repeats some."""
    real = people.take(range(90))
    found = reverse_mapping(real, people.take(range(rows)), rng=rng)
    assert len(found.release) == 90
    if rows > 90:
        assert len(np.unique(found.rows)) == 90
    else:
        np.testing.assert_array_equal(found.rows[:rows], np.arange(rows))
        assert found.rows.max() < rows
    for position in range(len(real.schema.columns)):
        np.testing.assert_array_equal(np.sort(found.release.codes[:, position]), np.sort(real.codes[:, position]))


def test_sampling_is_seeded(people):
    draws = [
        reverse_mapping(people, people.take(range(50)), rng=np.random.default_rng(seed)).rows for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert not np.array_equal(draws[0], draws[2])


def test_columns_in_another_order_and_odd_columns(rng):
    frame = pd.DataFrame({"a": [3, 1, 2], "empty": [None] * 3, "constant": ["</script>"] * 3, "q": ["it's", '"', "x"]})
    real = Table.from_pandas(frame)
    other = real.select(["q", "constant", "a", "empty"])
    found = reverse_mapping(real, other, rng=rng)
    pd.testing.assert_frame_equal(found.release.to_pandas(), real.to_pandas())
    strange = Table.from_pandas(frame.assign(q=["new", "x", "x"]), real.schema, unlisted=Unlisted.NOTE)
    mapped = reverse_mapping(real, strange, rng=rng)
    assert np.isnan(mapped.noise[0, 3])
    assert sorted(mapped.release.to_pandas()["q"]) == sorted(frame["q"])


def test_refusals(people, rng):
    with pytest.raises(InputError, match="at least one row"):
        reverse_mapping(people, people.take([]), rng=rng)
    with pytest.raises(ParameterError, match="Not all tables"):
        reverse_mapping(people, people.select(["sex"]), rng=rng)
    with pytest.raises(InputError, match="at least one row"):
        aligned_rows(0, 3, rng)
