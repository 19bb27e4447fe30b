"""What it takes to add something: each test writes the one file, adds the one line, and uses it as a user would.

CONTRIBUTING.md has the table.
"""

import json
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import unmask
from unmask import attacks
from unmask.audits import plan as plans
from unmask.audits.release import audit as release_audit
from unmask.cli import main
from unmask.reports import charts, html
from unmask.results.grid import Series, SeriesKind
from unmask.simulation.executors import attempt


@pytest.fixture
def people():
    return unmask.datasets.adult().take(np.arange(160))


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes a file and makes it importable."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)

    return write


ATTACK = '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unmask.threats.knowledge import Access, Goal


@dataclass(frozen=True)
class Longest:
    """The target with the most synthetic rows of its own sex: no good attack, but one."""

    name: ClassVar = "longest"
    goals: ClassVar = frozenset({Goal.MEMBERSHIP})
    needs: ClassVar = frozenset({Access.SYNTHETIC})

    def prepare(self, view, targets, secret, rng):
        return self

    def score(self, view, targets, secret, rng):
        place = targets.schema.position("sex")
        return np.array([(view.synthetic.codes[:, place] == code).sum() for code in targets.codes[:, place]], dtype=float)
'''


def test_an_attack_is_one_file_and_one_line(written, monkeypatch, people):
    written("longest", ATTACK)
    monkeypatch.setitem(attacks.BUILT_IN, "longest", "longest:Longest")  # the line
    attacks._places.cache_clear()
    try:
        assert "longest" in attacks.names()
        result = unmask.attack(
            "independent", people, attacks=["longest"], targets="2", shadows=4, tests=4, train_rows=40, workers=1
        )
        assert {finding.name for finding in result.findings} == {"longest/isolated"}
    finally:
        attacks._places.cache_clear()


CHECK = '''
from unmask.audits.part import Part
from unmask.audits.release.case import Case, Check
from unmask.results.grid import Grid


def part(case: Case) -> Part:
    """How many rows there are."""
    rows = (("real", len(case.release.real)), ("synthetic", len(case.release.synthetic)))
    return Part(grids=(Grid("sizes", "Sizes", ("table", "rows"), rows),), columns=(("size", [1] * len(case.release.real)),))


SIZES = Check("sizes", part)
'''


def test_a_metric_of_the_release_audit_is_one_file_and_one_line(written, monkeypatch, people):
    written("sizes", CHECK)
    import sizes

    monkeypatch.setattr(release_audit, "CHECKS", (sizes.SIZES,))  # the line: one more in CHECKS
    result = unmask.audit(people.take(range(80)), people.take(range(80, 160)), workers=1)
    assert result.grids[0].rows == (("real", 80), ("synthetic", 80))
    assert result.records.columns == ("row", "size")


AUDIT = '''
from dataclasses import dataclass

from unmask.audits.part import Part
from unmask.audits.plan import Plan, option
from unmask.cli.options import real
from unmask.cli.verb import AuditVerb
from unmask.results.result import describe_input
from unmask.tables.read import read_table
from unmask.tables.table import Table


@dataclass(frozen=True, kw_only=True)
class CountPlan(Plan):
    """What `unmask count` does."""

    times: int = option(1, help="How often to count.", least=1, grows=True)


@dataclass(frozen=True, eq=False)
class Count:
    """Counts rows."""

    plan: CountPlan
    table: Table

    @classmethod
    def of(cls, plan, *, real, schema=None):
        return cls(plan, read_table(real, schema))

    def expected(self):
        return self.plan.expected("count", (describe_input("real", self.table),))

    def run(self, runner):
        return Part(notes=(f"{len(self.table) * self.plan.times} rows",)).told(self.expected(), None)


