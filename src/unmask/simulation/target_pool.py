"""From finished draws to arrays: the pool of shadows, the pool under attack, and the scores taken on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unmask.simulation.gather import gather
from unmask.simulation.release import release_name
from unmask.simulation.store import Store
from unmask.simulation.target import TargetSetting
from unmask.simulation.task import Arrays, Task, Whose
from unmask.threats.pool import Pool


@dataclass(frozen=True, eq=False)
class Draws:
    """All releases of one part that did not fail, in task order."""

    members: np.ndarray  # draws x targets
    secrets: np.ndarray  # draws x targets
    active: np.ndarray  # draws x targets: whether the draw tells about this target
    features: dict[str, np.ndarray]
    scores: dict[str, np.ndarray]  # draws x targets (x levels, or x mean and scale)
    problems: dict[str, str]  # attacks that failed on some draw, with the first reason
    failures: tuple[str, ...]  # reasons of draws that failed
    releases: int = 1  # of each fit, one after the other

    def __len__(self) -> int:
        return len(self.members)

    @property
    def fits(self) -> np.ndarray:
        """The fit that each release comes from: what is independent."""
        return np.arange(len(self)) // self.releases

    @property
    def firsts(self) -> np.ndarray:
        """Whether a release is the first of its fit."""
        return np.asarray(np.arange(len(self)) % self.releases == 0)

    def take(self, chosen: np.ndarray) -> Draws:
        """Some of the releases (bool), whole fits only: nothing else keeps `fits` right."""
        return replace(
            self,
            members=self.members[chosen],
            secrets=self.secrets[chosen],
            active=self.active[chosen],
            features={name: array[chosen] for name, array in self.features.items()},
            scores={name: array[chosen] for name, array in self.scores.items()},
        )


def draws_of(setting: TargetSetting, tasks: Sequence[Task], store: Store, whose: Whose) -> Draws:
    """Collect what the draws of one side left behind."""
    found = gather([task for task in tasks if task.whose is whose], store)
    done = [(task, _release(arrays, place)) for task, arrays in found.done for place in range(setting.releases)]
    count = len(setting.ground.targets)
    active = np.ones((len(done), count), dtype=bool)
    for row, (task, _) in enumerate(done):
        if task.target is not None:
            active[row] = np.arange(count) == task.target
    problems: dict[str, str] = {}
    for _, arrays in done:
        for name in arrays:
            if name.startswith("problem/"):
                problems.setdefault(name.removeprefix("problem/"), str(arrays[name]))
    names = [name for name in (done[0][1] if done else {}) if name.startswith(("feature/", "score/"))]
    stacked = {name: np.stack([a[name] for _, a in done]) for name in names if all(name in a for _, a in done)}
    return Draws(
        members=found.stacked("members", (0, count)).astype(bool).repeat(setting.releases, axis=0),
        secrets=found.stacked("secrets", (0, count)).repeat(setting.releases, axis=0),
        active=active,
        features={name.removeprefix("feature/"): a for name, a in stacked.items() if name.startswith("feature/")},
        scores={name.removeprefix("score/"): a for name, a in stacked.items() if name.startswith("score/")},
        problems=problems,
        failures=found.failures,
        releases=setting.releases,
    )


def _release(arrays: Arrays, place: int) -> Arrays:
    """What was taken down of one release of a fit."""
    start = release_name(place)
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def pool_of(setting: TargetSetting, draws: Draws) -> Pool:
    """The draws as a shadow attack sees them, with the answers: use `.blind()` for the releases under attack."""
    secret = setting.secret
    alone = setting.game.isolate_targets
    return Pool(
        targets=setting.masked,
        feature_arrays=draws.features,
        target_of=np.argmax(draws.active, axis=1) if alone else None,
        answers=(draws.members, draws.secrets),
        levels=0 if secret is None else secret.levels,
        releases=draws.releases,
    )
