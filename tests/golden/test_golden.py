"""A change of structure changes no number: results for fixed seeds, field by field; the number of workers changes no byte."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.cases import CASES, frozen, plain_of
from unmask.results.result import Result
from unmask.threads import VARIABLES

CLOSE = 1e-6  # floats of another processor differ in their last digits
ROUNDED = 1e-3  # records have four digits, of which the last may then fall to the other side
FORMAT_2 = Path(__file__).parent / "format2" / "results"
_OVER_RELEASES = "intervals of attack are over releases, more columns and tables; queries count equal values"
_MORE_SEEN = "the audit of a claim looks at the order of rows, at exact numbers and, by default, at numeric columns"
_EXACT = "everyone reads exact values, and has another scorer"
_LEARNT = "the learnt auditor leads, copies are judged by Fisher's test, limits of differences are exact"
CHANGED = {  # cases that differ from the old house on purpose, and why
    **dict.fromkeys(("attack", "attack-claim", "attack-category", "attack-number"), _OVER_RELEASES),
    **dict.fromkeys(("epsilon", "epsilon-canary", "epsilon-refuted", "epsilon-carried"), _MORE_SEEN),
    **dict.fromkeys(("everyone", "everyone-paired", "everyone-boosted", "pool"), _EXACT),
    **dict.fromkeys(
        ("release", "release-sets", "release-without-holdout", "release-shifted", "demonstration"), _LEARNT
    ),
}


@pytest.mark.pinned
@pytest.mark.parametrize("name", CASES)
def test_results_are_what_they_were_whoever_works(name):
    alone, two = (plain_of(CASES[name](workers)) for workers in (1, 2))
    assert json.dumps(alone) == json.dumps(two)
    differences = list(differing(frozen(name), alone, name))
    assert not differences, "\n".join(differences[:20])


SUMS = "everyone-paired"  # its scores are sums by BLAS, in the process that leads
AGAIN = f"""
import json
from tests.golden.cases import CASES, plain_of
print(json.dumps([json.dumps(plain_of(CASES['{SUMS}'](workers))) for workers in (1, 2)]))
"""


@pytest.mark.parametrize("threads", [None, "2"])
def test_threads_of_libraries_change_no_byte(threads):
    """Whether the environment says nothing, so that BLAS and OpenMP take all cores, or two: this process itself may have one."""
    asked = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    asked |= {} if threads is None else dict.fromkeys(VARIABLES, threads)
    found = subprocess.run(
        [sys.executable, "-c", AGAIN], capture_output=True, text=True, timeout=300, check=True, env=asked,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert json.loads(found.stdout) == [json.dumps(plain_of(CASES[SUMS](1)))] * 2


@pytest.mark.parametrize("name", [name for name in CASES if name not in CHANGED])
def test_the_new_house_gave_the_results_of_the_old(name):
    """Frozen before packages, plans and parts were rebuilt, read through the migration; epsilon has a new empty choice."""
    old = json.loads((FORMAT_2 / f"{name}.json").read_text())
    upgraded = Result.from_plain(old["result"] | {"versions": {}}).to_plain()
    upgraded["plan"] |= {"settings": []} if upgraded["audit"] == "epsilon" else {}
    del upgraded["versions"]
    now = frozen(name)
    assert not list(differing(json.loads(json.dumps(upgraded)), now["result"], name))
    assert not list(differing(old["records"], now["records"], f"records of {name}"))


def differing(old, new, where):
    """Every place in which two documents differ, and how."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            if key not in old or key not in new:
                yield f"{where}.{key}: only {'before' if key in old else 'now'}"
            else:
                yield from differing(old[key], new[key], f"{where}.{key}")
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{where}: {len(old)} before, {len(new)} now"
        for place, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from differing(one, other, f"{where}[{place}]")
    elif isinstance(old, float) and isinstance(new, int | float):
        close = ROUNDED if ".records" in where else CLOSE
        same = math.isclose(old, new, rel_tol=close, abs_tol=CLOSE) or (math.isnan(old) and math.isnan(new))
        if not same:
            yield f"{where}: {old} before, {new} now"
    elif old != new:
        yield f"{where}: {old!r} before, {new!r} now"
