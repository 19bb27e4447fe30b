"""One draw: deal a real table, fit, publish, and take down everything that attacks will ask about this release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from unmask.attacks._attack import FeatureSet, Prediction, PreparedAttack, Secret
from unmask.attacks._known import masked, secret_in
from unmask.errors import UnmaskError
from unmask.generators._generator import Generator, Model
from unmask.generators._possible import Belief
from unmask.simulation.release import check_release, fitted_model, release_name, release_words
from unmask.simulation.task import Arrays, Task, Whose
from unmask.stream import stream
from unmask.tables.table import Table
from unmask.threats.game import Game, Ground, deal
from unmask.threats.knowledge import Access, Box, ShadowTables
from unmask.threats.view import View

UTILITY_GAME = "utility game"  # the name under which an analyst's answers are stored


class Analyst(Protocol):
    """Someone who uses a release and attacks nobody."""

    def right(self, release: Table, rng: np.random.Generator) -> np.ndarray:
        """Which of the questions they answer right: targets x people."""
        ...


@dataclass(frozen=True, eq=False)
class TargetSetting:
    """All that a worker needs to draw any task of an audit. Sent to each worker once."""

    seed: int
    game: Game
    ground: Ground
    generator: Generator
    features: tuple[FeatureSet, ...] = ()
    attacks: Mapping[str, PreparedAttack] | None = None  # by the name under which scores are stored
    belief: Belief | None = None  # uncertain-box: what the attacker holds possible
    keep_synthetic: bool = False
    releases: int = 1  # of each fit
    analyst: Analyst | None = None  # who uses the releases that are judged

    @property
    def masked(self) -> Table:
        """The targets as attacks get them: with the secret hidden in the attribute game."""
        return masked_targets(self.ground.targets, self.game)

    @property
    def secret(self) -> Secret | None:
        return secret_of(self.ground.targets, self.game)

    def play(self, task: Task) -> Arrays:
        """The arrays of one fit: members, secrets, and of each release features and scores of attacks on releases.

        Releases after the first have streams of their own, and names of their own: more of them change no other.
        """
        rng = stream(self.seed, task.id)
        shadow, dealer, mirrored = task.whose is Whose.SHADOW, rng, False
        if shadow and self.game.shadow_tables is ShadowTables.PAIRED:
            pair = replace(task, index=task.index // 2)
            dealer, mirrored = stream(self.seed, pair.id, "pair"), bool(task.index % 2)
        dealt = deal(self.ground, self.game, dealer, shadow=shadow, only=task.target, mirrored=mirrored)
        generator = _generator(self, task, dealer)
        model = generator.fit(dealt.real, rng)
        arrays: dict[str, np.ndarray] = {"members": dealt.members, "secrets": dealt.secrets}
        for place, words in enumerate(release_words(task, self.releases)):
            again = stream(self.seed, *words) if place else rng  # the first goes on where the fit stopped
            synthetic = model.sample(self.game.synthetic_rows, again)
            check_release(synthetic, self.ground.targets, self.game.synthetic_rows, row_level=generator.row_level)
            taken = self._take_down(synthetic, model, words)
            if self.analyst is not None and not shadow:
                right = self.analyst.right(synthetic, stream(self.seed, *words, UTILITY_GAME))
                taken = {**taken, f"score/{UTILITY_GAME}": right}
            arrays |= {f"{release_name(place)}{name}": array for name, array in taken.items()}
        return arrays

    def _take_down(self, synthetic: Table, model: Model, words: tuple[str, ...]) -> Arrays:
        """What attacks will ask about one release; attacks draw from the stream of these words."""
        arrays: dict[str, np.ndarray] = {}
        for feature in self.features:
            arrays[f"feature/{feature.key}"] = np.asarray(feature.compute(synthetic, self.masked), dtype=np.float64)
        view = _view(self, synthetic, model)
        for name, attack in (self.attacks or {}).items():
            try:
                scores = attack.score(view, self.masked, self.secret, stream(self.seed, *words, name))
            except Exception as problem:  # noqa: BLE001 - one attack that fails must not cost the others this release
                # Only our own messages are free of values; of others the type must do, since this goes into the result.
                told = str(problem) if isinstance(problem, UnmaskError) else type(problem).__name__
                arrays[f"problem/{name}"] = np.array(told)
                continue
            if isinstance(scores, Prediction):
                scores = np.stack([scores.mean, scores.scale], axis=-1)
            arrays[f"score/{name}"] = np.asarray(scores, dtype=np.float64)
        if self.keep_synthetic:
            arrays |= {"synthetic/codes": synthetic.codes, "synthetic/numbers": synthetic.numbers}
        return arrays


def _generator(setting: TargetSetting, task: Task, rng: np.random.Generator) -> Generator:
    """The true generator; on the attacker's side of an uncertain box, one that the attacker holds possible."""
    if setting.game.box is Box.UNCERTAIN and task.whose is Whose.SHADOW and setting.belief is not None:
        return setting.belief.draw(rng)
    return setting.generator


def _view(setting: TargetSetting, synthetic: Table, model: Model) -> View:
    return View(
        setting.game.allowed,
        synthetic=synthetic,
        reference=setting.ground.reference,
        generator=setting.generator,
        model=fitted_model(model),
    )


def static_view(setting: TargetSetting) -> View:
    """What the attacker holds before any release: everything but the synthetic table and the fitted model."""
    before = setting.game.allowed - {Access.SYNTHETIC, Access.MODEL}
    return View(
        before, synthetic=setting.ground.reference, reference=setting.ground.reference, generator=setting.generator
    )


def secret_of(targets: Table, game: Game) -> Secret | None:
    """The secret column of the attribute game."""
    return None if game.secret is None else secret_in(targets, game.secret)


def masked_targets(targets: Table, game: Game) -> Table:
    """Targets whose secret is overwritten."""
    return masked(targets, secret_of(targets, game))
