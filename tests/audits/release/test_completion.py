"""Record completion in the audit of a release: what it finds, what it says, and what it leaves out."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import unmask
from benchmarks.release_leaks import modal
from unmask.audits.reconstruct.release import UNSEEN, reconstruct_release
from unmask.audits.release.audit import CHECKS
from unmask.audits.release.case import Case
from unmask.audits.release.completion import COLUMNS, COMPLETION, FAMILY, RECORDS, completion_part
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.release.tables import read_release
from unmask.reports.sections import cards_of
from unmask.results.policy import Severity
from unmask.results.state import State


def people(count, start=0, keys=("age", "sex", "race", "marital-status", "fnlwgt")):
    table = unmask.datasets.adult()
    return replace(table.take(np.arange(start, start + count)), schema=replace(table.schema, keys=keys, secrets=()))


def part_of(real, synthetic, holdout, seed=1):
    return completion_part(Case(read_release(real, synthetic, holdout, None), ReleasePlan(seed=seed), (FAMILY,)))


def found(part, name):
    return next(finding for finding in part.findings if finding.name == name)


def test_one_in_ten_records_published_is_high_and_the_people_are_in_records():
    """60 of 600 real rows stand among 540 fresh ones."""
    real, holdout, fresh = people(600), people(600, 600), people(540, 1200)
    release = unmask.tables.table.concatenate([fresh, real.take(np.arange(60))])
    part = part_of(real, release, holdout)
    records, columns = found(part, RECORDS), found(part, COLUMNS)
    assert records.severity is Severity.HIGH
    assert records.criterion == columns.criterion == "reconstruction"
    assert columns.severity.rank >= Severity.LOW.rank
    assert 0.06 < records.estimate.value < 0.14
    assert records.control.value < 0.05
    assert records.exposure.attacked == 600
    assert records.exposure.worst.value > 0.5
    whole = dict(part.columns)["record completed"].spread()
    assert whole[:60].mean() > 0.9
    assert whole[60:].mean() < 0.1
    shown = next(grid for grid in part.grids if grid.name == "completion")
    assert [row[0] for row in shown.rows] == ["matches", "trees", "network", "combined", "without the release"]


def test_fresh_people_are_no_finding_and_what_would_have_been_seen_is_said():
    part = part_of(people(400), people(400, 800), people(400, 400))
    assert {finding.severity for finding in part.findings} == {Severity.NONE}
    assert any("would have seen records that stand in the release from" in note for note in part.notes)
    assert any("the attacker knows the keys, 'age'" in note for note in part.notes)
    power = next(line for line in part.series if line.name == "power/records that stand in the release")
    assert power.y[-1] >= 0.8
    assert power.x[-1] <= 0.1


def test_without_a_holdout_memory_is_not_measured():
    part = part_of(people(150), people(150), None)
    assert {finding.severity for finding in part.findings} == {Severity.NONE}
    assert all(finding.control is None for finding in part.findings)
    assert [item.name for item in part.not_tested] == ["record completion against a control"]
    assert not part.series


def test_without_keys_a_random_half_is_known_and_that_is_said():
    real, holdout, release = people(120, keys=()), people(120, 120, keys=()), people(120, 240, keys=())
    parts = [part_of(real, release, holdout, seed) for seed in (1, 1, 2)]
    notes = [next(note for note in part.notes if "a random half of the columns" in note) for part in parts]
    assert notes[0] == notes[1] != notes[2]


@pytest.mark.parametrize("keys", [("age", "sex"), ("age",)])
def test_what_cannot_be_completed_is_not_tested(keys):
    """Only columns that are known, or a hidden one that everybody shares."""
    real, holdout, release = (people(60, start, keys).select(["age", "sex"]) for start in (0, 60, 120))
    if keys == ("age",):
        men = [table.take(np.flatnonzero(table.codes[:, 1] == 0)) for table in (real, holdout, release)]
        real, holdout, release = men
    case = Case(read_release(real, release, holdout, None, keys=keys, columns=("age", "sex")), ReleasePlan(), (FAMILY,))
    part = completion_part(case)
    assert not part.findings
    assert "nothing is left to complete" in part.not_tested[0].reason


def test_the_card_of_reconstruction_is_answered_by_the_audit():
    real, holdout = people(200), people(200, 200)
    assert COMPLETION in CHECKS
    result = unmask.audit(real, real, holdout=holdout, attempts=20, workers=1)
    card = next(card for card in cards_of(result) if card.criterion.name == "reconstruction")
    assert card.finding is not None
    assert card.badge.name == "high"
    assert card.comparisons == 2
    assert "more in 100" in card.big
    assert {"completed, by rarity", "record completed"} <= set(result.records.columns)


def drawn(rng, rows, **sizes):
    """Independent columns with so many values each."""
    return pd.DataFrame(
        {name: np.char.add("v", rng.integers(0, size, rows).astype(str)) for name, size in sizes.items()}
    )


def test_where_what_is_known_singles_out_nobody_nothing_would_have_been_seen():
    """The release is the real table, but six kinds of people are all that is known: no claim, and no "no leak found"."""
    rng = np.random.default_rng(0)
    sizes = {"a": 2, "b": 3, **{f"h{place}": 5 for place in range(5)}}
    real, holdout = drawn(rng, 500, **sizes), drawn(rng, 500, **sizes)
    result = reconstruct_release(real, real, holdout=holdout, known=["a", "b"], seed=1)
    assert result.state is not State.NONE
    assert UNSEEN in result.facts.inconclusive
    seen = next(line for line in result.series if line.name == "power/records that stand in the release")
    assert max(seen.y[place] for place, rate in enumerate(seen.x) if rate <= 0.1) < 0.5


def test_a_strict_confidence_does_not_silence_it():
    """All records published with two of ten columns mixed: high at 95 and at 99 %, where 1 in 5,000 is above the level."""
    rng, names = np.random.default_rng(0), "abcdefghij"
    real, holdout = (drawn(rng, 300, **dict.fromkeys(names, 6)) for _ in range(2))
    release = real.sample(frac=1, random_state=1).reset_index(drop=True)
    for name in "ij":
        release[name] = rng.permutation(release[name].to_numpy())
    read = read_release(real, release, holdout, None, keys=tuple("abcde"))
    for confidence in (0.95, 0.99):
        case = Case(read, ReleasePlan(confidence=confidence, seed=1), (FAMILY,))
        assert found(completion_part(case), COLUMNS).severity is Severity.HIGH
    part = completion_part(Case(read, ReleasePlan(confidence=0.9999, seed=1), (FAMILY,)))
    assert [item.name for item in part.not_tested] == ["record completion by columns"]


def test_a_small_difference_of_the_holdout_is_no_leak():
    """60 in 100 real and published people have the same hidden values, 53 in 100 of the holdout; the population knows them."""
    part = completion_part(Case(modal(0, 0.07, size=1_000), ReleasePlan(seed=0), (FAMILY,)))
    assert {finding.severity for finding in part.findings} == {Severity.NONE}


def test_with_one_hidden_column_there_is_one_finding_and_titles_say_that_numbers_are_bins():
    real, holdout, release = (
        people(120, start, keys=("sex", "race")).select(["sex", "race", "age"]) for start in (0, 120, 240)
    )
    part = part_of(real, release, holdout)
    assert [finding.name for finding in part.findings] == [COLUMNS]
    assert "(numbers to their bin)" in part.findings[0].title
    assert "households and repeated rows need a person column" in part.findings[0].threat
