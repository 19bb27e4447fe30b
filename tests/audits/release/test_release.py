"""The audit of a release: what peers get wrong, and what a data protection officer must be able to rely on."""

import json

import numpy as np
import pandas as pd
import pytest

from unmask.audits.release.audit import audit
from unmask.datasets import planted
from unmask.errors import InputError, ParameterError, SchemaError
from unmask.generators.independent import Independent
from unmask.results.policy import Severity
from unmask.results.state import State
from unmask.tables.infer import Hints
from unmask.tables.read import read_table, write_csv


@pytest.fixture(scope="module")
def release():
    return planted(600, leaked=0, columns=9, seed=5)


def worst(result):
    """The worst severity of each criterion."""
    found = {}
    for finding in result.findings:
        found[finding.criterion] = max(
            found.get(finding.criterion, Severity.NONE), finding.severity, key=lambda s: s.rank
        )
    return found


def grid(result, name):
    return next(grid for grid in result.grids if grid.name == name)


def test_publishing_the_real_table_is_high_on_every_criterion(release):
    result = audit(release.real, release.real, holdout=release.holdout)
    assert worst(result) == {
        "singling out": Severity.HIGH, "linking": Severity.HIGH, "inferring": Severity.HIGH, "membership": Severity.HIGH,
        "reconstruction": Severity.HIGH,
    }  # fmt: skip
    membership = {row[0]: row for row in grid(result, "membership").rows}
    assert membership["closest-record:metric=hamming"][1] > 0.97
    ims = next(row for row in grid(result, "similarity").rows if row[0] == "ims")
    assert ims[2] == 1
    assert np.mean([row[1] for row in result.records.rows]) > 0.95, (
        "everybody without a twin stands verbatim in the release"
    )


def test_fresh_people_are_no_finding_and_the_audit_says_what_it_would_have_seen(release):
    result = audit(release.real, release.synthetic, holdout=release.holdout)
    assert result.severity is Severity.NONE
    assert any("verbatim copies: " in note and "of 20 planted trials" in note for note in result.notes)
    assert any("comparisons share the 5%" in note for note in result.notes)


def test_one_in_ten_copied_is_high_while_the_median_distance_does_not_move():
    leaky = planted(1000, leaked=100, columns=12, seed=2)
    clean = planted(1000, leaked=0, columns=12, seed=2)
    result = audit(leaky.real, leaky.synthetic, holdout=leaky.holdout)
    assert result.severity is Severity.HIGH
    named = {row[0] for row in result.records.rows if row[2]}
    assert len(named & set(leaky.leaked.tolist())) >= 90
    assert len(named - set(leaky.leaked.tolist())) <= 25
    from unmask.tables.distance import nearest

    medians = [np.median(nearest(r.synthetic, r.real).distances) for r in (leaky, clean)]
    assert medians[0] == medians[1]


def test_noise_as_of_differential_privacy_gives_the_honest_sentence(release, rng):
    noisy = Independent(epsilon=1.0).fit(release.real, rng).sample(600, rng)
    result = audit(release.real, noisy, holdout=release.holdout)
    assert result.severity is Severity.NONE


def test_without_a_holdout_nothing_is_called_a_leak_but_copies(release):
    result = audit(release.real, release.synthetic)
    assert result.severity is Severity.NONE
    assert {item.name for item in result.not_tested} >= {"membership", "instrument check"}
    assert all("Next time cut some people off" in item.remedy for item in result.not_tested)
    assert [i.role for i in result.inputs] == ["real", "synthetic"], "the training data are not split in silence"
    copied = audit(release.real, release.real)
    assert copied.severity is Severity.HIGH
    assert (result.state, copied.state) == (State.INCONCLUSIVE, State.LEAK)
    assert copied.findings[0].name == "copies"


def test_a_holdout_of_other_people_is_called_confounded_not_a_leak(release):
    codes = release.holdout.codes.copy(order="F")
    codes[:, 0] = 0
    other = type(release.holdout)(release.holdout.schema, codes, release.holdout.numbers)
    result = audit(release.real, release.synthetic, holdout=other)
    assert result.findings[0].name == "holdout"
    assert result.findings[0].title.startswith("Confounded")
    assert (result.severity, result.state) == (Severity.NONE, State.CONFOUNDED)
    assert "named at risk" not in result.records.columns, "nobody is named where the holdout differs"
    leaking = audit(release.real, release.real, holdout=other)
    assert leaking.state is State.LEAK
    assert leaking.severity is Severity.HIGH, "a difference of the tables hides no leak that goes beyond it"


def test_persons_with_several_rows_are_one_piece_of_evidence():
    """Five rows each, a release that leaks nothing: no finding, no confounding, and whole persons in the records."""
    rng = np.random.default_rng(3)
    base = rng.normal(size=(240, 4))

    def rows(people):
        near = np.repeat(base[people], 5, axis=0) + rng.normal(scale=0.01, size=(5 * len(people), 4))
        return pd.DataFrame(near, columns=list("abcd")).assign(who=np.repeat(people, 5))

    real, holdout, others = rows(np.arange(80)), rows(np.arange(80, 160)), rows(np.arange(160, 240))
    result = audit(real, others.drop(columns="who"), holdout=holdout, schema=Hints(person="who"), attempts=50)
    assert result.severity is Severity.NONE
    assert next(i for i in result.inputs if i.role == "real").units == 80
    exposure = pd.DataFrame(result.records.rows, columns=result.records.columns).groupby("person")["exposure"].nunique()
    assert (exposure == 1).all()


