"""What findings mean for single records: worked answers, honesty where nothing leaks, and what is not defined."""

import numpy as np
import pytest

from unmask.audits.attack.exposure import exposure_of
from unmask.audits.release.audit import audit
from unmask.audits.release.exposure import CONFOUNDED, NO_HOLDOUT, of_attempts, of_names
from unmask.datasets import planted
from unmask.metrics.legal import Attempts
from unmask.stats import Assumption, Estimate, benjamini_hochberg


def hits(count, size):
    return Attempts(np.arange(size) < count)


def test_worked_answer():
    """79 of 100 hit against 20 of 100: 59 beyond the control, 59 of 79 owed to the data."""
    found = of_attempts(hits(79, 100), hits(20, 100), 0.95)
    assert (found.attacked, found.hit) == (100, 79)
    assert found.above.value == 59
    assert found.above.low == pytest.approx(46.5, abs=1)
    assert found.worst.value == pytest.approx(59 / 79)
    # ratio 3.95, its logarithm has a standard error of 0.207
    assert found.worst.low == pytest.approx(1 - np.exp(0.207 * 1.96) / 3.95, abs=0.02)


def test_nobody_hit_and_fewer_than_the_control():
    assert of_attempts(hits(0, 100), hits(20, 100), 0.95).worst.value == 0
    fewer = of_attempts(hits(10, 100), hits(20, 100), 0.95)
    assert (fewer.worst.value, fewer.worst.low, fewer.above.value, fewer.above.low) == (0, 0, 0, 0)


@pytest.mark.parametrize(("share", "size"), [(0.02, 1000), (0.2, 200), (0.78, 1000)])
def test_nothing_is_above_tolerance_where_nothing_leaks(share, size):
    """At 95 % (two-sided) at most 1 in 20 may look exposed; 99.9 % limit of 200: 21."""
    rng = np.random.default_rng(7)
    found = [
        of_attempts(Attempts(rng.random(size) < share), Attempts(rng.random(size) < share), 0.95) for _ in range(200)
    ]
    assert sum(one.above.low > 0 for one in found) <= 21
    assert sum(one.worst.low > 0 for one in found) <= 21


@pytest.mark.parametrize(("attack", "control"), [(0.05, 0.01), (0.3, 0.1), (0.9, 0.7)])
def test_the_share_owed_to_the_data_is_covered(attack, control):
    """The interval misses 1 - c/a in at most 1 of 20 draws; 99.9 % limit of 200: 21."""
    rng, missed = np.random.default_rng(8), 0
    for _ in range(200):
        found = of_attempts(Attempts(rng.random(600) < attack), Attempts(rng.random(600) < control), 0.95).worst
        missed += not found.low <= 1 - control / attack <= found.high
    assert missed <= 21


def test_attempts_of_one_person_are_one_piece_of_evidence():
    alone = of_attempts(hits(50, 100), hits(20, 100), 0.95)
    people = np.repeat(np.arange(10), 10)
    together = of_attempts(Attempts(np.arange(100) < 50, people), Attempts(np.arange(100) < 20, people), 0.95)
    assert together.worst.value == alone.worst.value
    assert together.worst.low < alone.worst.low
    assert together.above.low < alone.above.low


def test_people_who_are_named():
    found = of_names(benjamini_hochberg([0.001, 0.002, 0.5, 0.9], rate=0.1), 0.1)
    assert (found.attacked, found.hit, found.above.value) == (4, 2, 2)
    assert found.worst.value == pytest.approx(1 - 0.004)


def test_targets_count_only_if_their_whole_interval_is_above_zero():
    def advantage(value, low):
        return Estimate(value, (low, 1.0), 0.999, "Newcombe", Assumption.EXACT, 60)

    found = exposure_of([advantage(0.9, 0.4), advantage(0.95, -0.1), advantage(0.3, 0.05)])
    assert (found.attacked, found.above.value) == (3, 2)
    assert (found.worst.value, found.worst.low) == (0.9, 0.4), "the highest lower bound, not the highest value"
    assert exposure_of([]) is None


def by_name(result):
    return {finding.name: finding.exposure for finding in result.findings}


def test_a_tenth_of_the_records_copied_is_counted_and_no_row_is_named():
    leaky = planted(600, leaked=60, columns=12, seed=2)
    result = audit(leaky.real, leaky.synthetic, holdout=leaky.holdout, attempts=600, seed=1)
    copies, linking = by_name(result)["copies"], by_name(result)["linking"]
    assert copies.above.low <= 60 <= copies.above.high + 1
    assert copies.worst.value > 0.95
    assert linking.above.low > 0
    named = by_name(result)["learnt-auditor"]
    assert named.above.value == sum(row[result.records.columns.index("named at risk")] for row in result.records.rows)
    grid = next(grid for grid in result.grids if grid.name == "criteria")
    lines = {row[0]: dict(zip(grid.columns, row, strict=True)) for row in grid.rows}
    assert lines["linking"]["above tolerance"] == round(linking.above.value)
    assert lines["linking"]["hit"] == linking.hit
    assert lines["linking"]["attacked"] == 600
    assert 0 < lines["linking"]["excess risk"] < 1
    single = by_name(result)["singling out, multivariate"]
    column = result.records.columns.index("singling out, multivariate")
    assert single.hit == sum(row[column] or 0 for row in result.records.rows), "people, not predicates"


def test_without_a_holdout_hits_are_counted_and_nothing_more_is_claimed():
    clean = planted(300, leaked=0, columns=6, seed=2)
    result = audit(clean.real, clean.synthetic, attempts=100)
    for name in ("copies", "linking", "singling out, univariate"):
        found = by_name(result)[name]
        assert (found.worst, found.above, found.undefined) == (None, None, NO_HOLDOUT)
    grid = next(grid for grid in result.grids if grid.name == "criteria")
    assert grid.rows[0][grid.columns.index("worst record")] == f"not defined: {NO_HOLDOUT}"


def test_where_real_and_holdout_differ_nothing_is_said_about_records():
    clean = planted(600, leaked=0, columns=9, seed=5)
    codes = clean.holdout.codes.copy(order="F")
    codes[:, 0] = 0
    other = type(clean.holdout)(clean.holdout.schema, codes, clean.holdout.numbers)
    result = audit(clean.real, clean.synthetic, holdout=other, attempts=100)
    assert {found.undefined for found in by_name(result).values() if found is not None} == {CONFOUNDED}
    assert not any(isinstance(cell, int | float) for grid in result.grids if grid.name == "criteria" for row in grid.rows
                   for cell in (row[grid.columns.index("worst record")], row[grid.columns.index("above tolerance")]))  # fmt: skip
    blind = next(finding for finding in result.findings if finding.name == "holdout")
    controls = next(grid for grid in result.grids if grid.name == "controls")
    assert blind.control.value == 0.5
    assert blind.estimate.value == pytest.approx(controls.rows[0][1] - 0.5, abs=1e-4), "the gain, not the AUC"
    assert blind.estimate.low == pytest.approx(controls.rows[0][2] - 0.5, abs=1e-4)
    assert blind.estimate.high <= 0.5
