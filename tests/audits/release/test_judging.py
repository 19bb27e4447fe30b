"""The judges of a release by themselves, on scores that are made up: bounds by hand, shares of the error, exact edges."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from unmask.attacks.standing import WeightedLinks
from unmask.audits.release import criteria, soundness
from unmask.audits.release.copies import COPYING, _plus
from unmask.audits.release.criteria import FAMILIES, _criterion_finding, _group_cells, _group_sizes, _lower
from unmask.audits.release.exposure import of_counts
from unmask.audits.release.leading import judging as leading
from unmask.audits.release.leading import planted as planting
from unmask.audits.release.leading.crowd import STRATA, Crowd, Linked
from unmask.audits.release.leading.judging import LEARNT, LINKAGE, ScoredPeople, _certain_tpr, _judged, _outcome, _wider
from unmask.audits.release.leading.naming import _by_learner, _by_linkage, named
from unmask.audits.release.leading.planted import SEEN, TRIALS, PlantedLeak, _dealt, _grown_within, _Halves, in_words
from unmask.audits.release.membership import _groups, _naming
from unmask.audits.release.soundness import NOTHING, blind_auc, controls_part, permuted_auc
from unmask.results.policy import Policy, Severity
from unmask.stats import Listing, auc, clopper_pearson, difference, tpr_at_fpr
from unmask.stats.labels import Strata, top_test
from unmask.stream import stream
from unmask.tables.schema import Origin


def case_of(crowd=None, seed=3, confidence=0.95):
    plan = SimpleNamespace(confidence=confidence, seed=seed, policy=Policy(), people_rate=0.1, people=150)
    return SimpleNamespace(plan=plan, crowd=crowd, refused=set(), error=lambda family: (1 - confidence) * family.weight)


def crowd_of(rng, size=200, shift=0.0, **more):
    """Half members, in two halves; `blind` and `linkage` rise by `shift` for members."""
    members = np.arange(2 * size) < size
    scores = rng.normal(size=2 * size) + shift * members
    parts = {"members": members, "halves": np.arange(2 * size) % 2, "strata": np.arange(2 * size) % 2}

    class Stub(SimpleNamespace):
        def __len__(self):
            return 2 * size

    linked = Linked(None, members, parts["strata"])
    known = {"blind": scores, "linkage": scores, "linked": linked, "reference": scores}
    return Stub(**parts | known | more)


def scored(crowd, halves=False):
    return ScoredPeople(crowd.linkage, crowd.members, crowd.strata, crowd.halves if halves else None)


def gained(hits, misses, wider=1.0):
    """A criterion with `hits` of 100 against `misses` of 200, its interval stretched downwards as by units that depend."""
    gap = difference((hits, 100), (misses, 200), confidence=0.9)
    low = gap.value - wider * (gap.value - gap.low)
    attack, control = clopper_pearson(hits, 100), clopper_pearson(misses, 200)
    stretched = SimpleNamespace(value=gap.value, low=low, confidence=0.9)
    return SimpleNamespace(attack=attack, control=control, difference=stretched)


def test_the_gain_at_another_confidence_is_the_lower_of_two_limits():
    assert _lower(gained(40, 20), 0.9) == pytest.approx(difference((40, 100), (20, 200), confidence=0.9).low)
    exact = difference((40, 100), (20, 200), confidence=0.999).low
    assert _lower(gained(40, 20, wider=0.1), 0.999) == pytest.approx(exact)
    gap = gained(40, 20, wider=1.4).difference
    stretched = gap.value - norm.ppf(0.995) / norm.ppf(0.95) * (gap.value - gap.low)
    assert 0 < stretched < difference((40, 100), (20, 200), confidence=0.99).low
    assert _lower(gained(40, 20, wider=1.4), 0.99) == pytest.approx(stretched)


def test_no_gain_is_no_bound():
    assert _lower(gained(10, 20), 0.9) == 0.0
    assert _lower(SimpleNamespace(difference=None, control=None), 0.9) == 0.0


def test_copies_count_the_people_of_both_sides():
    """Six of 50 unique people stand in the release, and 2 of 100 of the holdout."""
    unique, excess = clopper_pearson(6, 50), difference((6, 50), (2, 100))
    assert _plus(unique, excess).value == pytest.approx(0.02)
    found = of_counts((6, 50), (2, 100), 0.95)
    assert (found.attacked, found.hit) == (50, 6)
    assert found.above.value == pytest.approx(50 * (0.12 - 0.02))
    assert of_counts((6, 50), None, 0.95).above is None
    assert 0 < COPYING.weight < 1


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_the_blind_twin_has_an_interval_wider_by_the_root_of_two(rng, shift):
    crowd = crowd_of(rng, shift=shift)
    plain = auc(crowd.blind[:200], crowd.blind[200:], confidence=0.9)
    found = blind_auc(crowd, confidence=0.9)
    assert found.value - found.low == pytest.approx(math.sqrt(2) * (plain.value - plain.low))
    assert found.high == pytest.approx(min(1, plain.value + math.sqrt(2) * (plain.high - plain.value)))


def test_dealt_labels_are_of_the_same_number_and_tell_nothing(rng):
    found = permuted_auc(crowd_of(rng, shift=9.0), 1, confidence=0.999)
    assert found.low < 0.5 < found.high
    assert found.n == 400


def test_controls_say_what_cannot_be_tested_and_what_differences_explain(rng, monkeypatch):
    leak = PlantedLeak("verbatim copies", (0.1,), (SEEN,))
    monkeypatch.setattr(soundness, "planted_leaks", lambda case: (leak,))
    case = case_of()
    case.release = SimpleNamespace(holdout=None)
    assert not controls_part(case).notes
    case.release = SimpleNamespace(holdout=object())
    assert controls_part(case).notes == (NOTHING,)
    case.crowd = crowd_of(rng, shift=1.0)
    apart = controls_part(case)
    high = blind_auc(case.crowd, confidence=0.95).high
    assert apart.explained == pytest.approx(2 * high - 1)
    twin, gain = blind_auc(case.crowd, confidence=0.95), apart.findings[0].estimate
    assert (gain.value, gain.low, gain.high) == pytest.approx((twin.value - 0.5, twin.low - 0.5, twin.high - 0.5))
    case.crowd = crowd_of(rng)
    alike = controls_part(case)
    assert (alike.explained, alike.findings) == (0.0, ())
    seen = clopper_pearson(SEEN, TRIALS, confidence=0.9)
    assert alike.grids[0].rows[2][1:4] == tuple(round(x, 4) for x in (seen.value, seen.low, seen.high))
    assert alike.series[0].y == (SEEN / TRIALS,)


def test_an_interval_for_reading_is_stretched_and_stays_within_what_can_be():
    found = difference((60, 100), (40, 100))
    wider = _wider(found, 1.5, -1.0)
    assert (wider.value - wider.low, wider.high - wider.value) == pytest.approx(
        (1.5 * (found.value - found.low), 1.5 * (found.high - found.value))
    )
    assert _wider(found, 99.0, -1.0).interval == (-1.0, 1.0)
    assert _wider(found, 99.0, 0.0).interval == (0.0, 1.0)


def test_rates_are_told_at_one_of_the_fixed_depths(rng):
    """1/64, 1/16, 1/4 or 1/2 of 128 people are called members, and intervals hold for all four."""
    scores, members = rng.normal(size=128), np.arange(128) < 32
    found = _outcome(case_of(), scores, members, wider=1.0)
    hits, alarms = round(found.tpr.value * 32), round(found.fpr.value * 96)
    assert hits + alarms in (2, 8, 32, 64)
    plain = difference((hits, 32), (alarms, 96), confidence=1 - 0.05 / 4)
    assert found.advantage.interval == pytest.approx(plain.interval)


def test_a_certain_tpr_needs_people_enough(rng):
    scores, members = rng.normal(size=3000), np.arange(3000) < 1000
    scores[:1000] += 4
    point = tpr_at_fpr(scores[:1000], scores[1000:], fpr=0.01, confidence=1 - 0.01 / 1.5, guarantee=True)
    assert _certain_tpr(scores, members, 0.01) == point.tpr.low > 0.5
    assert _certain_tpr(scores[900:1100], members[900:1100], 0.01) == 0.0


@pytest.mark.parametrize("halves", [True, False])
def test_a_learnt_score_is_judged_half_by_half_and_a_fixed_one_at_once(rng, halves):
    crowd = crowd_of(rng, shift=0.3)
    family = LEARNT if halves else LINKAGE
    found = _judged(case_of(crowd), "name", scored(crowd, halves), family)
    draws = stream(3, "leading", "name")
    parts = [crowd.halves == half for half in (0, 1)] if halves else [crowd.halves >= 0]
    tests = [top_test(crowd.linkage[part], crowd.members[part], strata=crowd.strata[part], rng=draws) for part in parts]
    assert found.p_value == min(1.0, len(parts) * min(test.p_value for test in tests))
    plain = _outcome(case_of(), crowd.linkage, crowd.members, wider=math.sqrt(2) if halves else 1.0)
    assert found.outcome.advantage == plain.advantage


@pytest.mark.parametrize("halves", [True, False])
def test_the_bounds_behind_a_severity_share_its_error(rng, monkeypatch, halves):
    """Half for the advantage, half for the certain TPR, of each part: together the error of the family, and not more."""
    spent = []
    monkeypatch.setattr(leading, "advantage_bound", lambda *scores, error, rng: (spent.append(error) or 0.5, 9))
    monkeypatch.setattr(leading, "_certain_tpr", lambda scores, members, error: spent.append(error) or 0.0)
    monkeypatch.setattr(leading, "_outcome", lambda *given, wider: None)
    crowd = crowd_of(rng, shift=8.0)
    _judged(case_of(crowd), "name", scored(crowd, halves), LEARNT)
    assert len(spent) == (4 if halves else 2)
    assert sum(spent) == pytest.approx(0.05 * LEARNT.weight)


def test_severity_follows_what_is_certain(rng):
    """Nothing at all; then all, for certain: no less than high."""
    for shift, severity in ((0.0, Severity.NONE), (8.0, Severity.HIGH)):
        crowd = crowd_of(rng, shift=shift)
        found = _judged(case_of(crowd), "name", scored(crowd), LINKAGE)
        assert found.severity is severity
    few = crowd_of(rng, size=1500)
    few.linkage[:25] += 9  # far out, and hardly more than one in a hundred of the members
    found = _judged(case_of(few), "name", scored(few), LINKAGE)
    assert found.severity is Severity.LOW
    assert found.test.depth < 100


def test_people_are_named_by_either_list_at_half_of_the_rate(rng):
    values = rng.normal(size=(400, 2))
    crowd = crowd_of(rng, standing=SimpleNamespace(values=values), found=np.ones(400))
    crowd.linkage[:20] += 50
    p = _by_linkage(crowd)
    others = crowd.linkage[200:]
    assert p == pytest.approx([(1 + (others >= score).sum()) / 201 for score in crowd.linkage[:200]])
    listing = named(crowd, rate=0.2, seed=1)
    assert listing.rejected[:20].all()
    assert np.array_equal(listing.rejected, listing.adjusted <= 0.2 + 1e-9)
    assert listing.adjusted[0] == pytest.approx(2 * 200 * (1 / 201) / np.isclose(p, 1 / 201).sum())


def test_a_learner_needs_an_unseen_person_to_learn_from_and_another_to_compare_with(rng):
    for others, fits in ((1, False), (2, True), (90, True)):
        crowd = crowd_of(rng, standing=SimpleNamespace(values=rng.normal(size=(400, 2))))
        crowd.members = np.arange(400) < 400 - others
        p = _by_learner(crowd, 0)
        assert (p is not None) is fits
        if fits:
            compared = others - round(others / 3)  # a third teaches
            assert (p * (compared + 1)).tolist() == pytest.approx(np.rint(p * (compared + 1)).tolist())
            assert p.min() >= 1 / (compared + 1)


def test_a_leak_is_seen_in_eight_trials_of_ten():
    found = PlantedLeak("copies", (0.01, 0.02, 0.05), (SEEN - 1, SEEN, TRIALS))
    assert found.smallest == 0.02
    assert found.sure == pytest.approx(clopper_pearson(SEEN, TRIALS, confidence=0.9).low)
    missed = PlantedLeak("numbers", (1.0,), (SEEN - 1,))
    assert (missed.smallest, missed.sure) == (math.inf, 0.0)
    assert (SEEN, TRIALS) == (16, 20)
    text = in_words((found, missed))
    assert "copies: 2 %." in text
    assert "Not seen at any rate: numbers." in text
    assert "No leak of any size" in in_words((missed,))


def test_dealings_have_as_many_members_and_plant_a_share_of_them(rng):
    labels, planted = _dealt(50, 20, 0.3, rng)
    assert labels.sum() == 20
    assert len(planted) == 6
    assert labels[planted].all()


@pytest.mark.parametrize(("size", "members"), [(40, 20), (41, 21), (41, 20), (40, 21)])
def test_halves_of_a_trial_have_as_many_people_and_members_as_their_tests(rng, size, members):
    seen = _Halves.of(case_of(), size, members)
    labels, _, halves = seen.dealt(0.5, rng)
    assert seen.error == pytest.approx(0.05 * LEARNT.weight / 2)
    for half, top in enumerate(seen.tops):
        inside = halves == half
        assert inside.sum() == (size + 1 - half) // 2
        assert labels[inside].sum() == (members + 1 - half) // 2
        assert top.expected[-1] == pytest.approx(inside.sum() // 2 * labels[inside].sum() / inside.sum())
    certain = rng.random(size) + 9 * labels
    assert seen.by(certain, labels, halves, rng)
    assert not seen.by(-certain, labels, halves, rng)


def linked_of(rng, worth):
    """300 people, half of them members, whose best match is worth about 4 in the release and 4 among others."""
    links = WeightedLinks(np.full((300, 6), worth), rng.normal(4, 1, 300), np.full(300, 4.0))
    return Linked(links, np.arange(300) < 150, np.zeros(300, dtype=int))


@pytest.mark.parametrize("changed", [0, 2])
def test_planted_copies_are_seen_where_they_are_many_and_not_where_there_are_none(rng, changed):
    case = case_of()
    case.copies = SimpleNamespace(mine=(0, 150), theirs=(0, 150))
    see = planting._copies(case, linked_of(rng, 3.0), changed)
    assert sum(see(0.5, np.random.default_rng(seed)) for seed in range(10)) == 10
    assert sum(see(0.0, np.random.default_rng(seed)) for seed in range(40)) <= 3


def test_a_changed_column_is_worth_nothing(rng):
    """Six columns of 1 each: a copy beats best matches of 4, one with three columns changed does not."""
    case = case_of()
    case.copies = SimpleNamespace(mine=(0, 0), theirs=(0, 0))
    whole, changed = (planting._copies(case, linked_of(rng, 1.0), columns) for columns in (0, 3))
    assert sum(whole(0.3, np.random.default_rng(seed)) for seed in range(10)) == 10
    assert sum(changed(0.3, np.random.default_rng(seed)) for seed in range(10)) <= 2


def test_verbatim_copies_are_seen_by_counting_everybody_where_matches_are_worth_nothing(rng):
    """By Fisher's test on all unique people, however few of them are in the crowd: 1 in 100 of 20,000."""
    case = case_of()
    see = planting._copies(case, linked_of(rng, 0.0), 0)
    case.copies = SimpleNamespace(mine=(400, 20_000), theirs=(200, 10_000))
    assert sum(see(0.01, np.random.default_rng(seed)) for seed in range(10)) == 10
    assert sum(see(0.0, np.random.default_rng(seed)) for seed in range(40)) <= 3
    case.copies = SimpleNamespace(mine=(6, 300), theirs=(6, 300))
    assert sum(see(0.01, np.random.default_rng(seed)) for seed in range(10)) <= 2


