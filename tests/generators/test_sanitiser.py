"""The sanitiser against hand-worked tables, naive re-implementations and brute force."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from unmask import generators
from unmask.errors import ParameterError
from unmask.generators.sanitiser import NO_KEYS, Removed, Sanitiser, start_of_period
from unmask.tables.read import read_table, write_csv
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table

OFF = {"k": 1, "rare": 1, "cap": 1.0, "dates": "none", "group": False, "bands": False}
REGION = Column(
    "region",
    Kind.CATEGORICAL,
    values=("Kent", "Essex", "Fife", "Wales"),
    groups=(("England", ("Kent", "Essex")), ("Scotland", ("Fife",))),
    missing=("",),
)
SEX = Column("sex", Kind.CATEGORICAL, values=("f", "m"))
AGE = Column("age", Kind.INTEGER, lower=0.0, upper=99.0, bins=10, missing=("",))
PAY = Column("pay", Kind.CONTINUOUS, lower=0.0, upper=1e6, bins=20)


def published(generator: Sanitiser, table: Table, seed: int = 0) -> Table:
    return generator.fit(table, None).sample(0, np.random.default_rng(seed))


def random_table(rng: np.random.Generator, rows: int, *, persons: bool = False) -> Table:
    frame = pd.DataFrame(
        {
            "region": rng.choice(
                np.array(["Kent", "Essex", "Fife", "Wales", None], dtype=object), rows, p=[0.4, 0.3, 0.1, 0.1, 0.1]
            ),
            "sex": rng.choice(["f", "m"], rows),
            "age": pd.array(np.where(rng.random(rows) < 0.1, None, rng.integers(0, 100, rows)), dtype="Int64"),
            "pay": np.round(rng.lognormal(10, 1, rows).clip(0, 1e6), 2),
        }
    )
    if persons:
        frame["who"] = rng.choice([f"p{i}" for i in range(max(1, rows // 2))], rows)
    return Table.from_pandas(
        frame, Schema((REGION, SEX, AGE, PAY), keys=("region", "age"), person="who" if persons else None)
    )


def test_nothing_switched_on_publishes_the_rows_as_they_are():
    table = random_table(np.random.default_rng(0), 50)
    model = Sanitiser(**OFF).fit(table, None)
    assert model.removed == Removed(rows=50, rare=0, k_anonymity=0, capped=0, grouped=0, coarsened=0, banded=0)
    shown = model.sample(3, np.random.default_rng(1)).to_pandas()
    pd.testing.assert_frame_equal(
        shown.sort_values(["pay", "age"], ignore_index=True),
        table.to_pandas().sort_values(["pay", "age"], ignore_index=True),
    )


def test_categories_become_their_groups_and_survive_a_file(tmp_path):
    frame = pd.DataFrame({"region": ["Kent", "Essex", "Fife", "Wales", None]})
    table = Table.from_pandas(frame, Schema((REGION,)))
    model = Sanitiser(**OFF | {"group": True}).fit(table, None)
    sampled = model.sample(5, np.random.default_rng(0))
    assert sorted(sampled.to_pandas()["region"].fillna("-")) == ["-", "England", "England", "Scotland", "Wales"]
    assert model.removed.grouped == 3
    size = REGION.size
    assert sorted(sampled.codes[:, 0]) == [3, 4, size + 1, size + 1, size + 2]
    write_csv(sampled, tmp_path / "out.csv")
    again = read_table(tmp_path / "out.csv", table.schema)
    assert np.array_equal(again.codes, sampled.codes)


def test_a_group_of_pandas_categories_decodes():
    column = Column("c", Kind.CATEGORICAL, values=(1, 2, 3), groups=(("few", (1, 2)),), dtype="category", ordered=True)
    table = Table.from_pandas(pd.DataFrame({"c": pd.Categorical([1, 2, 3], ordered=True)}), Schema((column,)))
    assert set(published(Sanitiser(**OFF | {"group": True}), table).to_pandas()["c"]) == {"few", 3}


def test_numbers_are_capped_at_the_quantile_of_what_is_there():
    rng = np.random.default_rng(3)
    for cap in (0.5, 0.9, 0.95, 1.0):
        table = random_table(rng, 83)
        model = Sanitiser(**OFF | {"cap": cap}).fit(table, None)
        changed = 0
        for place in range(2):
            old, new = table.numbers[:, place], model.table.numbers[:, place]
            present = np.sort(old[~np.isnan(old)])
            top = present[math.ceil(cap * len(present) - 1e-9) - 1]
            assert np.array_equal(new, np.minimum(old, top), equal_nan=True)
            changed += int((old > top).sum())
        assert model.removed.capped == changed
        encoded = Table.from_pandas(model.table.to_pandas(), table.schema)
        assert np.array_equal(encoded.codes, model.table.codes)  # codes moved with the numbers


def test_capping_follows_dropping_as_in_the_paper():
    """The rare row holds the largest number, and does not count for the quantile."""
    column = Column("c", Kind.CATEGORICAL, values=("a", "b"))
    number = Column("x", Kind.INTEGER, lower=0.0, upper=100.0)
    table = Table.from_pandas(pd.DataFrame({"c": ["a"] * 4 + ["b"], "x": [1, 2, 3, 4, 100]}), Schema((column, number)))
    shown = published(Sanitiser(**OFF | {"rare": 2, "cap": 0.75}), table)
    assert sorted(shown.numbers[:, 0]) == [1, 2, 3, 3]


@pytest.mark.parametrize("period", ["day", "week", "month", "quarter", "year"])
@pytest.mark.parametrize("resolution", ["D", "s", "us"])
def test_dates_become_the_start_of_their_period(period, resolution):
    stamps = pd.Series(pd.date_range("1959-12-20 05:06:07", "2031-02-01", freq="173h7min")).dt.floor("s")
    if resolution == "D":
        stamps = stamps.dt.floor("D")
    counts = stamps.to_numpy().astype(f"M8[{resolution}]").astype(np.int64).astype(float)
    letter = {"day": "D", "week": "W-SUN", "month": "M", "quarter": "Q", "year": "Y"}[period]
    wanted = stamps.dt.to_period(letter).dt.start_time.to_numpy().astype(f"M8[{resolution}]").astype(np.int64)
    starts = start_of_period(np.append(counts, np.nan), resolution, period)
    assert np.array_equal(starts[:-1], wanted)
    assert np.isnan(starts[-1])


def test_coarse_dates_stay_in_the_public_range():
    column = Column(
        "day", Kind.DATETIME, lower=14_620.0, upper=14_700.0, resolution="D", format="%Y-%m-%d"
    )  # from 2010-01-11
    table = Table.from_pandas(pd.DataFrame({"day": ["2010-01-11", "2010-01-31", "2010-02-03"]}), Schema((column,)))
    model = Sanitiser(**OFF | {"dates": "month"}).fit(table, None)
    assert sorted(model.table.to_pandas()["day"]) == ["2010-01-11", "2010-01-11", "2010-02-01"]
    assert model.removed.coarsened == 2


def people_per(frame: pd.DataFrame, by: list[str]) -> pd.Series:
    return frame.groupby(by, dropna=False)["who"].transform("nunique")


@pytest.mark.parametrize("persons", [False, True])
def test_k_anonymity_and_rarity_hold_in_what_is_published(persons):
    """Checked on decoded values by pandas, with people counted, over random tables and parameters."""
    rng = np.random.default_rng(5)
    some = 0
    for _ in range(60):
        k, rare = (int(rng.integers(1, 7)) for _ in range(2))
        table = random_table(rng, int(rng.integers(20, 150)), persons=persons)
        model = Sanitiser(k=k, rare=rare, group=bool(rng.integers(2)), bands=bool(rng.integers(4))).fit(table, None)
        shown = model.table.to_pandas()
        assert model.removed.published == len(shown) == len(model.sample(0, rng))
        if not len(shown):
            continue
        some += 1
        shown["who"] = kept_persons(model, table)
        assert people_per(shown, ["region", "age"]).min() >= k
        assert people_per(shown, ["region"]).min() >= rare
        assert people_per(shown, ["sex"]).min() >= rare
    assert some > 20


def kept_persons(model, table: Table) -> np.ndarray:
    """Who the published rows belong to, found again by their exact pay (capped pay is shared, so found by order)."""
    kept, row = [], 0
    for pay in model.table.numbers[:, 1]:
        while min(table.numbers[row, 1], model.table.numbers[:, 1].max()) != pay:
            row += 1
        kept.append(row)
        row += 1
    return np.array(kept) if table.persons is None else table.persons[kept]


def test_the_published_rows_are_the_largest_set_that_keeps_both_rules():
    """Brute force over all subsets of eight rows."""
    rng = np.random.default_rng(11)
    columns = tuple(Column(name, Kind.CATEGORICAL, values=("x", "y", "z")) for name in "abc")
    sizes = set()
    for _ in range(25):
        frame = pd.DataFrame({name: rng.choice(["x", "y", "z"], 8, p=[0.6, 0.3, 0.1]) for name in "abc"})
        people = list(frame.itertuples(index=False, name=None))
        table = Table.from_pandas(frame, Schema(columns, keys=("a", "b")))
        model = Sanitiser(**OFF | {"k": 2, "rare": 3}).fit(table, None)
        best = max(
            (rows for n in range(9) for rows in itertools.combinations(range(8), n) if keeps(people, rows)), key=len
        )
        pd.testing.assert_frame_equal(
            model.table.to_pandas(), frame.iloc[list(best)].reset_index(drop=True), check_dtype=False
        )
        sizes.add(len(best))
    assert len(sizes) > 3


def keeps(people: list[tuple[str, ...]], rows: tuple[int, ...]) -> bool:
    part = [people[row] for row in rows]
    no_rare = all(count >= 3 for place in range(3) for count in Counter(row[place] for row in part).values())
    return no_rare and all(count >= 2 for count in Counter(row[:2] for row in part).values())


def test_one_person_with_many_rows_is_not_a_crowd():
    column = Column("c", Kind.CATEGORICAL, values=("a", "b"))
    schema = Schema((column,), keys=("c",), person="who")
    frame = pd.DataFrame({"c": ["a"] * 6 + ["b"] * 3, "who": ["p1"] * 6 + ["p2", "p3", "p4"]})
    model = Sanitiser(**OFF | {"k": 3}).fit(Table.from_pandas(frame, schema), None)
    assert model.table.to_pandas()["c"].tolist() == ["b"] * 3
    assert model.removed.k_anonymity == 6
    assert model.table.persons is None


def test_numbers_among_the_keys_are_published_as_bins_or_compared_exactly():
    frame = pd.DataFrame({"age": pd.array([20, 21, 25, 33, None, None], dtype="Int64")})
    table = Table.from_pandas(frame, Schema((AGE,), keys=("age",)))
    banded = Sanitiser(**OFF | {"k": 2, "bands": True}).fit(table, None)
    assert banded.table.to_pandas()["age"].tolist() == [20, 20, 20, pd.NA, pd.NA]
    assert banded.removed == Removed(rows=6, rare=0, k_anonymity=1, capped=0, grouped=0, coarsened=0, banded=2)
    exact = Sanitiser(**OFF | {"k": 2}).fit(table, None)
    assert exact.table.to_pandas()["age"].tolist() == [pd.NA, pd.NA]  # missing values are one class


def test_nobody_may_be_left():
    frame = pd.DataFrame({"sex": ["f", "m"] * 5, "age": range(10)})
    table = Table.from_pandas(frame, Schema((SEX, AGE), keys=("sex", "age")))
    model = Sanitiser(k=3, rare=1, bands=False).fit(table, None)
    sampled = model.sample(10, np.random.default_rng(0))
    assert len(sampled) == 0
    assert sampled.to_pandas().columns.tolist() == ["sex", "age"]
    assert model.removed.published == 0
    assert "0 of 10 rows published; dropped: 0 for rare categories, 10 for k-anonymity" in sampled.notes[-1]


def test_without_keys_the_table_says_that_k_anonymity_was_not_enforced():
    table = Table.from_pandas(pd.DataFrame({"sex": ["f", "m"] * 10}), Schema((SEX,)))
    assert NO_KEYS in published(Sanitiser(), table).notes
    assert NO_KEYS not in published(Sanitiser(keys="sex"), table).notes


def test_keys_of_the_parameter_go_before_those_of_the_schema():
    table = random_table(np.random.default_rng(2), 100)
    assert Sanitiser(keys="sex + age").keys == Sanitiser(keys=("sex", "age")).keys == ("sex", "age")
    assert generators.parse("sanitiser:k=5,keys=sex").fit(table, None).removed.k_anonymity == 0
    assert Sanitiser(k=5).fit(table, None).removed.k_anonymity > 0


def test_removed_reads_as_a_sentence():
    text = str(Removed(rows=1000, rare=10, k_anonymity=90, capped=5, grouped=7, coarsened=3, banded=2))
    assert text.startswith("900 of 1,000 rows published; dropped: 10 for rare categories, 90 for k-anonymity")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "k is 0"),
        ({"k": 2.5}, "k is 2.5"),
        ({"rare": True}, "rare is True"),
        ({"cap": 0}, "cap is 0"),
        ({"cap": 1.5}, "cap is 1.5"),
        ({"dates": "fortnight"}, "dates is 'fortnight'"),
        ({"group": "yes"}, "group is 'yes'"),
    ],
)
def test_parameters_without_meaning_are_refused(parameters, message):
    with pytest.raises(ParameterError, match=message):
        Sanitiser(**parameters)


def test_tables_that_cannot_be_sanitised_are_refused():
    table = random_table(np.random.default_rng(0), 9)
    with pytest.raises(ParameterError, match="k is 10, but the table has 9 rows"):
        Sanitiser(rare=1).fit(table, None)
    with pytest.raises(ParameterError, match="rare is 10, but the table has 9 rows"):
        Sanitiser(k=2).fit(table, None)
    with pytest.raises(ParameterError, match="there is no column 'height'"):
        Sanitiser(k=2, keys="height").fit(table, None)
    column = Column("c", Kind.CATEGORICAL, values=("a", "b"), groups=(("x", ("a",)), ("y", ("a", "b"))))
    table = Table.from_pandas(pd.DataFrame({"c": ["a", "b"]}), Schema((column,)))
    with pytest.raises(ParameterError, match="'a' is in 'x' and in 'y'"):
        Sanitiser(**OFF | {"group": True}).fit(table, None)
