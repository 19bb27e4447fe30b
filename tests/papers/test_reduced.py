"""The findings of the papers with few repetitions: what `make test` can afford. The full ones run under `make papers`."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from tests.papers.games import inference, linkability
from tests.papers.groundhog import figure_8, figure_9, figure_11
from tests.papers.groundhog.releases import RISK
from tests.papers.groundhog.shared import SANITISER
from tests.papers.groundhog.texas import AUTHORS_TARGETS
from tests.papers.tapas.attacked import effective_epsilon, uniform_secret
from tests.papers.tapas.census import GROUNDHOG, QUERIES
from unmask.generators.adapters.learnt_domain import LearntDomain
from unmask.generators.independent import Independent
from unmask.generators.privbayes import PrivBayes
from unmask.stats import largest_advantage, largest_advantage_yeom
from unmask.tables.table import concatenate
from unmask.utility.learners import CLASSIFIERS

IN_BINS = "queries:order=1,numbers=bin"  # PrivBayes draws numbers anew within bins: equal ones tell nothing of it
MOST_CHARGED = "rows:27428,29265,14086"  # of the authors' targets


@pytest.mark.parametrize("generator", ["independent", "bayesnet"])
def test_outliers_lose_more_than_random_records(generator, texans):
    found = linkability(
        generator, texans, ("naive", "histogram"), targets=f"{AUTHORS_TARGETS}+random:5", shadows=60, tests=60, seed=1
    )
    gains = found.groupby(["attack", "group"])["privacy gain"].mean()
    for name in ("naive", "histogram"):  # standard error of a mean over five targets: .06
        assert gains[name, "rows"] < 0.8
        assert gains[name, "random"] > 0.8


def test_a_domain_that_is_learnt_breaks_differential_privacy(texans):
    found = linkability(
        "privbayes:epsilon=0.1", texans, ("histogram",), domain="learnt", targets=MOST_CHARGED, shadows=30, tests=40, seed=1,
        confidence=1 - 0.05 / 3,
    )  # fmt: skip
    assert (found["low"] > largest_advantage_yeom(0.1)).any()
    assert (found["privacy gain"] < 0.89).any()


def test_public_ranges_restore_differential_privacy(texans_widened):
    found = linkability(
        "privbayes:epsilon=0.1", texans_widened, ("histogram", IN_BINS), targets=MOST_CHARGED, shadows=60, tests=150,
        seed=1, confidence=1 - 0.05 / 6,
    )  # fmt: skip
    assert (found["low"] <= largest_advantage(0.1)).all()


def test_widened_ranges_are_round_and_hold_everybody(texans, texans_widened):
    for old, new in zip(texans.schema.columns, texans_widened.schema.columns, strict=True):
        if old.is_numeric:
            assert new.lower <= old.lower
            assert new.upper >= old.upper
            assert f"{abs(new.upper):.0e}"[0] in "125"
            assert new.upper == float(f"{new.upper:.0e}")


def test_a_learnt_domain_comes_and_goes_with_the_target(texans, rng):
    """What the wrapper leaks, seen directly: a category that the table does not hold is never drawn."""
    table = texans.take(np.arange(500))
    held = table.to_pandas()
    release = LearntDomain(PrivBayes(epsilon=0.1)).fit(table, rng).sample(500, rng)
    assert release.schema == texans.schema
    drawn = release.to_pandas()
    for column in texans.schema.columns:
        if column.is_numeric:
            assert drawn[column.name].between(held[column.name].min(), held[column.name].max()).all()
        else:
            assert set(drawn[column.name]) <= set(held[column.name])
    public = PrivBayes(epsilon=0.1).fit(table, rng).sample(500, rng).to_pandas()
    assert not set(public["PAT_STATUS"]) <= set(held["PAT_STATUS"])


@pytest.mark.parametrize("generator", ["bayesnet", "privbayes:epsilon=1"])
def test_length_of_stay_is_safe_in_synthetic_tables(generator, texans):
    found = inference(generator, texans, "LENGTH_OF_STAY", "linear", targets=AUTHORS_TARGETS, tests=16, seed=1)
    assert found["advantage on raw data"].mean() > 0.8  # five targets, 16 releases: standard error about .05
    assert found["advantage"].mean() < 0.2


def test_race_was_not_much_of_a_secret(texans):
    """White patients are guessed right without their data, so there is nothing to gain."""
    found = inference(
        "bayesnet", texans, "RACE", "synthetic-predictor:trees=10", targets=AUTHORS_TARGETS, tests=30, seed=1
    )
    assert (found["advantage on raw data"] < 0.5).sum() >= 3


def test_sanitising_is_all_or_nothing(texans):
    found = linkability(SANITISER, texans, ("record-linkage",), targets=AUTHORS_TARGETS, shadows=60, tests=60, seed=1)
    gains = found.set_index("row")["privacy gain"]
    assert (gains.loc[[27428, 14086]] < 0.3).all()
    assert gains.loc[26241] > 0.7


@pytest.mark.parametrize("n", [500, 5000])
def test_a_person_alone_in_a_bin_shows_in_releases_of_any_size(texans, n, rng):
    """Why privacy gain hardly grows with n: of m = n rows about Poisson(1) are in that bin, so 1 - 1/e of releases show it."""
    person, column = 14086, texans.schema.position("TOTAL_CHARGES")
    code = texans.codes[person, column]
    others = texans.take(np.flatnonzero(texans.codes[:, column] != code)[: n - 1])
    table = concatenate([others, texans.take([person])])
    model = Independent().fit(table, rng)
    shown = sum((model.sample(n, rng).codes[:, column] == code).any() for _ in range(400))
    assert shown / 400 == pytest.approx(1 - 1 / np.e, abs=3.3 * np.sqrt(0.63 * 0.37 / 400))
    assert not (Independent().fit(others, rng).sample(n, rng).codes[:, column] == code).any()


def test_a_uniform_secret_is_chance_without_the_target(britons):
    attacks = ("closest-record:metric=hamming", GROUNDHOG, QUERIES)
    found = uniform_secret(
        "privbayes:epsilon=10", britons, attacks=attacks, train_rows=1000, shadows=60, tests=120, seed=1
    )
    assert (np.abs(found["right without"] - 0.5) < 3.3 * np.sqrt(0.25 / 50)).all()


def test_targeted_queries_see_the_target(britons):
    found = effective_epsilon(
        "mst:epsilon=10,delta=1e-5", britons, 0, attacks=(GROUNDHOG, QUERIES), shadows=200, tests=400
    ).set_index("attack")
    assert found.loc[QUERIES, "AUC low"] > 0.5
    assert (found["epsilon >= (Bonferroni)"] < 20).all()


def test_accuracy_falls_in_the_order_of_the_paper(texans):
    """Figure 8 with few trees: standard error of a mean over three tables about .01, of privbayes .1 far more."""
    chosen = ("raw", SANITISER, "bayesnet", "privbayes:epsilon=0.1")
    few = replace(CLASSIFIERS[0], make=lambda seed: RandomForestClassifier(n_estimators=15, random_state=seed))
    found = figure_8.accuracies(texans, RISK, (1000,), 3, 1, chosen, learner=few)
    means = found.groupby("mechanism")["accuracy"].mean()
    assert means["raw"] > means[SANITISER] - 0.02
    assert means[SANITISER] > means["bayesnet"]
    assert means["bayesnet"] > means["privbayes:epsilon=0.1"]
    assert means["raw"] > means["dummy"] + 0.08


def test_means_are_far_off_on_wide_ranges(texans):
    """Figures 9 and 10, three real tables."""
    found = figure_9.measured(texans, 3, 1, ("raw", SANITISER, "bayesnet", "privbayes:epsilon=0.1"))
    means = found.groupby("mechanism")["mean TOTAL_CHARGES_ACCOMM"].mean()
    assert 8_000 < means["raw"] < 12_000
    assert means[SANITISER] < means["raw"] < means["bayesnet"] / 5 < means["privbayes:epsilon=0.1"] / 50


def test_learnt_ranges_help_means(texans):
    """Figure 11; what they cost is figure 12, and `test_a_domain_that_is_learnt_breaks_differential_privacy` here."""
    found = figure_11.errors(texans, 3, 1, ("bayesnet", "privbayes:epsilon=10"))
    means = found.groupby(["generator", "domain"])["distance"].mean()
    for generator in ("bayesnet", "privbayes:epsilon=10"):
        assert means[generator, "learnt"] < means[generator, "public"] / 5