def test_own_numbers_that_are_planted_add_up_within_strata(rng):
    found = Strata(np.array([10, 4]), np.array([20, 5]), np.array([100, 50]), np.array([200, 60]))
    for rate in (0.0, 0.2, 1.0):
        grown = _grown_within(found, rate, rng)
        assert np.array_equal(grown.members, found.members)
        assert np.array_equal(grown.people, found.people)
        assert (grown.hits <= found.members).all()
        assert (grown.successes >= found.successes).all()
        assert (grown.successes - grown.hits <= found.people - found.members).all()
        if not rate:
            assert np.array_equal(grown.successes, found.successes)
    assert np.array_equal(grown.hits, found.members), "everybody is planted"


def test_counts_of_a_planted_leak_add_up(rng):
    for rate in (0.0, 0.1, 1.0):
        mine, theirs = planting._grown((40, 200), (10, 100), rate, rng)
        assert (mine[1], theirs[1]) == (200, 100)
        assert mine[0] + theirs[0] >= 50
    assert mine == (200, 200), "everybody is planted"


def test_labels_of_a_half_teach_the_other_half_alone(people):
    """Whoever is called a member in a half, its people have the same ranks by the blind twin; and five strata in each half."""
    table = people.take(np.arange(120))
    members, halves = np.arange(120) < 60, np.arange(120) % 2
    release = people.take(np.arange(120, 200))
    before = Crowd(table, np.arange(60), members, halves, release)
    turned = np.where(halves == 0, ~members, members)
    after = Crowd(table, np.arange(60), turned, halves, release)
    assert np.array_equal(before.blind[halves == 0], after.blind[halves == 0])
    assert not np.array_equal(before.blind[halves == 1], after.blind[halves == 1])
    assert 0 < before.blind.min() < before.blind.max() == 1
    expected = [
        half * STRATA + min(int(rank * STRATA), STRATA - 1) for half, rank in zip(halves, before.blind, strict=True)
    ]
    assert before.strata.tolist() == expected


