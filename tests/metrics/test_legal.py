"""What the three criteria share: the formula for the risk, intervals, p-values, groups, many secrets at once."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from unmask import datasets
from unmask.errors import ParameterError
from unmask.metrics.inference import inference, inferences
from unmask.metrics.legal import Attempts, groups, over_secrets, p_value, value_text
from unmask.metrics.linkability import linkability
from unmask.metrics.singling_out import singling_out
from unmask.stats import difference, excess_risk, wilson
from unmask.tables.schema import Column, Kind
from unmask.tables.table import Table


def attempts(successes, total, units=None):
    return Attempts(np.arange(total) < successes, units)


# (successes, attempts, control successes, control attempts), anonymeter 1.1.0: rate, error, residual risk, its error
ANONYMETER = [
    ((190, 1000, 30, 1000), (0.1911862951305221, 0.02429702506611939, 0.16462247913682235, 0.026740763905191547)),
    ((0, 1000, 0, 1000), (0.0019133792427775617, 0.0019133792427775617, 0.0, 0.002711114264858369)),
    ((1000, 1000, 12, 400), (0.9980866207572224, 0.0019133792427775617, 0.9980183103733699, 0.0019820050528035365)),
    ((5, 50, 40, 80), (0.12853903965334348, 0.08506327472145307, -0.7429219206933131, 0.41003450432733635)),
    ((620, 1000, 615, 1000), (0.6195407889817334, 0.03002990466112213, 0.012922543611503863, 0.10960684774515723)),
]


@pytest.mark.parametrize(("counts", "expected"), ANONYMETER)
def test_risk_and_error_equal_anonymeter(counts, expected):
    """R = (a - c)/(1 - c) and se^2 = (se_a/(1-c))^2 + ((1-a) se_c/(1-c)^2)^2 with Wilson centres and half-widths, to 1e-12."""
    a, n_a, c, n_c = counts
    z = norm.ppf(0.975)

    def centre(k, n):
        return (k + z * z / 2) / (n + z * z), z / (n + z * z) * math.sqrt(k * (n - k) / n + z * z / 4)

    (rate, error), (other, other_error) = centre(a, n_a), centre(c, n_c)
    risk = (rate - other) / (1 - other)
    spread = math.hypot(error / (1 - other), (1 - rate) * other_error / (1 - other) ** 2)
    np.testing.assert_allclose((rate, error, risk, spread), expected, rtol=0, atol=1e-12)
    found = attempts(a, n_a).rate(0.95)
    np.testing.assert_allclose(found.interval, (rate - error, rate + error), rtol=0, atol=1e-12)
    ours = attempts(a, n_a).risk(attempts(c, n_c), 0.95)
    plain = (a / n_a - c / n_c) / (1 - c / n_c)  # our value is of the rates themselves, theirs of the Wilson centres
    assert ours.value == pytest.approx(plain, abs=1e-12)
    limits = (min(plain, risk - spread), min(1.0, max(plain, risk + spread)))
    np.testing.assert_allclose(ours.interval, limits, rtol=0, atol=1e-12)


def test_estimates_are_those_of_the_statistics_package():
    attack, control = attempts(30, 100), attempts(10, 80)
    assert attack.rate(0.9) == wilson(30, 100, confidence=0.9)
    assert attack.minus(control, 0.9) == difference((30, 100), (10, 80), confidence=0.9)
    assert attack.risk(control, 0.9) == excess_risk((30, 100), (10, 80), confidence=0.9)
    assert attack.risk(attempts(80, 80), 0.95) is None


@pytest.mark.parametrize(("a", "c"), [(30, 10), (25, 20), (100, 99), (5, 0), (12, 12), (3, 9)])
def test_p_value_and_interval_tell_one_story(a, c):
    p = p_value(attempts(a, 100), attempts(c, 100))
    if a <= c:
        assert p == 1.0
        return
    for step in (-1e-6, 1e-6):  # the two-sided interval at 1 - 2p ends at 0
        low = difference((a, 100), (c, 100), confidence=1 - 2 * (p + step)).low
        assert (low > 0) == (step > 0)


def test_attempts_of_one_unit_count_once():
    """Ten attempts each on ten people that stand and fall together are as good as ten attempts."""
    units = np.repeat(np.arange(10), 10)
    together = Attempts(units < 3, units)
    assert together.counts == pytest.approx((3, 10))
    assert together.rate(0.95).interval == pytest.approx(wilson(3, 10).interval)
    assert together.rate(0.95).n == 100
    apart = Attempts(units < 3, np.arange(100))
    assert apart.counts == pytest.approx((30, 100))
    never = Attempts(np.zeros(100, dtype=bool), units)
    assert never.counts == (0, 10)
    other = Attempts(units < 1, units)
    assert together.minus(other, 0.95).interval == pytest.approx(difference((3, 10), (1, 10)).interval)
    assert together.risk(other, 0.95).value == pytest.approx((0.3 - 0.1) / 0.9)
    with pytest.raises(ParameterError, match="no attempts"):
        Attempts(np.empty(0, dtype=bool))


def test_rows_of_one_person_count_once(rng):
    frame = pd.DataFrame({"person": np.repeat(np.arange(60), 5), "a": np.repeat(rng.normal(size=60), 5)})
    frame["b"] = np.repeat(rng.normal(size=60), 5)
    plain = Table.from_pandas(frame.drop(columns="person"))
    schema = plain.schema.with_columns(plain.schema.columns, person="person")
    table = Table.from_pandas(frame, schema)
    real, holdout = table.take(range(150)), table.take(range(150, 300))
    for found in (
        linkability(real, real.take(range(0, 75)), holdout=holdout, rng=rng),
        inference(real, real.take(range(0, 75)), secret="a", holdout=holdout, rng=rng),
        singling_out(real, real.take(range(0, 75, 5)), holdout=holdout, rng=rng),
    ):
        assert "effective n" in found.difference.method or found.attack.value == 0
    assert found.attack.n == found.control.n


def test_groups_hold_the_attacked_records_of_both_sides(people, rng):
    real, holdout = people.take(range(120)), people.take(range(120, 200))
    result = linkability(real, real, holdout=holdout, attempts=70, neighbours=3, rng=rng)
    for column in ("sex", "region", "age", "joined"):
        found = groups(result, real, column=column, holdout=holdout)
        assert sum(group.attack.n for group in found) == 70
        codes = real.codes[result.rows, real.schema.position(column)]
        others = holdout.codes[result.control_rows, real.schema.position(column)]
        for group, code in zip(found, np.unique(codes), strict=True):
            assert group.attack.n == (codes == code).sum()
            assert group.attack.value == pytest.approx(result.successes[codes == code].mean())
            assert group.small == ((codes == code).sum() < 10)
            if (others == code).any():
                assert group.control.n == (others == code).sum()
                assert group.control.value == pytest.approx(result.control_successes[others == code].mean())
            else:
                assert group.control is group.difference is None
    assert {group.value for group in groups(result, real, column="region")} == {"north", "south", "east", "missing"}
    without = linkability(real, real, rng=rng)
    with pytest.raises(ParameterError, match="no holdout"):
        groups(without, real, column="sex", holdout=holdout)


def test_codes_in_words():
    column = Column("c", Kind.CATEGORICAL, values=("</script>", 3), missing=("",), groups=(("any", (3,)),))
    assert [value_text(column, code) for code in range(5)] == ["</script>", "3", "missing", "not in the schema", "any"]
    number = Column("n", Kind.CONTINUOUS, lower=0, upper=10, bins=4)
    assert value_text(number, 1) == "2.5 to 5"


def test_many_secrets_at_once(rng):
    """Holm: copies give both secrets away. Without a holdout nothing is claimed."""
    made = datasets.planted(800, leaked=400, columns=10, seed=1)
    found = inferences(
        made.real, made.synthetic, secrets=["c9", "c8"], keys=made.real.schema.names, holdout=made.holdout, rng=rng
    )
    assert found.listing.rejected.all()
    alone = inferences(made.real, made.synthetic, rng=rng)
    assert alone.listing is None
    weak = [replace(found.criteria[0], p_value=p) for p in (0.02, 0.04, 0.001)]
    assert over_secrets(weak).rejected.tolist() == [True, True, True]
    assert over_secrets([*weak, weak[1]]).rejected.tolist() == [False, False, True, False]
