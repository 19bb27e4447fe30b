"""Closest record against naive distances and a planted leak; and the games that the tests of other release attacks play."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from unmask import attacks, generators
from unmask.attacks import Prediction
from unmask.attacks.closest_record import ClosestRecord
from unmask.attacks.closest_votes import ClosestVotes
from unmask.errors import ParameterError
from unmask.simulation.target import TargetSetting, masked_targets, secret_of, static_view
from unmask.simulation.task import Task, Whose
from unmask.stats.auc import auc
from unmask.stats.intervals import clopper_pearson
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table, concatenate
from unmask.threats.game import Game, Ground
from unmask.threats.knowledge import Access, Box, Goal
from unmask.threats.view import View

# --- games, used by other test files too ---------------------------------------------------------------------------------

VALUES = tuple("abcdefgh")
PLAIN = Schema(
    (
        *(Column(f"c{i}", Kind.CATEGORICAL, values=VALUES) for i in range(4)),
        Column("age", Kind.INTEGER, lower=0, upper=99, bins=10),
        Column("height", Kind.CONTINUOUS, lower=0, upper=1, bins=8),
    )
)


def crowd(rows, seed=0):
    """People with related columns who use the first half of every domain."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, rows)
    codes = np.empty((rows, 6), dtype=PLAIN.code_type, order="F")
    for j in range(4):
        codes[:, j] = np.where(rng.random(rows) < 0.6, kind + j % 2, rng.integers(0, 4, rows))
    numbers = np.empty((rows, 2), order="F")
    numbers[:, 0] = rng.integers(0, 45, rows)
    numbers[:, 1] = 0.5 * rng.beta(2 + kind, 3)
    for place, position in enumerate(PLAIN.numeric):
        codes[:, position] = PLAIN.columns[position].bin_of(numbers[:, place])
    return Table(PLAIN, codes, numbers)


def outsider():
    """A target that shares no value with anybody."""
    codes = np.array([[7, 7, 7, 7, 9, 7]], dtype=PLAIN.code_type, order="F")
    return Table(PLAIN, codes, np.array([[97.0, 0.97]], order="F"))


def ground(targets, rows=600):
    everyone = crowd(rows)
    half = rows // 2
    return Ground(targets, everyone.take(np.arange(half)), everyone.take(np.arange(half, rows)), everyone.take([]))


def play(attack, generator, targets, releases, *, rows=100, synthetic_rows=100, seed=0, **game):
    """Scores of many releases (releases x targets ...), and who was in."""
    attack = attacks.parse(attack) if isinstance(attack, str) else attack
    game = Game(rows=rows, synthetic_rows=synthetic_rows, box=Box.WHITE, **game)
    setting = TargetSetting(seed, game, ground(targets), generator)
    prepared = attack.prepare(static_view(setting), setting.masked, setting.secret, np.random.default_rng(seed))
    setting = replace(setting, attacks={"it": pickle.loads(pickle.dumps(prepared))})
    drawn = [setting.play(Task(Whose.TEST, index)) for index in range(releases)]
    assert not [arrays["problem/it"] for arrays in drawn if "problem/it" in arrays]
    scores = np.array([arrays["score/it"] for arrays in drawn])
    assert np.isfinite(scores).all()
    return scores, np.array([arrays["members"] for arrays in drawn])


def assert_blind(attack, releases=120):
    """Under a generator that reads no row, scores of members and of others have one distribution (99.9 % interval)."""
    targets = concatenate([outsider(), crowd(2, seed=5)])
    scores, members = play(attack, generators.get("oblivious"), targets, releases, seed=3)
    for target in range(len(targets)):
        found = auc(scores[members[:, target], target], scores[~members[:, target], target], confidence=0.999)
        low, high = found.interval
        assert low <= 0.5 <= high, (attack, target, found)


MIXED = Schema(
    (
        Column("few", Kind.CATEGORICAL, values=("x", "y", "z"), missing=("",), groups=(("xy", ("x", "y")),)),
        Column("many", Kind.CATEGORICAL, values=tuple(f"v{i}" for i in range(300)), missing=("?",)),
        Column("one", Kind.CATEGORICAL, values=("only",)),
        Column("age", Kind.INTEGER, lower=17, upper=66, bins=5, missing=("",)),
        Column("fixed", Kind.INTEGER, lower=7, upper=7, missing=("",)),
        Column("score", Kind.CONTINUOUS, lower=-1, upper=2, bins=4),
    )
)


