"""What all audits share: plans that check themselves, runs that continue, and directories that grow."""

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from unmask.audits.attack.budget import within_time
from unmask.audits.attack.plan import AttackPlan
from unmask.audits.foreign.plan import PoolPlan
from unmask.audits.plan import choices_of
from unmask.audits.release.audit import CHECKS
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.release.tables import read_release
from unmask.audits.runner import Runner
from unmask.cli.main import app
from unmask.errors import ParameterError
from unmask.simulation.task import Task, Whose

SMALL = {"attacks": ["naive"], "targets": "2", "train_rows": 40, "workers": 1}


@pytest.fixture
def people():
    return unmask.datasets.adult().take(np.arange(160))


def test_many_targets_need_a_confidence_that_no_plan_would_name(people):
    """Forty targets share the error of each interval: 0.95 becomes 0.99875 and beyond."""
    more = {"targets": "random:40", "shadows": 4, "tests": 4, "train_rows": 50, "confidence": 0.9999}
    assert unmask.attack("independent", people, attacks=["naive"], workers=1, **more).findings


def test_what_is_drawn_already_costs_no_time(people):
    """A budget pays for draws on top of those that the store holds."""

    class Held:
        def has(self, task):
            return task.index < (150 if task.whose is Whose.SHADOW else 75)

        def put(self, task, outcome):
            pass

    class Quick:
        game = AttackPlan(generator="raw").game
        ground = type("Ground", (), {"targets": [0]})
        analyst = None

        def play(self, task):
            return {}

    plan = AttackPlan(generator="raw", shadows=200, tests=100)
    assert within_time(plan, Runner.of(1, time_budget=1000), Quick(), Held()) == plan
    with pytest.raises(ParameterError, match="16 under attack"):
        within_time(
            plan, Runner.of(1, time_budget=1e-9), Quick(), type("None", (Held,), {"has": lambda self, task: False})()
        )
    kept = within_time(plan, Runner.of(1, time_budget=1e-9), Quick(), Held())
    assert (kept.shadows, kept.tests) == (150, 75)


def test_a_damaged_draw_is_drawn_again(people, tmp_path):
    """One flipped byte in the middle of a file; the table of contents of the file still looks right."""

    def run():
        return unmask.attack("independent", people, shadows=4, tests=4, out=tmp_path, **SMALL)

    first = run()
    path = tmp_path / "draws" / f"{Task(Whose.TEST, 1).id}.npz"
    content = bytearray(path.read_bytes())
    sound = bytes(content)
    content[len(content) // 3] ^= 1
    path.write_bytes(content)
    assert run() == first
    assert path.read_bytes() == sound


def test_a_run_that_grew_is_written_over_the_smaller_one(people, tmp_path):
    for tests in (4, 6):
        result = unmask.attack("independent", people, shadows=4, tests=tests, out=tmp_path, **SMALL)
        unmask.write(result, tmp_path)
    assert unmask.load(tmp_path).plan["tests"] == 6
    with pytest.raises(unmask.UnmaskError, match="goal was 'membership', now it is 'fame'"):
        unmask.write(replace(result, plan={**result.plan, "goal": "fame"}), tmp_path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"secrets": 3}, "--secret is 3; give a list"),
        ({"attempts": 9}, "--attempts is 9; use a whole number from 10"),
        ({"attempts": 10.5}, "--attempts is 10.5; it must be a whole number"),
        ({"confidence": 1.0}, "--confidence is 1.0; use a share between 0 and 1"),
        ({"confidence": float("nan")}, "--confidence is nan; it must be a number"),
        ({"seed": -1}, "--seed is -1; use a whole number from 0"),
        ({"secret": "income"}, "There is no choice secret. There are: columns, confidence, secrets, keys"),
    ],
)
def test_a_plan_says_what_does_not_fit(given, said):
    with pytest.raises(ParameterError, match=said):
        ReleasePlan.of(given)


def test_numbers_of_numpy_are_numbers():
    plan = ReleasePlan(attempts=np.int64(20), confidence=np.float64(0.9))
    assert json.dumps(plan.to_plain()) == json.dumps(ReleasePlan(attempts=20, confidence=0.9).to_plain())


def test_a_choice_without_meaning_is_not_offered():
    assert "seed" not in [choice.name for choice in choices_of(PoolPlan)]
    with pytest.raises(ParameterError, match="There is no choice seed"):
        PoolPlan.of({"seed": 7})


def test_settings_go_with_a_name_and_not_with_a_generator_that_is_made(people):
    with pytest.raises(ParameterError, match="made already"):
        unmask.everyone(unmask.generators.get("independent"), people, settings=["x=1"], runs=8)


def test_settings_come_on_top_of_those_in_the_text():
    both = unmask.generators.parse("privbayes:degree=1,epsilon=3", ["epsilon=1"])
    assert (both.degree, both.epsilon) == (1, 1)
    text = unmask.generators.in_one_text("privbayes:degree=1", ["epsilon=1"])
    assert unmask.generators.parse(text["generator"], text["settings"]) == both


@pytest.mark.parametrize("columns", [1, 2, 15])
def test_the_findings_that_share_the_error_are_those_that_the_parts_declare(people, columns):
    """Every finding is declared by its part; a table of one column has none of linking, which is on the safe side."""
    names = people.schema.names[:columns]
    real, synthetic, holdout = (people.select(names).take(range(at, at + 50)) for at in (0, 50, 100))
    result = unmask.audit(real, synthetic, holdout=holdout, attempts=20, workers=1)
    release = read_release(real, synthetic, holdout, None)
    declared = sum(family.count(release) for check in CHECKS for family in check.families)
    found = [finding for finding in result.findings if finding.name != "holdout"]
    assert len(found) == declared if columns > 1 else len(found) <= declared


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)


@pytest.mark.parametrize(("verb", "words"), [("attack", ["real.csv", "--generator", "raw"]), ("pool attack", ["pool"])])
def test_a_plan_file_names_its_command(verb, words, tmp_path):
    assert run(*verb.split(), *words, "--write-plan", tmp_path / "plan.toml").exit_code == 0
    assert f"unmask {verb}" in (tmp_path / "plan.toml").read_text().replace("verbs", "unmask").splitlines()[0]


def test_every_audit_reads_and_writes_plans(tmp_path):
    for verb in ("audit", "attack", "everyone", "epsilon"):
        text = run(verb, "--help").output
        for option in ("--plan", "--write-plan", "--time-budget", "--schema", "--policy", "--seed", "--workers"):
            assert option in text, (verb, option)


def test_junit_fails_where_the_exit_code_does(tmp_path):
    words = [
        "epsilon",
        "--generator",
        "independent",
        "--claim",
        "epsilon=0.1",
        "--pairs",
        "tiny",
        "--runs",
        40,
        "--workers",
        1,
    ]
    for limit, code in (("high", 1), ("none", 0)):
        done = run(*words, "--quiet", "--fail-on", limit, "--junit", tmp_path / "x.xml")
        assert done.exit_code == code
        assert ('failures="0"' in (tmp_path / "x.xml").read_text()) == (code == 0)
