"""What users import changes on purpose only."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import unmask
import unmask.attacks
import unmask.metrics
import unmask.stats
import unmask.testing

PACKAGES = [unmask.attacks, unmask.metrics, unmask.stats, unmask.testing]
STATISTICS = Path(__file__).parent.parent / "docs" / "reference" / "statistics.md"


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_public_names_are_pinned():
    """At most 30 names."""
    assert sorted(unmask.__all__) == [
        "Claim", "Column", "Finding", "Kind", "Neighbours", "Result", "Schema", "Severity", "Table", "UnmaskError",
        "__version__", "attack", "attacks", "audit", "audit_epsilon", "check", "compare", "datasets", "describe", "errors",
        "everyone",
        "generators", "load", "metrics", "read_schema", "read_table", "reconstruct", "reverse_map", "stats", "testing", "utility",
        "write", "write_csv", "write_report", "write_schema",
    ]  # fmt: skip
    assert len(unmask.__all__) <= 36


@pytest.mark.parametrize("name", sorted(unmask.__all__))
def test_every_public_name_resolves(name):
    assert getattr(unmask, name) is not None


def test_only_public_names_are_listed_and_others_are_refused():
    assert dir(unmask) == sorted(unmask.__all__)
    with pytest.raises(AttributeError, match="'unmask' has no attribute 'audit_everything'"):
        unmask.audit_everything  # noqa: B018


def test_importing_unmask_is_quick():
    """What takes a second is imported by those who use it."""
    heavy = ("numpy", "pandas", "scipy", "sklearn", "numba", "rich", "typer", "jinja2", "importlib.metadata")
    assert run(f"import sys, unmask, unmask.metrics; print([n for n in {heavy} if n in sys.modules])") == "[]"
    assert run("import sys, unmask; unmask.stats; print('pandas' in sys.modules, 'numba' in sys.modules)") == (
        "False False"
    )


def test_packages_are_reached_without_importing_them():
    names = ["attacks", "datasets", "errors", "generators", "metrics", "stats", "testing"]
    assert run(f"import unmask; print([getattr(unmask, n).__name__ for n in {names}])") == str(
        [f"unmask.{name}" for name in names]
    )


def test_the_version_is_that_of_the_installed_package(monkeypatch):
    from importlib import metadata

    from unmask import versions

    monkeypatch.setattr(versions, "version", lambda name: {"unmask": "1.2.3"}[name])
    assert unmask.__version__ == "1.2.3"

    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(versions, "version", absent)
    assert unmask.__version__ == "unknown"


def test_statistics_are_pinned():
    assert sorted(unmask.stats.__all__) == [
        "Anytime", "Assumption", "Betting", "Bonferroni", "Bound", "Contender", "Direction", "EListing",
        "EffectiveEpsilon", "ErrorCounts", "Estimate",
        "Given", "HalfLines", "LOG_GRID", "Listing", "MultiSplit", "OperatingPoint", "Refusal", "Roc", "Split",
        "Threshold", "TopTest", "TradeOff", "advantage", "advantage_bound", "auc", "average_log_e_values",
        "benjamini_hochberg", "best_error",
        "best_half_lines", "choosing", "clopper_pearson", "conformal_p_values", "delta_from_errors", "delta_from_rho",
        "delta_hockey_stick", "difference", "e_bh", "effective_epsilon", "epsilon_anytime", "epsilon_bayesian",
        "epsilon_clopper_pearson",
        "epsilon_f_dp", "epsilon_for_listed", "epsilon_from_errors", "epsilon_from_rho", "epsilon_from_rho_simple",
        "epsilon_gaussian", "epsilon_of_attack", "epsilon_of_bets", "epsilon_one_run",
        "excess_risk", "fisher", "gaussian_delta", "gaussian_epsilon",
        "gaussian_mu", "group_claim", "hockey_stick_priors", "holm", "jackknife", "laplace_delta", "laplace_epsilon",
        "largest_advantage", "largest_advantage_yeom", "largest_auc", "largest_auc_gaussian",
        "largest_visible_anytime", "largest_visible_clopper_pearson", "largest_visible_gaussian",
        "largest_visible_hockey_stick", "largest_visible_listed", "largest_visible_of_bets", "largest_visible_one_run",
        "log_e_value", "log_e_value_of_bets", "mu_f_dp", "one_run_p_value", "power_anytime", "power_clopper_pearson",
        "power_difference", "power_one_run", "precision", "precision_interval", "randomised_response_epsilon",
        "replacement_claim", "rho_from", "rho_from_simple", "roc_curve", "roc_on_grid", "smallest_visible_epsilon",
        "smallest_visible_leak", "stakes", "top_test", "tpr_at_fpr", "wilson",
    ]  # fmt: skip


def test_every_statistic_has_its_line_in_the_reference():
    """One row each: what it computes, its assumption, its source."""
    rows = re.findall(r"^\| `(\w+)` \|([^|]+)\|([^|]+)\|([^|]*)\|$", STATISTICS.read_text(encoding="utf-8"), re.M)
    assert sorted(name for name, *_ in rows) == sorted(unmask.stats.__all__)
    assert all(what.strip() and assumption.strip() for _, what, assumption, _ in rows)


def test_attacks_are_pinned():
    assert sorted(unmask.attacks.__all__) == [
        "Access", "Attack", "Entry", "Pool", "Prediction", "PreparedAttack", "ReleaseAttack", "Secret", "ShadowAttack", "View",
        "get", "listed", "names", "parse", "pool_of",
    ]  # fmt: skip


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_public_functions_and_classes_say_what_they_are(package):
    for name in package.__all__:
        found = getattr(package, name)
        if inspect.isclass(found) or inspect.isfunction(found) or inspect.ismodule(found):
            assert found.__doc__, name
            assert not found.__doc__.startswith(f"{name}("), name  # what a dataclass writes by itself


def test_metrics_are_pinned():
    assert sorted(unmask.metrics.__all__) == dir(unmask.metrics) == [
        "AttributeScenario", "Baseline", "Cap", "CapOverKeys", "Cleaned", "Comparison", "Completion", "ContinuousCap",
        "Copies", "Criterion", "Distance", "Group", "Inference", "Inferences", "LinearReconstruction", "Linkability",
        "Matches", "MinimalDistance", "Mode", "MostlyQa", "Neighbourhood", "OutlierFilter", "Overfitting", "Permutation",
        "PublishedNumbers", "Quantile", "RankLinkage", "Reference", "ReverseMapping", "Similarity", "SimilarityFilter",
        "SimilarityVerdict", "SinglingOut", "Statistic", "Tolerance", "Uniform", "attribute_scenario", "cap",
        "cap_continuous", "cap_over_keys", "completion", "copies", "filters", "groups", "inference", "inferences",
        "linear_reconstruction", "linkability", "matches", "minimal_distance", "mostlyai_qa", "over_secrets", "permutation",
        "published_numbers", "rank_linkage", "reverse_mapping", "sdmetrics_baseline", "sdmetrics_overfitting",
        "singling_out",
    ]  # fmt: skip
    assert set(unmask.metrics._PLACES) == set(unmask.metrics.__all__) - {"filters"}
    with pytest.raises(AttributeError, match="has no attribute 'utility'"):
        unmask.metrics.utility  # noqa: B018


@pytest.mark.parametrize("first", ["import unmask.metrics.cap", "from unmask.metrics.cap import NAMES", "pass"])
def test_a_metric_is_a_function_whatever_was_imported_first(first):
    """cap.py holds the function cap; importing the file must not put the module in its place."""
    code = f"{first}\nimport unmask.metrics as m; from unmask.metrics import cap; print(m.cap is cap, callable(cap))"
    assert run(code) == "True True"


def test_a_filter_is_reached_from_the_top():
    assert unmask.metrics.filters.parse("similarity") == unmask.metrics.SimilarityFilter()


def test_testing_is_pinned():
    assert sorted(unmask.testing.__all__) == [
        "CASES", "Checked", "ClaimRefutedError", "ContractError", "Refused", "SPOILT", "STYLES", "assert_not_refuted",
        "check_attack", "check_generator", "plain",
    ]  # fmt: skip


def test_contract_tests_need_no_pytest():
    """Nor anything else that only our own tests have."""
    code = "import sys\nfor name in ('pytest', '_pytest', 'hypothesis'): sys.modules[name] = None\n"
    assert run(f"{code}import unmask; print(unmask.testing.check_generator.__name__)") == "check_generator"
