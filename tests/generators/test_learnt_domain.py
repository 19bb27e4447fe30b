"""Ranges and categories that are read off the data: nothing outside them is published, and a target's own value betrays it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from unmask.audits.attack.audit import attack
from unmask.audits.attack.plan import AttackPlan
from unmask.audits.epsilon.plan import EpsilonPlan
from unmask.audits.everyone.audit import everyone
from unmask.audits.plan import choices_of
from unmask.errors import ParameterError
from unmask.generators import names, parse
from unmask.generators.adapters.learnt_domain import LearntDomain, learnt_schema, recoded
from unmask.generators.privbayes import PrivBayes
from unmask.tables.infer import Binning, Hints, infer_schema
from unmask.tables.read import read_table
from unmask.tables.schema import Origin
from unmask.testing._tables import plain


@pytest.fixture(scope="module")
def population():
    """Row 0 has a value and a number that nobody else has."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: rng.choice(list("pqr"), 300) for name in "abc"})
    frame["n"] = rng.integers(0, 50, 300)
    frame["x"] = rng.normal(size=300)
    frame.loc[0] = [*["alien"] * 3, 90, 20.0]
    table = read_table(frame)
    return replace(table, schema=replace(table.schema, origin=Origin.PUBLIC))


def test_the_learnt_schema_is_the_one_that_inference_reads_off_the_frame(population):
    part = population.take(np.arange(5, 60))
    kinds = {column.name: column.kind for column in population.schema.columns}
    frame = part.to_pandas()
    inferred = infer_schema(frame, hints=Hints(kinds=kinds), binning=Binning(20, quantile=False)).schema
    for found, other in zip(learnt_schema(part).columns, inferred.columns, strict=True):
        assert (found.lower, found.upper) == (other.lower, other.upper)
        assert set(found.values) == set(other.values)


def test_recoding_there_and_back_changes_nothing():
    table = plain("all kinds of columns")
    there = recoded(table, learnt_schema(table))
    assert there.to_pandas().equals(table.to_pandas())
    back = recoded(there, table.schema)
    assert np.array_equal(back.codes, table.codes)
    assert np.array_equal(back.numbers, table.numbers, equal_nan=True)


@pytest.mark.parametrize("name", [name for name in names() if name not in ("raw", "sanitiser", "sdv")])
def test_no_generator_draws_outside_the_domain_that_it_learnt(population, name, rng):
    given = {"privbayes": "epsilon=1", "mst": "epsilon=1", "histogram": "epsilon=1", "copycat": "p=0.5"}
    columns = ["n", "x"] if name == "mixture" else ["a", "b", "n"]
    table = population.select(columns).take(np.arange(1, 80))
    text = f"{name}:{given[name]}" if name in given else name
    release = LearntDomain(parse(text)).fit(table, rng).sample(200, rng)
    assert release.schema == table.schema
    held, drawn = table.to_pandas(), release.to_pandas()
    for column in table.schema.columns:
        if column.is_numeric:
            assert drawn[column.name].between(held[column.name].min(), held[column.name].max()).all()
        else:
            assert set(drawn[column.name]) <= set(held[column.name])


def test_a_private_generator_gives_the_alien_away_only_if_it_learns_its_domain(population):
    choices = {"attacks": ("histogram",), "targets": "rows:0", "shadows": 40, "tests": 60, "train_rows": 80, "seed": 1}
    public, learnt = (
        attack("privbayes:epsilon=0.1", population, domain=domain, **choices) for domain in ("public", "learnt")
    )
    gain = {result.plan["domain"]: result.findings[0].estimate for result in (public, learnt)}
    assert gain["public"].low < 0.1
    assert gain["learnt"].low > 0.3
    assert any("read off each training table" in note for note in learnt.notes)
    assert not any("read off each training table" in note for note in public.notes)


def test_what_the_attacker_holds_possible_learns_its_domain_too(population):
    plan = AttackPlan(generator="privbayes:epsilon=1", domain="learnt")
    assert plan.made() == LearntDomain(PrivBayes(epsilon=1))
    assert plan.made(PrivBayes(epsilon=2)) == LearntDomain(PrivBayes(epsilon=2))
    assert AttackPlan(generator="cart").made() == parse("cart")
    assert "domain" not in {choice.name for choice in choices_of(EpsilonPlan)}


def test_everyone_learns_domains_too(population):
    result = everyone("independent", population, runs=16, domain="learnt", distances=False)
    assert any("read off each training table" in note for note in result.notes)


@pytest.mark.parametrize("name", ["raw", "sanitiser"])
def test_rows_that_are_published_have_no_domain_to_learn(name):
    with pytest.raises(ParameterError, match="has no domain to learn"):
        AttackPlan(generator=name, domain="learnt").made()