command = AuditVerb("count", "Count rows.", CountPlan, audit=f"{__name__}:Count", doing="Counting", tables=[real()]).command
'''


def test_an_audit_is_its_package_and_one_line(written, monkeypatch, people, tmp_path):
    """Plan, inputs, run directory, plan file, --json and the report come from the skeleton."""
    written("count_audit", AUDIT)
    import count_audit

    monkeypatch.setitem(sys.modules, "unmask.cli.count", count_audit)
    monkeypatch.setitem(main.VERBS, "count", "Count rows.")  # the line
    unmask.write_csv(people, tmp_path / "real.csv")

    def run(*words):
        return CliRunner().invoke(
            main.app, ["count", str(tmp_path / "real.csv"), *map(str, words)], catch_exceptions=False
        )

    assert run("--write-plan", tmp_path / "plan.toml").exit_code == 0
    assert tomllib.loads((tmp_path / "plan.toml").read_text())["times"] == 1
    answer = run("--plan", tmp_path / "plan.toml", "--times", 3, "--out", tmp_path / "run", "--json")
    assert json.loads(answer.stdout)["notes"] == ["480 rows"]
    assert unmask.load(tmp_path / "run").plan == {"times": 3}
    assert run("--times", 5, "--out", tmp_path / "run", "--quiet").exit_code == 0  # it grows
    assert "480" not in (tmp_path / "run" / "report.html").read_text()
    assert "--times INTEGER" in run("--help").stdout


@dataclass(frozen=True)
class Backwards:
    """An executor: the last task first."""

    workers: int = 1

    def run(self, setting, tasks, store, progress):
        for task in reversed([task for task in tasks if not store.has(task)]):
            store.put(task, attempt(setting, task))
        progress(len(tasks), len(tasks))


@pytest.mark.parametrize(
    "audit",
    [
        lambda people, who: unmask.attack(
            "independent", people, attacks=["naive"], targets="2", shadows=4, tests=4, train_rows=40, workers=who
        ),
        lambda people, who: unmask.everyone("independent", people, runs=8, confirm=1, confirm_runs=20, workers=who),
        lambda people, who: unmask.audit_epsilon("histogram:epsilon=1", pairs="tiny", runs=20, workers=who),
    ],
    ids=["attack", "everyone", "epsilon"],
)
def test_an_executor_is_one_file(audit, people):
    """Every audit that draws takes it where it takes a number of workers, and the result is the same."""
    assert audit(people, Backwards()) == audit(people, 1)


def test_a_chart_is_one_file_and_one_line(monkeypatch):
    drawn = []

    def dots(name, subject, series):  # the file: a function from series to a chart
        drawn.append(subject)
        return charts.line_chart(name, subject, series)

    monkeypatch.setitem(charts.DRAWN, SeriesKind.LINE, dots)  # the line
    result = unmask.Result(
        "mine", 0, {}, (), series=(Series("loss/a/b", "Loss", "step", "loss", (1.0, 2.0), (3.0, 4.0)),)
    )
    assert "<svg" in html.render(result)
    assert drawn == ["a"]


def test_a_policy_from_a_file_takes_no_code(people, tmp_path):
    """The thresholds of the file judge, stand in the result, and are what the report prints."""
    (tmp_path / "strict.toml").write_text("high = 0.9\nmedium = 0.8\nhigh_tpr = 0.95\n")
    for name, rows in {"real": range(80), "holdout": range(80, 160)}.items():
        unmask.write_csv(people.take(rows), tmp_path / f"{name}.csv")
    words = [
        "audit",
        "real.csv",
        "real.csv",
        "--holdout",
        "holdout.csv",
        "--attempts",
        "20",
        "--workers",
        "1",
        "--quiet",
    ]
    paths = [str(tmp_path / word) if word.endswith(".csv") else word for word in words]
    severities = {}
    for name, more in {"usual": [], "strict": ["--policy", str(tmp_path / "strict.toml")]}.items():
        CliRunner().invoke(main.app, [*paths, *more, "--out", str(tmp_path / name)], catch_exceptions=False)
        result = unmask.load(tmp_path / name)
        severities[name] = [str(one.severity) for one in result.findings if one.name == "closest-record"]
    assert severities == {"usual": ["high"], "strict": ["low"]}
    assert result.policy.high == 0.9
    assert "<b>▲ high</b> from 0.9" in (tmp_path / "strict" / "report.html").read_text()


def test_an_option_is_one_line():
    """Help, default, limits, JSON, TOML, the command line and Python have it from there."""

    @dataclass(frozen=True, kw_only=True)
    class MyPlan(plans.Plan):
        nights: int = plans.option(7, help="Nights to stay.", least=1)  # the line

    from unmask.cli.options import of_plan

    assert MyPlan.of({"nights": 3}).to_plain() == {"nights": 3}
    with pytest.raises(unmask.UnmaskError, match="--nights is 0; use a whole number from 1"):
        MyPlan.of({"nights": 0})
    (nights,) = [each for each in of_plan(MyPlan) if each.name == "nights"]
    assert (nights.opts, nights.help) == (["--nights"], "Nights to stay. [default: 7]")


def test_the_table_of_additions_is_in_the_guide():
    guide = Path(__file__).parents[1].joinpath("CONTRIBUTING.md").read_text()
    for what in ("attack", "metric of the release audit", "audit", "executor", "chart", "option", "severity policy"):
        assert f"| {what} |" in guide, what
