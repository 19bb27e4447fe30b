"""What an uncertain attacker holds possible: weights and distributions are those that were written."""

import pickle

import numpy as np
import pytest
from scipy.stats import kstest

from unmask.audits.attack.audit import AttackAudit
from unmask.audits.attack.plan import AttackPlan
from unmask.errors import ParameterError
from unmask.generators import is_code, parse
from unmask.generators._possible import Belief, ParameterPrior, Possible
from unmask.generators.adapters.learnt_domain import LearntDomain
from unmask.generators.bayesnet import BayesNet
from unmask.generators.mst import MST
from unmask.generators.privbayes import PrivBayes
from unmask.simulation.target import _generator
from unmask.simulation.task import Task, Whose
from unmask.stream import stream
from unmask.testing._tables import plain

DRAWS = 2000
BOTH = ("privbayes:epsilon=loguniform(0.1,10)", "mst:epsilon=1@0.3")


def drawn(*texts, draws=DRAWS, **more):
    belief, rng = Belief.of(texts, **more), np.random.default_rng(1)
    return [belief.draw(rng) for _ in range(draws)]


def test_weights_and_a_continuous_prior_are_those_that_were_written():
    found = drawn(*BOTH)
    mst = [each for each in found if isinstance(each, MST)]
    assert set(mst) == {MST(epsilon=1)}
    assert abs(len(mst) / DRAWS - 0.3) < 3.3 * np.sqrt(0.21 / DRAWS)
    logs = [np.log(each.epsilon) for each in found if isinstance(each, PrivBayes)]
    assert len(logs) + len(mst) == DRAWS
    assert kstest(logs, "uniform", args=(np.log(0.1), np.log(100))).pvalue > 0.001


def test_whole_numbers_include_both_ends_and_other_parameters_stay():
    found = drawn("bayesnet:degree=integers(1,2)", draws=300)
    assert {each.degree for each in found} == {1, 2}
    assert all(type(each.degree) is int for each in found)
    found = drawn("privbayes:epsilon=uniform(1,3),degree=2", draws=300)
    assert {each.degree for each in found} == {2}
    assert kstest([each.epsilon for each in found], "uniform", args=(1, 2)).pvalue > 0.001


def test_without_weights_the_draws_are_those_of_before():
    texts = ("independent", "bayesnet:degree=1", "bayesnet:degree=2")
    rng = np.random.default_rng(1)
    assert drawn(*texts, draws=50) == [parse(texts[int(rng.integers(3))]) for _ in range(50)]


def test_those_without_a_weight_share_the_rest():
    assert Belief.of(("random", "independent@0.5", "bayesnet")).chances == (0.25, 0.5, 0.25)
    assert Belief.of(("random@0.25", "independent@0.75")).chances == (0.25, 0.75)
    assert Belief.of(("random", "independent")).chances == ()
    assert Belief.of(()) is None


def test_a_belief_pickles_and_brings_no_code():
    belief = Belief.of(BOTH)
    assert pickle.loads(pickle.dumps(belief)) == belief
    assert not any(is_code(text) for text in BOTH)
    assert is_code("./mine.py:Same@0.3")


def test_domains_are_learnt_by_whatever_is_possible():
    assert drawn("bayesnet", draws=2, learnt_domain=True) == [LearntDomain(BayesNet())] * 2
    with pytest.raises(ParameterError, match="no domain to learn"):
        Belief.of(("raw",), learnt_domain=True)


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (("random@0.5", "independent@0.6"), "add up to 1"),
        (("random@0.5", "independent@0.5", "bayesnet"), "leave something"),
        (("random@0", "independent"), "above 0"),
        (("privbayes:epsilon=loguniform(0,10)",), "ends above 0"),
        (("privbayes:epsilon=uniform(-1,10)",), "above 0"),
        (("privbayes:epsilon=normal(0,1)",), "no distribution"),
        (("privbayes:epsilon=uniform(2,1)",), "no distribution"),
        (("privbayes:epsilon=uniform(1)",), "needs two numbers"),
        (("bayesnet:degree=integers(1,2.5)",), "no distribution"),
        (("bayesnet:degree=integers(1,3)",), "1 or 2 parents"),
        (("privbayes:epsylon=uniform(1,2)",), "no parameter epsylon"),
        (("nothing@0.5",), "no generator"),
    ],
)
def test_what_cannot_be_held_possible(texts, told):
    with pytest.raises(ParameterError, match=told):
        Belief.of(texts)


def test_only_the_shadows_are_drawn_from_the_belief():
    """The releases under attack come from the true generator, and black-box attackers know it."""
    table = plain("all kinds of columns")
    choices = {
        "generator": "independent",
        "train_rows": 20,
        "targets": "random:1",
        "attacks": ("naive",),
        "possible": BOTH,
    }
    for access, kinds in (("uncertain-box", {"PrivBayes", "MST"}), ("black-box", {"Independent"})):
        audit = AttackAudit.of(AttackPlan(access=access, **choices), population=table)
        setting, _, _ = audit.set_up()
        found = {
            whose: {
                type(_generator(setting, Task(whose, index), stream(1, str(index)))).__name__ for index in range(30)
            }
            for whose in (Whose.SHADOW, Whose.TEST)
        }
        assert found == {Whose.SHADOW: kinds, Whose.TEST: {"Independent"}}


def test_texts_are_taken_apart():
    assert Possible.of("mst:epsilon=1@0.3") == Possible(MST(epsilon=1), (), 0.3)
    spread = Possible.of("privbayes:degree=2,epsilon=loguniform(0.1,10)@3e-1")
    assert spread == Possible(
        PrivBayes(epsilon=0.1, degree=2), (("epsilon", ParameterPrior("loguniform", 0.1, 10.0)),), 0.3
    )
