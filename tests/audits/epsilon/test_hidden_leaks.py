"""Leaks that counts of values do not show: the order of rows, the range of a number, a very number among many near it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from unmask.attacks.claim.outputs import BLACK, ORDER, TableReader, group_of, order_features
from unmask.audits.epsilon.audit import audit_epsilon
from unmask.audits.epsilon.result import Control, _control_notes
from unmask.generators.claim import Claim, Neighbours
from unmask.generators.histogram import Histogram
from unmask.results.policy import Severity
from unmask.stats.results import Assumption, Bound
from unmask.tables.schema import Column, Kind, Schema
from unmask.tables.table import Table
from unmask.threats.pairs import OwnPair, WorstCase, with_target


@dataclass(frozen=True)
class Changed:
    """A histogram with all the noise that it claims, whose releases are changed by what the real table tells."""

    name: ClassVar[str] = "changed"
    row_level: ClassVar[bool] = False
    claim: ClassVar[Claim] = Claim(1.0, neighbours=Neighbours.ADD_REMOVE)

    change: Callable[[Table, Table, np.random.Generator], Table]

    def fit(self, table: Table, rng: np.random.Generator) -> Any:
        return ChangedModel(Histogram(1.0).fit(table, rng), table, self.change)


@dataclass(frozen=True, eq=False)
class ChangedModel:
    model: Any
    real: Table
    change: Callable[[Table, Table, np.random.Generator], Table]

    @property
    def claim(self) -> Claim:
        return self.model.claim

    @property
    def measurements(self) -> tuple:
        return self.model.measurements

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        return self.change(self.model.sample(rows, rng), self.real, rng)


def by_secret(release: Table, real: Table, rng: np.random.Generator) -> Table:
    """Rows sorted by a column, up or down: whether the real table has an odd number of rows."""
    order = np.argsort(release.codes[:, 2], kind="stable")
    return release.take(order if len(real) % 2 else order[::-1])


def target_first(release: Table, real: Table, rng: np.random.Generator) -> Table:
    """Whoever is the last row of the real table has such rows first."""
    like = (release.codes == real.codes[-1]).all(axis=1)
    return release.take(np.argsort(~like, kind="stable"))


def clipped(place: int, *ends: str) -> Callable[[Table, Table, np.random.Generator], Table]:
    """Numbers of a column are cut at the real maximum or minimum."""

    def change(release: Table, real: Table, rng: np.random.Generator) -> Table:
        if not real.schema.numeric:
            return release
        column, numbers, codes = real.schema.numeric[place], release.numbers.copy(), release.codes.copy()
        low = real.numbers[:, place].min() if "min" in ends else -np.inf
        high = real.numbers[:, place].max() if "max" in ends else np.inf
        numbers[:, place] = np.clip(numbers[:, place], low, high)
        codes[:, column] = real.schema.columns[column].bin_of(numbers[:, place])
        return replace(release, numbers=np.asfortranarray(numbers), codes=np.asfortranarray(codes))

    return change


def stretched(release: Table, real: Table, rng: np.random.Generator) -> Table:
    """The first row has the real maximum of the first number."""
    if not real.schema.numeric:
        return release
    numbers, codes = release.numbers.copy(), release.codes.copy()
    numbers[0, 0] = real.numbers[:, 0].max()
    codes[0, real.schema.numeric[0]] = real.schema.columns[real.schema.numeric[0]].bin_of(numbers[:1, 0])[0]
    return replace(release, numbers=np.asfortranarray(numbers), codes=np.asfortranarray(codes))


def donors(release: Table, real: Table, rng: np.random.Generator) -> Table:
    """Numbers of real people, drawn within the bin that the noise allows."""
    numbers = release.numbers.copy()
    for place, column in enumerate(real.schema.numeric):
        for code in np.unique(release.codes[:, column]):
            own = real.numbers[real.codes[:, column] == code, place]
            rows = release.codes[:, column] == code
            if len(own):
                numbers[rows, place] = rng.choice(own, int(rows.sum()))
    return replace(release, numbers=np.asfortranarray(numbers))


def refuted(generator: Any, **choices: Any) -> tuple[bool, str]:
    result = audit_epsilon(generator, controls=False, **choices)
    return result.severity is Severity.HIGH, result.notes[0]


@pytest.mark.parametrize("change", [by_secret, target_first], ids=lambda change: change.__name__)
def test_the_order_of_rows_is_seen(change):
    """Infinite epsilon. By default, white-box or black-box, in 200 runs."""
    for seed, access in enumerate(("white-box", "black-box")):
        found, words = refuted(Changed(change), runs=200, seed=seed, access=access, synthetic_rows=1500)
        assert found
        assert "the order of the rows" in words


@pytest.mark.parametrize(
    "change",
    [clipped(0, "max"), clipped(1, "min"), clipped(0, "min", "max"), stretched],
    ids=["maximum", "minimum", "range", "maximum published"],
)
def test_a_leaked_maximum_or_range_is_refuted_by_default(change):
    for seed in range(2):
        found, words = refuted(Changed(change), runs=200, seed=seed)
        assert found, words


def test_a_very_number_among_many_near_it_is_seen():
    """The target's number lies within everybody's range, and in the bin of many."""
    schema = Schema((Column("amount", Kind.CONTINUOUS, lower=0.0, upper=1000.0, bins=2),))
    numbers = np.concatenate([[0.0, 1000.0], np.random.default_rng(0).uniform(1, 999, 60)])[:, None]
    rows = [
        Table(schema, schema.columns[0].bin_of(held[:, 0])[:, None].astype(schema.code_type), held)
        for held in (numbers, np.array([[333.25]]))
    ]
    pair = with_target("donors", *rows, place=0, neighbours=Neighbours.ADD_REMOVE)
    found, words = refuted(
        Changed(donors), runs=200, seed=1, access="black-box", pairs=OwnPair(pair.inside, pair.outside)
    )
    assert found
    assert "own numbers" in words or "exact amount" in words


def test_correct_histograms_stand_on_tables_with_numbers():
    """Where numbers, ranges and the order of rows are looked at, too (99.9 % limit of 12 audits at 5 %: 4)."""
    assert sum(refuted("histogram:epsilon=1", runs=100, seed=seed)[0] for seed in range(12)) <= 4


def test_order_statistics_tell_up_from_down_and_first_from_last(people):
    up = people.take(np.argsort(people.numbers[:, 0], kind="stable"))
    name = people.schema.names[people.schema.numeric[0]]
    like = np.arange(len(up)) == 0
    seen, back = order_features(up, like), order_features(up.take(np.arange(len(up))[::-1]), like[::-1])
    assert seen[f"order of {name}"] > 0.95
    assert back[f"order of {name}"] == pytest.approx(-seen[f"order of {name}"])
    assert (seen["order: first row"], seen["order: last row"]) == (1, 0)
    assert (back["order: first row"], back["order: last row"]) == (0, 1)
    assert seen["order: place of the target"] == -back["order: place of the target"] == -1
    assert {group_of(name) for name in seen} == {ORDER}
    assert order_features(up.take([0]), like[:1]) == {}


def test_exact_numbers_are_counted_beside_bins():
    pair = WorstCase(columns=3, rows=10).build(Neighbours.ADD_REMOVE, None, 0)
    seen = TableReader(pair).read(pair.inside)
    assert seen["exact c1"] == seen["exact c2"] == pytest.approx(1 / 11)
    assert seen["exact row"] == pytest.approx(1 / 11)
    assert seen["own numbers"] == 2
    assert TableReader(pair).read(pair.outside)["own numbers"] == 0
    assert group_of("exact c1") == group_of("own numbers") == BLACK


def test_a_copycat_that_shows_all_that_can_be_shown_behaves():
    """A claim of 8 is out of reach of 40 runs, for anybody: the copycat is not refuted, and that is as it should be."""
    result = audit_epsilon("histogram:epsilon=8", runs=40, pairs="narrow", synthetic_rows=300)
    controls = {row[0]: row for row in next(grid for grid in result.grids if grid.name == "controls").rows}
    assert controls["copycat"][-1] == "not refuted"
    assert not any("control did not behave" in note for note in result.notes)


def test_a_copycat_that_shows_nothing_does_not_behave():
    def bound(value: float) -> Bound:
        return Bound(value, (value, np.inf), 0.95, "bets", Assumption.EXACT, 100, 0.0, 3.0)

    assert _control_notes([Control("copycat", bound(2.9), False), Control("oblivious", bound(0), False)]) == []
    (note,) = _control_notes([Control("copycat", bound(0.2), False), Control("oblivious", bound(1), True)])
    assert "copycat, oblivious" in note
