"""Pools for generators that somebody else runs: the same game as `everyone`, and every broken pool named."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from unmask.audits.everyone.audit import EveryoneAudit, set_up
from unmask.audits.everyone.drawn import CoinRuns
from unmask.audits.everyone.judging import judge_runs
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.foreign.audit import attack_pool
from unmask.audits.foreign.export import export_pool
from unmask.audits.foreign.swaps import fit_to_coins, fits_of, odd_ones, swapped
from unmask.audits.runner import Runner
from unmask.datasets import adult
from unmask.errors import GeneratorError, InputError, ParameterError, RunError
from unmask.generators import parse
from unmask.generators.claim import Claim, Neighbours
from unmask.generators.foreign import Foreign
from unmask.reports.record import fields_of
from unmask.simulation.coin import coin_tasks
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.draws import open_draws
from unmask.simulation.executors.local import Local
from unmask.simulation.foreign.pool import file_of
from unmask.simulation.foreign.private import read_private, sha256
from unmask.simulation.foreign.words import names_of
from unmask.simulation.store import MemoryStore
from unmask.stream import stream
from unmask.tables.read import read_table, write_csv
from unmask.tables.table import Table
from unmask.threats.coins import CoinGame
from unmask.threats.knowledge import Coins

COLUMNS = ("age", "workclass", "education", "marital-status", "occupation", "hours-per-week", "income")
SEED = 5
SMALL = 8  # runs of pools that are only looked at


def people(count: int, seed: int = 0) -> Table:
    return adult().take(np.random.default_rng(seed).choice(len(adult()), count, replace=False))


def run_generator(pool, generator):
    """What the owner does: a loop over the training files. Seeded as `everyone` seeds its fits."""
    private = read_private(pool)
    for task, run in zip(coin_tasks(len(private.runs)), private.runs, strict=True):
        rng = stream(private.plan.seed, task.id, "release")
        rng.permutation(run.rows)  # everyone shuffles the members first
        train = read_table(pool / "train" / file_of(task), private.real.schema)
        write_csv(
            generator.fit(train, rng).sample(private.plan.synthetic_rows, rng), pool / "synthetic" / file_of(task)
        )


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Forty people, eight runs, synthetic files in place."""
    pool = tmp_path_factory.mktemp("small") / "pool"
    export_pool(people(40).select(COLUMNS), pool, runs=SMALL, synthetic_rows=20, seed=SEED)
    run_generator(pool, parse("independent"))
    return pool


@pytest.fixture
def pool(small, tmp_path):
    return shutil.copytree(small, tmp_path / "pool")


@pytest.fixture(scope="module")
def leaky(tmp_path_factory):
    """Three hundred people, 48 runs of cart."""
    pool = tmp_path_factory.mktemp("leaky") / "pool"
    export_pool(people(300), pool, runs=48, seed=SEED)
    run_generator(pool, parse("cart"))
    return pool


def refusal(pool, **choices) -> str:
    with pytest.raises(InputError) as caught:
        attack_pool(pool, **choices)
    return str(caught.value)


def synthetic(pool, run: int):
    return pool / "synthetic" / f"run-{run:04d}.csv"


# The same game


def test_files_and_attack_are_everyone_by_post(leaky, tmp_path):
    """Training files, the owner's loop and the attack give what `everyone` gives: features and figures, to the last digit."""
    plan = EveryonePlan(generator="cart", runs=48, seed=SEED)
    real = people(300)
    setting, rows, coins = set_up(plan, parse("cart"), real)
    store, tasks = MemoryStore(), coin_tasks(48)
    Local().run(setting, tasks, store)
    drawn = CoinRuns(CoinPool.gather(setting, tasks, store), real, rows, coins)
    expected = judge_runs(plan, drawn, EveryoneAudit(plan, setting.generator, real).expected(), Runner())

    found = attack_pool(leaky, name="a tree", out=tmp_path / "run")
    kept = open_draws(tmp_path / "run" / "draws", {})
    for task in tasks:
        for name, array in store.get(task).items():
            np.testing.assert_array_equal(kept.get(task)[name], array, err_msg=name)
    assert found.plan["generator"] == "foreign: a tree"
    assert found.inputs == expected.inputs
    assert found.findings == expected.findings
    assert found.grids == expected.grids
    assert found.series == expected.series
    assert found.records.columns == expected.records.columns
    assert found.records.rows == expected.records.rows


