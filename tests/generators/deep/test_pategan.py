"""PATE-GAN: who sees what, what the votes cost, and when training ends."""

import math
import pickle

import numpy as np
import pytest
from scipy import stats

from unmask.errors import ParameterError
from unmask.generators.deep import pategan
from unmask.generators.deep._blocks import Blocks
from unmask.generators.deep._teachers import Parts, Teachers
from unmask.generators.deep.pategan import PATEGAN, Ballot, varied
from unmask.stats.votes import epsilon_of_votes
from unmask.tables.table import concatenate
from unmask.testing import plain

QUICK = {"teachers": 6, "batch": 8, "steps": 4, "hidden": 4, "width": 8}
PEOPLE = plain("all kinds of columns")


def fitted(seed: int = 0, table=PEOPLE, **settings):
    return PATEGAN(**QUICK | settings).fit(table, np.random.default_rng(seed))


def test_parts_are_disjoint_fixed_and_do_not_move_others():
    parts = Parts(7, 3)
    owner, rows = parts.seen(PEOPLE.codes)
    assert rows is PEOPLE.codes  # every row once: one owner each
    assert len(owner) == len(PEOPLE)
    assert set(owner) <= set(range(7))
    for left_out in (0, 31, 59):
        kept = np.delete(np.arange(60), left_out)
        assert np.array_equal(parts.of(PEOPLE.codes[kept]), owner[kept]), "a row in the middle moves nobody"
    twins = PEOPLE.codes[[3, 8, 3, 3, 8, 3]]
    whole, less = (
        sorted(zip(map(tuple, rows), parts.of(rows), strict=True)) for rows in (twins, np.delete(twins, 2, 0))
    )
    assert len(whole) == len(less) + 1
    assert all(whole.count(each) >= less.count(each) for each in less), "of equal rows one place is gone, and no other"
    assert not np.array_equal(Parts(7, 4).of(PEOPLE.codes), owner), "another key deals anew"
    rows = np.stack(np.unravel_index(np.arange(20_000), (100, 200)), axis=1)
    assert stats.chisquare(np.bincount(Parts(20, 1).of(rows), minlength=20)).pvalue > 0.001


def test_parts_never_change_during_training(monkeypatch):
    """Each vote is preceded by lessons from the very rows that each teacher had at first."""
    seen = []
    learn = Teachers.learn

    def watched(self, made, steps):
        seen.append((self.owner.tobytes(), self.places.tobytes()))
        learn(self, made, steps)

    monkeypatch.setattr(Teachers, "learn", watched)
    model = fitted(epsilon=math.inf)
    assert len(seen) == 4
    assert len(set(seen)) == 1
    assert seen[0][0] == model.parts.of(PEOPLE.codes).tobytes()


def test_one_row_moves_each_vote_by_one_at_most():
    """The sensitivity that the noise rests on, over whole trainings: rows left out in turn, and rows that are extreme."""
    model = fitted(epsilon=math.inf, steps=10)
    whole = model.exact_votes(PEOPLE.codes)
    assert whole.min() >= 0
    assert whole.max() <= 6
    moved = 0
    for last in range(10):
        target = PEOPLE.take([last])
        more = model.exact_votes(concatenate([PEOPLE, target]).codes)
        less = model.exact_votes(np.delete(PEOPLE.codes, last, axis=0))
        assert max(np.abs(more - whole).max(), np.abs(less - whole).max()) <= 1
        moved += np.abs(more - whole).sum() + np.abs(less - whole).sum()
    assert moved > 0  # one row does move votes: the test can fail


def test_a_teacher_is_changed_by_its_own_rows_only():
    blocks, parts = Blocks.of(PEOPLE.schema), Parts(6, 1)
    made = blocks.encode(PEOPLE.codes[::-1][:20])
    before, after = (Teachers.begin(blocks, parts, codes) for codes in (PEOPLE.codes, PEOPLE.codes.copy()))
    other = after.owner == 2
    after.places[other] = blocks.places(np.zeros_like(PEOPLE.codes[other]))
    for each in (before, after):
        each.learn(made, 5)
    same = (before.weights == after.weights).all(axis=1)
    assert same.tolist() == [True, True, False, True, True, True]


def test_generator_and_student_never_touch_real_rows(monkeypatch):
    """With the teachers' votes held fixed, real rows may be anything: poisoned, they change no byte of model or release."""
    spoilt = PEOPLE.take(np.zeros(60, dtype=int))
    assert spoilt.digest() != PEOPLE.digest()
    released = []
    for table in (PEOPLE, spoilt):
        answers = iter(np.random.default_rng(5).integers(0, 7, size=(100, 8)))
        monkeypatch.setattr(Teachers, "votes", lambda self, made, answers=answers: next(answers)[: len(made)])
        model = fitted(table=table, epsilon=math.inf)
        released.append(
            (model.stages.tobytes(), model.judging.tobytes(), model.sample(40, np.random.default_rng(1)).digest())
        )
    assert released[0] == released[1]