def test_several_sets_are_one_release(release):
    sets = [release.synthetic.take(np.arange(300)), release.real.take(np.arange(300))]
    result = audit(release.real, sets, holdout=release.holdout)
    assert [i.role for i in result.inputs] == ["real", "synthetic 1", "synthetic 2", "holdout"]
    known = grid(result, "maximum knowledge")
    assert [(row[1], row[2]) for row in known.rows] == [
        ("sum", 1),
        ("sum", 2),
        ("max", 1),
        ("max", 2),
        ("min", 1),
        ("min", 2),
        ("euclid", 1),
        ("euclid", 2),
    ]
    assert result.severity is Severity.HIGH


def test_odd_columns_and_values_do_no_harm(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": rng.choice(["</script><b>", "o'clock", 'say "x"', "ü, ö"], 300),
            "same": ["x"] * 300,
            "gone": [None] * 300,
            "void": [np.nan] * 300,
            "n": np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300)),
            "b": rng.choice(list("uvw"), 300),
        }
    )
    parts = {"real": frame[:100], "synthetic": frame[100:200], "holdout": frame[200:]}
    for name, part in parts.items():
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    result = audit(tmp_path / "real.csv", tmp_path / "synthetic.csv", holdout=tmp_path / "holdout.csv", attempts=50)
    assert result.severity is Severity.NONE
    text = json.dumps(result.to_plain())
    assert "o'clock" not in text, "no value of an inferred schema is in the result"


def test_tiny_tables_run_or_say_why(release):
    one = release.real.take([0])
    result = audit(
        release.real.take(np.arange(5)),
        release.synthetic.take(np.arange(1)),
        holdout=release.holdout.take(np.arange(6)),
    )
    assert result.severity.rank >= 0
    with pytest.raises(ParameterError, match="at least 4"):
        audit(release.real, release.synthetic, holdout=one)
    with pytest.raises(InputError, match="no rows"):
        audit(release.real, release.synthetic.take([]), holdout=release.holdout)


def test_unlisted_synthetic_values_are_a_note_and_other_columns_are_left_out(release, tmp_path):
    frame = release.synthetic.to_pandas()
    frame.loc[3, "c1"] = "martian"
    result = audit(release.real, frame, holdout=release.holdout, attempts=50)
    assert any("'c1' has 1 value outside the schema" in note for note in result.notes)
    assert "martian" not in json.dumps(result.to_plain())
    more = audit(release.real, frame.assign(extra=1), holdout=release.holdout, attempts=50)
    assert more.facts.left_out == ("extra: not in the real table.",)
    assert more.findings == result.findings


def test_numeric_secrets_and_a_time_budget(rng):
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 400), "age": rng.integers(20, 60, 400)})
    frame["pay"] = 100 * frame["age"] + rng.normal(size=400)
    parts = frame[:150], frame[150:250], frame[250:]
    result = audit(parts[0], parts[1], holdout=parts[2], secrets=["pay"], keys=["sex", "age"], attempts=50)
    rows = {row[4]: row for row in grid(result, "continuous cap").rows}
    assert rows["the release"][5] < rows["nothing: the mean of the release (dummy)"][5]
    assert "inferring pay" in result.records.columns
    short = audit(parts[0], parts[1], holdout=parts[2], attempts=50, time_budget=1e-9)
    assert {item.name for item in short.not_tested} >= {"similarity", "controls and instrument check"}


def test_seed_and_workers(release):
    one = audit(release.real, release.synthetic, holdout=release.holdout, attempts=100, seed=3)
    two = audit(release.real, release.synthetic, holdout=release.holdout, attempts=100, seed=3, workers=2)
    assert one.to_plain() == two.to_plain()
    assert one.records.rows == two.records.rows


def test_secrets_and_keys_can_be_named(release):
    result = audit(
        release.real, release.synthetic, holdout=release.holdout, secrets=["c2"], keys=["c0", "c1"], attempts=100
    )
    names = sorted((one.name for one in result.findings if one.criterion == "inferring"), reverse=True)
    assert names == ["maximum knowledge c2", "inferring c2"]
    assert {row[0] for row in grid(result, "cap").rows} == {"c2"}
    with pytest.raises(SchemaError, match="no column 'zz'"):
        audit(release.real, release.synthetic, secrets=["zz"])


def test_the_command_gives_a_verdict_an_exit_code_and_files(release, tmp_path):
    from tests.cli.test_cli import unmask

    for name, table in (("real", release.real), ("fresh", release.synthetic), ("holdout", release.holdout)):
        write_csv(table, tmp_path / f"{name}.csv")
    clean = unmask(
        "audit",
        tmp_path / "real.csv",
        tmp_path / "fresh.csv",
        "--holdout",
        tmp_path / "holdout.csv",
        "--out",
        tmp_path / "a",
    )
    assert clean.returncode == 0, clean.stderr
    assert "no leak found: No attack did better" in clean.stdout
    leaky = unmask(
        "audit", tmp_path / "real.csv", tmp_path / "real.csv", "--holdout", tmp_path / "holdout.csv", "--quiet"
    )
    assert leaky.returncode == 1
    wrong = unmask("audit", tmp_path / "real.csv", tmp_path / "none.csv")
    assert wrong.returncode == 2
    assert "no such file" in wrong.stderr
    cleaned = unmask(
        "filter",
        tmp_path / "real.csv",
        tmp_path / "fresh.csv",
        "--filter",
        "similarity",
        "-o",
        tmp_path / "cleaned.csv",
    )
    assert cleaned.returncode == 0, cleaned.stderr
    assert "leaves holes" in cleaned.stderr
    assert read_table(tmp_path / "real.csv").schema.names == release.real.schema.names
