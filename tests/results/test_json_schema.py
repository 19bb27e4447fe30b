"""The JSON Schema of results: it is current, real results follow it, and it refuses what reading refuses."""

import json
from pathlib import Path

import pytest

from tests.results.test_migration import PATHS, plain_of
from tests.results.test_result import full_result
from unmask.results import Decision, Publishing, RunProgress
from unmask.results.json_schema import json_schema
from unmask.results.plain import to_plain
from unmask.results.result import Result

jsonschema = pytest.importorskip("jsonschema")
REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


@pytest.fixture(scope="module")
def validator():
    jsonschema.Draft202012Validator.check_schema(json_schema())
    return jsonschema.Draft202012Validator(json_schema())


@pytest.mark.parametrize("name", ["result", "progress", "decision"])
def test_the_file_is_current(name):
    """If not: python -m unmask.results.json_schema NAME > docs/reference/NAME.schema.json"""
    assert json.loads((REFERENCE / f"{name}.schema.json").read_text(encoding="utf-8")) == json_schema(name)


def test_progress_and_decisions_follow_theirs():
    times = 2 * ["2026-01-01T00:00:00+00:00"]
    progress = RunProgress("audit", "Reading", 0, None, *times, None, 1, "abc")
    decision = Decision("A", Publishing.PUBLISH, "nothing was found", result="0" * 64)
    for name, value in (("progress", progress), ("decision", decision)):
        validator = jsonschema.Draft202012Validator(json_schema(name))
        validator.validate(to_plain(value))
        with pytest.raises(jsonschema.ValidationError):
            validator.validate(to_plain(value) | {"version": 2})


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_real_results_follow_it(path, validator):
    validator.validate(Result.from_plain(plain_of(path)).to_plain())


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain.update(format=2),
        lambda plain: plain.update(extra=1),
        lambda plain: plain.pop("seed"),
        lambda plain: plain.update(seed="3"),
        lambda plain: plain["findings"][0].update(severity="dire"),
        lambda plain: plain["findings"][0]["estimate"].update(low="x"),
        lambda plain: plain["findings"][0].update(estimate=None),
        lambda plain: plain["grids"][0].update(rows=[[[]]]),
        lambda plain: plain["grids"][0].update(kind="heap"),
        lambda plain: plain["series"][0].update(y=["nan"]),
        lambda plain: plain["facts"].pop("visible"),
    ],
)
def test_it_refuses_what_reading_refuses(change, validator):
    plain = full_result().to_plain()
    validator.validate(plain)
    change(plain)
    assert not validator.is_valid(plain)


def test_fields_are_described_by_what_stands_behind_them():
    known = json_schema()["$defs"]
    assert known["Finding"]["properties"]["title"]["description"] == "one sentence with a natural frequency"
    assert "groups: a line per group of people" in known["GridKind"]["description"]
    assert "records" not in json_schema()["properties"]
