"""Before any attack: columns that are left out are named and looked through; files that are not what they should be are found."""

import json

import numpy as np
import pandas as pd
import pytest

import unmask
from unmask.audits.release.preflight.files import looked_over
from unmask.audits.release.tables import read_release
from unmask.errors import InputError, ParameterError
from unmask.results.policy import Severity

PLAIN = ["age", "workclass", "education", "sex", "hours-per-week", "income"]
SURNAME, DIAGNOSIS = "Zuckschwerdt", "porphyria"


@pytest.fixture(scope="module")
def people():
    """1,200 people with an id, a name, a note and a row number."""
    rng = np.random.default_rng(3)
    frame = unmask.datasets.adult().to_pandas().sample(1200, random_state=1).reset_index(drop=True)[PLAIN]
    frame["patient"] = [f"P{number:08d}" for number in rng.choice(10**8, 1200, replace=False)]
    letters = np.array(list("abcdefghijklmnop"))
    frame["surname"] = ["".join(letters[rng.integers(16, size=9)]) for _ in range(1200)]
    words = ["".join(letters[rng.integers(16, size=5)]) for _ in range(3000)]
    frame["note"] = [" ".join(words[k] for k in rng.integers(3000, size=25)) for _ in range(1200)]
    frame.loc[0, ["surname", "note"]] = [SURNAME, f"{frame.note[0]} with {DIAGNOSIS}"]
    frame["nr"] = list(range(1, 401)) * 3
    return frame


@pytest.fixture
def cut(people):
    """Real, holdout and other people."""
    return [people[start : start + 400].reset_index(drop=True) for start in (0, 400, 800)]


def left_out(result):
    return {line.partition(":")[0]: line.partition(": ")[2] for line in result.facts.left_out}


def by_name(result):
    return {finding.name: finding for finding in result.findings}


def check(*tables, **more):
    return unmask.check(*tables, **more)


def test_columns_that_identify_people_are_named_and_clean_ones_are_no_finding(cut):
    real, holdout, fresh = cut
    result = check(real, fresh, holdout=holdout)
    assert {"patient", "surname", "note", "nr"} == set(left_out(result))
    assert result.severity is Severity.NONE
    assert "0 of 400 real people" in left_out(result)["patient"]
    assert "names nobody" in left_out(result)["nr"]


@pytest.mark.parametrize("column", ["patient", "surname", "note"])
def test_texts_of_real_people_in_the_release_are_high(cut, column):
    real, holdout, fresh = cut
    fresh.loc[:39, column] = real[column][:40].to_numpy()
    result = unmask.audit(real, fresh, holdout=holdout, attempts=50)
    found = by_name(result)[f"identifier:{column}"]
    assert found.severity is Severity.HIGH
    assert "(40 of 400)" in found.title
    others = [one for name, one in by_name(result).items() if name.startswith("identifier:") and name != found.name]
    assert {one.severity for one in others} == {Severity.NONE}
    assert any(
        "comparisons share the 5% chance of a false finding: identifiers 10% (4 alike)" in note for note in result.notes
    )


def test_nothing_that_was_left_out_stands_in_a_shared_file(cut, tmp_path):
    real, holdout, fresh = cut
    fresh.loc[:39, ["patient", "surname", "note"]] = real[["patient", "surname", "note"]][:40].to_numpy()
    for name, result in (
        ("audit", unmask.audit(real, fresh, holdout=holdout, attempts=50)), ("check", check(real, fresh, holdout=holdout)),
    ):  # fmt: skip
        unmask.write(result, tmp_path / name)
        unmask.write_report(result, tmp_path / name)
        for path in (tmp_path / name).rglob("*"):
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            for secret in (SURNAME, DIAGNOSIS, real.patient[0], real.patient[0].lstrip("P0")):
                assert secret not in text, f"{secret} stands in {path.name}"


def test_ids_under_another_name_are_found(cut):
    real, holdout, fresh = cut
    fresh.loc[:39, "patient"] = real.patient[:40].to_numpy()
    renamed = fresh.rename(columns={"patient": "case"})
    result = check(real, renamed, holdout=holdout)
    assert by_name(result)["identifier:patient"].severity is Severity.HIGH
    assert left_out(result)["case"] == "not in the real table."


def test_without_a_holdout_ids_and_whole_notes_are_judged_and_names_are_not(cut):
    real, _, fresh = cut
    fresh.loc[:99, ["patient", "surname", "note"]] = real[["patient", "surname", "note"]][:100].to_numpy()
    result = check(real, fresh)
    found = by_name(result)
    assert found["identifier:patient"].severity is Severity.HIGH
    assert found["identifier:note"].severity is Severity.HIGH
    assert "identifier:surname" not in found
    assert any("the text of 100 of 400 real people" in item.reason for item in result.not_tested)