def test_a_training_file_holds_the_members_in_random_order_under_their_own_names(pool):
    private = read_private(pool)
    for task, run in zip(coin_tasks(SMALL), private.runs, strict=True):
        text = (pool / "train" / file_of(task)).read_bytes()
        frame = pd.read_csv(pool / "train" / file_of(task), dtype=str, keep_default_na=False)
        assert list(frame.columns) == list(COLUMNS)
        members = np.flatnonzero([coin == "1" for coin in run.coins])
        write_csv(private.real.take(members), pool / "members.csv")
        expected = pd.read_csv(pool / "members.csv", dtype=str, keep_default_na=False)
        assert sorted(map(tuple, frame.values)) == sorted(map(tuple, expected.values))
        assert list(map(tuple, frame.values)) != list(map(tuple, expected.values))
        assert sha256(text) == run.digest
    assert len({run.coins for run in private.runs}) == SMALL


def test_the_manifest_says_what_the_owner_needs_and_nothing_private(pool):
    manifest = json.loads((pool / "manifest.json").read_text())
    assert manifest["rows"] == 20
    assert manifest["columns"] == list(COLUMNS)
    assert [run["synthetic"] for run in manifest["runs"]] == [f"synthetic/run-{run:04d}.csv" for run in range(SMALL)]
    for run in manifest["runs"]:
        assert run["train_sha256"] == sha256((pool / run["train"]).read_bytes())
    assert not {"seed", "coins", "plan"} & set(manifest)
    readme = (pool / "README.txt").read_text()
    assert "for train in train/run-*.csv" in readme
    assert "exactly 20 rows" in readme
    assert "DO NOT GIVE" in (pool / "private" / "README.txt").read_text()


def test_the_private_folder_is_for_its_owner_alone(small):
    assert (small / "private").stat().st_mode & 0o077 == 0


def test_more_runs_extend_a_pool_and_leave_its_files_as_they_are(tmp_path):
    real = people(40).select(COLUMNS)
    export_pool(real, tmp_path / "grown", runs=8, seed=SEED)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in (tmp_path / "grown" / "train").iterdir()}
    plan = (tmp_path / "grown" / "private" / "plan.json").read_bytes()
    assert export_pool(real, tmp_path / "grown", runs=12, seed=SEED).new == 4
    for path, (content, written) in before.items():
        assert path.read_bytes() == content
        assert path.stat().st_mtime_ns == written
    assert (tmp_path / "grown" / "private" / "plan.json").read_bytes() == plan
    assert export_pool(real, tmp_path / "at once", runs=12, seed=SEED).new == 12
    for path in (tmp_path / "at once").rglob("*"):
        if path.is_file():
            grown = tmp_path / "grown" / path.relative_to(tmp_path / "at once")
            assert grown.read_bytes() == path.read_bytes(), path.name
    assert export_pool(real, tmp_path / "grown", runs=8, seed=SEED).new == 0  # fewer runs take nothing away
    assert len(read_private(tmp_path / "grown").runs) == 12


