"""Large tables: caps that are said, parts that are estimated before they are begun, records that stay few."""

import time
from dataclasses import replace

import numpy as np
import pytest

import unmask
from unmask.audits.release import audit as release_audit
from unmask.audits.release import criteria, scoring, similarity
from unmask.audits.release.audit import CHECKS, ReleaseAudit
from unmask.audits.release.case import Case, Check
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.release.timing import FEWEST_PEOPLE, Clock
from unmask.audits.runner import Runner
from unmask.metrics.similarity import Distance, Similarity
from unmask.tables.distance import Gower, kth_distances


@pytest.fixture(scope="module")
def tables():
    people = unmask.datasets.adult().take(np.arange(900)).select(["age", "sex", "race", "hours-per-week", "income"])
    return [people.take(np.arange(low, low + 300)) for low in (0, 300, 600)]


def case_of(tables, **choices):
    real, synthetic, holdout = tables
    plan = ReleasePlan(**choices)
    return Case(ReleaseAudit.of(plan, real=real, synthetic=synthetic, holdout=holdout).release, plan)


def test_people_are_capped_and_the_report_says_what_that_costs(tables):
    """40 of 300 people on either side, by the learnt auditor and by names; five times as many by linkage weights."""
    real, synthetic, holdout = tables
    result = unmask.audit(real, synthetic, holdout=holdout, people=40, attempts=50)
    note = next(note for note in result.notes if "one by one" in note)
    assert "Of 300 real people 40, drawn at random" in note
    assert "Fewer than 8 leaked people" in note, "chance calls eight of eight members with 0.5^8, below 0.0075"
    assert "linkage weights were taken of 200" in note
    assert "4 % of the real people" in note
    grid = next(each for each in result.grids if each.name == "membership")
    sizes = {row[0]: row[-2:] for row in grid.rows}
    assert sizes["learnt-auditor"] == (40, 40)
    assert sizes["linkage-weights"] == (200, 200)
    named = result.records.columns.index("named at risk")
    assert sum(row[named] is not None for row in result.records.rows) == 40


def test_attacks_take_fewer_people_where_there_are_more_rows():
    """Up to forty thousand rows nobody is left out by closest record; the product of people and rows is bounded beyond."""
    entry = scoring.ATTACKS["closest-record"]
    assert entry.most(5_000, 39_032) > 39_032
    assert [entry.most(5_000, rows) for rows in (100_000, 1_000_000, 10_000_000)] == [16_000, 1_600, 160]
    assert entry.most(5_000, 10**9) == 0
    assert [each.name for each in scoring.left_out(5_000, 1_000_000)] == ["gen-lra"]
    assert not scoring.left_out(5_000, 400_000)
    assert not scoring.left_out(20_000, 400_000), "whoever asks for more people loses no attack"
    assert scoring.ATTACKS["gen-lra"].most(50, 1_000_000) == 10, "few are looked at where few are asked for"
    assert "fewer than 100 people" in scoring.left_out(5_000, 10**9)[0].reason
    usual = {name: each.most(5_000, 10_000) for name, each in scoring.ATTACKS.items()}
    assert usual["local-neighbourhood"] == 5_000
    assert usual["gen-lra"] == 1_000


def test_similarity_of_some_rows_is_that_of_a_part_of_the_release(tables, rng):
    """Asking about some rows gives the figures of a release of those rows; the searched tables stay whole."""
    real, synthetic, holdout = tables
    how = Similarity(distance=Distance.GOWER)
    some = how.compare(real, synthetic, holdout=holdout, most_rows=50, rng=np.random.default_rng(1))
    same = np.random.default_rng(1)
    rows, held = (np.sort(same.choice(300, 50, replace=False)) for _ in range(2))
    part = how.compare(real, synthetic.take(rows), holdout=holdout, rng=same)
    assert np.array_equal(some.closeness.distance, part.closeness.distance)
    assert some.share.share == part.share.share
    near = kth_distances(holdout.take(held), real, ks=(1,), metric=Gower())
    assert some.dcr.holdout.value == pytest.approx(np.percentile(near, 5))
    assert "50 of 300 synthetic rows and 50 of 300 holdout rows" in some.notes[-1]
    assert not any("drawn at random" in note for note in how.compare(real, synthetic, holdout=holdout, rng=rng).notes)


def test_the_share_of_some_rows_is_honest():
    """A release of other people, of which 60 rows are asked about: at 5 % at most 7 of 40 tests alarm (99.9 % limit)."""
    everybody = unmask.datasets.adult().select(["age", "education", "hours-per-week", "sex"])
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = rng.choice(len(everybody), 600, replace=False)
        real, synthetic, holdout = (everybody.take(part) for part in np.split(rows, 3))
        found = Similarity(distance=Distance.GOWER).compare(real, synthetic, holdout=holdout, most_rows=60, rng=rng)
        alarms += found.share.p_value <= 0.05
    assert alarms <= 7


