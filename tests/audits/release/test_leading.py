"""What leads the audit: exact values are seen, shares of the error add up, and a shifted holdout is no leak."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmarks.release_leaks import changed
from unmask.attacks.standing import links_of
from unmask.audits.release import numbers
from unmask.audits.release.audit import CHECKS, audit
from unmask.audits.release.case import Case, Family
from unmask.audits.release.leading.crowd import FEWEST, Crowd
from unmask.audits.release.leading.judging import LEARNT_NAME, LINKAGE_NAME, led
from unmask.audits.release.leading.naming import named
from unmask.audits.release.leading.planted import RATES, SEEN, TRIALS, PlantedLeak, in_words, planted_leaks
from unmask.audits.release.numbers import numbers_part
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.release.soundness import blind_auc, permuted_auc
from unmask.audits.release.tables import Release
from unmask.datasets import adult, planted
from unmask.metrics.copies import copies
from unmask.results.figures import Figure
from unmask.results.policy import Severity
from unmask.results.state import State
from unmask.stats import auc
from unmask.stats.labels import top_test
from unmask.tables.infer import Hints
from unmask.tables.read import read_table
from unmask.tables.table import concatenate

FAMILIES = tuple(family for check in CHECKS for family in check.families)


def people(size, seed=0, parts=3):
    population = adult()
    order = np.random.default_rng(seed).permutation(len(population))
    return [replace(population.take(order[k * size : (k + 1) * size]), notes=()) for k in range(parts)]


def case_of(release, seed=0):
    return Case(release, ReleasePlan(seed=seed), FAMILIES)


def carrying(real, fresh, column="fnlwgt"):
    """Fresh rows with the real people's exact weights: nothing else is theirs."""
    place = fresh.schema.numeric.index(fresh.schema.position(column))
    codes, numbers = fresh.codes.copy(order="F"), fresh.numbers.copy(order="F")
    numbers[:, place] = real.numbers[:, place]
    codes[:, fresh.schema.position(column)] = real.codes[:, real.schema.position(column)]
    return replace(fresh, codes=codes, numbers=numbers)


def area(crowd, scores):
    return auc(scores[crowd.members], scores[~crowd.members]).value


def test_exact_values_carried_over_are_seen():
    """Every row holds somebody's exact weight and nothing else of theirs: attacks on bins and distances are blind to it."""
    real, holdout, fresh = people(800)
    case = case_of(Release(real, (carrying(real, fresh),), holdout))
    found = {one.name: one for one in led(case)}
    assert area(case.crowd, case.crowd.learnt) > 0.75
    assert found[LEARNT_NAME].severity is Severity.HIGH
    own = {scores.name: auc(scores.members, scores.controls).value for scores in case.scores}
    assert max(own.values()) < 0.6


def test_fresh_people_are_no_finding():
    real, holdout, fresh = people(500, seed=4)
    case = case_of(Release(real, (fresh,), holdout))
    assert [one.severity for one in led(case)] == [Severity.NONE, Severity.NONE]
    assert blind_auc(case.crowd, confidence=0.95).low < 0.5
    assert not named(case.crowd, rate=0.1, seed=0).rejected.any()
    assert permuted_auc(case.crowd, 0, confidence=0.999).low < 0.5


def test_two_columns_changed_are_found_and_named():
    real, holdout, fresh = people(600, seed=1)
    rng = np.random.default_rng(0)
    codes, numbers = real.codes[:40].copy(order="F"), real.numbers[:40].copy(order="F")
    for row in range(40):
        for column in rng.choice([1, 3, 5, 6, 7, 8, 9], 2, replace=False):  # categories
            codes[row, column] = real.codes[rng.integers(600), column]
    near = replace(real.take(np.arange(40)), codes=codes, numbers=numbers)
    case = case_of(Release(real, (concatenate([fresh.take(np.arange(560)), near]),), holdout))
    assert {one.name: one.severity.rank > 0 for one in led(case)}[LINKAGE_NAME]
    listing = named(case.crowd, rate=0.1, seed=0)
    assert listing.rejected[:40].mean() >= 0.7  # .87 over 20 seeds of 50 among 1,000
    assert listing.rejected[40:].sum() <= 12


def test_names_are_those_whose_adjusted_value_is_small_enough():
    release = planted(400, leaked=40, columns=10, seed=3)
    crowd = Crowd.of(Release(release.real, (release.synthetic,), release.holdout), 0, 5_000)
    listing = named(crowd, rate=0.1, seed=0)
    assert (listing.rejected == (listing.adjusted <= 0.1 + 1e-9)).all()