def test_names_that_cannot_be_judged_are_no_clean_verdict(cut):
    """All names stand in the release, and the holdout has none to compare them with."""
    real, holdout, fresh = cut
    fresh["surname"] = real["surname"].to_numpy()
    for result in (check(real, fresh), unmask.audit(real, fresh, holdout=holdout.drop(columns="surname"), attempts=50)):
        assert result.state == "inconclusive"
        assert any("column 'surname' are a leak could not be judged" in reason for reason in result.facts.inconclusive)


def test_names_that_some_people_share_are_looked_through(cut):
    real, holdout, fresh = cut
    for table in cut:
        table["last_name"] = [f"{name[:2]}" if row % 3 else name for row, name in enumerate(table["surname"])]
    fresh.loc[:79, "last_name"] = real["last_name"][:80].to_numpy()
    result = check(real, fresh, holdout=holdout)
    assert by_name(result)["identifier:last_name"].severity is Severity.HIGH


def test_person_ids_that_number_rows_are_no_overlap(cut):
    hints = unmask.tables.infer.Hints(person="nr")
    real, holdout, fresh = (table[[*PLAIN, "nr"]] for table in cut)
    release = looked_over(read_release(real, fresh, holdout, hints)).release
    assert len(release.real) == len(release.holdout) == 400


def test_a_shifted_holdout_does_not_hide_ids(cut):
    """Confounded or not: nobody draws these by chance."""
    real, holdout, fresh = cut
    fresh.loc[:39, "patient"] = real.patient[:40].to_numpy()
    holdout["age"] = holdout["age"] + 40
    result = unmask.audit(real, fresh, holdout=holdout, attempts=50)
    assert by_name(result)["identifier:patient"].severity is Severity.HIGH


def test_columns_that_differ_are_said_and_the_audit_goes_on(cut):
    real, holdout, fresh = cut
    less = fresh[["age", "sex", "income", "education"]].assign(extra=1)
    result = check(real, less, holdout=holdout.drop(columns="education"))
    told = left_out(result)
    assert told["workclass"] == "not in the release."
    assert told["education"] == "not in the holdout."
    assert told["extra"] == "not in the real table."
    assert [row[0] for row in result.grids[0].rows] == ["age", "sex", "income"]


def test_fewer_than_two_columns_in_common_is_an_error_that_speaks_of_no_schema(cut):
    real, _, fresh = cut
    with pytest.raises(InputError, match="1 column in common; at least 2") as caught:
        check(real[PLAIN], fresh[["age", "patient"]].rename(columns={"patient": "Sex"}))
    assert "schema" not in str(caught.value)
    assert "'sex' and 'Sex'" in str(caught.value)


def test_columns_can_be_chosen(cut):
    real, holdout, fresh = cut
    result = check(real, fresh, holdout=holdout, columns=["age", "sex"])
    assert [row[0] for row in result.grids[0].rows] == ["age", "sex"]
    assert "--columns does not name it" in left_out(result)["income"]
    with pytest.raises(ParameterError, match="--columns pay: there is no such column"):
        check(real, fresh, columns=["age", "pay"])
    with pytest.raises(ParameterError, match="--columns sex: it is not in the release"):
        check(real, fresh.drop(columns="sex"), columns=["age", "sex"])
    with pytest.raises(ParameterError, match="at least two"):
        check(real, fresh, columns=["age"])
    with pytest.raises(ParameterError, match="--secret income: this column is not examined: not in the release"):
        unmask.audit(real, fresh.drop(columns="income"), secrets=["income"])


def test_columns_that_tell_nothing_are_left_out(cut):
    tables = [table[PLAIN].assign(one="x", none=np.nan, twin=table["age"]) for table in cut]
    result = check(tables[0], tables[2], holdout=tables[1])
    told = left_out(result)
    assert told["one"] == "it has one value only."
    assert told["none"] == "it has no values."
    assert told["twin"] == "it equals 'age' in every row."
    kept = unmask.audit(tables[0], tables[2], holdout=tables[1], secrets=["twin"], attempts=50)
    assert "twin" not in left_out(kept), "somebody asked for it"


def test_the_training_file_is_no_holdout(cut):
    real, _, fresh = cut
    for holdout in (real, real.sample(frac=1, random_state=1), real[:150]):
        with pytest.raises(InputError, match="this is no holdout"):
            check(real[PLAIN], fresh[PLAIN], holdout=holdout[PLAIN])