def test_fewer_attempts_are_said(tables, monkeypatch):
    case = case_of(tables, attempts=240)
    monkeypatch.setattr(criteria, "MOST_PAIRS", 300 * 2 * len(case.release.guessed) * 120)
    assert criteria._attempts(case) == 120
    (note,) = criteria._fewer(case)
    assert "120 of 240 attempts" in note
    assert "1.4 times as wide" in note


def test_records_are_the_most_exposed(tables, monkeypatch):
    real, synthetic, holdout = tables
    whole = unmask.audit(real, synthetic, holdout=holdout, attempts=50)
    monkeypatch.setattr(release_audit, "MOST_RECORDS", 25)
    cut = unmask.audit(real, synthetic, holdout=holdout, attempts=50)
    assert cut.records.rows == whole.records.rows[:25]
    assert any("records.csv lists the 25 most exposed of 300 real rows" in note for note in cut.notes)


def test_a_budget_cuts_people_first_and_then_leaves_parts_out(tables, monkeypatch):
    """Costs that grow with people are halved until they fit; what does not fit even so is refused with its estimate."""
    case = case_of(tables)
    monkeypatch.setattr(Case, "sizes", property(lambda self: (9_000, 9_000, 6_000, 1.0)))
    clock = Clock(Runner.of(1, time_budget=100.0))
    telling = Check("telling", lambda case: release_audit.Part(), seconds=lambda case: 0.04 * case.plan.people)
    assert clock.fitted(case, (telling,)).plan.people == 1_250, "200 s at 5,000 people, 50 s at 1,250"
    assert "1,250 people on either side" in clock.notes[0]
    assert "4 times as large" in clock.notes[0]
    dear = Check("dear", telling.run, seconds=lambda case: 500.0)
    assert "it would take about 500 s" in clock.refuses(case, dear)
    assert clock.fitted(case, (dear,)).plan.people >= FEWEST_PEOPLE
    assert not clock.refuses(case, replace(dear, seconds=lambda case: 1.0))
    free = Clock(Runner.of(1))
    assert free.fitted(case, (dear,)) is case
    assert not free.refuses(case, dear)


def test_the_pace_follows_what_parts_took(tables):
    """A part that took ten times its estimate makes the next ones ten times as dear."""
    case = case_of(tables)
    clock = Clock(Runner.of(1, time_budget=1000.0))
    part = Check("part", lambda case: release_audit.Part(), seconds=lambda case: 2.0)
    clock.done(case, part, time.monotonic() - 20.0)
    assert clock.pace == pytest.approx(10.0, rel=0.05)
    clock.done(case, replace(part, seconds=lambda case: 0.1), time.monotonic() - 50.0)
    assert clock.pace == pytest.approx(10.0, rel=0.05), "short parts tell nothing"


def test_every_part_that_compares_has_an_estimate(tables):
    case = case_of(tables, secrets=("income",), keys=("age", "sex"), utility=True)
    free = {"columns left out", "links of aligned rows", "own numbers"}  # no number here has many digits
    assert {check.name for check in CHECKS if not check.seconds(case)} == free
    larger = replace(case, release=replace(case.release, sets=case.release.sets * 40))
    assert all(check.seconds(larger) >= check.seconds(case) for check in CHECKS)
    assert similarity._most(case.release) > 1_000_000


def test_similarity_searches_a_part_of_large_tables_and_says_so(tables, monkeypatch):
    monkeypatch.setattr(similarity, "MOST_SEARCHED", 120)
    part = similarity.similarity_part(case_of(tables))
    assert any("120 of 300 real rows and 120 of 300 holdout rows" in note for note in part.notes)
    column = dict(part.columns)["published rows nearest to it"]
    assert len(column.rows) == 120
    assert column.values.sum() == 300, "each published row has one"


def test_an_attack_that_asks_for_a_share_looks_at_some_published_rows_and_says_so(tables, monkeypatch):
    entry = replace(scoring.ATTACKS["local-neighbourhood"], rows=80)
    assert len(entry.cut(tables[1], np.random.default_rng(0))) == 80
    assert entry.cut(tables[1].take(np.arange(80)), np.random.default_rng(0)) is not None
    monkeypatch.setitem(scoring.ATTACKS, "local-neighbourhood", entry)
    (note,) = scoring.rows_left_out(300)
    assert "local-neighbourhood: 80 of 300 published rows" in note
    assert not scoring.rows_left_out(80)
