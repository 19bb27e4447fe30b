from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from unmask.errors import NotAllowedError, ParameterError
from unmask.tables.infer import Hints, infer_schema
from unmask.tables.matching import count_matches
from unmask.tables.read import read_table
from unmask.threats.game import Game, deal, lay_ground
from unmask.threats.knowledge import Access, Box, Data, Goal, Placement, SecretValues, ShadowTables, allowed
from unmask.threats.pool import Pool
from unmask.threats.view import View


@pytest.fixture(scope="module")
def population():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": np.arange(400),
            "sex": rng.choice(["f", "m"], 400),
            "level": rng.choice(list("abcd"), 400),
            "pay": rng.random(400),
        }
    )
    return read_table(frame)


TARGETS = np.array([3, 50, 7])


def ids(table):
    return set(table.numbers[:, 0].astype(int))


def test_the_two_sides_share_nobody_and_no_target(population, rng):
    ground = lay_ground(population, TARGETS, Game(rows=100), rng)
    assert ids(ground.targets) == set(TARGETS)
    assert not ids(ground.reference) & ids(ground.people)
    assert not (ids(ground.reference) | ids(ground.people)) & set(TARGETS)
    assert len(ground.reference) + len(ground.people) == 397


def test_all_rows_of_a_target_person_leave_the_population(rng):
    frame = pd.DataFrame({"who": np.arange(300) // 3, "x": np.arange(300)})
    population = read_table(frame, Hints(person="who"))
    ground = lay_ground(population, np.array([10]), Game(rows=50), rng)
    assert not (ids(ground.reference) | ids(ground.people)) & {9, 10, 11}


@pytest.mark.parametrize("placement", list(Placement))
@pytest.mark.parametrize("data", [Data.AUXILIARY, Data.EXACT])
def test_dealt_tables_hold_the_members_and_nobody_else(population, rng, placement, data):
    game = Game(rows=100, placement=placement, data=data)
    ground = lay_ground(population, TARGETS, game, rng)
    for _ in range(30):
        dealt = deal(ground, game, rng, shadow=False)
        present = ids(dealt.real)
        assert present & set(TARGETS) == set(TARGETS[dealt.members])
        extra = dealt.members.sum() if placement is Placement.APPEND else 0
        assert len(dealt.real) == 100 + extra
        assert len(present) == len(dealt.real), "nobody is drawn twice"


def test_coins_are_fair_and_independent(population, rng):
    game = Game(rows=50, prior=0.3)
    ground = lay_ground(population, TARGETS, game, rng)
    coins = np.array([deal(ground, game, rng, shadow=True).members for _ in range(2000)])
    assert np.allclose(coins.mean(axis=0), 0.3, atol=4 * np.sqrt(0.21 / 2000))
    assert np.abs(np.corrcoef(coins.T) - np.eye(3)).max() < 0.09


def test_shadow_tables_come_from_the_attackers_side(population, rng):
    game = Game(rows=60)
    ground = lay_ground(population, TARGETS, game, rng)
    assert ids(deal(ground, game, rng, shadow=True).real) <= ids(ground.reference) | set(TARGETS)
    assert ids(deal(ground, game, rng, shadow=False).real) <= ids(ground.people) | set(TARGETS)


def test_with_exact_knowledge_everyone_else_is_fixed(population, rng):
    game = Game(rows=60, data=Data.EXACT)
    ground = lay_ground(population, TARGETS, game, rng)
    known = ids(ground.reference)
    assert len(known) == 57
    seen = {
        tuple(dealt.members): ids(dealt.real) for dealt in (deal(ground, game, rng, shadow=False) for _ in range(60))
    }
    again = {
        tuple(dealt.members): ids(dealt.real) for dealt in (deal(ground, game, rng, shadow=True) for _ in range(60))
    }
    assert all(known <= people for people in seen.values())
    assert all(again[members] == people for members, people in seen.items() if members in again), "nothing else varies"


@pytest.mark.parametrize("data", [Data.AUXILIARY, Data.EXACT])
def test_an_isolated_target_plays_alone(population, rng, data):
    game = Game(rows=60, isolate_targets=True, data=data)
    ground = lay_ground(population, TARGETS, game, rng)
    seen = set()
    for _ in range(20):
        dealt = deal(ground, game, rng, shadow=False, only=1)
        assert not dealt.members[[0, 2]].any()
        assert len(dealt.real) == 60
        seen |= ids(dealt.real) & set(TARGETS)
    assert seen == {50}


def test_secrets_are_true_or_uniform_and_stand_in_the_table(population, rng):
    true = Game(goal=Goal.ATTRIBUTE, secret="level", rows=60)
    ground = lay_ground(population, TARGETS, true, rng)
    position = population.schema.position("level")
    dealt = deal(ground, true, rng, shadow=False)
    assert np.array_equal(dealt.secrets, population.codes[TARGETS, position])
    uniform = replace(true, secret_values=SecretValues.UNIFORM)
    drawn = []
    for _ in range(800):
        dealt = deal(ground, uniform, rng, shadow=False)
        drawn.append(dealt.secrets)
        for target in np.flatnonzero(dealt.members):
            row = np.flatnonzero(dealt.real.numbers[:, 0] == TARGETS[target])[0]
            assert dealt.real.codes[row, position] == dealt.secrets[target]
    counts = np.bincount(np.concatenate(drawn).astype(int), minlength=4)
    assert np.all(np.abs(counts - 600) < 4 * np.sqrt(2400 * 0.25 * 0.75))


def test_the_attackers_own_tables_do_not_hold_the_true_secrets(population, rng):
    game = Game(goal=Goal.ATTRIBUTE, secret="level", rows=60)
    ground = lay_ground(population, TARGETS, game, rng)
    drawn = np.array([deal(ground, game, rng, shadow=True).secrets for _ in range(200)])
    assert all(len(np.unique(drawn[:, target])) == 4 for target in range(3))


def test_numeric_secrets_are_numbers_and_their_bins_follow(population, rng):
    game = Game(goal=Goal.ATTRIBUTE, secret="pay", secret_values=SecretValues.UNIFORM, rows=60, prior=0.9)
    ground = lay_ground(population, TARGETS, game, rng)
    dealt = deal(ground, game, rng, shadow=False)
    column = population.schema.column("pay")
    for target in np.flatnonzero(dealt.members):
        row = np.flatnonzero(dealt.real.numbers[:, 0] == TARGETS[target])[0]
        assert dealt.real.numbers[row, 1] == dealt.secrets[target]
        assert dealt.real.codes[row, population.schema.position("pay")] == column.bin_of(dealt.secrets[target])


@pytest.mark.parametrize(
    ("targets", "game", "says"),
    [
        ([400], Game(rows=50), "no target: the population has rows 0 to 399"),
        ([-1], Game(rows=50), "no target"),
        ([3, 3], Game(rows=50), "twice"),
        ([], Game(rows=50), "no targets"),
        ([3], Game(rows=250), "needs about 500"),
        ([3], Game(rows=500, data=Data.EXACT), "The population has 400 rows"),
        ([3, 4, 5], Game(rows=398, data=Data.EXACT), "The population has 400 rows"),
        ([3, 4, 5], Game(rows=2), "3 targets do not fit"),
    ],
)
def test_impossible_games_are_refused(population, rng, targets, game, says):
    with pytest.raises(ParameterError, match=says):
        lay_ground(population, np.array(targets, dtype=int), game, rng)


def test_a_secret_with_one_value_is_refused(rng):
    population = read_table(pd.DataFrame({"a": ["x"] * 50, "b": [1] * 50, "c": range(50)}))
    for secret in "ab":
        with pytest.raises(ParameterError, match="one value only"):
            lay_ground(population, np.array([1]), Game(goal=Goal.ATTRIBUTE, secret=secret, rows=10), rng)


def test_games_refuse_nonsense():
    with pytest.raises(ParameterError, match="needs a secret"):
        Game(goal=Goal.ATTRIBUTE)
    with pytest.raises(ParameterError, match="for the attribute game"):
        Game(secret="x")
    with pytest.raises(ParameterError, match="prior"):
        Game(prior=1.0)


def test_a_view_gives_what_is_allowed_and_nothing_else(population):
    view = View(allowed(Data.NONE, Box.NO), synthetic=population, reference=population, generator=None)
    assert view.synthetic is population
    for reach in ("reference", "generator", "model"):
        with pytest.raises(NotAllowedError, match="does not give the attacker"):
            getattr(view, reach)
    assert population not in [thing for thing in vars(view).values() if thing is not view.synthetic]
    assert set(view._held) == {Access.SYNTHETIC}, "what is not allowed is not even there"


def test_knowledge_allows_more_step_by_step():
    assert allowed(Data.NONE, Box.NO) == {Access.SYNTHETIC}
    assert allowed(Data.AUXILIARY, Box.NO) == {Access.SYNTHETIC, Access.REFERENCE}
    assert Access.SHADOWS in allowed(Data.AUXILIARY, Box.BLACK)
    assert Access.MODEL not in allowed(Data.EXACT, Box.BLACK)
    assert allowed(Data.EXACT, Box.WHITE) == set(Access)


def test_a_blind_pool_has_no_answers(population):
    pool = Pool(population, {"f": np.zeros((5, 2))}, answers=(np.zeros((5, 1), bool), np.zeros((5, 1))))
    assert pool.members.shape == (5, 1)
    for reach in ("members", "secrets"):
        with pytest.raises(NotAllowedError, match="without answers"):
            getattr(pool.blind(), reach)
    with pytest.raises(NotAllowedError, match="no features 'g'"):
        pool.features("g", 0)
    assert count_matches(population.take([0]), population)[0] == 1


def test_a_smaller_reference_is_part_of_the_usual_one_and_the_other_side_stays(population):
    usual, small, large = (
        lay_ground(population, TARGETS, Game(rows=60, reference_rows=rows), np.random.default_rng(1))
        for rows in (None, 80, 300)
    )
    assert len(usual.reference) + len(usual.people) == 397
    assert len(small.reference) == 80
    assert ids(small.reference) < ids(usual.reference)
    assert ids(small.people) == ids(usual.people)
    assert len(large.reference) == 300
    assert ids(large.reference) > ids(usual.reference)
    assert ids(large.people) < ids(usual.people)
    assert not ids(large.reference) & ids(large.people)


def test_an_overlapping_reference_is_drawn_from_the_people_of_real_tables(population, rng):
    ground = lay_ground(population, TARGETS, Game(rows=60, reference_rows=350, reference_overlaps=True), rng)
    assert len(ground.reference) == 350
    assert ids(ground.people) == set(range(400)) - set(TARGETS)
    real = deal(ground, Game(rows=60), rng, shadow=False).real
    assert ids(real) & ids(ground.reference)
    apart, shared = (
        lay_ground(population, TARGETS, Game(rows=60, reference_overlaps=overlap), np.random.default_rng(1))
        for overlap in (False, True)
    )
    assert ids(apart.reference) == ids(shared.reference)


def test_a_person_is_never_on_both_sides_of_a_sized_reference():
    frame = pd.DataFrame({"who": [f"p{row // 4}" for row in range(200)], "id": np.arange(200), "x": np.arange(200) % 3})
    table = read_table(frame, infer_schema(frame, hints=Hints(person="who")).schema)
    for rows in (50, 130):
        ground = lay_ground(table, np.array([0]), Game(rows=40, reference_rows=rows), np.random.default_rng(2))
        assert rows - 4 < len(ground.reference) <= rows
        assert not {one // 4 for one in ids(ground.reference)} & {one // 4 for one in ids(ground.people)}


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        ({"data": Data.EXACT, "reference_rows": 90}, "is settled"),
        ({"data": Data.NONE, "reference_overlaps": True}, "is settled"),
        ({"reference_rows": 20}, "gives no shadow tables of 60 rows"),
        ({"reference_rows": 380}, "needs about 440"),
        ({"reference_rows": 398, "reference_overlaps": True}, "needs about 398"),
    ],
)
def test_references_that_cannot_be(population, rng, choices, told):
    with pytest.raises(ParameterError, match=told):
        lay_ground(population, TARGETS, Game(rows=60, **choices), rng)


def test_an_attacker_without_shadows_may_know_fewer_people_than_a_table_has(population, rng):
    ground = lay_ground(population, TARGETS, Game(rows=60, reference_rows=20, box=Box.NO), rng)
    assert len(ground.reference) == 20


@pytest.mark.parametrize("placement", Placement)
def test_paired_shadow_tables_differ_in_the_target_alone(population, placement):
    """R and R with the target (append); where the target replaces somebody, one other person."""
    game = Game(rows=60, placement=placement, isolate_targets=True, shadow_tables=ShadowTables.PAIRED)
    ground = lay_ground(population, TARGETS, game, np.random.default_rng(1))
    bases = []
    for seed in range(8):
        one, two = (
            deal(ground, game, np.random.default_rng(seed), shadow=True, only=1, mirrored=mirrored)
            for mirrored in (False, True)
        )
        assert one.members[1] != two.members[1]
        assert not (one.members | two.members)[[0, 2]].any()
        inside, outside = (one, two) if one.members[1] else (two, one)
        assert ids(inside.real) - ids(outside.real) == {50}
        assert len(ids(outside.real) - ids(inside.real)) == (placement is Placement.REPLACE)
        assert ids(outside.real) <= ids(ground.reference)
        bases.append(frozenset(ids(outside.real)))
    assert len(set(bases)) == 8


def test_pairs_of_several_targets_turn_all_coins_round(population):
    game = Game(rows=60, shadow_tables=ShadowTables.PAIRED)
    ground = lay_ground(population, TARGETS, game, np.random.default_rng(1))
    one, two = (
        deal(ground, game, np.random.default_rng(5), shadow=True, mirrored=mirrored) for mirrored in (False, True)
    )
    assert (one.members != two.members).all()
    assert len(one.real) == len(two.real) == 60
    smaller, larger = sorted((ids(one.real) - set(TARGETS), ids(two.real) - set(TARGETS)), key=len)
    assert smaller <= larger
