"""The look at utility as a whole: what is told, to whom, and that it says nothing about privacy."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from unmask.audits.release import audit as release_audit
from unmask.audits.release.copies import COPIES
from unmask.audits.release.usefulness import USEFULNESS
from unmask.cli import main
from unmask.errors import ParameterError
from unmask.reports import html
from unmask.results.grid import GridKind, Role, Section
from unmask.results.sharing import for_sharing

QUICK = {"repeats": 2, "train_rows": 150, "seed": 1}


@pytest.fixture(scope="module")
def adults():
    """Real people, a release, and people whom the generator never saw."""
    adult = unmask.datasets.adult().select(
        ["age", "education", "relationship", "race", "sex", "hours-per-week", "income"]
    )
    order = np.random.default_rng(1).permutation(len(adult))
    real, holdout = adult.take(order[:500]), adult.take(order[500:800])
    rng = np.random.default_rng(2)
    return real, unmask.generators.get("independent").fit(real, rng).sample(500, rng), holdout


@pytest.fixture(scope="module")
def result(adults):
    real, synthetic, holdout = adults
    return unmask.utility(real, synthetic, holdout=holdout, label="sex", **QUICK)


def grid(result, name):
    (found,) = [each for each in result.grids if each.name == name]
    return found


def overview(result):
    return {row[0].partition(" (")[0]: row[1:] for row in grid(result, "utility").rows}


def test_the_real_table_keeps_everything(adults):
    real, _, holdout = adults
    told = overview(unmask.utility(real, real, holdout=holdout, label="sex", **QUICK))
    assert len(told) >= 7
    assert {value for value, *_ in told.values()} == {1.0}


def test_columns_without_their_dependence_keep_marginals_only(result):
    told = overview(result)
    value, low, high, fresh, *_ = told["one-way marginals"]
    assert low <= value <= high <= 1
    assert value == pytest.approx(fresh, abs=0.02)
    value, low, high, fresh, *_ = told["mutual information of pairs"]
    assert high < fresh
    assert told["three-way marginals"][2] < told["three-way marginals"][3]
    (release, holdout) = grid(result, "utility/resemblance").rows
    assert release[5] < 1 < release[6]  # main effects alone do not see it
    assert release[2] > 0.6 > holdout[1]  # trees do


def test_every_number_has_an_interval_and_a_method(result):
    for row in grid(result, "utility").rows:
        _, value, low, high, _, n, method = row
        assert low <= value <= high
        assert n >= 2
        assert method
    for each in result.grids:
        if each.kind is not GridKind.HEAT:
            assert {"low", "high"} <= set(each.columns), each.name


def test_all_of_it_stands_in_the_utility_section_and_nothing_is_a_finding(result):
    assert {each.section for each in result.grids} == {Section.UTILITY}
    assert not result.findings
    assert result.state is None
    heats = [each for each in result.grids if each.kind is GridKind.HEAT]
    assert len(heats) == 6
    page = html.render(result)
    assert "Utility of a synthetic table" in page
    assert "heat-5" in page
    assert len(page) < 500_000


def test_groups_under_ten_people_are_not_told(result, adults):
    """Not even in result.json; the schema is public, so that values have their names."""
    groups = [each for each in result.grids if each.kind is GridKind.GROUPS]
    assert len(groups) == 2
    for each in groups:
        assert min(row[each.places(Role.PEOPLE)[0]] for row in each.rows) >= 10
        assert ("sex", "Female") in {row[:2] for row in each.rows}
    assert for_sharing(result).grids == result.grids


def test_values_of_an_inferred_schema_are_not_named(adults):
    real, synthetic, _ = adults
    names = ["sex", "race", "age", "income"]
    frames = [table.select(names).to_pandas() for table in (real, synthetic)]
    told = unmask.utility(*frames, **QUICK)
    assert "Female" not in json.dumps(told.to_plain())
    assert {row[1] for row in grid(told, "utility/groups").rows if row[0] == "sex"} == {"value 1 of 2", "value 2 of 2"}
    assert [each.name for each in told.not_tested] == ["prediction"]  # no label, no secret
    assert not any("holdout" in note for note in told.notes)


def test_a_mean_of_few_people_is_not_told(adults):
    real, synthetic, _ = adults
    frame = real.select(["sex", "age"]).to_pandas()
    frame["age"] = np.where(np.arange(len(frame)) < 9, frame["age"], np.nan)
    told = unmask.utility(frame, synthetic.select(["sex", "age"]).to_pandas(), **QUICK)
    assert not [each for each in told.grids if each.name == "utility/numbers"]
    assert any("No statistics are told of age" in note for note in told.notes)


def test_equal_runs_give_equal_results_and_json_brings_them_back(result, adults):
    real, synthetic, holdout = adults
    assert unmask.utility(real, synthetic, holdout=holdout, label="sex", **QUICK) == result
    assert unmask.Result.from_plain(json.loads(json.dumps(result.to_plain()))) == result


def test_several_sets_have_intervals_over_sets(adults):
    real, _, _ = adults
    rng = np.random.default_rng(4)
    model = unmask.generators.get("independent").fit(real, rng)
    told = overview(unmask.utility(real, [model.sample(300, rng) for _ in range(3)], **QUICK))
    rows = [row for name, row in told.items() if not name.startswith("income predicted")]
    assert len(rows) == 6
    assert {row[-2:] for row in rows} == {(3, "Student t over sets")}


def test_a_label_that_is_not_there_is_an_error_that_lists_what_is(adults):
    real, synthetic, _ = adults
    with pytest.raises(ParameterError, match=r"--label wage: this column is not examined\. Examined: 'age'"):
        unmask.utility(real, synthetic, label="wage")


def test_late_parts_are_listed_as_not_tested(adults):
    real, synthetic, _ = adults
    told = unmask.utility(real, synthetic, label="sex", time_budget=1e-9)
    assert len(told.not_tested) == 6
    assert not told.grids


def test_the_audit_tells_it_where_asked(adults, monkeypatch):
    """Beside one other part of the audit, to be quick."""
    assert release_audit.CHECKS[-1] is USEFULNESS
    monkeypatch.setattr(release_audit, "CHECKS", (COPIES, USEFULNESS))
    real, synthetic, holdout = (table.take(range(150)).select(["sex", "race", "age", "income"]) for table in adults)
    choices = {"secrets": ["income"], "attempts": 20, "workers": 1}
    plain, asked = (
        unmask.audit(real, synthetic, holdout=holdout, utility=wanted, **choices) for wanted in (False, True)
    )
    assert not [each for each in plain.grids if each.section is Section.UTILITY]
    found = [each for each in asked.grids if each.section is Section.UTILITY]
    assert found[0].name == "utility"
    assert asked.findings == plain.findings  # privacy is judged as before
    assert "Predicting income" in grid(asked, "utility/prediction").title
    assert "Privacy against utility" in html.render(asked)


def test_the_verb(adults, tmp_path):
    for name, table in zip(("real", "synthetic", "holdout"), adults, strict=True):
        unmask.write_csv(table.select(["sex", "race", "age", "income"]), tmp_path / f"{name}.csv")
    words = ["utility", "real.csv", "synthetic.csv", "synthetic.csv", "--holdout", "holdout.csv"]
    paths = [str(tmp_path / word) if word.endswith(".csv") else word for word in words]
    more = ["--label", "income", "--repeats", "2", "--out", str(tmp_path / "run"), "--json"]
    answer = CliRunner().invoke(main.app, [*paths, *more], catch_exceptions=False)
    assert answer.exit_code == 0
    told = json.loads(answer.stdout)
    assert told["audit"] == "utility"
    assert [each["role"] for each in told["inputs"]] == ["real", "synthetic 1", "synthetic 2", "holdout"]
    assert (tmp_path / "run" / "report.html").exists()
    assert unmask.load(tmp_path / "run").plan["label"] == "income"
