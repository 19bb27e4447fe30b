"""Facts: what reports put in a place of its own is said by audits, not guessed from the wording of notes."""

from unmask.audits.epsilon.audit import audit_epsilon
from unmask.audits.release.audit import audit
from unmask.datasets import planted


def test_a_release_audit_says_what_it_would_have_seen_and_how_many_are_at_risk():
    leaky = planted(400, leaked=80, columns=12, seed=2)
    result = audit(leaky.real, leaky.synthetic, holdout=leaky.holdout, attempts=50)
    assert [line.split(" ")[0] for line in result.facts.visible] == ["Smallest"]
    (named,) = result.facts.at_risk
    assert "people are named as at risk" in named
    assert set(result.facts.visible + result.facts.at_risk) <= set(result.notes)


def test_an_audit_without_a_holdout_states_none():
    clean = planted(100, leaked=0, columns=4, seed=2)
    facts = audit(clean.real, clean.synthetic, attempts=20).facts
    assert (facts.visible, facts.at_risk, facts.claims) == ((), (), ())


def test_a_claim_that_stands_comes_with_its_power_even_if_there_is_none():
    stands = audit_epsilon("histogram:epsilon=1", runs=40, controls=False)
    assert [line.partition(":")[0] for line in stands.facts.visible] == ["Power"]
    assert set(stands.facts.visible) <= set(stands.notes)
    few = audit_epsilon("histogram:epsilon=1", runs=2, controls=False)
    assert "too few to refute" in few.facts.visible[0]


def test_a_claim_that_the_data_void_says_so(tmp_path):
    clean = planted(60, leaked=0, columns=3, seed=2)
    real = clean.real.to_pandas()  # without a public schema
    result = audit_epsilon("histogram:epsilon=1", table=real, pairs=["canary"], runs=4, controls=False)
    assert result.facts.claims[0].startswith("On the real table the claim is void")