def test_how_many_were_looked_at_is_said_where_it_was_not_everybody(people):
    case = case_of()
    case.release = SimpleNamespace(real=people, schema=people.schema)
    for asked in (150, 200):
        listing = Listing(np.zeros(asked, dtype=bool), np.full(asked, 0.01))
        crowd = crowd_of(np.random.default_rng(0), asked, member_rows=np.arange(asked))
        found = _naming(case, crowd, listing)
        assert ("Of 200 real people 150," in found.notes[0]) is (asked == 150)
        assert ("Fewer than 8 leaked people" in found.notes[0]) is (asked == 150), "0.5^8 is below 0.05 x 0.15"
        exposure = dict(found.columns)["exposure"].spread()
        assert exposure[:asked].tolist() == pytest.approx([2.0] * asked)
        assert np.isnan(exposure[asked:]).all()
        assert found.notes[0].startswith("Nobody is named")


def test_who_is_at_risk_is_told_by_group_where_somebody_is_and_values_are_public(people):
    schema = replace(people.schema, keys=("sex",))
    nobody, first = np.zeros(200, dtype=bool), np.arange(200) < 40
    for origin, at_risk, told in ((Origin.PUBLIC, nobody, 0), (Origin.PUBLIC, first, 1), (Origin.INFERRED, first, 0)):
        real = replace(people, schema=replace(schema, origin=origin))
        everybody = np.arange(len(real))
        grids = _groups(SimpleNamespace(real=real, schema=real.schema), everybody, everybody, at_risk)
        assert len(grids) == told
        for column, _, count, share, low, high in (row for grid in grids for row in grid.rows):
            assert column == "sex"
            expected = clopper_pearson(round(share * count), count)
            assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-4)


