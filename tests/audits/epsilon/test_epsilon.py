import json
import math
import time

import numpy as np
import pytest
from unmask.attacks.claim.attacks import ABSTAIN, IN, OUT, Fingerprint, Static

from tests import epsilon_catalogue as catalogue
from unmask.attacks.claim.likelihood import Likelihood
from unmask.attacks.claim.wager import Game
from unmask.audits import epsilon_outputs as outputs
from unmask.audits.epsilon.audit import EpsilonPlan, audit_epsilon, parse_claim
from unmask.errors import GeneratorError, ParameterError, RunError
from unmask.generators import get, parse
from unmask.generators.claim import Claim, Neighbours
from unmask.generators.histogram import Histogram
from unmask.generators.privbayes import PrivBayes
from unmask.reports.junit import junit_xml
from unmask.results.directory import load, write
from unmask.results.policy import Severity
from unmask.simulation.store import Failed
from unmask.stats import epsilon_clopper_pearson
from unmask.testing.epsilon import ClaimRefutedError, assert_not_refuted
from unmask.threats.pairs import Canary, OwnPair, RandomPair, WorstCase, parse_pair, table_of

BOTH = list(Neighbours)
PAIR = "worst-case:columns=2,rows=60"
QUICK = {"controls": False, "synthetic_rows": 300, "pairs": PAIR}


def rows_of(table):
    return sorted(map(tuple, table.codes.tolist()))


def grid(result, name):
    return next(grid for grid in result.grids if grid.name == name)


# Pairs ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize("text", ["worst-case", "repeat", "narrow", "tiny", "mixed", "canary", "random"])
def test_the_two_tables_of_a_pair_are_neighbours(text, neighbours, people):
    pair = parse_pair(text).build(neighbours, people, seed=3)
    more, fewer = rows_of(pair.inside), rows_of(pair.outside)
    for row in rows_of(pair.target):
        more.remove(row)
    if pair.other is not None:
        for row in rows_of(pair.other):
            fewer.remove(row)
    assert more == fewer
    assert (pair.other is None) == (neighbours is Neighbours.ADD_REMOVE)
    assert len(pair.inside) - len(pair.outside) == (1 if neighbours is Neighbours.ADD_REMOVE else 0)


def test_the_worst_case_attains_the_sensitivity_of_privbayes():
    """The target's own two values raise the mutual information by exactly S: no pair of this size leaks more by structure."""
    from unmask.generators._counts import mutual_information
    from unmask.generators.privbayes import sensitivity

    pair = WorstCase(columns=3, rows=100).build(Neighbours.REPLACE, None, 0)
    sizes = pair.inside.schema.sizes
    gain = mutual_information(pair.inside.codes, sizes)[0, 1] - mutual_information(pair.outside.codes, sizes)[0, 1]
    assert gain == pytest.approx(sensitivity(100, binary=True), rel=1e-9)


def test_the_mixed_target_has_no_value_of_its_own():
    pair = parse_pair("mixed").build(Neighbours.ADD_REMOVE, None, 0)
    assert tuple(pair.target.codes[0].tolist()) not in rows_of(pair.outside)
    for j, code in enumerate(pair.target.codes[0]):
        assert (pair.outside.codes[:, j] == code).sum() > 100


def test_a_canary_takes_values_that_nobody_has_where_the_domain_allows(people):
    pair = Canary().build(Neighbours.ADD_REMOVE, people, 0)
    for i, j in enumerate(people.schema.numeric):
        number, column = pair.target.numbers[0, i], people.schema.columns[j]
        assert number in (column.lower, column.upper)
        assert pair.target.codes[0, j] == column.bin_of(np.array([number]))[0]


def test_pairs_that_make_no_sense_are_refused(people):
    with pytest.raises(ParameterError, match="needs a real table"):
        Canary().build(Neighbours.REPLACE, None, 0)
    with pytest.raises(ParameterError, match="no pair 'weird'"):
        parse_pair("weird")
    with pytest.raises(ParameterError, match="at least 3"):
        RandomPair().build(Neighbours.REPLACE, people.take([0, 1]), 0)
    with pytest.raises(ParameterError, match="no replace neighbours"):
        OwnPair(people, people.take(np.arange(199))).build(Neighbours.REPLACE, None, 0)


