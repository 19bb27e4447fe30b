"""Identifying texts in a release: what chance and population explain is no leak, whatever the format."""

import hashlib
import uuid

import numpy as np
import pytest

from unmask.metrics._chance import expected_matches, is_code, is_random
from unmask.metrics._passages import WORDS, passages
from unmask.metrics.verbatim import OwnTexts, canonical, verbatim

LEVEL = 0.05


def texts(values):
    values = [str(value) for value in values]
    return OwnTexts(np.array(values, dtype=object), np.arange(len(values)))


def ids(count, most, rng):
    return [f"P{number:08d}" for number in rng.choice(most, count, replace=False)]


def word(number):
    """A word for each number: digits in prose say only that there is a number."""
    return "w" + "".join(chr(97 + int(digit)) for digit in str(number))


def notes(count, rng, words=30, vocabulary=2_000):
    return [" ".join(map(word, rng.integers(vocabulary, size=words))) for _ in range(count)]


@pytest.mark.parametrize("dress", [str, "P-{:06d}".format, "2023/{:04d}".format, "{:03x}".format], ids=range(4))
def test_numbers_that_run_from_one_to_n_meet_by_chance(dress):
    """Also where the holdout goes on after the last of them, as it does when a table is cut in two."""
    mine, theirs = [dress(k) for k in range(1, 1001)], [dress(k) for k in range(1001, 2001)]
    found = verbatim(texts(mine), mine, texts(theirs))
    assert found.mine[0] == found.mine[1] > 990
    assert found.theirs[0] == 0
    assert found.p_value > 0.3


def test_a_check_digit_changes_nothing():
    numbered = [10 * k + sum(int(sign) * (at + 2) for at, sign in enumerate(str(k))) % 10 for k in range(1000, 3000)]
    found = verbatim(texts(numbered[:1000]), [str(k) for k in numbered[:1000]], texts(numbered[1000:]))
    assert found.p_value > 0.3


def test_ids_that_nobody_meets_by_chance_are_seen(rng):
    everybody = ids(3000, 10**8, rng)
    real, holdout, fresh = texts(everybody[:1000]), texts(everybody[1000:2000]), everybody[2000:]
    found = verbatim(real, [*everybody[:10], *fresh], holdout)
    assert found.mine == (10, 1000)
    assert found.by_chance < 2
    assert found.p_value < 0.005
    assert found.published.tolist() == [True] * 10 + [False] * 990
    assert verbatim(real, fresh, holdout).p_value == 1.0


def test_one_random_token_is_enough(rng):
    tokens = [str(uuid.UUID(bytes=rng.bytes(16), version=4)) for _ in range(300)]
    found = verbatim(texts(tokens[:100]), [tokens[0].upper(), *tokens[200:]], texts(tokens[100:200]))
    assert found.random
    assert found.mine == (1, 100)
    assert found.p_value < 1e-20


def test_names_are_judged_against_the_holdout_and_not_without_one(rng):
    known = [f"{first} {last}" for first, last in zip("abcdefghij" * 60, rng.permutation(600), strict=True)]
    known = ["".join(chr(97 + int(sign)) if sign.isdigit() else sign for sign in name) for name in known]
    real, holdout = texts(known[:300]), texts(known[300:])
    assert verbatim(real, known[:30], holdout).p_value < 1e-6
    assert verbatim(real, known[::2], holdout).p_value > 0.1, (
        "a list of the whole population names nobody in particular"
    )
    assert verbatim(real, known[:30]).p_value is None


def test_names_that_several_people_share_are_not_counted():
    found = verbatim(texts(["Meier", "Meier", "Zuckschwerdt"]), ["meier", "ZUCKSCHWERDT"], texts(["Huber", "Meier"]))
    assert (found.mine, found.theirs) == ((1, 1), (0, 1))


def test_rows_of_one_person_count_once():
    real = OwnTexts(np.array(["x1", "x1", "x2", ""], dtype=object), np.array([0, 0, 0, 1]))
    assert verbatim(real, ["x1", "x2"]).mine == (1, 1)


