"""What anonymeter gets wrong (PEERS.md, item 3, and its issue tracker), each as a test of ours."""

import numpy as np
import pandas as pd
import pytest

from unmask import datasets
from unmask.metrics._guesses import Guesses
from unmask.metrics._predicates import on_common_levels
from unmask.metrics.inference import Tolerance, inference
from unmask.metrics.legal import groups, over_secrets
from unmask.metrics.linkability import linkability
from unmask.metrics.singling_out import Mode, _multivariate, evenly_drawn, singling_out
from unmask.tables.schema import Column, Kind
from unmask.tables.table import Table


def test_the_inference_baseline_loses_no_guess():
    """Theirs aligns guesses with people by the index of another table (12 of 1000 right in 1.1.0): ours by position."""
    table = datasets.adult()
    real, holdout = table.take(range(5000, 7000)), table.take(range(9000, 10000))
    result = inference(real, holdout, secret="sex", holdout=holdout, rng=np.random.default_rng(0))
    attacked = real.to_pandas().iloc[result.rows]
    assert result.baseline.n == 1000
    assert round(1000 * result.baseline.value) == (attacked.sex == "Male").sum() > 600


def test_relative_errors_are_not_divided_by_a_signed_guess():
    """|guess - truth| / guess <= .05 holds for every negative guess."""
    column = Column("n", Kind.CONTINUOUS, lower=-100, upper=100)
    guess, truth = np.array([-1.0, -50.0, 0.0, 10.0]), np.array([100.0, 50.0, 1.0, 10.2])
    theirs = np.abs(guess - truth) / (guess + 1e-12) <= 0.05
    assert theirs.tolist() == [True, True, False, True]
    codes = np.zeros(4, dtype=np.int64)
    ours = Tolerance().accepts(Guesses(codes, guess), Guesses(codes, truth), column)
    assert ours.tolist() == [False, False, False, True]


def test_missing_equals_missing():
    """Their distance counts two missing values as different, so a copy of a row with gaps is not its own neighbour."""
    frame = pd.DataFrame(
        {"a": [None, 1.0, 2.0, 3.0], "b": [None, "x", "y", "z"], "c": [5.0, None, 7.0, 8.0], "d": ["p", None, "q", "r"]}
    )
    table = Table.from_pandas(frame)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        assert linkability(table, table, halves=(["a", "b"], ["c", "d"]), rng=rng).successes.all()
        assert inference(table, table, secret="d", keys=["a", "b"], rng=rng).successes.all()
        assert inference(table, table, secret="c", keys=["a", "b"], rng=rng).successes.all()
    found = singling_out(table, table, mode=Mode.UNIVARIATE, attempts=4, rng=rng)
    assert found.attack.value == 1.0
    others = table.take(
        [1, 1, 2, 3]
    )  # nobody lacks a and b here: "a is missing" matches the one row of the synthetic table
    assert singling_out(others, table.take([0]), mode=Mode.UNIVARIATE, rng=rng).attack.value == 0.0


@pytest.mark.parametrize("size", [300, 3000])
def test_a_control_of_another_size_counts_successes(size):
    """Theirs extrapolates the number of queries: 210 successes against a control of 46 on fresh draws of Adult."""
    table = datasets.adult()
    order = np.random.default_rng(size).permutation(len(table))
    real, synthetic, holdout = (
        table.take(order[low:high]) for low, high in ((0, 3000), (3000, 6000), (6000, 6000 + size))
    )
    found = singling_out(real, synthetic, holdout=holdout, rng=np.random.default_rng(1))
    assert not found.beats_control
    # the control again, by hand: the same predicates, one holdout row at a time
    rng = np.random.default_rng(1)
    again = singling_out(real, synthetic, holdout=holdout.take(found.control_rows), rng=rng)
    release, people = on_common_levels([synthetic, holdout])
    guesses = _multivariate(release, 200, (3, 6), rng)
    counts = [
        int(((people.levels >= low) & (people.levels <= high)).all(axis=1).sum())
        for low, high in zip(guesses.lows, guesses.highs, strict=True)
    ]
    np.testing.assert_array_equal(people.only_match(guesses) >= 0, np.array(counts) == 1)
    assert again.control.n == found.control.n == min(1000, size)


