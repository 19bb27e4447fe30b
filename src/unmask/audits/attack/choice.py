"""Which attacks run in a game, and why others do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from unmask import attacks as attack_list
from unmask.attacks._attack import Attack, FeatureSet, PreparedAttack, ReleaseAttack, ShadowAttack
from unmask.errors import UnmaskError
from unmask.results.result import NotTested
from unmask.simulation.target import TargetSetting, static_view
from unmask.stream import stream
from unmask.threats.game import Game


@dataclass(frozen=True, eq=False)
class Chosen:
    """The attacks of a run: by kind, with those that cannot run and why."""

    release: Mapping[str, ReleaseAttack]
    shadow: Mapping[str, ShadowAttack]
    not_tested: tuple[NotTested, ...]

    @property
    def features(self) -> tuple[FeatureSet, ...]:
        """Every feature set that some attack needs, once."""
        found = {feature.key: feature for attack in self.shadow.values() for feature in attack.features}
        return tuple(found.values())


def choose_attacks(texts: Sequence[str], game: Game, *, shadows: int) -> Chosen:
    """Attacks by name; those that this threat model does not allow are listed with the reason."""
    names = attack_list.names() if tuple(texts) == ("all",) else tuple(texts)
    release: dict[str, ReleaseAttack] = {}
    shadow: dict[str, ShadowAttack] = {}
    refused = []
    for text in names:
        found = attack_list.parse(text)
        if reason := _obstacle(found, game, shadows):
            refused.append(NotTested(text, *reason))
        elif isinstance(found, ShadowAttack):
            shadow[text] = found
        else:
            release[text] = found
    return Chosen(release, shadow, tuple(refused))


def _obstacle(attack: Attack, game: Game, shadows: int) -> tuple[str, str] | None:
    """Why an attack cannot run in this game, and what would enable it."""
    if game.goal not in attack.goals:
        return f"it is no {game.goal} attack", f"use --goal {' or '.join(sorted(attack.goals))}"
    if lacking := sorted(attack.needs - game.allowed):
        return f"the attacker does not have {', '.join(lacking)}", "allow more with --access or --knowledge"
    if isinstance(attack, ShadowAttack) and shadows < 2:
        return "there are no shadow releases to learn from", "use --shadows 200"
    return None


def prepared(setting: TargetSetting, chosen: Chosen) -> tuple[TargetSetting, tuple[NotTested, ...]]:
    """The setting with attacks after the work that is the same for every release; one that fails is listed as not tested."""
    ready: dict[str, PreparedAttack] = {}
    refused = []
    for name, found in chosen.release.items():
        try:
            rng = stream(setting.seed, "prepare", name)
            ready[name] = found.prepare(static_view(setting), setting.masked, setting.secret, rng)
        except UnmaskError as problem:
            refused.append(NotTested(name, str(problem), "leave it out of --attacks"))
    return replace(setting, attacks=ready), tuple(refused)