def test_real_rows_poisoned_after_the_lessons_change_nothing(monkeypatch):
    """Once the teachers have learnt for the last time, the table may be overwritten: nobody looks at it again."""
    clean = fitted(epsilon=math.inf, steps=1)
    table = PEOPLE.take(np.arange(60))
    learn = Teachers.learn

    def then_poisoned(self, made, steps):
        learn(self, made, steps)
        table.codes[:] = 0
        self.places[:] = self.blocks.starts

    monkeypatch.setattr(Teachers, "learn", then_poisoned)
    poisoned = fitted(table=table, epsilon=math.inf, steps=1)
    assert clean.stages.tobytes() == poisoned.stages.tobytes()
    assert clean.judging.tobytes() == poisoned.judging.tobytes()


def test_measured_noise_is_what_the_accountant_asked_for():
    """Noisy votes less the exact ones of the same training: discrete Laplace of the scale in the claim."""
    model = fitted(epsilon=60.0, noise=1.0, batch=200, steps=10)
    assert model.ballot.scale > 1
    noise = np.concatenate([vote.counts for vote in model.votes]) - model.exact_votes(PEOPLE.codes)
    share = math.exp(-1 / model.ballot.scale)
    found = np.bincount(np.minimum(np.abs(noise), 12), minlength=13)
    chance = np.array([(1 - share) / (1 + share) * (2 * share**k if k else 1) for k in range(12)])
    expected = len(noise) * np.append(chance, 1 - chance.sum())
    assert stats.chisquare(found, expected).pvalue > 0.001
    assert abs(noise.mean()) < 4 * noise.std() / np.sqrt(len(noise))


def test_training_ends_when_the_budget_is_spent():
    model = fitted(epsilon=1.0, teachers=100, noise=0.2, batch=7, steps=1000)
    asked = sum(len(vote.counts) for vote in model.votes)
    assert asked == model.ballot.votes
    assert len(model.votes[-1].counts) == asked - 7 * (len(model.votes) - 1)  # the last vote is cut short
    assert model.ballot.scale == 20
    assert epsilon_of_votes(20, asked, 1e-6) <= 1.0 < epsilon_of_votes(20, asked + 1, 1e-6)


def test_all_steps_are_paid_with_less_noise_where_the_budget_allows():
    model = fitted(epsilon=5.0, teachers=100, noise=0.5)
    assert model.ballot.votes == 32
    assert model.ballot.scale < 50
    assert epsilon_of_votes(model.ballot.scale, 32, 1e-6) == pytest.approx(5.0, rel=1e-6)


def test_the_number_of_teachers_follows_from_a_noisy_number_of_rows(monkeypatch):
    table = PEOPLE.take(np.arange(600) % 60)
    quick = {"rows_each": 5, "steps": 2, "batch": 4, "width": 8}
    model = PATEGAN(epsilon=20.0, **quick).fit(table, np.random.default_rng(0))
    assert 100 <= model.parts.teachers <= 140
    assert "1 for the number of rows" in model.claim.details
    assert epsilon_of_votes(model.ballot.scale, model.ballot.votes, 1e-6) <= 19.0 * (1 + 1e-9)
    monkeypatch.setattr(pategan, "noisy_rows", lambda rows, epsilon, rng: 300)
    assert PATEGAN(**quick).chosen_teachers(table, np.random.default_rng(0)) == (60, 0.95, 300)


def test_too_few_rows_are_refused_with_what_to_do():
    with pytest.raises(ParameterError, match="too few") as problem:
        PATEGAN(epsilon=100.0, rows_each=10).fit(PEOPLE, np.random.default_rng(0))
    assert "set teachers yourself" in str(problem.value)
    with pytest.raises(ParameterError, match="does not pay for one vote"):
        fitted(epsilon=1e-4)


def test_the_claim_carries_its_accounting():
    model = fitted(epsilon=3.0)
    assert (model.claim.epsilon, model.claim.delta) == (3.0, 1e-6)
    assert f"{model.ballot.votes} votes of 6 teachers with discrete Laplace noise" in model.claim.details
    assert "look at no data" in model.claim.details
    assert "without noise" in Ballot(3, 0.0).in_words(5, 1e-6)


def test_the_same_seed_gives_the_same_bytes_and_models_pickle():
    drawn = [pickle.loads(pickle.dumps(fitted(7, epsilon=5.0))).sample(50, np.random.default_rng(1)) for _ in range(2)]
    assert drawn[0].digest() == drawn[1].digest()
    assert fitted(8, epsilon=5.0).sample(50, np.random.default_rng(1)).digest() != drawn[0].digest()


def test_varied_rows_stay_in_the_public_domains():
    sizes = PEOPLE.schema.sizes
    found = varied(np.zeros((500, len(sizes)), dtype=int), sizes, np.random.default_rng(0))
    assert (found < sizes).all()
    changed = (found != 0).any(axis=1).mean()
    assert 0.3 < changed < 0.5  # half of the rows, less those that were drawn as they were


@pytest.mark.parametrize("wrong", [{"epsilon": -1}, {"teachers": 0}, {"noise": 0}, {"rows_each": 0}, {"delta": 2.0}])
def test_parameters_without_meaning_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        PATEGAN(**wrong)
