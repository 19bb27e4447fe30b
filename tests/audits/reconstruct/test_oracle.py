"""unmask reconstruct: records behind a provider's metrics, through the public function and the command line."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import unmask
from unmask.cli import main
from unmask.errors import ParameterError
from unmask.reports import html
from unmask.results.grid import SeriesKind

QUICK = {"rounds": 20, "seed": 1, "workers": 1, "mitigations": False}


@pytest.fixture(scope="module")
def adults():
    table = unmask.datasets.adult()
    return table.take(np.random.default_rng(4).permutation(len(table))[:800])


@pytest.fixture(scope="module")
def result(adults):
    return unmask.reconstruct("bayesnet:degree=2", adults, rounds=20, seed=1, workers=1)


def finding(result, name):
    return next(one for one in result.findings if one.name == name)


def test_most_records_are_rebuilt_and_none_is_wrong(result):
    found = finding(result, "reconsyn")
    assert (found.severity, found.criterion) == ("high", "reconstruction")
    assert found.control.value + found.estimate.value > 0.6 > 10 * found.control.value
    assert found.exposure.attacked == 400
    assert any("0 of them are not in the train table" in note for note in result.notes)
    alone = finding(result, "frequent-samples")  # this network remembers some of 400 people by itself
    assert alone.estimate.value < found.estimate.value / 2


def test_without_the_oracle_nothing_goes_beyond_chance(adults):
    """The most frequent samples hold train records no more often than holdout ones: 20 splits, 5 % level (99.9 %: 5 of 20)."""
    alarms = 0
    for seed in range(20):
        told = unmask.reconstruct(
            "independent",
            unmask.datasets.adult_small().take(np.arange(400)),
            **{**QUICK, "rounds": 2, "seed": seed, "search": "none"},
        )
        alarms += finding(told, "frequent-samples").severity != "none" if len(told.findings) > 1 else 0
    assert alarms <= 5


def test_records_say_who_and_the_result_does_not(result, adults):
    names = result.records.columns
    assert names == ("row", "wanted", "rebuilt by", "round", "rows read by then")
    rebuilt = [row for row in result.records.rows if row[2]]
    assert len(result.records.rows) == 400
    assert len(rebuilt) == finding(result, "reconsyn").exposure.hit
    assert {row[2] for row in rebuilt} == {"samples", "search"}
    text = json.dumps(result.to_plain())
    assert all(f'"{value}"' not in text for value in adults.to_pandas()["occupation"].unique())


def test_mitigations_are_tried(result):
    shares = {row[0]: row[1] for grid in result.grids if grid.name == "mitigations" for row in grid.rows}
    assert shares["scores with 2 decimals"] == shares["none"] > 0.5
    assert shares["noise, epsilon .1 a call"] in (0, None)
    assert shares["100 calls"] < shares["1,000 calls"] < shares["none"]
    assert shares["similarity filter"] > 0.9 * shares["none"]


def test_the_map_is_moved_at_random_and_drawn(result):
    points = [series for series in result.series if series.kind is SeriesKind.SCATTER]
    assert [one.name for one in points] == ["map/real", "map/rebuilt"]
    assert all(len(one.x) <= 250 and all(round(x, 2) == x for x in one.x) for one in points)
    page = html.render(result)
    assert "Every point was moved at random" in page
    assert "What would have helped" in page


def test_equal_runs_are_equal_and_more_rounds_extend_a_run(adults, tmp_path):
    first = unmask.reconstruct("mst", adults, **QUICK, out=tmp_path)
    assert unmask.reconstruct("mst", adults, **QUICK) == first
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "draws").glob("run-*.npz")}
    more = unmask.reconstruct("mst", adults, **{**QUICK, "rounds": 35}, out=tmp_path)
    assert all((tmp_path / "draws" / name).stat().st_mtime_ns == stamp for name, stamp in kept.items())
    assert more == unmask.reconstruct("mst", adults, **{**QUICK, "rounds": 35})


def test_a_killed_run_continues_with_the_same_bytes(adults, tmp_path):
    unmask.write_csv(adults, tmp_path / "real.csv")
    words = ["reconstruct", str(tmp_path / "real.csv"), "--generator", "mst", "--rounds", "120", "--no-mitigations",
             "--workers", "1", "--quiet", "--fail-on", "none", "--out"]  # fmt: skip
    victim = subprocess.Popen([sys.executable, "-m", "unmask", *words, str(tmp_path / "killed")])
    draws = tmp_path / "killed" / "draws"
    while victim.poll() is None and len(list(draws.glob("run-*.npz"))) < 3:
        time.sleep(0.02)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    assert not (tmp_path / "killed" / "result.json").exists()
    for name in ("killed", "whole"):
        assert CliRunner().invoke(main.app, [*words, str(tmp_path / name)], catch_exceptions=False).exit_code == 0
    for file in ("result.json", "records.csv"):
        assert (tmp_path / "killed" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()


@pytest.mark.parametrize("locator", ["shared", "own", "afterwards"])
def test_outliers_may_be_wanted(adults, locator):
    told = unmask.reconstruct("bayesnet", adults, **QUICK, goal="outliers", locator=locator, outlier_share=0.2)
    wanted = finding(told, "reconsyn").exposure.attacked
    assert 0 < wanted < 200
    assert any(f"Wanted are {wanted} outliers" in note for note in told.notes)
    assert any("hold" in note or "attacker" in note for note in told.notes)


def test_low_utility_generators_leak_as_much(adults):
    """Random and independent on six columns: reconstruct first, locate afterwards; said to be near enumeration."""
    few = adults.select(unmask.datasets.ADULT_SMALL)
    for generator in ("random", "independent"):
        told = unmask.reconstruct(generator, few, **QUICK)
        assert finding(told, "reconsyn").exposure.hit == 400
        assert any("Near enumeration" in note for note in told.notes)


def test_a_domain_that_is_too_large_is_searched_instead(adults):
    told = unmask.reconstruct("bayesnet", adults, **{**QUICK, "search": "enumerate", "rounds": 3})
    assert any("too many to enumerate" in note for note in told.notes)
    assert finding(told, "reconsyn").exposure.hit > 100


def test_limits_of_calls_are_kept(adults):
    told = unmask.reconstruct("bayesnet", adults, **QUICK, calls=500)
    cost = next(grid for grid in told.grids if grid.name == "cost")
    assert cost.rows[-1][4] == 500
    assert any("stopped answering after 500 calls" in note for note in told.notes)


def test_metrics_that_never_pass_are_not_tested():
    """A holdout as far from the train table as can be: no padding row passes, and that is said."""
    frame = pd.DataFrame(np.zeros((60, 20), dtype=int)).astype(str)
    columns = tuple(unmask.Column(str(name), unmask.Kind.CATEGORICAL, values=("0", "1")) for name in range(20))
    train, holdout = (unmask.read_table(each, unmask.Schema(columns)) for each in (frame, frame.replace("0", "1")))
    told = unmask.reconstruct("independent", train, holdout=holdout, **{**QUICK, "rounds": 1})
    (gap,) = told.not_tested
    assert gap.name == "reconsyn"
    assert "no distance can be read" in gap.reason
    assert told.state != "no leak found"


def test_a_holdout_of_its_own_is_used(adults):
    told = unmask.reconstruct("bayesnet", adults.take(range(400)), holdout=adults.take(range(400, 800)), **QUICK)
    assert finding(told, "reconsyn").exposure.attacked == 400
    assert not any("cut in halves" in note for note in told.notes)


def test_pictures_only_of_data_declared_public():
    digits = unmask.datasets.digits().take(range(60))
    plain = unmask.reconstruct("bayesnet", digits, **{**QUICK, "rounds": 1})
    public = unmask.reconstruct("bayesnet", digits, **{**QUICK, "rounds": 1}, pictures=True)
    assert not any("picture" in grid.name for grid in plain.grids)
    assert sum("picture" in grid.name for grid in public.grids) == 4
    with pytest.raises(unmask.UnmaskError, match="the last 64 columns"):
        unmask.reconstruct("bayesnet", digits.select(digits.schema.names[:10]), **QUICK, pictures=True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "--generator is missing"),
        (["--generator", "mst", "--rounds", "0"], "--rounds is 0"),
        (["--generator", "mst", "--goal", "all"], "--goal is 'all'"),
        (["--generator", "mst", "--filter", "sieve"], "There is no filter 'sieve'"),
        (["--generator", "mst", "--goal", "outliers", "--clusters", "999"], "cannot be divided into 999 clusters"),
    ],
)
def test_wrong_input_is_told(words, said, adults, tmp_path, capsys):
    unmask.write_csv(adults.take(range(100)), tmp_path / "real.csv")
    assert main.answer(["reconstruct", str(tmp_path / "real.csv"), *words]) == 2
    assert said in capsys.readouterr().err


def test_tables_too_small_are_told(adults):
    with pytest.raises(unmask.UnmaskError, match="at least 40, or a --holdout"):
        unmask.reconstruct("bayesnet", adults.take(range(30)), **QUICK)


def test_a_release_goes_to_its_own_audit(adults):
    """With a synthetic table and no generator; both at once are two different audits."""
    release = adults.take(range(300, 500))
    told = unmask.reconstruct(real=adults.take(range(200)), synthetic=release, secrets=["income"], seed=1)
    assert told.audit == "reconstruct"
    assert told.plan["order"] == 3
    with pytest.raises(unmask.UnmaskError, match="two different audits"):
        unmask.reconstruct("mst", adults, synthetic=release)


def differencing(result):
    grid = next(one for one in result.grids if one.name == "differencing")
    return [dict(zip(grid.columns, row, strict=True)) for row in grid.rows]


def test_people_whose_rows_are_known_are_told_by_differencing(adults):
    """Every member is told, and every record; a stranger is given one only if somebody else agrees in what is known."""
    told = unmask.reconstruct("independent", adults, **QUICK, search="none", unknown=("income", "age"))
    found = finding(told, "differencing")
    assert (found.severity, found.criterion, found.estimate.value) == ("high", "membership", 1.0)
    lines = differencing(told)
    assert [line["unknown columns"] for line in lines] == ["income", "income, age"]
    assert all(line["record told"] == line["train people"] == 20 for line in lines)
    assert all(line["holdout people given a record"] <= 3 for line in lines)
    assert lines[1]["rows read each"] < lines[1]["completions each"]  # distances exclude most


def test_people_with_twins_are_no_evidence_of_differencing():
    """In a coarse table most holdout people have a twin in the train table: being told a member says little."""
    coarse = unmask.datasets.adult().select(["sex", "race", "income"]).take(np.arange(800))
    told = unmask.reconstruct("independent", coarse, **QUICK, search="none")
    found = finding(told, "differencing")
    assert found.control.value > 0.8
    assert found.severity == "none"


def test_calls_that_run_out_meet_members_and_others_alike(adults):
    told = unmask.reconstruct("independent", adults, **QUICK, search="none", calls=60, unknown=("income",))
    for line in differencing(told):
        assert line["train people"] == line["holdout people"] < 20


def test_noise_on_every_answer_ends_differencing(adults):
    told = unmask.reconstruct("independent", adults, **QUICK, search="none", call_epsilon=0.1)
    assert finding(told, "differencing").severity == "none"
    assert all(line["record told"] == 0 for line in differencing(told))
    assert any("40 of 40 people the oracle did not say" in note for note in told.notes)


def test_unknown_columns_must_exist_and_leave_something_known(adults):
    with pytest.raises(ParameterError, match="there is no column 'wage'"):
        unmask.reconstruct("independent", adults, **QUICK, unknown=("wage",))
    with pytest.raises(ParameterError, match="nothing is known of anybody"):
        unmask.reconstruct("independent", adults, **QUICK, unknown=tuple(adults.schema.names))


def test_a_similarity_filter_leaves_holes_with_train_people_in_their_middle():
    plane = unmask.datasets.gaussian(2, 2000, seed=1)
    told = unmask.reconstruct("copula", plane, **QUICK, filters=("similarity:radius=0.1,distance=euclid",))
    grid = next(one for one in told.grids if one.name == "holes")
    train, holdout = (dict(zip(grid.columns, row, strict=True)) for row in grid.rows)
    assert train["at least"] > 0.3 > 0.1 > holdout["at most"]
    bare = unmask.reconstruct("copula", plane, **QUICK)
    assert not any(one.name == "holes" for one in bare.grids)
