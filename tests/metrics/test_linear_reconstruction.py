"""A secret column solved for: from exact counts, from a bootstrap, and from a release that does not know it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import unmask
from unmask.errors import ParameterError, SchemaError
from unmask.metrics.linear_reconstruction import _least_deviations, linear_reconstruction
from unmask.stats.labels import fisher
from unmask.tables.schema import Column, Kind, Origin, Schema
from unmask.tables.table import Table

KNOWN = [f"q{place}" for place in range(10)]


def people(count, seed, secret="bits", levels=2):
    """Ten columns of three values, and a secret that does not depend on them."""
    rng = np.random.default_rng(seed)
    columns = [Column(name, Kind.CATEGORICAL, ("a", "b", "c")) for name in KNOWN]
    if secret == "number":
        columns.append(Column("secret", Kind.CONTINUOUS, lower=0.0, upper=10.0, bins=5))
    else:
        columns.append(Column("secret", Kind.CATEGORICAL, tuple(str(level) for level in range(levels))))
    schema = Schema(tuple(columns), origin=Origin.PUBLIC)
    frame = pd.DataFrame({name: rng.choice(["a", "b", "c"], count) for name in KNOWN})
    frame["secret"] = rng.uniform(0, 10, count) if secret == "number" else rng.integers(0, levels, count).astype(str)
    return Table.from_pandas(frame, schema)


def test_least_deviations_against_a_closed_form(rng):
    """One unknown, three equations: the median. Two unknowns that add up to 1: the better of the corners or between."""
    from scipy import sparse

    found = _least_deviations(sparse.csr_matrix(np.ones((3, 1))), np.array([[0.2, 0.3, 0.9]]))
    assert found == pytest.approx(np.array([[0.3]]), abs=1e-6)
    both = _least_deviations(sparse.csr_matrix(np.ones((1, 1))), np.array([[0.9], [0.4]]))
    assert both.sum() == pytest.approx(1.0)
    assert 0.6 - 1e-6 <= both[0, 0] <= 0.9 + 1e-6


@pytest.mark.parametrize(("order", "equations"), [(3, 3240), (4, 4000)])
def test_exact_marginals_give_the_secrets_of_a_thousand_people(order, equations, rng):
    """Independent bits, exact 3- and 4-way counts (a table has its own): at least 95 %; the holdout stays at a half."""
    real, holdout = people(1000, 1), people(400, 2)
    found = linear_reconstruction(
        real, real, secret="secret", holdout=holdout if order == 3 else None, order=order, rng=rng
    )
    assert found.right.mean() >= 0.95
    assert found.equations >= equations
    if order == 3:
        assert found.control.rate(0.999).low < 0.5 < found.control.rate(0.999).high
        assert found.memory.low > 0.4
    else:
        assert found.memory is None, "not measured is not zero"


def test_more_rows_of_a_bootstrap_tell_more(rng):
    """n = 500: about 77 % from 500 rows, about 97 % from 5,000, given as one table or as ten."""
    real = people(500, 3)
    few = real.take(rng.integers(0, 500, 500))
    many = real.take(rng.integers(0, 500, 5000))
    sets = [many.take(np.arange(place, place + 500)) for place in range(0, 5000, 500)]
    assert 0.72 <= linear_reconstruction(real, few, secret="secret", rng=rng).right.mean() <= 0.86
    one = linear_reconstruction(real, many, secret="secret", rng=np.random.default_rng(1))
    ten = linear_reconstruction(real, sets, secret="secret", rng=np.random.default_rng(1))
    assert one.right.mean() >= 0.95
    assert np.array_equal(one.right, ten.right)


def test_a_release_that_does_not_know_the_secret_gives_one_half(rng):
    real, fresh, holdout = people(500, 4), people(500, 5), people(500, 6)
    found = linear_reconstruction(real, fresh, secret="secret", holdout=holdout, rng=rng)
    rate = found.attack.rate(0.999)
    assert rate.low < 0.5 < rate.high
    assert found.memory.low < 0 < found.memory.high


def test_categories_and_numbers_are_solved_for_too(rng):
    real = people(200, 7, levels=3)
    found = linear_reconstruction(real, real, secret="secret", holdout=people(200, 8, levels=3), rng=rng)
    assert found.right.mean() >= 0.95
    assert found.control_right.mean() < 0.5
    real = people(300, 9, secret="number")
    found = linear_reconstruction(real, real, secret="secret", holdout=people(300, 10, secret="number"), rng=rng)
    assert found.right.mean() >= 0.9
    assert found.error < 0.02 < 0.2 < found.control_error
    assert found.control_right.mean() < 0.4


def test_a_large_table_is_solved_within_people_who_share_values(rng):
    table = unmask.datasets.adult().take(np.arange(6000))
    real, holdout = table.take(np.arange(3000)), table.take(np.arange(3000, 6000))
    found = linear_reconstruction(real, real, secret="income", holdout=holdout, rng=rng)
    assert 4 <= len(found.rows) <= 1000
    assert "are solved for at once" in found.notes[0]
    assert found.right.mean() > found.control_right.mean()
    assert found.right.mean() > 0.95


def test_wrong_input_is_told(rng):
    real = people(20, 11)
    one = real.take(np.flatnonzero(real.codes[:, 10] == 0))
    with pytest.raises(ParameterError, match="same value of 'secret'"):
        linear_reconstruction(one, one, secret="secret", rng=rng)
    with pytest.raises(SchemaError, match="no column 'wealth'"):
        linear_reconstruction(real, real, secret="wealth", rng=rng)
    with pytest.raises(ParameterError, match="key and the secret at once"):
        linear_reconstruction(real, real, secret="secret", known=["secret"], rng=rng)
    with pytest.raises(ParameterError, match="order is 0"):
        linear_reconstruction(real, real, secret="secret", order=0, rng=rng)


def test_one_row_of_a_person_is_judged_and_all_are_solved_for(rng):
    """40 people of 5 rows each, of equal columns: from the real table all are right, and 40 are counted."""
    real, holdout = repeated(people(40, 12), 5), repeated(people(40, 13), 5)
    found = linear_reconstruction(real, real, secret="secret", holdout=holdout, rng=rng)
    assert len(found.rows) == len(found.control_rows) == 40
    assert sorted(found.rows // 5) == list(range(40))
    assert found.right.mean() >= 0.95
    assert len(found.baseline_right) == len(found.lookup_right) == 40


def test_people_with_very_many_rows_are_thinned_and_fit(rng):
    """Twelve people of 300 rows: at most 250 rows each and 1,000 in all, so four people on either side."""
    found = linear_reconstruction(
        repeated(people(12, 14), 300), people(50, 15), secret="secret", known=KNOWN[:1],
        holdout=repeated(people(12, 16), 300), rng=rng,
    )  # fmt: skip
    assert len(found.rows) == len(found.control_rows) == 4
    assert "rows are solved for at once" in found.notes[0]


@pytest.mark.parametrize(("held", "told"), [(300, 0), (40, 1)])
def test_a_small_holdout_takes_the_place_of_real_people(held, told):
    """A tenth has the secret, and 450 rows of a bootstrap: memory is about .13, or .1 with a small holdout."""
    memory = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        real, holdout = rare(people(300, 100 + seed), rng), rare(people(held, 200 + seed), rng)
        release = real.take(rng.integers(0, 300, 450))
        found = linear_reconstruction(real, release, secret="secret", holdout=holdout, known=KNOWN[:8], rng=rng)
        memory.append(found.memory.value)
        assert len(found.control_right) == held
        assert sum("40 people of the holdout are solved for among 260" in note for note in found.notes) == told
    assert 0.08 <= np.mean(memory) <= 0.17


def test_groups_with_enough_people_of_the_holdout_are_solved_for(rng):
    """Three groups of 500 to 1,000 people fit; the largest is not in the holdout."""
    real, holdout = people(2300, 17), people(60, 18)
    for table, sizes in ((real, (900, 800, 600)), (holdout, (0, 35, 25))):
        table.codes[:, 0] = np.repeat([0, 1, 2], sizes)
        table.codes[:, 1] = np.arange(len(table)) % 40 % 3
    found = linear_reconstruction(real, real, secret="secret", holdout=holdout, known=KNOWN[:2], order=1, rng=rng)
    assert set(real.codes[found.rows, 0]) == {1}
    assert len(found.control_right) == 35
    alone = linear_reconstruction(real, real, secret="secret", known=KNOWN[:2], order=1, rng=rng)
    assert set(real.codes[alone.rows, 0]) == {0}


def test_of_a_larger_holdout_as_many_are_drawn(rng):
    found = linear_reconstruction(people(50, 25), people(50, 26), secret="secret", holdout=people(80, 27), rng=rng)
    assert len(found.control_right) == 50
    assert "50 of 80 people of the holdout are solved for, drawn at random" in found.notes[-1]


def test_too_few_people_of_the_holdout_are_no_control(rng):
    found = linear_reconstruction(people(50, 19), people(50, 20), secret="secret", holdout=people(3, 21), rng=rng)
    assert (found.control, found.memory) == (None, None)
    assert len(found.control_rows) == 3
    assert "too few for a control" in found.notes[-1]


def test_the_baseline_guesses_one_value_and_the_lookup_reads_the_release(rng):
    real = rare(people(300, 22), rng)
    found = linear_reconstruction(real, real, secret="secret", rng=rng)
    assert found.baseline.value == pytest.approx((real.codes[:, 10] == 0).mean())
    assert found.lookup.value > 0.98


@pytest.mark.parametrize("secret", ["bits", "number"])
def test_a_secret_that_the_release_does_not_hold_is_not_solved_for(secret, rng):
    real = with_missing(people(60, 23, secret))
    empty = with_missing(people(60, 24, secret))
    empty.codes[:, 10] = empty.schema.columns[10].missing_code
    if secret == "number":
        empty.numbers[:, 0] = np.nan
    with pytest.raises(ParameterError, match="missing in every row of the release"):
        linear_reconstruction(real, empty, secret="secret", rng=rng)


@pytest.mark.calibration
def test_persons_of_many_rows_give_no_false_findings():
    """60 persons of 10 rows a side, 60 seeds: at most 6 one-sided p-values are .025 or less (99.9 % limit)."""
    low = 0
    for seed in range(60):
        real, release, holdout = (repeated(people(60, 3 * seed + place), 10) for place in range(3))
        found = linear_reconstruction(
            real, release, secret="secret", holdout=holdout, rng=np.random.default_rng(seed), known=KNOWN[:5]
        )
        low += fisher(found.attack.counts, found.control.counts) <= 0.025
    assert low <= 6


@pytest.mark.calibration
def test_a_small_holdout_is_guessed_as_well_as_real_people():
    """300 people and 40 of the holdout, a tenth has the secret: 100 seeds. 95 % intervals (99.9 % limit: 87), and no bias."""
    covered, gaps = 0, []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        real, release, holdout = (rare(people(size, 3 * seed + at), rng) for at, size in enumerate((300, 300, 40)))
        found = linear_reconstruction(real, release, secret="secret", holdout=holdout, known=KNOWN[:5], rng=rng)
        covered += found.memory.low <= 0 <= found.memory.high
        gaps.append(found.memory.value)
    assert covered >= 87
    assert abs(np.mean(gaps)) <= 3.3 * np.std(gaps) / 10


@pytest.mark.calibration
@pytest.mark.parametrize("held", [150, 60])
def test_on_fresh_draws_the_interval_of_memory_covers_zero(held):
    """150 people, a secret that half depends on what is known: 60 seeds, the 99.9 % limit of 95 % is 51.

    Holdouts of equal size and of less than half of it.
    """
    covered = 0
    for seed in range(60):
        parts = [people(size, 3 * seed + place) for place, size in enumerate((150, 150, held))]
        real, release, holdout = (dependent(part, seed) for part in parts)
        found = linear_reconstruction(
            real, release, secret="secret", holdout=holdout, rng=np.random.default_rng(seed), known=KNOWN[:6]
        )
        covered += found.memory.low <= 0 <= found.memory.high
    assert covered >= 51


def dependent(table, seed):
    """The secret of every other person is told by the first column."""
    codes = table.codes.copy(order="F")
    codes[::2, 10] = codes[::2, 0] > 0
    return Table(table.schema, codes, table.numbers)


def repeated(table, rows):
    """Persons of so many equal rows each."""
    persons = np.repeat(np.arange(len(table)), rows)
    return replace(table.take(persons), persons=persons)


def rare(table, rng):
    """A secret that one in ten has."""
    codes = table.codes.copy(order="F")
    codes[:, 10] = rng.random(len(table)) < 0.1
    return Table(table.schema, codes, table.numbers)


def with_missing(table):
    columns = (*table.schema.columns[:10], replace(table.schema.columns[10], missing=("",)))
    return Table(replace(table.schema, columns=columns), table.codes.copy(order="F"), table.numbers.copy())