def test_an_export_that_was_interrupted_is_completed(tmp_path):
    real = people(40).select(COLUMNS)

    def stop(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_pool(real, tmp_path / "pool", runs=8, progress=stop)
    answer = refusal(tmp_path / "pool")
    assert answer.startswith(f"{tmp_path / 'pool'}: this pool has no training files")
    assert "Repeat `unmask pool export`" in answer
    assert export_pool(real, tmp_path / "pool", runs=8).new == 8
    assert len(list((tmp_path / "pool" / "train").iterdir())) == 8


def test_only_files_that_changed_are_taken_down_again(pool, tmp_path):
    attack_pool(pool, out=tmp_path / "run")
    draws = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run" / "draws").glob("*.npz")}
    lines = synthetic(pool, 3).read_text().splitlines()
    synthetic(pool, 3).write_text("\n".join([lines[0], lines[2], lines[2], *lines[3:]]) + "\n")
    attack_pool(pool, out=tmp_path / "run")
    now = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run" / "draws").glob("*.npz")}
    assert [name for name in now if now[name] != draws[name]] == ["run-000003.npz"]


def test_coins_follow_the_claim_or_the_choice(tmp_path):
    real = people(40).select(COLUMNS)
    export_pool(real, tmp_path / "claim", runs=8, claim="epsilon=1,neighbours=replace")
    assert read_private(tmp_path / "claim").plan.coins == "paired"
    assert {run.rows for run in read_private(tmp_path / "claim").runs} == {20}
    run_generator(tmp_path / "claim", parse("independent"))
    result = attack_pool(tmp_path / "claim")
    assert any("epsilon 1, replace neighbours" in note for note in result.notes)
    export_pool(real, tmp_path / "choice", runs=8, coins="paired")
    assert read_private(tmp_path / "choice").plan.coins == "paired"
    export_pool(real, tmp_path / "plain", runs=8, subsample=20)
    private = read_private(tmp_path / "plain")
    assert private.plan.coins == "independent"
    assert len(private.runs[0].coins) == 20
    assert len(private.real) == 40


def test_persons_share_a_coin_and_their_ids_stay_at_home(tmp_path):
    frame = people(60).select(COLUMNS).to_pandas().assign(who=[f"p{row // 2}" for row in range(60)])
    schema = replace(people(60).select(COLUMNS).schema, person="who")
    real = Table.from_pandas(frame, schema)
    export_pool(real, tmp_path / "pool", runs=8, synthetic_rows=30)
    assert "who" not in (tmp_path / "pool" / "train" / "run-0000.csv").read_text()
    run_generator_without_persons(tmp_path / "pool")
    assert read_private(tmp_path / "pool").real.digest() == real.digest()
    result = attack_pool(tmp_path / "pool")
    assert result.inputs[0].units == 30
    export_pool(real, tmp_path / "kept", runs=8, synthetic_rows=30, keep_persons=True)
    train = pd.read_csv(tmp_path / "kept" / "train" / "run-0000.csv")
    assert (train["who"].value_counts() == 2).all()
    assert json.loads((tmp_path / "kept" / "manifest.json").read_text())["person"] == "who"


def run_generator_without_persons(pool):
    private = read_private(pool)
    rng = np.random.default_rng(0)
    for run in range(len(private.runs)):
        train = pd.read_csv(pool / "train" / f"run-{run:04d}.csv", dtype=str, keep_default_na=False)
        drawn = train.apply(lambda column: rng.choice(column, private.plan.synthetic_rows))
        drawn.to_csv(synthetic(pool, run), index=False)


def test_dates_of_a_frame_survive_the_files(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 400, 40), unit="D"),
            "moment": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 10**7, 40), unit="s"),
            "pay": rng.lognormal(10, 1, 40),
            "member": rng.random(40) < 0.5,
        }
    )
    export_pool(frame, tmp_path / "pool", runs=8)
    private = read_private(tmp_path / "pool")
    again = read_table(tmp_path / "pool" / "train" / "run-0000.csv", private.real.schema)
    members = np.flatnonzero([coin == "1" for coin in private.runs[0].coins])
    expected = private.real.take(members)
    np.testing.assert_array_equal(np.sort(again.numbers, axis=0), np.sort(expected.numbers, axis=0))
    np.testing.assert_array_equal(np.sort(again.codes, axis=0), np.sort(expected.codes, axis=0))


def test_the_claim_is_kept_with_its_unit(tmp_path):
    real, claim = people(40).select(COLUMNS), Claim(0.5, 1e-6, Neighbours.REPLACE, unit="person")
    export_pool(real, tmp_path / "pool", runs=8, claim=claim)
    assert read_private(tmp_path / "pool").plan.claim == claim
    with pytest.raises(
        RunError, match=r"claim was epsilon 0\.5, delta 1e-06, replace neighbours, per person, now it is None"
    ):
        export_pool(real, tmp_path / "pool", runs=8, coins="paired")


def claims_in_the_report(result) -> list[str]:
    (told,) = (field.values for field in fields_of(result, {}) if field.name.startswith("Differential privacy"))
    return list(told)


