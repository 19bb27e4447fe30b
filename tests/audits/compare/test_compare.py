"""The comparison of mechanisms: known truths, what is shared, and what is said."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import unmask
from unmask.audits.compare.audit import CompareAudit
from unmask.audits.compare.axes import PRIVACY, UTILITY, CompareAxis, Contrasts
from unmask.audits.compare.entrants import entrants_of
from unmask.audits.compare.plan import ComparePlan
from unmask.audits.compare.sentences import dominance_answers, price_answers
from unmask.audits.compare.target_games import GameTable
from unmask.audits.runner import Runner
from unmask.errors import GeneratorError, InputError, ParameterError
from unmask.generators import get
from unmask.reports.html import render
from unmask.reports.summary import summary
from unmask.results.grid import GridKind, Role
from unmask.results.sharing import for_sharing
from unmask.simulation.task import Task, Whose
from unmask.stats.results import Assumption, Estimate
from unmask.threats.knowledge import Goal

SMALL = {
    "targets": "random:2+rare:2", "attacks": ("record-linkage", "closest-record"), "shadows": 24, "tests": 60, "repeats": 4,
    "runs": 8, "people": 60, "train_rows": 60, "seed": 3, "workers": 1,
}  # fmt: skip
KNOWN = ["raw", "independent", "oblivious"]


@pytest.fixture(scope="module")
def population():
    """People with a column that the others predict, so that there is something to lose."""
    rng = np.random.default_rng(5)
    rows = 500
    work = rng.integers(0, 5, rows)
    frame = pd.DataFrame({
        "age": rng.normal(45, 15, rows).round(3),
        "pay": (1000 * work + rng.normal(0, 400, rows)).round(2),
        "work": np.array(list("abcde"))[work],
        "sex": rng.choice(["f", "m"], rows),
        "rich": np.where(work >= 3, "yes", "no"),
    })  # fmt: skip
    return unmask.read_table(frame)


@pytest.fixture(scope="module")
def known(population):
    return unmask.compare(KNOWN, population, label="rich", **SMALL)


def grid(result, name):
    return next(each for each in result.grids if each.name == name)


def lines(found):
    return {row[0]: row[1:] for row in found.rows}


def test_raw_gains_nothing_and_keeps_everything(known):
    gain = lines(grid(known, "tradeoff/membership/two-way"))["raw"]
    assert gain == (0.0, 0.0, 0.0, 1.0, 1.0, 1.0)
    assert all(value == 1.0 for value in lines(grid(known, "compare/utility"))["raw"])
    taught = grid(known, "compare/label")
    assert lines(taught)["raw"][taught.columns.index("share of what real rows teach") - 1] == 1.0


def test_oblivious_hides_everything_and_teaches_nothing(known):
    value, low, high, *_ = lines(grid(known, "tradeoff/membership/two-way"))["oblivious"]
    assert low <= 1 <= high
    assert value > 0.6
    utility = grid(known, "compare/label")
    place = utility.columns.index("share low")
    low, high = lines(utility)["oblivious"][place - 1 : place + 1]
    assert low <= 0.35
    assert high >= -1
    assert lines(utility)["oblivious"][place - 2] < 0.5 < lines(utility)["fresh people"][place - 2]


def test_privacy_is_not_told_by_everybody_either(known):
    areas = lines(grid(known, "compare/everyone"))
    assert areas["raw"][0] > 0.9
    assert areas["oblivious"][1] <= 0.5 <= areas["oblivious"][2]


def test_the_words_say_what_the_intervals_support(known):
    contrasts = {row[0]: row for row in grid(known, "contrasts/membership").rows}
    assert contrasts["raw - oblivious"][4] == "the second"
    said = [row[1] for row in grid(known, "answers").rows]
    assert "Best in two-way marginals kept: raw." in said[0]
    assert any(line.startswith("From raw to") for line in said)
    assert not any("dominated by raw" in line for line in said)
    assert any(row[0] == "Which teach nothing?" and "oblivious" in row[1] for row in grid(known, "answers").rows)
    assert any("raw: The presence of 4 of 4 targets is surely told" in line for line in said)
    assert any("hold together with 95 % confidence" in line and "60 fits under attack" in line for line in said)
    for answer in said:
        if "clearly dominated by" in answer:
            loser, winner = answer.split(" is clearly dominated by ")[0], answer.split("by ")[1].split(",")[0]
            signs = [row[4] for each in known.grids if each.name.startswith("contrasts/") for row in each.rows
                     if row[0] in (f"{loser} - {winner}", f"{winner} - {loser}")]  # fmt: skip
            assert any(sign != "not told apart" for sign in signs)


def test_readers_show_the_words_and_the_pictures(known):
    page = render(known)
    for text in (
        "Which are dominated?",
        "Who loses?",
        "Upper right is better",
        "Each mark is one target",
        "How sure is this?",
    ):
        assert text in page
    assert ">dummy</text>" in page  # a line in the chart of accuracy
    assert "At 0 an attack" not in page
    assert "Who loses?" in summary(known)
    assert known.state is None
    assert not known.findings
    kinds = {each.kind for each in known.grids}
    assert {GridKind.ANSWERS, GridKind.TRADEOFF, GridKind.TARGETS} <= kinds


def test_the_report_names_no_target(known, population):
    """Row numbers stand in records.csv alone; groups under ten people nowhere."""
    assert known.records is not None
    assert known.records.columns[0] == "row"
    targets = grid(known, "targets/membership")
    assert "row" not in targets.columns
    groups = grid(known, "compare/groups")
    assert all(row[groups.places(Role.PEOPLE)[0]] >= 10 for row in groups.rows)
    shared = grid(for_sharing(known), "compare/groups")  # a group has one name under all mechanisms
    assert {row[1:3] for row in shared.rows if row[1] == "rich"} == {("rich", "value 1 of 2"), ("rich", "value 2 of 2")}


def test_mechanisms_share_tables_targets_and_coins(population):
    """A draw of one number deals the same people to all: the advantage of each is the one that `unmask attack` finds."""
    plan = ComparePlan.of({"generators": KNOWN, **{name: value for name, value in SMALL.items() if name != "workers"}})
    table = GameTable.of(plan, Goal.MEMBERSHIP, entrants_of(plan), population)
    members = [setting.play(Task(Whose.TEST, 7))["members"] for setting in table.settings.values()]
    assert all(np.array_equal(each, members[0]) for each in members)
    one = [setting.generator.fit for setting in table.settings.values()]
    assert len({id(each) for each in one}) == len(KNOWN)


def test_a_copy_under_another_name_is_not_told_apart(population):
    found = unmask.compare(
        {"one": get("independent"), "two": get("independent"), "raw": get("raw")}, population, **SMALL
    )
    for each in found.grids:
        if each.name.startswith("contrasts/"):
            assert next(row for row in each.rows if row[0] == "one - two")[4] == "not told apart"
    assert any("one and two" in row[1] for row in grid(found, "answers").rows)


def test_an_interrupted_run_gives_the_same_bytes(population, tmp_path):
    """Killed in the middle of the draws, and continued by the same call."""
    few = SMALL | {"tests": 16, "shadows": 20, "repeats": 3}
    whole = unmask.compare(KNOWN, population, out=tmp_path / "whole", **few)
    seen = []

    def stop(done, total):
        seen.append(done)
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        unmask.compare(KNOWN, population, out=tmp_path / "killed", progress=stop, **few)
    again = unmask.compare(KNOWN, population, out=tmp_path / "killed", **few)
    texts = [Path(unmask.write(each, tmp_path / name) / "result.json").read_bytes()
             for each, name in ((whole, "whole"), (again, "killed"))]  # fmt: skip
    assert texts[0] == texts[1]
    assert "costs" in json.loads((tmp_path / "whole" / "run.json").read_text())
    more = unmask.compare(
        [*KNOWN, "copula"], population, out=tmp_path / "whole", **few
    )  # another one joins, the others stay
    assert (
        lines(grid(more, "tradeoff/membership/two-way"))["independent"]
        == lines(grid(whole, "tradeoff/membership/two-way"))["independent"]
    )


def test_the_attribute_game_and_releases_per_fit(population):
    found = unmask.compare(
        ["raw", "oblivious"], population, secret="sex", releases_per_fit=2,
        **SMALL | {"attacks": ("record-linkage", "closest-votes"), "tests": 40, "runs": 0},
    )  # fmt: skip
    gain = lines(grid(found, "tradeoff/attribute/two-way"))
    assert gain["raw"][0] == 0
    assert gain["oblivious"][0] > 0.1
    assert any("40 fits under attack" in row[1] for row in grid(found, "answers").rows)
    assert any(each.name == "everybody" and "not asked for" in each.reason for each in found.not_tested)


def test_epsilons_are_swept(population):
    names = ["privbayes:epsilon=0.1", "privbayes:epsilon=100", "raw"]
    found = unmask.compare(names, population, domain="learnt", **SMALL | {"runs": 0, "tests": 16})
    sweep = grid(found, "sweep/privbayes")
    assert [row[1] for row in sweep.rows[:2]] == [0.1, 100.0]
    assert any("read off each training table" in note for note in found.notes)
    assert "by epsilon" in render(found)


@dataclass(frozen=True)
class Failing:
    """Fails now and then, or always."""

    name: ClassVar[str] = "failing"
    row_level: ClassVar[bool] = True
    claim: ClassVar[None] = None

    every: int = 3

    def fit(self, table, rng):
        if rng.integers(self.every) == 0:
            raise GeneratorError("no")
        return get("raw").fit(table, rng)


def test_what_failed_is_counted_and_the_others_go_on(population):
    few = SMALL | {"runs": 0, "tests": 30}
    found = unmask.compare(
        {"now and then": Failing(6), "raw": get("raw"), "oblivious": get("oblivious")}, population, **few
    )
    assert found.failed_tasks > 0
    assert any("failed" in note for note in found.notes)
    found = unmask.compare({"always": Failing(1), "raw": get("raw"), "oblivious": get("oblivious")}, population, **few)
    assert any(each.name == "always" and "failed" in each.reason for each in found.not_tested)
    assert set(lines(grid(found, "tradeoff/membership/two-way"))) == {"raw", "oblivious"}


def test_a_time_budget_takes_from_all_alike(population):
    told = []
    plan = replace(
        ComparePlan.of({"generators": KNOWN[:2], **{k: v for k, v in SMALL.items() if k != "workers"}}),
        tests=100_000,
        runs=8,
    )
    audit = CompareAudit(plan, population, entrants_of(plan))
    found = audit.run(Runner.of(1, time_budget=6, say=told.append))
    assert found.plan["runs"] == 0
    assert 16 <= found.plan["tests"] < 5_000
    assert "pay for" in told[0]
    assert any(each.name == "everybody" and "time budget" in each.reason for each in found.not_tested)
    with pytest.raises(ParameterError, match="Allow more --time-budget"):
        audit.run(Runner.of(1, time_budget=0.01))


def test_wrong_input_is_refused(population):
    def wrong(generators=("raw", "cart"), people=population, **more):
        return unmask.compare(list(generators), people, **SMALL | more)

    with pytest.raises(ParameterError, match="one mechanism to compare"):
        wrong(["raw"])
    with pytest.raises(ParameterError, match="named twice"):
        wrong(["raw", "raw"])
    with pytest.raises(ParameterError, match="nope"):
        wrong(["raw", "nope"])
    with pytest.raises(ParameterError, match="--label income: there is no such column"):
        wrong(label="income")
    with pytest.raises(ParameterError, match="--secret income: there is no such column"):
        wrong(secret="income")
    with pytest.raises(ParameterError, match="fewer --train-rows"):
        wrong(people=population.take(np.arange(100)))
    with pytest.raises(ParameterError, match="--runs is 3"):
        wrong(runs=3)
    with pytest.raises(ParameterError, match="None of these attacks plays the membership game"):
        wrong(attacks=("closest-votes",))


@pytest.fixture
def folder(population, tmp_path):
    rng = np.random.default_rng(1)
    for name, generator in (("good", get("independent")), ("bad", get("oblivious"))):
        unmask.write_csv(generator.fit(population, rng).sample(300, rng), tmp_path / f"{name}.csv")
    (tmp_path / "sets").mkdir()
    for place in range(3):
        unmask.write_csv(get("independent").fit(population, rng).sample(300, rng), tmp_path / "sets" / f"{place}.csv")
    return tmp_path


def test_finished_releases_are_compared_by_what_needs_no_fitting(folder, population):
    found = unmask.compare(folder, population, seed=1)
    pairs = {row[0]: row[4] for row in grid(found, "contrasts/two-way").rows}
    assert pairs["bad - good"] == "the second"
    assert pairs["good - sets"] == "not told apart"
    assert any("Not measured" in row[1] for row in grid(found, "answers").rows)
    assert "need many fits" in found.not_tested[0].reason
    assert not any(each.kind is GridKind.TRADEOFF for each in found.grids)  # what was not measured is drawn nowhere
    page = render(found)
    assert "Not measured" in page
    assert "Comparison of releases" in page
    assert "put another file into the folder" in page
    assert "--generator NAME" not in page
    assert "that nothing dominates" not in page
    with pytest.raises(ParameterError, match=r"--tests is a choice for mechanisms .* Leave it out"):
        unmask.compare(folder, population, tests=400)


def test_folders_that_are_no_comparison_are_refused(folder, population, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="no releases are here"):
        unmask.compare(empty, population)
    with pytest.raises(InputError, match="no folder"):
        unmask.compare(tmp_path / "nowhere", population)
    frame = pd.read_csv(folder / "good.csv").drop(columns="sex")
    frame.to_csv(folder / "other.csv", index=False)
    with pytest.raises(InputError, match=r"other\.csv: this release has other columns than the population: 'sex'"):
        unmask.compare(folder, population)
    plan = ComparePlan.of({"generators": ("raw", "cart")})
    with pytest.raises(ParameterError, match="two comparisons"):
        CompareAudit.of(plan, population=population, releases=folder)


def test_workers_change_no_byte(population):
    few = SMALL | {"tests": 16, "shadows": 20, "repeats": 3, "label": "rich"}
    names = ["raw", "sanitiser:rare=60"]  # publishes nothing at all: what an empty release teaches is the dummy's
    one, two = (unmask.compare(names, population, **few | {"workers": workers}) for workers in (1, 2))
    assert one.to_plain() == two.to_plain()
    assert lines(grid(one, "compare/utility"))["sanitiser:rare=60"][0] == 0.0
    taught = grid(one, "compare/label")
    assert lines(taught)["sanitiser:rare=60"][taught.columns.index("share of what real rows teach") - 1] == 0.0
    assert "Only raw is left" in grid(one, "answers").rows[0][1]


def test_who_publishes_nothing_wins_nothing(population):
    """Said first, on no front, and the coin game goes on without it."""
    few = SMALL | {"tests": 16, "shadows": 20, "repeats": 3, "label": "rich"}
    found = unmask.compare(["raw", "independent", "sanitiser:rare=60"], population, **few)
    short = grid(found, "answers").rows[0][1]
    assert short.startswith("sanitiser:rare=60 published no rows in 3 of 3 releases")
    assert "Best in" in short
    assert short.count("sanitiser") == 1
    assert set(lines(grid(found, "tradeoff/membership/label"))) == {"raw", "independent"}
    assert set(lines(grid(found, "compare/everyone"))) == {"raw", "independent"}
    missing = next(each for each in found.not_tested if each.name == "sanitiser:rare=60")
    assert "no rows in 3 of 3" in missing.reason
    assert "leave it out" in missing.remedy
    with pytest.raises(GeneratorError, match="No mechanism published rows"):
        unmask.compare(["sanitiser:rare=60", "sanitiser:rare=59"], population, **few | {"runs": 0})


def test_raw_meets_record_linkage_whatever_its_shadows_choose(population):
    few = SMALL | {"tests": 16, "shadows": 20, "repeats": 3, "runs": 0}
    found = unmask.compare(
        ["raw", "cart"], population, **few | {"attacks": ("queries", "record-linkage", "linkage-weights")}
    )
    assert lines(grid(found, "compare/membership"))["raw"][:4] == ("record-linkage", 0.0, 0.0, 0.0)


def test_the_real_table_dominates_nobody():
    """Where privacy is not told apart and raw is more useful, that is said to be too little to tell."""
    values = {"raw": 0.0, "cart": 0.4}

    def axis(name, side, found, reach):
        def between(one, other, sure):
            return estimate(found[one] - found[other], reach)

        return CompareAxis(name, name, side, {each: estimate(value, reach) for each, value in found.items()}, between)

    def estimate(value, reach):
        return Estimate(value, (value - reach, value + reach), 0.95, "t", Assumption.MODEL_BASED, 16)

    axes = axis("gain", PRIVACY, values, 0.5), axis("kept", UTILITY, {"raw": 1.0, "cart": 0.8}, 0.05)
    said = list(dominance_answers(Contrasts.of(axes, tuple(values), 0.95, frozenset({"raw"}))))
    assert not any("dominated by raw" in told for _, told in said)
    assert any("cart: its gain is 0.40 (-0.10 to 0.90) above" in told and "Too few --tests" in told for _, told in said)
    turned = axes[0], axis("kept", UTILITY, {"raw": 0.8, "cart": 1.0}, 0.05)
    (told,) = price_answers(Contrasts.of(turned, tuple(values), 0.95))
    assert "hides most and keeps most" in told[1]


@dataclass(frozen=True)
class ById:
    """An executor that goes by the ids of tasks, as a cluster does."""

    workers: int = 1

    def run(self, setting, tasks, store, progress):
        for task in {task.id: task for task in tasks}.values():
            store.put(task, setting.play(task))


def test_executors_that_go_by_ids_lose_nothing(population):
    few = SMALL | {"tests": 16, "shadows": 20, "repeats": 3, "runs": 0}
    here, there = (unmask.compare(KNOWN, population, **few | {"workers": each}) for each in (1, ById()))
    assert here.to_plain() == there.to_plain()
    assert there.failed_tasks == 0
