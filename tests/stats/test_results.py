import dataclasses
import json
import pickle
import subprocess
import sys

import pytest

import unmask.stats as stats
from unmask.errors import ParameterError
from unmask.stats import Assumption, Bound, Estimate, Refusal


def bound(assumption=Assumption.EXACT, value=2.3, delta=1e-5):
    return Bound(value, (value, float("inf")), 0.95, "test", assumption, 100, delta, 4.2)


def test_a_bound_refutes_smaller_claims_only():
    assert bound().refutes(1.0)
    assert not bound().refutes(2.3)
    assert not bound().refutes(4.0)


def test_a_credible_bound_refutes_nothing():
    assert not bound(Assumption.CREDIBLE).refutes(0.0)


def test_a_bound_judges_claims_with_a_smaller_delta_and_refuses_larger_ones():
    assert bound(delta=1e-5).refutes(1.0, 1e-6)
    with pytest.raises(ParameterError, match="Compute the bound with delta=0"):
        bound(delta=1e-5).refutes(1.0, 0.01)


def test_a_refusal_refutes_nothing_and_says_why():
    assert not Refusal("Gaussian DP", "not declared").refutes(0.0)


def test_a_bound_is_printed_with_its_level_and_what_it_could_have_seen():
    assert str(bound()) == "epsilon >= 2.3 (95 %, one-sided, test); largest visible with this many runs: 4.2"


def test_results_are_values():
    """They compare, pickle, go to JSON and do not change."""
    one = bound()
    assert pickle.loads(pickle.dumps(one)) == one == bound()
    assert hash(one) == hash(bound())
    assert json.loads(json.dumps(dataclasses.asdict(one)))["assumption"] == "exact"
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.value = 3.0


def test_an_interval_upside_down_is_refused():
    with pytest.raises(ParameterError, match="upside down"):
        Estimate(0.5, (0.7, 0.3), 0.95, "test", Assumption.EXACT, 10)


def test_every_public_name_exists_and_is_listed_once():
    assert len(set(stats.__all__)) == len(stats.__all__)
    assert all(hasattr(stats, name) for name in stats.__all__)


def test_statistics_load_neither_pandas_nor_a_compiler():
    code = "import sys, unmask.stats; print([m for m in ('pandas', 'numba', 'scipy.stats') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