@pytest.mark.parametrize("text", ["it's", '"quoted"', "back\\slash", "</script>", "a & b", "' or 1=1", "línea\nnueva"])
def test_values_with_quotes_match(text):
    """Their queries escape quotes inside the value compared, which then equals nothing."""
    frame = pd.DataFrame({"name": [text, "plain", "plain"], "x'\"`-": ["u", "u", "v"]})
    table = Table.from_pandas(frame)
    found = singling_out(table, table, mode=Mode.UNIVARIATE, rng=np.random.default_rng(0))
    assert found.predicates == 2
    assert found.singled_out.tolist() == [0, 2]
    assert inference(table, table, secret="name", rng=np.random.default_rng(0)).attack.value >= 1 / 3


def test_group_risk_divides_by_the_attacked_people():
    """Theirs divides the control's successes among the attacked by all holdout people of the group."""
    table = datasets.adult()
    real, holdout = table.take(range(3000)), table.take(range(3000, 9000))
    result = inference(real, real, secret="sex", holdout=holdout, attempts=500, rng=np.random.default_rng(0))
    found = groups(result, real, column="sex", holdout=holdout)
    assert sum(group.attack.n for group in found) == sum(group.control.n for group in found) == 500
    weighted = sum(group.control.value * group.control.n for group in found) / 500
    assert weighted == pytest.approx(result.control.value)


def test_everything_is_seeded(people):
    """Theirs draws targets and random links from fresh, unseeded streams."""
    real, holdout = people.take(range(120)), people.take(range(120, 200))

    def run(seed):
        options = {"holdout": holdout, "attempts": 40}
        return [
            *(singling_out(real, real, mode=mode, rng=np.random.default_rng(seed), **options) for mode in Mode),
            linkability(real, real, rng=np.random.default_rng(seed), **options),
            inference(real, real, secret="age", rng=np.random.default_rng(seed), **options),
        ]

    one, same, other = run(1), run(1), run(2)
    for first, second in zip(one, same, strict=True):
        assert (first.attack, first.baseline, first.control) == (second.attack, second.baseline, second.control)
        np.testing.assert_array_equal(first.rows, second.rows)
        np.testing.assert_array_equal(first.successes, second.successes)
    assert any(not np.array_equal(first.rows, second.rows) for first, second in zip(one[2:], other[2:], strict=True))


def test_synthetic_equal_to_real_is_no_crash_but_a_finding(people):
    """anonymeter#32."""
    real, holdout, rng = people.take(range(120)), people.take(range(120, 200)), np.random.default_rng(3)
    found = [
        *(singling_out(real, real, holdout=holdout, mode=mode, rng=rng) for mode in Mode),
        linkability(real, real, holdout=holdout, rng=rng),
        inference(real, real, secret="age", keys=["sex", "income", "joined"], holdout=holdout, rng=rng),
    ]
    assert all(criterion.beats_control for criterion in found)
    assert over_secrets(found).rejected.all()
    same = linkability(real, real, holdout=real, rng=rng)
    assert same.difference.value == 0.0


def test_a_private_release_is_not_called_untrustworthy():
    """anonymeter#33: where the attack is no better than guessing, they say that the results cannot be trusted."""
    table, rng = datasets.adult(), np.random.default_rng(4)
    real, holdout = table.take(range(1000)), table.take(range(1000, 2000))
    result = inference(real, evenly_drawn(real.schema, 1000, rng), secret="sex", holdout=holdout, rng=rng)
    assert result.attack.value <= result.baseline.value
    assert "The attack does no better than guessing without the synthetic table." in result.notes
    assert not over_secrets([result]).rejected.any()