# The likelihood ratio ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"), [("histogram", "narrow"), ("privbayes", "worst-case"), ("independent:epsilon=2", "tiny")]
)
def test_the_ratio_equals_the_ratio_of_all_cells(name, text):
    """Only changed cells matter: the naive sum over every cell of every measurement gives the same."""
    from unmask.generators._counts import joint

    generator = parse(name)
    pair = parse_pair(text).build(generator.claim.neighbours, None, 0)
    likelihood = Likelihood(pair)
    for seed in range(5):
        model = generator.fit(pair.inside, np.random.default_rng(seed))
        naive = 0.0
        for m in model.measurements:
            inside, outside = (joint(t.codes, m.columns, t.schema.sizes) for t in (pair.inside, pair.outside))
            naive += float((np.abs(m.counts - outside) - np.abs(m.counts - inside)).sum() / m.scale)
        assert likelihood.ratio(model.measurements) == pytest.approx(naive, abs=2e-6)


def test_the_ratio_of_mst_follows_merged_cells():
    from unmask.generators._counts import joint

    generator = get("mst", epsilon=4.0)
    pair = parse_pair("worst-case:columns=3,rows=300,repeat=40").build(Neighbours.ADD_REMOVE, None, 0)
    for seed in range(5):
        model = generator.fit(pair.outside, np.random.default_rng(seed))
        naive = 0.0
        for m in model.measurements:
            tables = []
            for t in (pair.inside, pair.outside):
                cells = [m.cells[a][t.codes[:, c]] if m.cells else t.codes[:, c] for a, c in enumerate(m.columns)]
                shape = np.array(m.counts.shape)
                tables.append(joint(np.stack(cells, axis=1).astype(np.uint8), tuple(range(len(shape))), shape))
            naive += float(((m.counts - tables[1]) ** 2 - (m.counts - tables[0]) ** 2).sum() / (2 * m.scale**2))
        assert Likelihood(pair).ratio(model.measurements) == pytest.approx(naive, abs=2e-6)


def test_the_ceiling_is_what_the_noise_spends():
    """The histogram spends all of epsilon, PrivBayes half of it on its tables, MST less than all after conversion."""
    for generator, low, high in ((Histogram(1.0), 1.0, 1.0), (PrivBayes(1.0), 0.5, 0.5), (get("mst"), 0.68, 0.78)):
        pair = WorstCase().build(generator.claim.neighbours, None, 0)
        model = generator.fit(pair.outside, np.random.default_rng(0))
        ceiling = Likelihood(pair).ceiling(model.measurements, generator.claim.delta)
        assert low - 1e-9 <= ceiling <= high + 1e-9


def test_granularity_tells_a_sum_from_small_noise():
    assert outputs.granularity(3.0) == outputs.WHOLE
    assert outputs.granularity(0.75) == -2
    assert outputs.granularity(1 + 2.0**-52) == -52
    noise = np.random.default_rng(0).laplace(0, 1, 500)
    small = noise[np.abs(noise) < 0.2]
    assert np.mean([outputs.granularity(x) < -53 for x in small]) > 0.8
    assert all(outputs.granularity(1 + x) >= -53 for x in small)


# The game ---------------------------------------------------------------------------------------------------------------


def outcome(**values):
    return {
        "names": np.array(list(values)), "values": np.array(list(values.values()), dtype=float),
        "prints": np.array(["a", "b"]),
    }  # fmt: skip


def test_guesses_are_made_before_the_coin_is_known():
    """An attack that reads the coin out of its own history sees only earlier coins: its guess is predictable."""
    heard = []

    class Spy(Fingerprint):
        def guess(self, seen, prints):
            heard.append(len(self.times))
            return ABSTAIN

        def watch(self, prints, coin):
            self.times[str(len(self.times))] = [int(coin), 0]

    game = Game.start(Claim(1.0), [[Spy("spy", "", 0)]], confidence=0.95)
    for index in range(5):
        game.observe(0, bool(index % 2), outcome(x=index))
    assert heard == [0, 1, 2, 3, 4]


