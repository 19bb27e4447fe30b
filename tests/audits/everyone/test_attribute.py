"""The attribute form of the audit of everyone: guesses against a naive loop, leaks of known size, secrets drawn anew."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from tests.audits.parts import equal
from unmask.attacks.everyone.secret_guess import BORROWED, STEPS, Guessed, SecretGuess, by_unit, secrets_in
from unmask.audits.everyone.attribute.judge import gain_of
from unmask.audits.everyone.attribute.play import SecretGuesses, folder_of, guess_all, redraw
from unmask.audits.everyone.attribute.stage import attributes
from unmask.audits.everyone.audit import set_up
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.part import Part
from unmask.audits.runner import Runner
from unmask.errors import ParameterError, RunError
from unmask.generators.copycat import Copycat
from unmask.generators.foreign import Foreign
from unmask.generators.oblivious import Oblivious
from unmask.reports.words import exposed
from unmask.results.figures import listed_above
from unmask.results.policy import Severity
from unmask.simulation.coin import coin_tasks
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.executors.local import Local
from unmask.simulation.secret import redrawn
from unmask.simulation.store import MemoryStore
from unmask.tables.table import Table
from unmask.tables.units import units

LEVELS = 4


def keyed(rows, seed, *, rows_each=1):
    """People whose ten keys nobody shares, with a secret of each kind that the keys say nothing about."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"key{j}": rng.integers(0, 8, rows).astype(str) for j in range(10)})
    frame["illness"] = rng.integers(0, LEVELS, rows).astype(str)
    frame["wage"] = rng.uniform(0, 1000, rows)
    if rows_each == 1:
        return Table.from_pandas(frame)
    schema = replace(Table.from_pandas(frame).schema, person="who")
    return Table.from_pandas(frame.assign(who=np.arange(rows) // rows_each), schema)


def play(generator, table, **choices):
    """A plan and its pool, in memory."""
    plan = EveryonePlan(generator=repr(generator), **({"runs": 32, "distances": False} | choices))
    setting, _, _ = set_up(plan, generator, table)
    tasks, store = coin_tasks(plan.runs), MemoryStore()
    Local().run(setting, tasks, store)
    return plan, CoinPool.gather(setting, tasks, store)


def naive_guess(guess, synthetic, truth):
    """The votes of every row for every person, one by one; only for tables without coarsening."""
    people, published = guess.candidates, secrets_in(synthetic, guess.position)
    others = [j for j in range(len(people.schema.columns)) if j != guess.position]
    right, fit = np.zeros(len(people)), np.zeros((len(people), len(STEPS)))
    for i in range(len(people)):
        if np.isnan(truth[i]):
            continue
        rows = [r for r in range(len(synthetic)) if not np.isnan(published[r])]
        apart = np.array([sum(people.codes[i, j] != synthetic.codes[r, j] for j in others) for r in rows])
        values = published[rows]
        true = np.abs(values - truth[i]) <= guess.tolerance
        share = (true.sum() + 0.5) / (len(rows) + 1)
        for w, step in enumerate(STEPS):
            votes = np.exp(-step * apart)
            fit[i, w] = np.log((votes[true].sum() / votes.sum() + BORROWED * share) / (1 + BORROWED))
        if guess.column.is_numeric:
            held = [votes[(values >= v - 2 * guess.tolerance) & (values <= v)].sum() for v in np.sort(values)]
            top = np.sort(values)[int(np.argmax(np.round(held, 12)))]
            window = values[(values >= top - 2 * guess.tolerance) & (values <= top)]
            right[i] = abs((window.min() + window.max()) / 2 - truth[i]) <= guess.tolerance
        else:
            total = {v: votes[values == v].sum() for v in np.unique(values)}
            winners = [v for v, vote in total.items() if np.isclose(vote, max(total.values()), rtol=1e-9, atol=0)]
            right[i] = (truth[i] in winners) / len(winners)
    return right, fit


@pytest.mark.parametrize("name", ["region", "smoker", "age", "income"])
def test_guesses_equal_a_naive_loop(people, name):
    """Categories with a missing one, whole numbers, numbers with missing ones. The release holds half of the people."""
    rng = np.random.default_rng(1)
    release = people.take(rng.permutation(len(people))[:100])
    guess = SecretGuess.of(people, name)
    found = guess.guess(release, guess.truth)
    right, fit = naive_guess(replace(guess, candidates=people), release, guess.truth)
    assert np.allclose(found.fit, fit)
    assert np.allclose(found.right, right)
    assert 0.2 < found.right.mean() < 1


def test_the_guess_does_not_read_the_secret(people):
    """Votes depend on the other columns alone: whatever value stands in the secret's place, the same guesses come out."""
    guess = SecretGuess.of(people, "region")
    codes = people.codes.copy(order="F")
    codes[:, guess.position] = 0
    masked = SecretGuess(replace(people, codes=codes), guess.position)
    release = people.take(np.arange(0, 200, 2))
    found, again = guess.guess(release, guess.truth), masked.guess(release, guess.truth)
    assert np.array_equal(found.right, again.right)
    assert np.array_equal(found.fit, again.fit)


def test_units_average_their_known_rows():
    table = keyed(6, 0, rows_each=3)
    guessed = Guessed(np.array([1.0, 0, 0, 1, 1, 0]), np.arange(24.0).reshape(6, 4))
    found = by_unit(guessed, np.array([0, 0, 0, 1, np.nan, np.nan]), units(table))
    assert np.allclose(found.right, [1 / 3, 1])
    assert np.allclose(found.fit, [[4, 5, 6, 7], [12, 13, 14, 15]])
    nothing = by_unit(guessed, np.array([0, 0, 0, np.nan, np.nan, np.nan]), units(table))
    assert nothing.right[1] == 0


def test_the_gain_is_a_mean_of_differences_with_a_jackknife_over_runs(rng):
    members = rng.random((12, 30)) < 0.5
    members[:, 3] = True  # never out, so nothing is compared
    right = rng.random((12, 30)).astype(np.float32)
    asked = np.arange(30) != 5
    guesses = SecretGuesses(
        SecretGuess.of(keyed(30, 0), "illness"), members, right, np.zeros((12, 30, 4)), asked, False
    )
    gain = gain_of(guesses, 0.95)
    chosen = [i for i in range(30) if i not in (3, 5) and 2 <= members[:, i].sum() <= 10]

    def difference(runs):
        b, r = members[runs], right[runs].astype(float)
        return np.mean([r[b[:, i], i].mean() - r[~b[:, i], i].mean() for i in chosen])

    every = np.arange(12)
    left_out = np.array([difference(every != run) for run in every])
    spread = np.sqrt(11 / 12 * ((left_out - left_out.mean()) ** 2).sum())
    assert gain.difference.value == pytest.approx(difference(every >= 0))
    assert gain.difference.high - gain.difference.value == pytest.approx(2.200985 * spread)  # Student's t, 11 degrees
    assert gain.inside.value - gain.outside.value == pytest.approx(gain.difference.value)
    assert np.isnan(gain.of_unit[[3, 5]]).all()


@pytest.mark.parametrize("p", [0.3, 0.8])
def test_a_copier_gains_its_share_of_what_was_unknown(p):
    """Members are copied with probability p, all else is noise: right with = p + (1-p) right without, and without is chance.

    300 people x 32 runs with them: the standard error of the copied share is below .007.
    """
    plan, pool = play(Copycat(p), keyed(300, 1), runs=64, secrets=("illness", "wage"))
    asked = [SecretGuess.of(pool.setting.candidates, name) for name in plan.secrets]
    illness, wage = (gain_of(each, 0.95) for each in guess_all(pool, asked))
    assert illness.difference.value == pytest.approx(p * (1 - 1 / LEVELS), abs=0.03)
    for gain in (illness, wage):
        assert gain.inside.value == pytest.approx(p + (1 - p) * gain.outside.value, abs=0.025)
    assert illness.outside.value == pytest.approx(1 / LEVELS, abs=0.03)
    assert wage.outside.value == pytest.approx(1 / 4, abs=0.05)  # a window of a quarter of the range, at most


def test_people_of_several_rows_count_once_and_gain_as_much():
    """Each row of a person is copied with probability .6 on its own; success is a mean over rows."""
    table = keyed(400, 2, rows_each=2)
    plan, pool = play(Copycat(0.6), table, runs=64, secrets="illness")
    extra = attributes(plan, pool, Runner())
    (finding,) = extra.findings
    assert finding.estimate.value == pytest.approx(0.6 * (1 - 1 / LEVELS), abs=0.03)
    assert finding.exposure.attacked == 200
    assert all(len(cells) == 200 for _, cells in extra.columns)


def test_a_copied_few_are_listed_and_nobody_else():
    """Ten of 200 people are always copied: all are listed, at most one other is, and their own gain is 1 - chance."""
    table = keyed(200, 3)
    frame = table.to_pandas().assign(vip=["yes"] * 10 + ["no"] * 190)
    plan, pool = play(Copycat(1.0, where="vip=yes"), Table.from_pandas(frame), runs=128, secrets="illness")
    extra = attributes(plan, pool, Runner())
    columns = dict(extra.columns)
    listed = np.flatnonzero(columns["illness: listed"])
    assert set(range(10)) <= set(listed)
    assert len(listed) <= 11
    gains = np.array(columns["illness: gain"], dtype=float)
    assert gains[:10].mean() == pytest.approx(1 - 1 / LEVELS, abs=0.15)
    assert abs(gains[10:].mean()) < 0.02
    assert extra.grids[0].rows[0][7] == 0, "coins of other runs list nobody"
    assert extra.findings[0].severity is not Severity.NONE


def test_redrawn_secrets_are_guessed_at_chance_for_those_out():
    """Independent of everything: 1 / levels for those out, and p (1 - 1/levels) more for those in.

    150 people x 32 runs without them: standard error .43 / sqrt(4,800) = .006.
    """
    plan, pool = play(Copycat(0.5), keyed(150, 4), runs=64, secrets="illness", redraw_secrets=True)
    found = redraw(plan, pool, SecretGuess.of(pool.setting.candidates, "illness"), Runner())
    gain = gain_of(found, 0.95)
    assert gain.outside.value == pytest.approx(1 / LEVELS, abs=0.025)
    assert gain.difference.value == pytest.approx(0.5 * (1 - 1 / LEVELS), abs=0.035)
    assert not np.array_equal(found.members, pool.members), "the second pool has coins of its own"


def test_redrawing_changes_one_column_and_the_same_for_all_rows_of_a_unit(rng):
    table = keyed(4000, 5, rows_each=2)
    for name in ("illness", "wage"):
        position = table.schema.position(name)
        drawn = redrawn(table, position, units(table), rng)
        others = np.arange(len(table.schema.columns)) != position
        assert np.array_equal(drawn.codes[:, others], table.codes[:, others])
        secret = secrets_in(drawn, position)
        assert np.array_equal(secret[::2], secret[1::2])
        column = table.schema.columns[position]
        if column.is_numeric:
            assert np.array_equal(drawn.codes[:, position], column.bin_of(secret))
            assert column.lower <= secret.min() <= secret.max() <= column.upper
        counts = np.bincount(drawn.codes[::2, position], minlength=column.listed)
        expected = 2000 / column.listed
        assert ((counts - expected) ** 2 / expected).sum() < column.listed + 5 * np.sqrt(2 * column.listed)


def test_the_second_pool_is_resumed_and_does_not_depend_on_workers(tmp_path):
    plan, pool = play(Copycat(0.5), keyed(60, 6), secrets="illness", redraw_secrets=True)
    first = attributes(plan, pool, Runner(Local(2), draws=tmp_path))
    files = sorted((tmp_path / "draws-10-illness").glob("*.npz"))
    assert len(files) == 32
    files[3].unlink()
    before = files[4].stat().st_mtime_ns
    again = attributes(plan, pool, Runner(draws=tmp_path))
    assert files[3].exists()
    assert files[4].stat().st_mtime_ns == before, "what is there is not drawn again"
    assert equal(again, first)
    assert equal(attributes(plan, pool, Runner()), first)
    with pytest.raises(RunError, match="seed was 0, now it is 1"):
        attributes(replace(plan, seed=1), pool, Runner(draws=tmp_path))


def test_the_result_tells_each_secret_and_no_value():
    plan, pool = play(Oblivious(), keyed(80, 7), secrets=("illness", "wage"), redraw_secrets=True)
    extra = attributes(plan, pool, Runner())
    names = [finding.name.removeprefix("everyone/attribute/") for finding in extra.findings]
    assert names == ["illness", "wage", "illness, drawn anew", "wage, drawn anew"]
    assert {finding.criterion for finding in extra.findings} == {"attribute"}
    assert extra.findings[0].title.startswith("Their 'illness' is guessed right in ")
    assert extra.findings[2].title.startswith("Drawn anew for everybody, 'illness' is guessed right in ")
    (grid,) = extra.grids
    assert grid.name == "attributes"
    assert grid.rows[2][-1] == 1 / LEVELS
    counts = np.bincount(SecretGuess.of(pool.setting.candidates, "illness").truth.astype(int))
    assert grid.rows[0][-1] == round(counts.max() / 80, 4)
    assert not extra.not_tested
    assert [name for name, _ in extra.columns[:3]] == ["illness: gain", "illness: log10 e-value", "illness: listed"]


def test_nothing_asked_nothing_done():
    plan, pool = play(Oblivious(), keyed(40, 8), runs=8)
    assert equal(attributes(plan, pool, Runner()), Part())


def test_what_cannot_be_asked_is_said():
    frame = keyed(40, 9).to_pandas()
    frame["same"] = "x"
    frame["gone"] = [1.5, *[np.nan] * 39]
    table = Table.from_pandas(frame)
    with pytest.raises(ParameterError, match="one value only"):
        SecretGuess.of(table, "same")
    numbers = table.numbers.copy(order="F")
    numbers[:, table.schema.numeric.index(table.schema.position("wage"))] = np.nan
    nobody = replace(table, numbers=numbers)
    plan, pool = play(Oblivious(), nobody, runs=8, secrets="wage")
    extra = attributes(plan, pool, Runner())
    assert not extra.findings
    assert extra.not_tested[0].name == "wage"


def test_no_two_columns_share_the_directory_of_their_draws():
    frame = keyed(40, 11).to_pandas()
    frame = frame.rename(columns={"key2": "column-3", "key3": "a/b", "key4": "A-B", "key5": "a-b"})
    table = Table.from_pandas(frame)
    names = [folder_of(SecretGuess(table, position)) for position in range(len(table.schema.columns))]
    assert len({name.lower() for name in names}) == len(names)
    assert (names[2], names[3], names[10]) == ("draws-2-column-3", "draws-3", "draws-10-illness")


def test_the_report_shows_how_many_people_are_listed():
    """Their worst risk is not defined, their number is: at most 1 in 10 expected to be wrong, which is no confidence."""
    plan, pool = play(Copycat(1.0), keyed(60, 12), runs=64, secrets="illness")
    (finding,) = attributes(plan, pool, Runner()).findings
    found = finding.exposure
    assert found.hit > 30
    assert (found.above.low, found.above.high) == (int(0.9 * found.hit), found.hit)
    assert found.above.method == "expected, false discovery rate 0.1"
    worst, above = exposed(found)
    assert worst.startswith("not defined: the risk of the most exposed")
    assert above == f"{found.hit} ({int(0.9 * found.hit)} to {found.hit}) of 60"


def test_the_expected_right_names_are_not_lost_to_rounding():
    assert [listed_above(listed, 1000, 0.3).low for listed in (0, 10, 90, 91)] == [0, 7, 63, 63]


def test_secrets_are_drawn_anew_by_whoever_runs_the_generator():
    plan, pool = play(Oblivious(), keyed(40, 13), runs=8, secrets="illness")
    foreign = replace(pool, setting=replace(pool.setting, generator=Foreign()))
    remedies = {each.remedy for each in attributes(plan, foreign, Runner()).not_tested}
    assert remedies == {"run the generator here: --generator 'command: ...'"}
    assert {each.remedy for each in attributes(plan, pool, Runner()).not_tested} == {"use --redraw-secrets"}


@dataclass(frozen=True)
class Broken(Oblivious):
    name: ClassVar[str] = "broken"

    def fit(self, table, rng):
        raise ValueError("a value of somebody")


def test_failed_runs_of_the_second_pool_are_counted_and_no_reason_is_quoted():
    plan, pool = play(Oblivious(), keyed(40, 10), runs=8, secrets="illness", redraw_secrets=True)
    broken = replace(pool, setting=replace(pool.setting, generator=Broken()))
    extra = attributes(plan, broken, Runner())
    assert extra.failed_tasks == 8
    assert [each.name for each in extra.not_tested] == ["illness, drawn anew"]
    assert "the notes name the kinds of error" in extra.not_tested[0].remedy
    assert len(extra.findings) == 1
    assert any("8 runs" in note and "ValueError" in note for note in extra.notes)
    assert "somebody" not in repr(extra)