def mixed(rows, seed=0, *, odd=False):
    """Rows with missing values, a constant column and hundreds of values; `odd`: unlisted values and groups too."""
    rng = np.random.default_rng(seed)
    codes = np.empty((rows, len(MIXED.columns)), dtype=MIXED.code_type, order="F")
    numbers = np.empty((rows, len(MIXED.numeric)), order="F")
    for position, column in enumerate(MIXED.columns):
        codes[:, position] = rng.integers(0, column.code_count if odd and not column.is_numeric else column.size, rows)
        if column.is_numeric:
            values = np.rint(rng.uniform(column.lower, column.upper, rows))
            values[codes[:, position] == column.listed] = np.nan
            numbers[:, MIXED.numeric.index(position)] = values
            codes[:, position] = np.where(np.isnan(values), column.missing_code, column.bin_of(values))
    return Table(MIXED, codes, numbers)


def view_of(synthetic, reference=None, **more):
    held = {Access.SYNTHETIC} | ({Access.REFERENCE} if reference is not None else set())
    held |= {Access.GENERATOR} if "generator" in more else set()
    held |= {Access.MODEL} if "model" in more else set()
    return View(frozenset(held), synthetic=synthetic, reference=reference, **more)


def scores_of(attack, view, targets, secret, rng):
    """Prepare and score: what the attack says about one release."""
    return attack.prepare(view, targets, secret, rng).score(view, targets, secret, rng)


def masked(targets, name):
    game = Game(goal=Goal.ATTRIBUTE, secret=name)
    return masked_targets(targets, game), secret_of(targets, game)


def releases():
    """Releases that break careless code: no row, one row, all alike, unlisted values, a class that is absent."""
    whole = mixed(60, seed=1)
    return {
        "no rows": whole.take([]),
        "one row": whole.take([0]),
        "one row, many times": whole.take(np.zeros(40, dtype=int)),
        "unlisted values and groups": mixed(60, seed=2, odd=True),
        "a class is absent": whole.take(whole.codes[:, 0] != 1),
        "plain": whole,
    }


def assert_survives(attack, goals=tuple(Goal), **more):
    """Scores are finite, of the right shape and repeatable on every release, for every kind of secret."""
    reference, targets = mixed(80, seed=3), mixed(4, seed=4)
    secrets = [None] * (Goal.MEMBERSHIP in goals) + ["few", "many", "age", "score"] * (Goal.ATTRIBUTE in goals)
    for name in secrets:
        hidden, secret = (targets, None) if name is None else masked(targets, name)
        prepared = attack.prepare(view_of(reference, reference), hidden, secret, np.random.default_rng(0))
        for case, release in releases().items():
            view = view_of(release, reference, **more)
            first, again = (prepared.score(view, hidden, secret, np.random.default_rng(1)) for _ in range(2))
            if isinstance(first, Prediction):
                assert secret.levels == 0, (attack, case, name)
                assert first.mean.shape == first.scale.shape == (4,), (attack, case, name)
                assert np.isfinite(first.mean).all(), (attack, case, name)
                assert (first.scale > 0).all(), (attack, case, name)
                assert np.isfinite(first.scale).all(), (attack, case, name)
                np.testing.assert_array_equal(first.mean, again.mean)
                continue
            assert first.shape == ((4,) if secret is None else (4, secret.levels)), (attack, case, name)
            assert np.isfinite(first).all(), (attack, case, name)
            np.testing.assert_array_equal(first, again)


# --- closest record ------------------------------------------------------------------------------------------------------


def naive_distance(targets, rows, metric):
    """Least distance of each target, pair by pair and cell by cell."""
    spans = [99, 1]
    found = []
    for t in range(len(targets)):
        every = []
        for r in range(len(rows)):
            if metric == "hamming":
                every.append(float(sum(targets.codes[t] != rows.codes[r])))
                continue
            total = float(sum(targets.codes[t, :4] != rows.codes[r, :4]))
            total += sum(abs(targets.numbers[t, j] - rows.numbers[r, j]) / spans[j] for j in range(2))
            every.append(total / 6)
        found.append(min(every))
    return np.array(found)