def test_shuffled_coins_earn_nothing(rng):
    """Regions learnt from the past and judged on independent coins: the wealth is a supermartingale (mean at most 1)."""
    from unmask.attacks.claim.wager import BestStatistic, Ridge

    final = []
    for _ in range(60):
        attacks = [BestStatistic("best", "", 0.0, lambda name: True), Ridge("all", "", 0.0, lambda name: True)]
        game = Game.start(Claim(0.0), [attacks], confidence=0.95)
        for _ in range(100):
            game.observe(0, bool(rng.random() < 0.5), outcome(a=rng.normal(), b=rng.normal(), c=rng.normal()))
        final.append(math.exp(game.trail[-1]))
    assert np.mean(final) < 1.5
    assert sum(wealth >= 20 for wealth in final) <= 8  # 99.9 % limit of 5 % in 60


def test_failed_runs_abstain_and_are_counted():
    game = Game.start(Claim(1.0), [[Static("sure", "", lambda seen: IN)]], confidence=0.95)
    game.observe(0, True, Failed("no memory"))
    assert game.runs == 1
    assert game.failed == [(True, "no memory")]
    assert game.trail[-1] == 0.0


def test_a_perfect_attack_refutes_and_names_the_leak():
    attacks = [
        Static("dull", "nothing", lambda seen: ABSTAIN),
        Static("sharp", "all", lambda seen: IN if seen["x"] else OUT),
    ]
    game = Game.start(Claim(1.0), [attacks], confidence=0.95)
    for index in range(40):
        game.observe(0, index % 2 == 0, outcome(x=float(index % 2 == 0)))
    assert game.refuted
    assert game.leader().name == "sharp"
    assert game.bound().value >= 1.0


def test_wealth_is_shared_by_weight_and_starts_at_one():
    attacks = [Static("a", "", lambda seen: ABSTAIN, weight=3.0), Static("b", "", lambda seen: ABSTAIN)]
    game = Game.start(Claim(1.0), [attacks], confidence=0.95)
    assert np.exp(game.betting.log_wealth[:, 0]) == pytest.approx([1.5, 0.5])
    game.observe(0, True, outcome(x=0))
    assert game.trail[0] == pytest.approx(0.0)


# The audit --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("defect", [c for c, most in catalogue.AT_MOST.items() if most <= 40], ids=lambda c: c.__name__)
def test_gross_defects_fall_at_once(defect):
    result = audit_epsilon(defect(), runs=120, controls=False, seed=1)
    assert result.severity is Severity.HIGH
    assert result.findings[0].criterion == "dp claim"


def test_after_an_early_stop_only_the_anytime_bound_is_printed():
    result = audit_epsilon(catalogue.ExactRowCount(), runs=500, **QUICK)
    verdict = dict(grid(result, "verdict").rows)
    assert "stopped early" in verdict["runs"]
    assert not any(name.startswith("bound at") for name in verdict)
    whole = audit_epsilon(catalogue.ExactRowCount(), runs=200, stop_early=False, **QUICK)
    assert sum(name.startswith("bound at") for name, _ in grid(whole, "verdict").rows) == 2


def test_a_claim_that_stands_comes_with_power_and_controls():
    result = audit_epsilon("histogram:epsilon=1", runs=150, pairs=PAIR, synthetic_rows=300)
    assert result.severity is Severity.NONE
    assert result.findings[0].estimate.value <= 1.0
    assert any(note.startswith("Power: a mechanism with a true epsilon of") for note in result.notes)
    controls = {row[0]: row for row in grid(result, "controls").rows}
    assert controls["oblivious"][-1] == "not refuted"
    assert float(controls["oblivious"][2]) == 0
    assert controls["copycat"][-1] == "refuted"
    assert float(controls["copycat"][2]) >= 0.7 * float(controls["copycat"][3])
    assert not any("control did not behave" in note for note in result.notes)
    assert any(row[0] == "ceiling" for row in grid(result, "verdict").rows)


def test_the_support_check_says_what_changes():
    result = audit_epsilon(catalogue.DomainFromData(), runs=200, stop_early=False, **QUICK)
    words = next(note for note in result.notes if note.startswith("Support:"))
    assert "nobody but the target has" in words
    fine = audit_epsilon(Histogram(1.0), runs=200, **QUICK)
    assert "did not depend on the target more" in next(note for note in fine.notes if note.startswith("Support:"))