def test_a_claim_is_said_to_be_tested_only_if_it_was(pool, tmp_path):
    without = attack_pool(pool)
    assert without.plan["claim"] is None
    assert claims_in_the_report(without) == ["none made or tested"]
    real = people(40).select(COLUMNS)
    for coins, word in (("auto", "Tested claim"), ("independent", "Claimed")):
        export_pool(real, tmp_path / coins, runs=8, coins=coins, claim="epsilon=1,neighbours=replace")
        run_generator(tmp_path / coins, parse("independent"))
        result = attack_pool(tmp_path / coins)
        assert claims_in_the_report(result)[0] == f"{word}: epsilon 1, replace neighbours, per row"
    (item,) = (item for item in result.not_tested if item.name == "the claim")
    assert item.remedy == "export another pool with --coins auto"


def test_no_remedy_asks_for_what_only_the_owner_can_do(pool):
    remedies = {item.name: item.remedy for item in attack_pool(pool, secrets=("income",)).not_tested}
    run_here = "run the generator here: --generator 'command: ...'"
    assert remedies == {
        "the exact game at full size": run_here,
        "secrets drawn anew": run_here,
        "the list of people": "Export more training files: unmask pool export with more --runs.",
    }


@pytest.mark.parametrize("choice", ["access", "redraw_secrets", "confirm", "runs", "seed", "coins"])
def test_what_the_export_settled_cannot_be_asked_of_the_attack(pool, choice):
    with pytest.raises(ParameterError, match=f"There is no choice {choice}"):
        attack_pool(pool, **{choice: 1})


def test_the_real_table_is_written_nowhere_but_into_the_private_folder(tmp_path, monkeypatch):
    """Before the pool begins it goes through a file once; a killed export must not leave that one where others can read it."""
    seen = []

    def write(table, path):
        seen.append((path.parent.parent, path.parent.parent.stat().st_mode & 0o777))
        write_csv(table, path)

    monkeypatch.setattr("unmask.simulation.foreign.tables.write_csv", write)
    export_pool(people(40).select(COLUMNS), tmp_path / "pool", runs=8)
    assert seen == [(tmp_path / "pool" / "private", 0o700)]
    names = {path.name for path in (tmp_path / "pool" / "private").iterdir()}
    assert names == {"README.txt", "plan.json", "real.npz", "schema.json", "coins.json"}


def test_a_table_that_files_cannot_hold_is_refused_and_leaves_nothing_behind(tmp_path):
    frame = pd.DataFrame({"answer": ["", "yes"] * 10, "age": range(20)})
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    for name in ("new", "mine"):
        with pytest.raises(InputError, match="Column 'answer' is not the same"):
            export_pool(frame, tmp_path / name, runs=8)
    assert not (tmp_path / "new").exists()
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_a_pool_with_changed_files_cannot_be_extended_and_it_is_said_what_to_do(pool):
    path = pool / "private" / "coins.json"
    path.write_text(path.read_text().replace('"coins": "0', '"coins": "1'))
    with pytest.raises(RunError, match=r"cannot be extended(.|\n)*private/coins\.json(.|\n)*choose another --out"):
        export_pool(people(40).select(COLUMNS), pool, runs=9, synthetic_rows=20, seed=SEED)


def test_a_foreign_generator_cannot_be_fitted():
    with pytest.raises(GeneratorError, match="'Acme' is run by its owner"):
        Foreign("Acme").fit(people(10), np.random.default_rng(0))


# Broken pools: one test each


def test_missing_files_are_counted_and_with_strict_refused(leaky, tmp_path):
    pool = shutil.copytree(leaky, tmp_path / "pool")
    for run in (3, 4, 5, 17):
        synthetic(pool, run).unlink()
    result = attack_pool(pool)
    (note,) = [note for note in result.notes if "missing (" in note]
    assert note.startswith("4 of 48 synthetic files are missing (run-0003.csv to run-0005.csv, run-0017.csv)")
    assert result.plan["files"] == 44
    assert "synthetic/run-0003.csv to run-0005.csv, synthetic/run-0017.csv: missing." in refusal(pool, strict=True)