def test_long_passages_are_found_inside_other_texts(rng):
    written = notes(900, rng)
    words = written[0].split()
    published = [" ".join(["new", "words", "before", *words[5 : 5 + WORDS], "after"]), *notes(300, rng)]
    found = verbatim(texts(written[:300]), published, texts(written[300:600]))
    assert found.prose
    assert found.mine == (1, 300)
    less = [" ".join(["new", "words", "before", *words[5 : 4 + WORDS], "after"]), *notes(300, rng)]
    assert verbatim(texts(written[:300]), less, texts(written[300:600])).mine == (0, 300)


def test_boilerplate_names_nobody(rng):
    start = "the patient was admitted to hospital with the following complaints and was sent home again"
    written = [f"{start} {word(k)}" for k in rng.integers(50, size=600)]
    found = verbatim(texts(written[:300]), written[:300], texts(written[300:]))
    assert found.mine[0] <= 6, "those whose last word nobody else has"
    assert found.p_value > 0.01


def test_notes_and_codes_need_no_holdout_names_do(rng):
    written, numbers = notes(300, rng), ids(600, 10**8, rng)
    assert verbatim(texts(written), [*written[:30], *notes(200, rng)]).p_value < 1e-4
    assert verbatim(texts(numbers[:300]), [*numbers[:30], *numbers[300:]]).p_value < 1e-4


@pytest.mark.parametrize("held", [0, 15, 60, 300])
def test_a_small_holdout_hides_nothing_that_none_would_show(rng, held):
    written, numbers = notes(1200, rng), ids(2400, 10**8, rng)
    for everybody, fresh in ((written, notes(900, rng)), (numbers, numbers[1200:2100])):
        holdout = texts(everybody[900 : 900 + held]) if held else None
        assert verbatim(texts(everybody[:900]), [*everybody[:30], *fresh], holdout).p_value < 0.001


def test_a_list_of_the_whole_population_is_no_leak_whatever_its_format(rng):
    """Codes of 30,000 places, far apart, and a release that draws from them as real people do."""
    register = [f"{number:09d}" for number in rng.choice(10**9, 30_000, replace=False)]
    alarms = 0
    for seed in range(60):
        draw = np.random.default_rng([seed, 3])
        drawn = [register[k] for k in draw.integers(30_000, size=2_000)]
        holdout = texts(drawn[1800:]) if seed % 2 else None
        alarms += verbatim(texts(drawn[:900]), drawn[900:1800], holdout).p_value <= LEVEL
    assert alarms <= 10, "5 % of 60, 99.9 % limit"


def test_short_texts_among_prose_are_compared_as_they_are(rng):
    written = [*notes(200, rng), "kuru seen once"]
    found = verbatim(texts(written), ["Kuru, seen once!", *notes(200, rng)])
    assert found.mine[0] == 1
    assert verbatim(texts(written), ["he said kuru seen once too"]).mine[0] == 0


def naive_passages(side):
    return [
        tuple(words[k : k + WORDS]) for words in (text.split() for text in side) for k in range(len(words) - WORDS + 1)
    ]


def test_hashes_of_passages_agree_as_passages_do(rng):
    one, other = notes(40, rng, words=12, vocabulary=3), notes(40, rng, words=9, vocabulary=3)
    (hashes, rows), (others, _) = passages(one, other)
    naive, naive_others = naive_passages(one), naive_passages(other)
    assert len(hashes) == len(naive) == 40 * 5
    assert rows.tolist() == [row for row in range(40) for _ in range(5)]
    assert len(set(hashes.tolist())) == len(set(naive))
    assert np.isin(hashes, others).tolist() == [passage in set(naive_others) for passage in naive]