def test_last_bits_have_a_verdict_of_their_own():
    """Textbook noise in float64 keeps the claim up to its last bits; the main verdict must not mix both."""
    result = audit_epsilon(catalogue.FloatNoise(), runs=400, **QUICK)
    by_name = {finding.name: finding.severity for finding in result.findings}
    assert by_name == {"epsilon": Severity.NONE, "last-bits": Severity.HIGH}


def noisy_count(table, rng):
    """Epsilon 1, add/remove."""
    return np.array([len(table) + rng.laplace(0, 1)])


def bad_count(table, rng):
    return np.array([len(table) + rng.laplace(0, 0.25)])


def test_a_bare_mechanism_can_be_audited():
    claim = Claim(1.0)
    good = audit_epsilon(noisy_count, claim=claim, runs=200, pairs=PAIR)
    assert good.findings[0].severity is Severity.NONE
    bad = audit_epsilon(bad_count, claim=claim, runs=400, pairs=PAIR)
    assert bad.findings[0].severity is Severity.HIGH


def test_the_outcome_depends_on_the_seed_alone(tmp_path):
    one = audit_epsilon(catalogue.HalfNoise(), runs=130, seed=4, workers=1, **QUICK)
    two = audit_epsilon(catalogue.HalfNoise(), runs=130, seed=4, workers=2, out=tmp_path / "run", **QUICK)
    again = audit_epsilon(catalogue.HalfNoise(), runs=130, seed=4, out=tmp_path / "run", **QUICK)
    other = audit_epsilon(catalogue.HalfNoise(), runs=130, seed=5, **QUICK)
    assert json.dumps(one.to_plain()) == json.dumps(two.to_plain()) == json.dumps(again.to_plain())
    assert one.to_plain() != other.to_plain()


def test_an_audit_carries_on_with_its_wealth(tmp_path):
    """Thirty, thirty and forty runs earn what one audit of a hundred earns, until lessons are learnt at other times."""
    whole = audit_epsilon(Histogram(1.0), runs=100, **QUICK)
    for part, runs in enumerate((30, 30, 40)):
        result = audit_epsilon(Histogram(1.0), runs=runs, out=tmp_path, carry_on=part > 0, **QUICK)
    state = json.loads((tmp_path / "epsilon-state.json").read_text())
    assert state["runs"] == result.findings[0].estimate.n == len(state["trail"]) == 100
    assert np.array(state["trail"][:60]) / math.log(10) == pytest.approx(np.array(whole.series[0].y[:60]))
    assert "bound at 100 runs" not in dict(grid(result, "verdict").rows)  # 100 was never planned
    with pytest.raises(RunError, match="another audit"):
        audit_epsilon(Histogram(1.0), claim=Claim(2.0), runs=5, out=tmp_path, carry_on=True, **QUICK)


def test_a_directory_of_another_audit_is_refused(tmp_path):
    audit_epsilon(Histogram(1.0), runs=5, out=tmp_path, **QUICK)
    with pytest.raises(RunError, match="generator was"):
        audit_epsilon(Histogram(2.0), runs=5, out=tmp_path, **QUICK)
    with pytest.raises(RunError, match="no epsilon-state"):
        audit_epsilon(Histogram(2.0), runs=5, out=tmp_path / "new", carry_on=True, **QUICK)


def test_a_result_survives_its_directory(tmp_path):
    result = audit_epsilon(catalogue.ExactRowCount(), runs=60, **QUICK)
    write(result, tmp_path)
    assert load(tmp_path).to_plain() == result.to_plain()
    xml = junit_xml(result)
    assert 'failures="1"' in xml
    assert "<failure" in xml
    assert junit_xml(audit_epsilon("oblivious", claim=Claim(1.0), runs=20, **QUICK)).count("<failure") == 0