def test_too_few_files_are_refused(pool):
    synthetic(pool, 6).unlink()
    assert "synthetic/run-0006.csv: missing; at least 8 synthetic files are needed." in refusal(pool)


def test_a_changed_training_file_is_named(pool):
    path = pool / "train" / "run-0002.csv"
    path.write_text(path.read_text().replace("\n", "\r\n"))
    assert "train/run-0002.csv: changed since the export" in refusal(pool)
    with pytest.raises(RunError, match=r"changed since the export: train/run-0002\.csv"):
        export_pool(people(40).select(COLUMNS), pool, runs=9, synthetic_rows=20, seed=SEED)


@pytest.mark.parametrize("name", ["plan.json", "coins.json", "schema.json", "real.npz"])
def test_a_changed_private_file_is_named(pool, name):
    path = pool / "private" / name
    if name == "real.npz":
        with np.load(path) as arrays:
            np.savez_compressed(path, codes=arrays["codes"][::-1], numbers=arrays["numbers"][::-1])
    elif name == "plan.json":
        path.write_text(path.read_text().replace('"synthetic_rows": 20', '"synthetic_rows": 21'))
    elif name == "coins.json":
        path.write_text(path.read_text().replace('"coins": "0', '"coins": "1'))
    else:
        path.write_text(path.read_text().replace('"origin"', ' "origin"'))
    assert f"private/{name}: changed since the export" in refusal(pool)


@pytest.mark.parametrize("name", ["plan.json", "coins.json", "schema.json", "real.npz"])
def test_a_damaged_private_file_is_an_error_without_a_traceback(pool, name):
    path = pool / "private" / name
    path.write_bytes(path.read_bytes()[:40])
    assert "damaged" in refusal(pool)


@pytest.mark.parametrize("change", [{"coins": []}, {"rows": "7"}, {"digest": None}])
def test_runs_of_another_kind_are_an_error_without_a_traceback(pool, change):
    path = pool / "private" / "coins.json"
    listed = json.loads(path.read_text())
    listed["runs"][0] |= change
    path.write_text(json.dumps(listed))
    assert "damaged" in refusal(pool)


def test_coins_that_do_not_follow_from_the_seed_are_named(pool):
    """As after an upgrade of numpy that draws other numbers."""
    path = pool / "private" / "coins.json"
    document = json.loads(path.read_text())
    first = document["runs"][0]["coins"]
    document["runs"][0]["coins"] = first[::-1]
    del document["seal"]
    document["seal"] = sha256(json.dumps(document).encode())
    path.write_text(json.dumps(document))
    answer = refusal(pool)
    assert "private/coins.json: the coins of some runs do not follow from the seed" in answer
    assert f"numpy {np.__version__}" in answer


def test_a_changed_or_missing_manifest_is_named(pool):
    path = pool / "manifest.json"
    path.write_text(path.read_text().replace('"rows": 20', '"rows": 40'))
    assert "manifest.json: changed since the export" in refusal(pool)
    path.unlink()
    assert "manifest.json: missing" in refusal(pool)


def test_wrong_columns_are_named(pool):
    path = synthetic(pool, 1)
    path.write_text(path.read_text().replace("education", "schooling", 1))
    answer = refusal(pool)
    assert "synthetic/run-0001.csv: the columns are not those of the schema." in answer
    assert "Missing here: 'education'" in answer
    assert "Only here: 'schooling'" in answer


def test_a_wrong_number_of_rows_is_named(pool):
    path = synthetic(pool, 1)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-3]))
    assert "synthetic/run-0001.csv: 17 rows; manifest.json asks for 20." in refusal(pool)


def test_empty_and_unreadable_files_are_named(pool):
    header = synthetic(pool, 0).read_text().splitlines()[0]
    synthetic(pool, 0).write_text("")
    synthetic(pool, 1).write_text(header + "\n")
    synthetic(pool, 2).write_bytes(b"PK\x03\x04 a spreadsheet")
    synthetic(pool, 3).write_bytes(b"\xff\xfe\x00")  # half a character of UTF-16
    answer = refusal(pool)
    assert "synthetic/run-0000.csv: the file is empty." in answer
    assert "synthetic/run-0001.csv: there is a header but no rows" in answer
    assert "synthetic/run-0002.csv: this is a compressed file or a spreadsheet" in answer
    assert "synthetic/run-0003.csv: not a readable table" in answer


