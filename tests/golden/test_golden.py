"""A change of structure changes no number: results for fixed seeds, field by field, with one worker and with two."""

import math

import pytest

from tests.golden.cases import CASES, frozen, plain_of

CLOSE = 1e-6  # floats of another processor differ in their last digits


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_results_are_what_they_were(name, workers):
    differences = list(differing(frozen(name), as_format_2(plain_of(CASES[name](workers))), name))
    assert not differences, "\n".join(differences[:20])


def as_format_2(plain):
    result = plain["result"]
    result["format"] = 2
    del result["policy"]
    for each in result["grids"]:
        del each["section"], each["kind"], each["roles"]
    for each in result["series"]:
        del each["section"], each["kind"]
    if result["audit"] == "epsilon":
        assert result["plan"].pop("settings") == []
    if "attempts" in result["plan"]:
        result["plan"]["attacks"] = result["plan"].pop("attempts")
    return plain


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
        same = math.isclose(old, new, rel_tol=CLOSE, abs_tol=CLOSE) or (math.isnan(old) and math.isnan(new))
        if not same:
            yield f"{where}: {old} before, {new} now"
    elif old != new:
        yield f"{where}: {old!r} before, {new!r} now"
