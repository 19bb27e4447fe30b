"""The claims of DPGAN and PATE-GAN under white-box audit: ours stand, their broken twins fall."""

import numpy as np
import pytest
from click.testing import CliRunner

from tests import deep_catalogue as catalogue
from unmask.audits.epsilon.audit import audit_epsilon
from unmask.cli.main import app
from unmask.generators.claim import Neighbours
from unmask.generators.deep.dpgan import DPGAN
from unmask.generators.deep.pategan import PATEGAN
from unmask.results.directory import load
from unmask.results.policy import Severity
from unmask.threats.pairs import parse_pair

pytest.importorskip("dp_accounting")

SMALL = catalogue.SMALL_DPGAN
VOTES = catalogue.SMALL_PATEGAN
QUICK = {"controls": False, "synthetic_rows": 50, "workers": 1}


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (catalogue.UnclippedSum(**SMALL), "what the training released"),
        (catalogue.FittedEncoder(**SMALL), "values or ranges that only the target has"),
        (catalogue.InvertedVotes(**VOTES), "what the training released"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_gross_defects_fall_at_once(broken, words):
    result = audit_epsilon(broken, runs=80, pairs="tiny", **QUICK)
    assert result.severity is Severity.HIGH
    assert words in result.notes[0]


@pytest.mark.parametrize("good", [DPGAN(**SMALL), PATEGAN(**VOTES)], ids=lambda value: value.name)
def test_ours_stand(good):
    result = audit_epsilon(good, runs=40, pairs="tiny", **QUICK)
    assert result.severity is Severity.NONE
    assert not any(item.what == "likelihood ratio" for item in result.not_tested)


def test_evidence_is_the_likelihood_ratio():
    """At a sampling rate of 1 and full gradients, the ratio of a Gaussian shift: means of -+ mu^2/2, standard deviation mu."""
    generator = DPGAN(epsilon=8.0, **SMALL | {"steps": 20})
    pair = parse_pair("tiny").build(Neighbours.ADD_REMOVE, None, 0)
    found = {True: [], False: []}
    for seed in range(60):
        inside = seed % 2 == 0
        model = generator.fit(pair.inside if inside else pair.outside, np.random.default_rng(seed))
        assert model.mechanism.rate == 1
        found[inside].append(model.evidence(pair.target, pair.outside)["likelihood ratio"])
    mu = np.sqrt(generator.steps) / generator.accounted(1.0).noise  # every gradient is as long as the clip
    spread = 4 / np.sqrt(30)
    assert np.mean(found[True]) == pytest.approx(mu**2 / 2, abs=spread * mu)
    assert np.mean(found[False]) == pytest.approx(-(mu**2) / 2, abs=spread * mu)
    for ratios in found.values():
        assert 0.6 < np.std(ratios) / mu < 1.5


def test_the_command_works_without_further_settings(tmp_path):
    """Tables, pair and attacks fit by themselves; with the defaults of the generator but for its length."""
    words = ["epsilon", "--workers", "1", "--quiet", "--runs", "12", "--set", "epsilon=1", "--synthetic-rows", "40"]
    for name, own in (("dpgan", ["--set", "steps=5"]), ("pategan", ["--set", "steps=5"])):
        run = CliRunner().invoke(app, [*words, "--generator", name, *own, "--out", str(tmp_path / name)])
        assert run.exit_code == 0, run.output
        result = load(tmp_path / name)
        assert result.findings[0].estimate.n == 12
        assert "training" in [row[0] for row in next(grid for grid in result.grids if grid.name == "attacks").rows]