def test_two_files_with_one_content_are_named(pool):
    """Also if the copy has its rows in another order."""
    header, *rows = synthetic(pool, 2).read_text().splitlines()
    synthetic(pool, 5).write_text("\r\n".join([header, *sorted(rows)]))
    assert "synthetic/run-0005.csv: the same content as synthetic/run-0002.csv" in refusal(pool)


def test_a_synthetic_file_that_is_a_training_file_is_named(pool):
    shutil.copy(pool / "train" / "run-0004.csv", synthetic(pool, 4))
    shutil.copy(pool / "train" / "run-0005.csv", synthetic(pool, 7))
    answer = refusal(pool)
    assert "synthetic/run-0004.csv: the same as train/run-0004.csv" in answer
    assert "synthetic/run-0007.csv: the same as train/run-0005.csv" in answer


def test_files_that_the_manifest_does_not_list_are_named(pool):
    shutil.copy(synthetic(pool, 2), pool / "synthetic" / "run-0002 (1).csv")
    (pool / "synthetic" / ".DS_Store").write_text("what file managers leave behind is nobody's mistake")
    answer = refusal(pool)
    assert "synthetic/run-0002 (1).csv: not in manifest.json" in answer
    assert "DS_Store" not in answer


def test_values_outside_the_schema_are_a_note_and_a_column_without_any_other_an_error(pool):
    frame = pd.read_csv(synthetic(pool, 1), dtype=str, keep_default_na=False)
    frame.loc[0, "education"] = "Sorcerer"
    frame.to_csv(synthetic(pool, 1), index=False)
    notes = attack_pool(pool).notes
    assert "Column 'education' holds values outside the schema in 1 of 8 synthetic files; they match nothing." in notes
    assert not any("Sorcerer" in note for note in notes)
    frame.assign(education="Sorcerer").to_csv(synthetic(pool, 1), index=False)
    assert "synthetic/run-0001.csv: no value of column 'education' is in the schema." in refusal(pool)


def test_everything_that_is_wrong_is_named_at_once(pool):
    synthetic(pool, 0).write_text("")
    synthetic(pool, 1).unlink()
    shutil.copy(synthetic(pool, 2), synthetic(pool, 3))
    (pool / "manifest.json").unlink()
    answer = refusal(pool)
    for name in ("run-0000.csv: the file is empty", "run-0001.csv: missing", "run-0003.csv: the same", "manifest.json"):
        assert name in answer


