"""From finished draws to arrays: the pool of shadows, the pool under attack, and the scores taken on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unmask.simulation.draw import Setting
from unmask.simulation.store import Arrays, Failed, Store
from unmask.simulation.task import Part, Task
from unmask.threats.pool import Pool


@dataclass(frozen=True, eq=False)
class Draws:
    """All draws of one part that did not fail, in task order."""

    members: np.ndarray  # draws x targets
    secrets: np.ndarray  # draws x targets
    active: np.ndarray  # draws x targets: whether the draw tells about this target
    features: dict[str, np.ndarray]
    scores: dict[str, np.ndarray]  # draws x targets (x levels, or x mean and scale)
    problems: dict[str, str]  # attacks that failed on some draw, with the first reason
    failures: tuple[str, ...]  # reasons of draws that failed

    def __len__(self) -> int:
        return len(self.members)


def gather(setting: Setting, tasks: Sequence[Task], store: Store, part: Part) -> Draws:
    """Collect what the draws of one part left behind."""
    done: list[tuple[Task, Arrays]] = []
    failures = []
    for task in tasks:
        if task.part is not part:
            continue
        outcome = store.get(task)
        if isinstance(outcome, Failed):
            failures.append(outcome.message)
        elif outcome is not None:
            done.append((task, outcome))
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
    empty = np.zeros((0, count))
    return Draws(
        members=np.stack([arrays["members"] for _, arrays in done]) if done else empty.astype(bool),
        secrets=np.stack([arrays["secrets"] for _, arrays in done]) if done else empty,
        active=active,
        features={name.removeprefix("feature/"): a for name, a in stacked.items() if name.startswith("feature/")},
        scores={name.removeprefix("score/"): a for name, a in stacked.items() if name.startswith("score/")},
        problems=problems,
        failures=tuple(failures),
    )


def pool_of(setting: Setting, draws: Draws) -> Pool:
    """The draws as a shadow attack sees them, with the answers: use `.blind()` for the releases under attack."""
    secret = setting.secret
    alone = setting.game.isolate_targets
    return Pool(
        targets=setting.masked,
        feature_arrays=draws.features,
        target_of=np.argmax(draws.active, axis=1) if alone else None,
        answers=(draws.members, draws.secrets),
        levels=0 if secret is None else secret.levels,
    )