def test_shares_of_the_error_add_up_to_no_more_than_all_of_it():
    assert 0.75 <= round(sum(family.weight for family in FAMILIES), 9) <= 1
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
    real, holdout, fresh = people(30)
    case = case_of(Release(real, (fresh,), holdout))
    asked = [family for family in FAMILIES if family.count(case.release)]
    assert [family.name for family in FAMILIES if family not in asked] == [
        "identifiers", "links of aligned rows", "numeric secrets",
    ]  # fmt: skip
    total = sum(case.error(family) * family.count(case.release) for family in asked)
    assert total == pytest.approx(0.05 * sum(family.weight for family in asked))
    alike = Family("two alike", 0.1, lambda release: 2)
    assert case.error(alike) == pytest.approx(0.0025)
    assert case.strict(alike) == pytest.approx(1 - 2 * 0.0025)


def test_what_carries_no_finding_says_why():
    real, holdout, fresh = people(30)
    case = case_of(Release(real, (fresh,), holdout))
    above = Figure(0.1, 0.01, 0.2, 0.95, "", 100)
    assert "not for certain among" in case.unproven(above)
    assert case.unproven(replace(above, low=-0.1)).startswith("No more often")
    assert f"{case.comparisons} comparisons share the 5%" in case.sharing


def test_real_people_of_another_kind_are_confounded_and_nobody_is_named():
    population = adult()
    age = population.numbers[:, 0]
    order = np.random.default_rng(5).permutation(len(population))
    young = order[age[order] < 40]
    real, fresh = population.take(order[:600]), population.take(order[600:1200])
    others = np.setdiff1d(young, order[:1200])[:600]
    result = audit(real, fresh, holdout=population.take(others), attempts=50)
    assert result.findings[0].name == "holdout"
    assert (result.severity, result.state) == (Severity.NONE, State.CONFOUNDED)
    assert "named at risk" not in result.records.columns


def test_too_few_people_are_said_and_not_judged():
    real, holdout, fresh = people(40)
    few = holdout.take(np.arange(FEWEST - 1))
    assert Crowd.of(Release(real, (fresh,), few), 0, 5_000) is None
    assert Crowd.of(Release(real, (fresh,), None), 0, 5_000) is None
    result = audit(real, fresh, holdout=few, attempts=20)
    assert any(item.name.startswith("the learnt auditor") for item in result.not_tested)
    assert any("too small" in note for note in result.facts.visible)


def test_planted_leaks_grow_until_they_are_seen():
    real, holdout, fresh = people(300, seed=2)
    found = planted_leaks(case_of(Release(real, (fresh,), holdout)))
    kinds = [each.kind for each in found]
    assert kinds[:2] == ["verbatim copies", "copies with 1 column changed"]
    assert kinds[-2:] == ["exact numbers carried over", "any leak that names people"]
    for each in found:
        assert each.rates == RATES[: len(each.rates)]
        assert all(count < SEEN for count in each.seen[:-1])
    assert found[0].smallest <= 0.1
    text = in_words(found)
    assert f"verbatim copies: {100 * found[0].smallest:g} %" in text


def test_planted_leaks_in_words():
    seen = PlantedLeak("verbatim copies", (0.01, 0.02), (3, TRIALS))
    assert seen.smallest == 0.02
    assert seen.sure == pytest.approx(0.8609, abs=1e-3)  # .05^(1/20)
    never = PlantedLeak("any", (1.0,), (2,))
    assert np.isinf(never.smallest)
    assert never.sure == 0
    assert "Not seen at any rate: any" in in_words((seen, never))
    assert in_words((never,)).startswith("No leak of any size")


def of_age(low, high, size, seed=0):
    population = adult()
    age = population.numbers[:, 0]
    rows = np.random.default_rng(seed).permutation(np.flatnonzero((age >= low) & (age <= high)))[:size]
    return replace(population.take(rows), notes=())


def test_a_bad_holdout_hides_no_verbatim_release():
    """Real people over 45, holdout under 31: nothing can be compared, and yet the real table itself was published."""
    real, young = of_age(46, 90, 300), of_age(17, 30, 300)
    result = audit(real, real, holdout=young, attempts=30)
    assert {one.name: one.severity for one in result.findings}["copies"] is Severity.HIGH
    fresh = audit(real, of_age(46, 90, 300, seed=1), holdout=young, attempts=30)
    assert {one.name: one.severity for one in fresh.findings}["copies"] is Severity.NONE


def test_a_holdout_that_the_generator_saw_is_no_leak_of_members():
    real, holdout, fresh = people(300, seed=6)
    result = audit(real, concatenate([fresh, holdout]), holdout=holdout, attempts=30)
    assert (result.severity, result.state) == (Severity.NONE, State.CONFOUNDED)
    assert "seems to have seen the holdout" in result.findings[0].title


