"""The audit of everyone from table to result: any table, any number of workers, nothing about single people in the result."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from unmask.audits.everyone.audit import everyone
from unmask.errors import RunError
from unmask.generators.copycat import Copycat
from unmask.generators.independent import Independent
from unmask.generators.oblivious import Oblivious
from unmask.generators.privbayes import PrivBayes
from unmask.generators.raw import Raw
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table
from unmask.testing._tables import plain


def plain_of(result) -> str:
    return json.dumps(result.to_plain(), sort_keys=True)


def grid(result, name: str):
    return next(each for each in result.grids if each.name == name)


def cell(result, of: str):
    """The first figure in a row of the controls."""
    return next(row[1] for row in grid(result, "controls").rows if str(row[0]).startswith(of))


@dataclass(frozen=True)
class FailsNowAndThen:
    """A generator that fails in about a third of its fits."""

    name: ClassVar[str] = "fails"
    row_level: ClassVar[bool] = False
    claim: ClassVar = None

    def fit(self, table, rng):
        if rng.random() < 0.3:
            raise ValueError("no luck with Mrs Miller")
        return Independent().fit(table, rng)


def test_workers_stores_and_interruptions_change_no_number(tmp_path):
    table = plain("all kinds of columns")
    generator = Copycat(0.5)
    once = everyone(generator, table, runs=24, seed=3)
    two = everyone(generator, table, runs=24, seed=3, workers=2, out=tmp_path / "two")
    everyone(generator, table, runs=16, seed=3, pool=tmp_path / "pool")
    grown = everyone(generator, table, runs=24, seed=3, pool=tmp_path / "pool")
    assert plain_of(once) == plain_of(two) == plain_of(grown)
    assert once.records.rows == two.records.rows == grown.records.rows
    assert plain_of(once) != plain_of(everyone(generator, table, runs=24, seed=4))


def test_a_pool_of_another_plan_is_refused_and_the_field_is_named(tmp_path):
    table, other = plain("numbers only"), plain("numbers only").take(np.arange(1, 60))
    pool = tmp_path / "pool"
    everyone(Oblivious(), table, runs=8, pool=pool)
    everyone(Oblivious(), table, runs=9, rate=0.2, scorer="boosted", pool=pool)
    for field, generator, real, choices in [
        ("seed", Oblivious(), table, {"seed": 1}),
        ("real", Oblivious(), other, {}),
        ("generator", Independent(), table, {}),
        ("synthetic_rows", Oblivious(), table, {"synthetic_rows": 12}),
        ("coins", Oblivious(), table, {"coins": "paired"}),
        ("distances", Oblivious(), table, {"distances": False}),
        ("subsample", Oblivious(), table, {"subsample": 20}),
    ]:
        with pytest.raises(RunError, match=field):
            everyone(generator, real, runs=8, pool=pool, **choices)


def test_failed_runs_are_counted_and_their_words_stay_out_of_the_result():
    result = everyone(FailsNowAndThen(), plain("two small categorical columns"), runs=40, seed=1)
    assert 3 <= result.failed_tasks <= 25
    note = next(note for note in result.notes if "failed" in note)
    assert note.startswith(f"{result.failed_tasks} runs failed")
    assert "Miller" not in plain_of(result)


SMALL = {
    "one column": pd.DataFrame({"a": list("xyxyzzxyxx")}),
    "numbers only": pd.DataFrame({"a": np.linspace(0, 1, 30), "b": np.arange(30) % 7}),
    "a column that is always missing": pd.DataFrame({"a": list("xy") * 8, "b": [None] * 16, "c": np.arange(16.0)}),
    "four rows": pd.DataFrame({"a": list("xyxy"), "b": [1.0, 2.0, 3.0, 4.0]}),
    "all rows the same": pd.DataFrame({"a": ["x"] * 12, "b": [1] * 12}),
    "duplicates": pd.DataFrame({"a": list("xxyyzz") * 4, "b": [1, 1, 2, 2, 3, 3] * 4}),
    "five people of several rows": pd.DataFrame({"a": list("xyzxyzxyzx"), "b": np.arange(10)}),
}


@pytest.mark.parametrize("coins", ["independent", "paired"])
@pytest.mark.parametrize("name", SMALL)
def test_unusual_tables_are_audited_all_the_same(name, coins):
    frame = SMALL[name]
    result = everyone(Oblivious(), frame, runs=34, seed=2, coins=coins, prediction_errors=True, access="white-box")
    assert {finding.name for finding in result.findings} >= {"everyone", "everyone/people"}
    assert cell(result, "people listed") == 0
    assert len(result.records.rows) == len(frame) - (len(frame) % 2 if coins == "paired" else 0)
    json.loads(plain_of(result))


@pytest.mark.parametrize("style", ["all kinds of columns", "numbers only"])
@pytest.mark.parametrize("generator", [Raw(), Copycat(1.0)], ids=lambda g: g.name)
def test_what_publishes_everybody_lists_many(style, generator):
    result = everyone(generator, plain(style), runs=64, seed=0, synthetic_rows=60)
    assert cell(result, "people listed") > 0
    assert cell(result, "people listed with the coins") == 0


@pytest.mark.parametrize("coins", ["independent", "paired"])
def test_paired_coins_tell_about_pairs_in_the_very_sentence(coins):
    """A name on the list is right if its pair shows, so whoever reads the sentence must not take it for the person alone."""
    result = everyone(Copycat(1.0), plain("all kinds of columns"), runs=64, seed=0, synthetic_rows=60, coins=coins)
    listed = [row for row in result.records.rows if row[result.records.columns.index("listed")]]
    (title,) = (finding.title for finding in result.findings if finding.name == "everyone/people")
    for sentence in (title, *result.facts.at_risk):
        assert ("pairs" in sentence) == ("stands in" in sentence) == (coins == "paired")
        assert f"{len(listed)} of " in sentence


def people_with_names(rows: int = 60) -> pd.DataFrame:
    """Every value is a word that can be found again."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "town": [f"qtown{number}" for number in rng.integers(0, 5, rows)],
            "job": [f"qjob{number}" for number in rng.integers(0, 30, rows)],
            "pay": 7_000_000 + rng.integers(0, 99_999, rows),
        }
    )