@pytest.mark.parametrize("name", ["gower", "hamming"])
def test_score_is_the_log_ratio_of_naive_distances(name, rng):
    targets, synthetic, reference = crowd(5, seed=1), crowd(40, seed=2), crowd(90, seed=3)
    to_synthetic = naive_distance(targets, synthetic, name)
    to_reference = naive_distance(targets, reference, name)
    attack, view = ClosestRecord(metric=name), view_of(synthetic, reference)
    expected = np.log((to_reference + 1e-6) / (to_synthetic + 1e-6))
    np.testing.assert_allclose(scores_of(attack, view, targets, None, rng), expected)
    prepared = attack.prepare(view, targets, None, rng)
    np.testing.assert_allclose(prepared.score(view_of(synthetic), targets, None, rng), expected)
    assert prepared.attack == attack
    np.testing.assert_allclose(scores_of(replace(attack, reference=False), view, targets, None, rng), -to_synthetic)
    np.testing.assert_allclose(scores_of(attack, view_of(synthetic), targets, None, rng), -to_synthetic)


def naive_completed(targets, rows, position, levels, metric):
    """Houssiau 2022: minus the least distance of a row to the target with each value in place of the secret."""
    found = np.empty((len(targets), levels))
    for value in range(levels):
        codes = targets.codes.copy(order="F")
        codes[:, position] = value
        found[:, value] = -naive_distance(replace(targets, codes=codes), rows, metric)
    return found


@pytest.mark.parametrize("metric", ["gower", "hamming"])
@pytest.mark.parametrize("secret", ["c0", "c3"])
def test_the_score_of_a_value_is_minus_the_distance_with_that_value(metric, secret, rng):
    people, synthetic = crowd(6, seed=1), crowd(40, seed=2)
    targets, hidden = masked(people, secret)
    scores = scores_of(ClosestRecord(metric), view_of(synthetic), targets, hidden, rng)
    np.testing.assert_allclose(scores, naive_completed(people, synthetic, hidden.position, 8, metric))
    votes = scores_of(ClosestVotes(metric), view_of(synthetic), targets, hidden, rng)
    assert all(score[vote.argmax()] == score.max() for score, vote in zip(scores, votes, strict=True))  # same guesses
    assert len(np.unique(scores)) > len(np.unique(votes > 0))  # graded


def test_all_nearest_rows_share_the_answer(rng):
    """The three nearest rows tie at distance 0 of what is known; the fourth is farther. Secret: c0, then age."""
    row = crowd(1)
    same = row.take([0, 0, 0, 0])
    codes, numbers = same.codes.copy(order="F"), same.numbers.copy(order="F")
    codes[:, 0] = [2, 5, 2, 1]
    codes[3, 1] = 6
    targets, secret = masked(row, "c0")
    view = view_of(replace(same, codes=codes))
    np.testing.assert_allclose(
        scores_of(ClosestVotes(), view, targets, secret, rng), [[0, 0, 2 / 3, 0, 0, 1 / 3, 0, 0]]
    )
    graded = scores_of(ClosestRecord("hamming"), view, targets, secret, rng)
    np.testing.assert_allclose(graded, [[-1, -1, 0, -1, -1, 0, -1, -1]])
    numbers[:, 0] = [30, 40, 80, 99]
    codes[:, 0] = row.codes[0, 0]
    targets, secret = masked(row, "age")
    for attack in (ClosestRecord(), ClosestVotes()):
        guess = scores_of(attack, view_of(replace(same, codes=codes, numbers=numbers)), targets, secret, rng)
        assert guess.mean == pytest.approx(50)
        assert guess.scale == pytest.approx(np.std([30, 40, 80]))