def test_a_text_shorter_than_a_passage_is_one():
    (hashes, rows), (others, _) = passages(["two words", "", "two words more"], ["two  WORDS"])
    assert rows.tolist() == [0, 2]
    assert hashes[0] == others[0] != hashes[1]
    (hashes, rows), (others, _) = passages([""], ["..."])
    assert len(hashes) == len(rows) == len(others) == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("P-00 123", "p00123"),
        ("0012", "12"),
        ("A.B@x.org", "ab@xorg"),
        ("+49 (30) 12", "493012"),
        ("  Ann  Lee ", "ann lee"),
        ("10473822.0", "10473822"),
        ("Jose\u0301", "Jos\u00e9"),
    ],
)
def test_texts_are_equal_whatever_stands_between_their_letters(one, other):
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    "form", ["Study AB12 Site {1} Subject No {0:04d}", "Referral number {0:05d} for cough received from ward {1}"]
)
def test_numbers_in_a_sentence_are_numbers(form):
    everybody = [form.format(k // 5 + 1, k % 5) for k in range(1200)]
    for holdout in (None, texts(everybody[600:])):
        assert verbatim(texts(everybody[:600]), everybody[:600], holdout).p_value > 0.05


@pytest.mark.parametrize(
    "form",
    [
        lambda k: f"{k:06d}{'TRWAGMYFPDXBNJZSQVHLCKE'[k % 23]}",
        lambda k: f"{k:06d}{98 - 100 * k % 97:02d}",
        lambda k: f"{k % 7}{k % 7**2 % 7}-{k // 7:05d}",
    ],
    ids=["check letter", "two check digits", "sites"],
)
def test_numbers_with_check_signs_and_sites_meet_by_chance(form):
    """The holdout was cut by time, and the release numbers its people as the real table does."""
    mine, later = [form(k) for k in range(1000)], [form(k) for k in range(1000, 1500)]
    for holdout in (None, texts(later)):
        assert verbatim(texts(mine), mine[:640], holdout).p_value > 0.05


def test_hashes_of_what_many_have_are_judged_by_the_holdout(rng):
    def hashed(k):
        return hashlib.sha256(str(k).encode()).hexdigest()

    drawn = [hashed(k) for k in rng.choice(4000, 1500, replace=False)]
    again = [hashed(k) for k in rng.choice(4000, 1000, replace=False)]
    found = verbatim(texts(drawn[:1000]), again, texts(drawn[1000:]))
    assert found.random
    assert found.theirs[0] > 50
    assert found.p_value > 0.01


@pytest.mark.parametrize("filler", ["ffffffff-ffff-ffff-ffff-ffffffffffff", "unknown", "N/A", "00000000"])
def test_fillers_are_no_texts(rng, filler):
    tokens = [str(uuid.UUID(bytes=rng.bytes(16), version=4)) for _ in range(300)]
    assert verbatim(texts([*tokens[:100], filler]), [*tokens[200:], filler]).mine == (0, 100)


def test_what_a_format_is():
    assert is_code(["a12", "b34"])
    assert not is_code(["smith", "miller2"])
    assert not is_random([f"{k:032d}" for k in range(100)]), "long, but nearly every place has one sign"
    assert not is_random(["abc", "abcd"])
    assert not is_random([])
    assert not is_code([""])


def test_expected_matches_are_those_of_draws_among_the_neighbours(rng):
    """Real numbers fill a thousandth of a range: of those drawn there so many are met, a hundred times as many expected."""
    most = 10_000_000
    real, drawn = rng.choice(most, 10_000, replace=False), rng.choice(most, 10_000, replace=False)
    expected = expected_matches([f"{k:07d}" for k in real], [f"{k:07d}" for k in drawn])
    met = len(set(real) & set(drawn))
    assert met / 2 < expected / 100 < 3 * max(met, 5)


def name(number):
    return f"{'abcdefghij'[number % 10]}{'klmnopqrst'[number // 10 % 10]}x" * (1 + number // 100)


NULLS = {
    "sparse ids": lambda rng: ids(900, 10**5, rng),
    "names of a population": lambda rng: [name(k) for k in rng.zipf(1.3, 900) % 3000],
    "notes from a template": lambda rng: [
        f"patient came in with s{word(a)} and was given d{word(b)} after a test of t{word(c)} by the doctor"
        for a, b, c in rng.integers(12, size=(900, 3))
    ],
}  # fmt: skip


@pytest.mark.calibration
@pytest.mark.parametrize("kind", NULLS)
def test_no_alarm_where_real_people_are_no_more_in_the_release_than_others(kind):
    """At most at the level, over 200 seeds; limit by the binomial at 99.9 %."""
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng([seed, 8])
        everybody = NULLS[kind](rng)
        again = NULLS[kind](rng)[:300] if kind != "sparse ids" else ids(300, 10**5, rng)
        found = verbatim(texts(everybody[:300]), again, texts(everybody[300:600]))
        alarms += found.p_value is not None and found.p_value <= LEVEL
    assert alarms <= 21