@pytest.mark.parametrize("generator", [Copycat(1.0), Raw(), Oblivious()], ids=lambda g: g.name)
def test_the_result_holds_nothing_about_single_people(generator):
    """No value of the table, and no list as long as there are people."""
    frame = people_with_names()
    result = everyone(generator, frame, runs=40, seed=1, secrets=())
    text = plain_of(result)
    assert "qtown" not in text
    assert "qjob" not in text
    assert not [pay for pay in frame["pay"] if str(pay) in text]
    assert "records" not in result.to_plain()
    for each in result.grids:
        assert len(each.rows) != len(frame), each.name
    for each in result.series:
        assert len(each.x) != len(frame), each.name


def test_records_come_most_exposed_first_and_every_unit_once():
    table = plain("all kinds of columns")
    result = everyone(Copycat(1.0, only=(0, 1, 2)), table, runs=64, seed=0, synthetic_rows=40)
    columns = dict(zip(result.records.columns, zip(*result.records.rows, strict=True), strict=True))
    assert sorted(columns["row"]) == list(range(60))
    assert list(columns["rank"]) == list(range(1, 61))
    assert list(columns["log10 e-value"]) == sorted(columns["log10 e-value"], reverse=True)
    listed = list(columns["listed"])
    assert listed == sorted(listed, reverse=True)
    assert all((bound is not None) == flag for bound, flag in zip(columns["epsilon >="], listed, strict=True))


def test_a_subsample_names_rows_of_the_whole_table():
    frame = pd.DataFrame({"vip": ["no"] * 70 + ["yes"] * 30, "x": np.arange(100)})
    values = {"vip": ("no", "yes"), "x": tuple(range(1000))}
    schema = Schema(tuple(Column(name, Kind.CATEGORICAL, values=known) for name, known in values.items()))
    result = everyone(Copycat(1.0, where="vip=yes"), Table.from_pandas(frame, schema), runs=96, subsample=60, seed=5)
    played = {row[0] for row in result.records.rows}
    assert len(played) == 60
    assert {row[0] for row in result.records.rows if row[2]} == {row for row in played if row >= 70}


def visits(seed: int = 0) -> Table:
    """Three people with one row and four with two, so that pairs of one-row people may be missing."""
    ids = ["a", "b", "c", "d", "d", "e", "e", "f", "f", "g", "g"]
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"id": ids, "x": rng.choice(["u", "v"], len(ids)), "y": rng.choice(["u", "v"], len(ids))})
    columns = tuple(Column(name, Kind.CATEGORICAL, values=("u", "v")) for name in "xy")
    return Table.from_pandas(frame, Schema(columns, person="id"))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("runs", [20, 40])
def test_a_claim_per_row_without_a_pair_of_one_row_people_is_not_tested(runs, seed):
    """PrivBayes promises something per row and for replacement: only pairs of one-row people can test it."""
    result = everyone(PrivBayes(1.0), visits(), runs=runs, seed=seed)
    tested = any(finding.name == "everyone/claim" for finding in result.findings)
    assert tested != any("claim" in each.name for each in result.not_tested)


def test_the_worst_gain_is_no_more_than_there_is():
    """People copied in a tenth of the releases: nobody can gain more than that, however sure a copy makes."""
    frame = pd.DataFrame({"x": np.arange(64) % 8, "y": np.arange(64) // 8})
    columns = tuple(Column(name, Kind.CATEGORICAL, values=tuple(range(40))) for name in "xy")
    table = Table.from_pandas(frame, Schema(columns))
    result = everyone(Copycat(0.1), table, runs=1000, synthetic_rows=32, distances=False)
    finding = next(each for each in result.findings if each.name == "everyone/people")
    assert cell(result, "people listed") > 0
    assert finding.estimate.low <= 0.1
