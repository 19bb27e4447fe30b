"""Effective epsilon in `unmask attack`: who wins, at which delta, what a claim allows, and that the worst target is found."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from unmask.audits.attack.audit import attack
from unmask.audits.attack.effective import NAME
from unmask.audits.attack.words import delta_for, epsilon_allowed
from unmask.errors import ParameterError
from unmask.generators.claim import Claim, Neighbours
from unmask.results.policy import Severity
from unmask.tables.read import read_table
from unmask.tables.schema import Origin
from unmask.threats.game import Game
from unmask.threats.knowledge import Placement


@pytest.fixture(scope="module")
def population():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({name: rng.choice(["x", "y", "z"], 300) for name in "abcd"})
    frame.loc[0] = ["alien"] * 4
    table = read_table(frame)
    return replace(table, schema=replace(table.schema, origin=Origin.PUBLIC))


def lines(result):
    (grid,) = [grid for grid in result.grids if grid.name == NAME]
    return [dict(zip(grid.columns, row, strict=True)) for row in grid.rows]


SIZES = {"shadows": 20, "tests": 120, "train_rows": 40}


def test_the_attack_that_sees_the_copy_wins_on_the_target_that_is_seen(population):
    result = attack(
        "copycat:p=1", population, attacks=("record-linkage", "density"), targets="rows:0+random:3", **SIZES
    )
    found = {line["targets"]: line for line in lines(result)}
    assert list(found) == ["all", "rows", "random"]
    assert found["all"] == found["rows"] | {"targets": "all"}
    assert found["all"]["attack that won"] == "record-linkage"
    assert (found["all"]["chosen on"], found["all"]["judged on"], found["all"]["delta"]) == (12, 108, 0.0)
    assert found["all"]["epsilon >="] == found["all"]["largest visible"] > 2
    assert found["all"]["estimate high"] == np.inf
    assert found["all"]["claim allows"] is None
    assert "Infinity" in str(result.to_plain())
    assert not [finding for finding in result.findings if finding.criterion == "dp claim"]


def test_a_claim_is_judged_at_its_own_delta_and_never_at_a_smaller_one(population):
    choices = {"attacks": ("histogram",), "targets": "rows:0", "placement": "append", **SIZES}
    result = attack("mst:epsilon=2,delta=0.001", population, **choices)
    (line,) = lines(result)
    assert (line["delta"], line["claim allows"]) == (0.001, 2.0)
    (claimed,) = [finding for finding in result.findings if finding.criterion == "dp claim"]
    assert claimed.severity is Severity.NONE
    assert "is not refuted" in claimed.title
    replaced = attack("mst:epsilon=2,delta=0.001", population, **choices | {"placement": "replace"})
    assert lines(replaced)[0]["claim allows"] is None
    with pytest.raises(ParameterError, match="the generator claims a delta of"):
        attack("mst:epsilon=2,delta=0.001", population, delta=0.0, **choices)


def test_a_false_claim_is_refuted(population):
    from unmask.generators.copycat import Copycat

    class Liar(Copycat):
        claim = Claim(0.5, 0.0, Neighbours.REPLACE)

    result = attack(Liar(1.0), population, attacks=("record-linkage",), targets="rows:0", **SIZES)
    (claimed,) = [finding for finding in result.findings if finding.criterion == "dp claim"]
    assert claimed.severity is Severity.HIGH
    assert "is refuted: record-linkage shows epsilon >=" in claimed.title


def test_a_larger_delta_lowers_both_bounds_and_nothing_else(population):
    choices = {"attacks": ("record-linkage",), "targets": "rows:0", **SIZES}
    plain, asked = (attack("copycat:p=1", population, delta=delta, **choices) for delta in (None, 0.2))
    assert lines(plain)[0]["epsilon >="] > lines(asked)[0]["epsilon >="]
    here = plain.records.columns.index("epsilon >=")
    (one,), (other,) = plain.records.rows, asked.records.rows
    assert one[here] > other[here]
    changed = [place for place, cells in enumerate(zip(one, other, strict=True)) if repr(cells[0]) != repr(cells[1])]
    assert changed == [here]
    assert plain.series == asked.series


def test_too_few_releases_say_so_and_secrets_have_none(population):
    result = attack(
        "copycat:p=1", population, attacks=("record-linkage",), targets="rows:0", shadows=0, tests=2, train_rows=40
    )
    assert NAME not in [grid.name for grid in result.grids]
    assert any("no effective epsilon" in note for note in result.notes)
    secret = attack(
        "copycat:p=1", population, attacks=("record-linkage",), targets="rows:0", goal="attribute", secret="a", **SIZES
    )
    assert NAME not in [grid.name for grid in secret.grids]


def test_what_a_claim_allows_follows_the_neighbours_and_the_delta():
    replacing, appending = Game(), Game(placement=Placement.APPEND)
    adding, replaced = Claim(1.0, 1e-6), Claim(1.0, 1e-6, Neighbours.REPLACE)
    assert epsilon_allowed(adding, appending, 1e-6) == 1
    assert epsilon_allowed(adding, appending, 1e-7) is None
    assert epsilon_allowed(adding, replacing, 1e-6) is None
    assert epsilon_allowed(adding, replacing, (1 + np.e) * 1.01e-6) == 2
    assert epsilon_allowed(Claim(1.0), replacing, 0.0) == 2
    assert epsilon_allowed(replaced, replacing, 1e-6) == 1
    assert epsilon_allowed(replaced, appending, 1e-6) is None
    assert epsilon_allowed(replace(adding, void="inferred"), appending, 1e-6) is None
    assert (delta_for(None, None), delta_for(None, adding), delta_for(0.1, adding)) == (0.0, 1e-6, 0.1)