def test_people_who_are_in_both_count_on_neither_side(cut):
    real, holdout, fresh = cut
    mixed = pd.concat([holdout[:300], real[:100]], ignore_index=True)
    result = unmask.audit(real[PLAIN], fresh[PLAIN], holdout=mixed[PLAIN], attempts=50)
    sizes = {item.role: item.rows for item in result.inputs}
    assert sizes["real"] < 302
    assert 250 < sizes["holdout"] <= 300
    assert any("count neither as members nor as others" in note for note in result.notes)
    rows = {row[0] for row in result.records.rows}
    assert len(rows & set(range(100))) == 0, "rows keep the numbers that they have in the file"
    assert max(rows) == 399


def test_people_are_told_by_their_ids_too(cut):
    """The same people, interviewed again: only the id says so."""
    real, holdout, fresh = cut
    holdout.loc[:99, "patient"] = real.patient[:100].to_numpy()
    release = looked_over(read_release(real, fresh, holdout, None)).release
    assert len(release.real) == len(release.holdout) == 300


def test_twins_by_chance_are_no_overlap(cut):
    few = [table[["sex", "income", "workclass"]] for table in cut]
    result = check(few[0], few[2], holdout=few[1])
    assert not any("stand in the real table too" in note for note in result.notes)


def test_a_table_that_was_rid_of_equal_rows_is_no_overlap(cut):
    few = [table[["sex", "income", "workclass"]] for table in cut]
    single = [table.drop_duplicates() for table in few]
    for real, holdout in ((single[0], few[1]), (pd.concat(few).drop_duplicates(), few[1]), (single[0], single[1])):
        result = check(real, few[2], holdout=holdout)
        assert not any("stand in the real table too" in note for note in result.notes)


def test_the_holdout_is_no_release(cut):
    real, holdout, _ = cut
    with pytest.raises(InputError, match="synthetic table and the holdout hold the same rows"):
        check(real[PLAIN], holdout[PLAIN].sample(frac=1, random_state=2), holdout=holdout[PLAIN])


def test_swapped_tables_are_asked_about(cut, tmp_path):
    real, holdout, fresh = cut
    rng = np.random.default_rng(1)
    synthetic = fresh[PLAIN].apply(lambda column: rng.permutation(column.to_numpy()))
    synthetic["age"] = synthetic["age"] // 10 * 10
    found = looked_over(read_release(synthetic, real[PLAIN], holdout[PLAIN], None))
    assert "Were the two swapped?" in found.questions[0]
    assert looked_over(read_release(real[PLAIN], synthetic, holdout[PLAIN], None)).questions == ()
    for name, table in (("synthetic.csv", fresh), ("train.csv", real)):
        table.to_csv(tmp_path / name, index=False)
    result = check(tmp_path / "synthetic.csv", tmp_path / "train.csv")
    assert "'synthetic.csv' was given as the real table" in result.notes[0]


def test_a_holdout_that_differs_is_said(cut):
    real, holdout, fresh = cut
    holdout["age"] = holdout["age"] + 30
    result = check(real[PLAIN], fresh[PLAIN], holdout=holdout[PLAIN])
    assert any("holdout differs from the real table by itself" in note for note in result.notes)


def test_a_small_holdout_is_said(cut):
    real, holdout, fresh = cut
    result = check(real[PLAIN], fresh[PLAIN], holdout=holdout[PLAIN][:50])
    assert any("The holdout has 50 people" in note for note in result.notes)


def test_releases_that_stand_in_line_are_said(cut):
    real, _, fresh = cut
    rng = np.random.default_rng(2)
    noisy = real[PLAIN].copy()
    for column in PLAIN[:4]:
        noisy[column] = rng.permutation(noisy[column].to_numpy())
    assert any("in the order of the real one" in note for note in check(real[PLAIN], noisy).notes)
    shuffled = noisy.sample(frac=1, random_state=4).reset_index(drop=True)
    ordered = [table[PLAIN].sort_values(["sex", "age"]).reset_index(drop=True) for table in (real, fresh)]
    for one, other in ((real[PLAIN], shuffled), ordered, (real[PLAIN], fresh[PLAIN])):
        assert not any("in the order of the real one" in note for note in check(one, other).notes)


def test_a_result_is_plain_data(cut):
    result = check(cut[0], cut[2], holdout=cut[1])
    assert unmask.Result.from_plain(json.loads(json.dumps(result.to_plain()))) == result
    assert result.audit == "check"
