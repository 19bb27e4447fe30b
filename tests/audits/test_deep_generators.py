"""Deep generators through the audits: every attack that can run does, others say why not, and everybody is judged."""

import pytest

from tests.attacks.test_closest_record import crowd
from unmask import attacks
from unmask.audits.attack.audit import attack
from unmask.audits.everyone.audit import everyone
from unmask.threats.knowledge import Goal

pytest.importorskip("torch")

READS = {  # what a white-box attacker reads of each, by the name of the attack
    "ctgan:steps=2,batch=20": {"discriminator"},
    "tvae:steps=2,batch=20": {"denoising-loss"},
    "tabddpm:steps=2,batch=20,diffusion_steps=8": {"denoising-loss"},
    "dpgan:steps=2,epsilon=10": {"discriminator"},
    "pategan:steps=2,epsilon=10,teachers=10": {"discriminator"},
}
WHITE = {"likelihood", "denoising-loss", "discriminator"}


@pytest.mark.parametrize("generator", READS)
def test_all_attacks_play_or_say_why_not(generator):
    result = attack(
        generator, crowd(300), access="white-box", targets="2", shadows=4, tests=8, releases_per_fit=2, train_rows=60
    )
    told = {finding.name.rpartition("/")[0] for finding in result.findings}
    untold = {each.name: each.reason for each in result.not_tested}
    members = {name for name in attacks.names() if Goal.MEMBERSHIP in attacks.get(name).goals}
    assert told >= members - WHITE
    assert told & WHITE == READS[generator]
    assert all("cannot be run" in untold[name] for name in WHITE - READS[generator])


@pytest.mark.parametrize("generator", READS)
def test_everyone_is_judged(generator):
    result = everyone(generator, crowd(40), runs=16, access="white-box")
    assert any(finding.name.startswith("everyone") for finding in result.findings)
    assert "white-box evidence" not in {each.name for each in result.not_tested}