def test_groups_of_a_criterion_count_attacked_people_of_each_value(people):
    rows, others = np.arange(0, 90), np.arange(90, 150)
    release = SimpleNamespace(real=people, holdout=people, schema=people.schema)
    sizes = _group_sizes(release, SimpleNamespace(rows=rows, control_rows=others), "sex")
    codes = people.codes[:, people.schema.position("sex")]
    assert sizes == [(int((codes[rows] == c).sum()), int((codes[others] == c).sum())) for c in np.unique(codes[rows])]
    release.holdout = None
    assert [pair[1] for pair in _group_sizes(release, SimpleNamespace(rows=rows), "sex")] == [0, 0]


def test_shares_of_a_group_are_told_to_a_hundredth_of_a_percent():
    gap = difference((1, 3), (1, 7))
    cells = _group_cells(SimpleNamespace(attack=clopper_pearson(1, 3), control=clopper_pearson(1, 7), difference=gap))
    assert cells[:3] == (0.3333, 0.1429, 0.1905)
    assert cells[3:] == tuple(round(x, 4) for x in gap.interval)
    assert _group_cells(SimpleNamespace(attack=gap, control=None, difference=None)) == ()


def test_a_criterion_is_a_finding_from_its_share_of_the_error_down(monkeypatch):
    monkeypatch.setattr(criteria, "of_criterion", lambda *anything: None)
    case = case_of()
    case.release, case.strict = None, lambda family: 0.99
    case.unproven = lambda estimate: "unproven"
    level = case.error(FAMILIES["linking"])
    for p_value, severity in ((level, Severity.HIGH), (level * 1.001, Severity.NONE), (None, Severity.NONE)):
        gap = difference((60, 100), (10, 100))
        found = SimpleNamespace(
            attack=clopper_pearson(60, 100), control=clopper_pearson(10, 100), baseline=clopper_pearson(9, 100),
            difference=gap, p_value=p_value,
        )  # fmt: skip
        assert _criterion_finding(case, "linking", "linking", found).severity is severity