def test_no_pool_and_other_pools_are_refused(pool, tmp_path):
    assert "there is no such pool" in refusal(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "no private/plan.json" in refusal(tmp_path / "empty")
    real = people(40).select(COLUMNS)
    with pytest.raises(RunError, match="seed was 5, now it is 6"):
        export_pool(real, pool, runs=9, synthetic_rows=20, seed=6)
    with pytest.raises(RunError, match="another real table"):
        export_pool(people(40, seed=1).select(COLUMNS), pool, runs=9, synthetic_rows=20, seed=SEED)
    (tmp_path / "taken" / "train").mkdir(parents=True)
    with pytest.raises(RunError, match="holds train, but no pool"):
        export_pool(real, tmp_path / "taken", runs=8)
    with pytest.raises(ParameterError, match="--runs is 3"):
        export_pool(real, tmp_path / "new", runs=3)


def test_unknown_columns_are_refused_before_the_work(pool):
    assert "There is no column 'colour'" in refusal(pool, groups=("colour",))
    assert "There is no column 'colour'" in refusal(pool, secrets=("colour",))


# Swapped files


def exchange(pool, one, other):
    content = synthetic(pool, one).read_bytes()
    synthetic(pool, one).write_bytes(synthetic(pool, other).read_bytes())
    synthetic(pool, other).write_bytes(content)


def test_two_swapped_files_are_found_among_48_of_cart_on_300_people(leaky, tmp_path):
    pool = shutil.copytree(leaky, tmp_path / "pool")
    exchange(pool, 3, 30)
    answer = refusal(pool)
    assert "synthetic/run-0003.csv: fits the people of train/run-0030.csv" in answer
    assert "synthetic/run-0030.csv: fits the people of train/run-0003.csv" in answer
    assert answer.count("swapped, or misnamed") == 2  # and nobody else is accused


def test_a_shift_of_all_names_by_one_is_found(leaky, tmp_path):
    """No name is right then, so nothing can be learnt from them."""
    pool = shutil.copytree(leaky, tmp_path / "pool")
    contents = [synthetic(pool, run).read_bytes() for run in range(48)]
    for run in range(48):
        synthetic(pool, run).write_bytes(contents[(run + 1) % 48])
    answer = refusal(pool)
    assert "synthetic/run-0010.csv: fits the people of train/run-0011.csv" in answer
    assert answer.count("swapped, or misnamed") >= 24


def test_a_file_of_a_run_whose_own_file_is_missing_is_found(leaky, tmp_path):
    pool = shutil.copytree(leaky, tmp_path / "pool")
    synthetic(pool, 7).replace(synthetic(pool, 8))
    assert "synthetic/run-0008.csv: fits the people of train/run-0007.csv" in refusal(pool)


def test_a_file_made_from_other_people_is_a_note(leaky, tmp_path):
    """It fits nobody's coins: perhaps it was made from an older export."""
    pool = shutil.copytree(leaky, tmp_path / "pool")
    rng = np.random.default_rng(1)
    write_csv(parse("cart").fit(people(150, seed=9), rng).sample(150, rng), synthetic(pool, 20))
    notes = [note for note in attack_pool(pool).notes if "fits no training file" in note]
    assert [note.partition(":")[0] for note in notes] == ["run-0020.csv"]


def test_right_files_of_a_generator_that_leaks_nothing_are_never_called_swapped():
    """The z of a file against any run is a standard normal, here 5,120 times; it would have to exceed 6."""
    real = people(100).select(COLUMNS)
    scores = []
    for seed in range(20):
        plan = EveryonePlan(generator="oblivious", runs=16, seed=seed, synthetic_rows=50)
        setting, _, _ = set_up(plan, parse("oblivious"), real)
        store, tasks = MemoryStore(), coin_tasks(16)
        Local().run(setting, tasks, store)
        drawn = CoinPool.gather(setting, tasks, store)
        fits = fits_of(drawn, drawn.members)
        assert swapped(drawn, fits) == ()
        assert odd_ones(drawn, fits) == ()
        scores.append(fits[1])  # nothing leaks, so the names prove nothing and both are tried
    z = np.concatenate([each.ravel() for each in scores])
    assert abs(z.mean()) < 0.15
    assert 0.85 < z.std() < 1.15


@pytest.mark.parametrize(("coins", "tossed"), [("independent", 101), ("paired", 50)])
def test_evidence_that_equals_the_coins_has_the_largest_z_there_is(coins, tossed):
    """The sum of n squares over the root of n: z = sqrt(n), one for each coin that was tossed."""
    game = CoinGame.of(Coins(coins), 101, np.random.default_rng(0))
    members = np.stack([game.deal(np.random.default_rng(run)) for run in range(3)])
    drawn = SimpleNamespace(setting=SimpleNamespace(game=game), members=members)
    z = fit_to_coins(2.0 * members - 1, members, drawn)
    np.testing.assert_allclose(np.diag(z), np.sqrt(tossed))
    assert np.abs(z[~np.eye(3, dtype=bool)]).max() < 4


def test_names_of_files_are_told_in_ranges():
    assert names_of(["a/run-0001.csv"]) == "a/run-0001.csv"
    assert names_of(["a/run-0001.csv", "a/run-0002.csv"]) == "a/run-0001.csv, run-0002.csv"
    assert names_of([f"a/run-{n:04d}.csv" for n in (1, 2, 3, 7)]) == "a/run-0001.csv to run-0003.csv, a/run-0007.csv"
    assert names_of(["a/run-0001.csv", "b/run-0002.csv", "odd.csv"]) == "a/run-0001.csv, b/run-0002.csv, odd.csv"
