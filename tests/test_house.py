"""The rules of the house that a machine can check; import-linter checks who may import whom."""

import ast
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from tests.golden.cases import frozen
from unmask.reports.sections import page_of
from unmask.results.result import Result
from unmask.results.sharing import for_sharing

SOURCE = Path(__file__).parents[1] / "src" / "unmask"
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST = 400  # lines of a file
MOST_FILES = 15  # of a package that says nothing about it
MOST_PARAMETERS = 7
# A generator and an attack are named after the same thing: name, file, class and command line agree (STYLE.md).
TWICE = {"Histogram"}
# Functions that users call, with a keyword for each thing that they may say. Verbs of the command line are callbacks.
PUBLIC = {
    "unmask": {"attack", "audit", "audit_epsilon", "compare", "everyone", "attack_pool", "describe", "reconstruct"},
    "metrics": {
        "attribute_scenario", "cap", "cap_continuous", "cap_over_keys", "completion",
        "inference", "linear_reconstruction", "minimal_distance", "inferences", "linkability", "rank_linkage", "singling_out",
    },
    "stats": {"power_anytime"},
}  # fmt: skip


def trees():
    return [(path, ast.parse(path.read_text())) for path in FILES]


def test_no_file_is_longer_than_a_reader_bears():
    long = {str(path): count for path in FILES if (count := path.read_text().count("\n")) > LONGEST}
    assert not long


def test_a_large_package_says_why():
    packages = defaultdict(int)
    for path in FILES:
        packages[path.parent] += 1
    for package, count in packages.items():
        if count > MOST_FILES:
            said = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
            assert "one file per" in said.lower() or "one file each" in said.lower() or "many files" in said.lower(), (
                package
            )


def test_no_class_name_is_used_twice():
    found = defaultdict(list)
    for path, tree in trees():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(path.relative_to(SOURCE)))
    assert not {name: places for name, places in found.items() if len(places) > 1 and name not in TWICE}


def test_no_function_takes_more_than_seven_things():
    """Compiled kernels and what users call apart."""
    public = set().union(*PUBLIC.values())
    many = []
    for path, tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or node.name in public:
                continue
            if any(ast.unparse(each).startswith(("njit(", "inner(")) for each in node.decorator_list):
                continue
            if path.parent.name == "cli" and node.name == "run":
                continue
            taken = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            if len([name for name in taken if name not in ("self", "cls")]) > MOST_PARAMETERS:
                many.append(f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}")
    assert not many


@pytest.mark.parametrize("sign", ["object.__setattr__"])
def test_fitted_state_is_not_hidden_in_frozen_values(sign):
    """A frozen value may put its own parameters in order when it is made, and nothing later."""
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name not in ("__post_init__", "__init__"):
                assert sign not in ast.unparse(node), f"{path}: {node.name}"


@pytest.mark.parametrize("name", ["release", "everyone", "demonstration"])
def test_nothing_is_decided_by_the_text_of_a_header(name):
    """With every header and name of a table changed, the same tables stand in the same sections, drawn and hidden alike."""
    plain = frozen(name)["result"] | {"versions": {}}
    result = Result.from_plain(plain)
    changed = replace(
        result,
        grids=tuple(
            replace(grid, name=f"table {place}", columns=tuple(f"x{column}" for column in range(len(grid.columns))))
            for place, grid in enumerate(result.grids)
        ),
    )
    shown = [page_of(for_sharing(each), None).blocks for each in (result, changed)]
    tables = [
        {
            section: [
                (block.title, block.chart is not None, block.grid.rows) for block in blocks if block.grid is not None
            ]
            for section, blocks in page.items()
        }
        for page in shown
    ]
    assert tables[0] == tables[1]
    assert sum(map(len, tables[0].values())) == len(result.grids)


def test_the_policy_of_a_report_is_that_of_its_result():
    for path in [*(SOURCE / "reports").rglob("*.py"), *(SOURCE / "audits").rglob("*.py")]:
        assert "Policy()" not in path.read_text() or path == SOURCE / "audits" / "plan.py", path