def test_graded_scores_rank_where_votes_cannot(rng):
    """Among releases whose closest row has the other value, distance still tells how near the true one came."""
    right, of_record, of_votes = [], [], []
    for seed in range(200):
        row, others = outsider(), crowd(30, seed=seed)
        truth = int(rng.integers(0, 2))
        near = concatenate([row, row])
        codes, numbers = near.codes.copy(order="F"), near.numbers.copy(order="F")
        codes[:, 0] = [truth, rng.integers(0, 2)]
        numbers[0, 0] -= 20 * rng.random()  # noise on what is known moves either of the two rows away
        numbers[1, 0] -= 20 * rng.random()
        targets, secret = masked(row, "c0")
        view = view_of(concatenate([others, replace(near, codes=codes, numbers=numbers)]))
        of_record.append(scores_of(ClosestRecord(), view, targets, secret, rng)[0, 1])
        of_votes.append(scores_of(ClosestVotes(), view, targets, secret, rng)[0, 1])
        right.append(truth == 1)
    ranked = [
        auc(np.array(scores)[right], np.array(scores)[~np.array(right)]).value for scores in (of_record, of_votes)
    ]
    assert ranked[0] > ranked[1] + 0.02


def test_votes_are_for_secrets(rng):
    with pytest.raises(ParameterError, match="needs --goal attribute"):
        scores_of(ClosestVotes(), view_of(crowd(5)), crowd(2), None, rng)
    with pytest.raises(ParameterError, match="metric"):
        ClosestVotes("cosine")


def test_the_value_under_the_mask_is_never_read(rng):
    view = view_of(crowd(50, seed=2))
    hidden, secret = masked(crowd(5, seed=1), "c0")
    other = hidden.codes.copy(order="F")
    other[:, 0] = 3
    first = scores_of(ClosestRecord(), view, hidden, secret, rng)
    np.testing.assert_array_equal(first, scores_of(ClosestRecord(), view, replace(hidden, codes=other), secret, rng))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("metric", ["gower", "hamming"])
def test_copier_is_seen_exactly_as_often_as_it_copies(p, metric):
    """A target outside everybody's support, copied with probability p: TPR = p at FPR 0, AUC = (1 + p) / 2."""
    scores, members = play(f"closest-record:metric={metric}", generators.get("copycat", p=p), outsider(), 400)
    inside, outside = scores[members], scores[~members]
    low, high = clopper_pearson(int((inside > outside.max()).sum()), len(inside), confidence=0.999).interval
    assert low <= p <= high
    low, high = auc(inside, outside, confidence=0.999).interval
    assert low <= (1 + p) / 2 <= high


@pytest.mark.parametrize("attack", ["closest-record", "closest-record:metric=hamming,reference=false"])
def test_nothing_to_see_when_nothing_leaks(attack):
    assert_blind(attack)


def test_uniform_secret_is_guessed_by_chance_from_an_oblivious_release():
    """Eight values, drawn anew each time: the mean share that the true one gets is 1/8 (99.9 %: 3.3 standard errors)."""
    game = {"goal": Goal.ATTRIBUTE, "secret": "c1", "secret_values": "uniform"}
    setting = TargetSetting(
        0, Game(rows=50, synthetic_rows=50, **game), ground(crowd(2, seed=5)), generators.get("oblivious")
    )
    prepared = ClosestVotes().prepare(static_view(setting), setting.masked, setting.secret, np.random.default_rng(0))
    setting = replace(setting, attacks={"it": prepared})
    drawn = [setting.play(Task(Whose.TEST, index)) for index in range(300)]
    right = np.array([[row[int(s)] for row, s in zip(d["score/it"], d["secrets"], strict=True)] for d in drawn])
    assert abs(right.mean() - 1 / 8) <= 3.3 * right.std() / np.sqrt(right.size)


@pytest.mark.parametrize("metric", ["gower", "hamming"])
def test_survives_awkward_releases(metric):
    assert_survives(ClosestRecord(metric))
    assert_survives(ClosestRecord(metric, reference=False))
    assert_survives(ClosestVotes(metric), goals=(Goal.ATTRIBUTE,))


def test_no_synthetic_row_is_as_far_as_can_be(rng):
    targets, none = crowd(3), crowd(3).take([])
    assert (scores_of(ClosestRecord(reference=False), view_of(none), targets, None, rng) == -1).all()
    assert (scores_of(ClosestRecord("hamming", reference=False), view_of(none), targets, None, rng) == -6).all()
    hidden, secret = masked(targets, "age")
    assert (scores_of(ClosestRecord(), view_of(none), hidden, secret, rng).mean == 49.5).all()


@pytest.mark.parametrize("wrong", [{"metric": "cosine"}, {"floor": 0.0}, {"reference": "yes"}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        ClosestRecord(**wrong)