def test_claims_from_text():
    own = Claim(2.0, 1e-6, Neighbours.REPLACE)
    assert parse_claim("epsilon=1", own) == Claim(1.0, 1e-6, Neighbours.REPLACE)
    assert parse_claim("epsilon=1,delta=0.1,neighbours=add-remove", own) == Claim(1.0, 0.1)
    wrong = {"delta=1": "names no epsilon", "epsilon=1,unit=2": "no unit", "epsilon=x": "no number"}
    for text, words in (wrong | {"epsilon=1,neighbours=all": "use one of"}).items():
        with pytest.raises(ParameterError, match=words):
            parse_claim(text)


def test_what_cannot_be_audited_is_refused():
    with pytest.raises(ParameterError, match="makes no claim"):
        audit_epsilon("cart", runs=5)
    with pytest.raises(ParameterError, match="nothing to refute"):
        audit_epsilon("cart", claim=Claim(math.inf), runs=5)
    with pytest.raises(ParameterError, match="--runs"):
        EpsilonPlan("histogram", Claim(1.0), runs=0)
    with pytest.raises(GeneratorError, match="Every run failed"):
        audit_epsilon(lambda table, rng: 1 / 0, claim=Claim(1.0), runs=5)


def test_the_command_line_sets_exit_codes_and_writes_junit(tmp_path):
    from typer.testing import CliRunner

    from unmask.cli.main import app

    words = [
        "epsilon",
        "--pairs",
        PAIR,
        "--synthetic-rows",
        "300",
        "--workers",
        "1",
        "--quiet",
        "--out",
        str(tmp_path / "run"),
    ]
    broken = [*words, "--generator", "tests.epsilon_catalogue:ExactRowCount", "--junit", str(tmp_path / "ci.xml")]
    assert CliRunner().invoke(app, [*broken, "--runs", "60"]).exit_code == 1
    assert 'failures="1"' in (tmp_path / "ci.xml").read_text()
    assert load(tmp_path / "run").severity is Severity.HIGH
    assert CliRunner().invoke(app, [*broken, "--runs", "60", "--fail-on", "none"]).exit_code == 0
    fine = [*words[:-1], str(tmp_path / "fine"), "--generator", "histogram", "--set", "epsilon=1", "--runs", "20"]
    assert CliRunner().invoke(app, fine).exit_code == 0
    assert CliRunner().invoke(app, [*fine, "--carry-on"]).exit_code == 0
    assert load(tmp_path / "fine").findings[0].estimate.n == 40


def test_the_pytest_helper_fails_with_the_reason():
    with pytest.raises(ClaimRefutedError, match="refuted after"):
        assert_not_refuted(catalogue.ExactRowCount(), runs=60, **QUICK)
    assert_not_refuted(Histogram(1.0), runs=60, **QUICK)


def test_white_box_clopper_pearson_is_what_its_counts_say():
    """The bound at the planned number of runs equals a plain computation on the judged runs."""
    from unmask.attacks.claim.attacks import History

    from unmask.audits.epsilon.fixed import fixed_bounds
    from unmask.stats import Given

    rng = np.random.default_rng(1)
    coins = rng.random(1000) < 0.5
    ratio = np.where(rng.random(1000) < 1 / (1 + math.exp(-1)), 1.0, -1.0) * np.where(coins, 1, -1)
    past = History(("likelihood ratio",), ratio[:, None], coins)
    found = fixed_bounds(past, Claim(1.0), white_box=True, confidence=0.95, gaussian=False, rng=rng)
    late, inside = ratio[200:], coins[200:]
    plain = epsilon_clopper_pearson(late[inside], late[~inside], threshold=Given(1.0))
    assert found[0].bound.value == pytest.approx(plain.value)


def test_a_hundred_runs_of_the_audit_take_little_time():
    start = time.process_time()
    audit_epsilon("privbayes", runs=100, controls=False)
    assert (
        time.process_time() - start < 5
    )  # the bar is .4 s on a quiet machine (benchmarks/epsilon.py); compiling counts here


def test_tables_of_the_worst_case_are_public():
    pair = WorstCase(columns=1, rows=3).build(Neighbours.ADD_REMOVE, None, 0)
    assert pair.inside.codes.ravel().tolist() == [0, 0, 0, 1]
    assert table_of(pair.inside.schema, np.zeros((2, 1), dtype=int)).schema.origin == "public"