def test_rows_of_one_person_are_one_draw_for_copies():
    """Three persons with forty unique rows each, all of one person published: 1 of 3, not 40 of 120."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=240), "b": rng.normal(size=240), "who": np.repeat(np.arange(6), 40)})
    table = read_table(frame, Hints(person="who"))
    real, holdout = table.take(np.arange(120)), table.take(np.arange(120, 240))
    found = copies(real, replace(real.take(np.arange(40)), persons=None), holdout=holdout)
    assert found.unique.n == 3
    assert found.p_value == pytest.approx(0.5)
    assert found.published.sum() == 40


def test_numbers_that_many_share_are_not_said_to_be_seen():
    """Everybody has the same few numbers: carrying them over says nothing about anybody."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"n": rng.integers(0, 3, 360), "c": rng.choice(list("ab"), 360)})
    table = read_table(frame)
    real, fresh, holdout = (table.take(np.arange(k * 120, (k + 1) * 120)) for k in range(3))
    release = Release(real, (fresh,), holdout)
    found = {each.kind: each.smallest for each in planted_leaks(case_of(release))}
    assert np.isinf(found["exact numbers carried over"])


def test_a_crowd_is_compared_with_the_others_and_linkage_weights_are_taken_of_more(rng):
    """Everybody is in the reference once, the crowd first; some others have weights and strata of their own."""
    real, holdout, published = people(300)
    crowd = Crowd.of(Release(real, (published,), holdout), 3, 40)
    assert len(crowd) == 80
    assert len(crowd.others.people) == 520
    assert crowd.others.members.sum() == 260
    everybody = concatenate([real, holdout])
    assert np.sort(crowd.reference.numbers, axis=0).tolist() == np.sort(everybody.numbers, axis=0).tolist()
    linked = crowd.linked
    assert len(linked) == 80 + 2 * 4 * 40
    assert linked.members[:80].tolist() == crowd.members.tolist()
    assert np.array_equal(linked.links.weights[:80], crowd.linkage)
    assert linked.strata[:80].tolist() == crowd.strata.tolist()
    assert linked.strata[80:].min() >= 10
    assert linked.strata.max() < 15
    plain = links_of(everybody, published, everybody, own=np.arange(600)).weights
    assert np.isin(np.round(linked.links.weights, 6), np.round(plain, 6)).all(), "as if everybody were asked about"
    assert Crowd.of(Release(real, (published,), holdout), 3, 300).others is None
    few = Crowd.of(Release(real, (published,), holdout.take(np.arange(60))), 3, 40)
    assert np.bincount(few.linked.members[80:]).tolist() == [20, 20], "as many on either side as there are"
    one_sided = Crowd.of(Release(real, (published,), holdout.take(np.arange(40))), 3, 40)
    assert len(one_sided.reference) == 340
    assert len(one_sided.linked) == 80, "there is nobody to compare members beside the crowd with"


def test_near_copies_are_seen_among_others_where_the_crowd_is_too_small():
    """One in ten people copied with a column changed; 100 of 1,500 people are looked at one by one."""
    real, holdout, published = people(1_500)
    who, rng = np.arange(150), np.random.default_rng(1)
    rows = changed(real.take(who), real, 1, rng)
    leaky = concatenate([published.take(np.arange(1_350)), rows])
    crowd = Crowd.of(Release(real, (leaky,), holdout), 1, 100)
    alone = top_test(crowd.linkage, crowd.members, strata=crowd.strata, rng=rng).p_value
    linked = crowd.linked
    more = top_test(linked.links.weights, linked.members, strata=linked.strata, rng=rng).p_value
    assert more <= 0.001 < alone


def test_own_numbers_are_a_finding_where_they_are_carried_over_and_none_where_they_are_not():
    real, holdout, published = people(800)
    leaky, clean = (case_of(Release(real, (part,), holdout)) for part in (carrying(real, published), published))
    part = numbers_part(leaky)
    found = {one.name: one for one in part.findings}
    assert found["own-number:fnlwgt"].severity is Severity.HIGH
    assert "in 100 people whose fnlwgt nobody else has" in found["own-number:fnlwgt"].title
    assert found["own-number:fnlwgt"].exposure.hit == leaky.numbers[0].asked.mine[0] > 500
    assert dict(part.columns)["own numbers in the release"].sum() == sum(each.asked.mine[0] for each in leaky.numbers)
    assert all(one.severity is Severity.NONE for one in numbers_part(clean).findings)
    assert numbers_part(case_of(Release(real, (published,), None))).findings == ()


def test_own_numbers_of_another_year_are_no_finding(rng):
    """The twin explains all of the excess, and then some of it: only what is beyond is certain."""
    real, holdout, published = people(800)
    case = case_of(Release(real, (carrying(real, published),), holdout))
    found = case.numbers[0]
    assert numbers._judged(case, found)[0] is Severity.HIGH
    for explained, severity in ((1.0, Severity.NONE), (0.5, Severity.HIGH), (0.97, Severity.LOW)):
        judged = numbers._judged(case, replace(found, explained=explained))
        assert judged[0] is severity
        assert ("Confounded" in judged[1]) is (severity is Severity.NONE)