def test_kinds_of_planted_leaks_have_their_names(people, monkeypatch):
    for name in ("_copies", "_carried", "_recognised"):
        monkeypatch.setattr(planting, name, lambda *anything: None)
    crowd = SimpleNamespace(people=people, members=np.arange(200) < 100, linked=None)
    assert [name for name, _ in planting._kinds(case_of(), crowd)] == [
        "verbatim copies",
        "copies with 1 column changed",
        "copies with 2 columns changed",
        "copies with 3 columns changed",
        "exact numbers carried over",
        "any leak that names people",
    ]
    late = case_of()
    late.refused.add("own numbers")
    assert "exact numbers carried over" not in [name for name, _ in planting._kinds(late, crowd)], (
        "it was not looked for"
    )


def test_shares_by_group_are_of_people_who_were_looked_at(people):
    """Half of those looked at are named: every group says about one half, however many others there are."""
    looked_at = np.arange(100)
    real = replace(people, schema=replace(people.schema, keys=("sex",), origin=Origin.PUBLIC))
    (grid,) = _groups(SimpleNamespace(real=real, schema=real.schema), looked_at, looked_at, looked_at % 2 == 0)
    heads = list(grid.columns)
    told = [dict(zip(heads, row, strict=True)) for row in grid.rows]
    assert sum(row["people"] for row in told if row["column"] == told[0]["column"]) <= 100
    assert sum(row["people"] * row["named at risk"] for row in told) == pytest.approx(
        sum(row["people"] for row in told) / 2, rel=0.2
    )
