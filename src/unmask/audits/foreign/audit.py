"""Audit a generator that somebody else runs: take synthetic files back, and judge everybody by them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from unmask.audits.everyone.audit import as_drawn, check_columns, digest_of, set_up
from unmask.audits.everyone.drawn import CoinRuns
from unmask.audits.everyone.judging import judge_runs
from unmask.audits.everyone.plan import EveryonePlan
from unmask.audits.foreign.plan import PoolPlan, named
from unmask.audits.foreign.swaps import check_names
from unmask.audits.plan import takes
from unmask.audits.runner import Runner
from unmask.errors import InputError
from unmask.generators.foreign import Foreign
from unmask.results.result import Input, Result, describe_input
from unmask.simulation.coin import CoinSetting, coin_tasks
from unmask.simulation.coin_pool import CoinPool
from unmask.simulation.executors import Executor, Progress, no_progress
from unmask.simulation.foreign.files import Delivered, ForeignSetting, ForeignStore, check_pool
from unmask.simulation.foreign.private import SYNTHETIC, Private, read_private, sha256
from unmask.simulation.store import FileStore, Store

# What may differ between results in one directory: none of it changes how a synthetic file was made.
FOREIGN_GROWING = ("synthetic", "files")
ON_TRUST = (
    "The generator was run by its owner. That each file was made from its own training file, from scratch and with the same "
    "settings, is taken on trust; files under wrong names are found only if the generator gives away enough."
)


@takes(PoolPlan)
def attack_pool(
    directory: str | Path,
    *,
    out: str | Path | None = None,
    scores: str | Path | None = None,
    workers: int | Executor | None = None,
    progress: Progress = no_progress,
    **choices: Any,
) -> Result:
    """The risk of each person, from the synthetic files that were put back into a pool.

    Every file is checked first; with `strict` none may be missing. What concerns the analysis (scorer, rate, confidence,
    groups, secrets) is as in `EveryonePlan`; all else was settled by the export. `scores` is a file for the evidence.
    """
    runner = Runner.of(workers, out=out, progress=progress)
    audit = PoolAudit.of(PoolPlan.of(choices), exported=directory, scores=Path(scores) if scores else None)
    return audit.run(runner)


@dataclass(frozen=True, eq=False)
class PoolAudit:
    """A pool that came back, and how to judge it."""

    plan: PoolPlan
    directory: Path
    private: Private
    game: EveryonePlan  # the plan that `everyone` would have
    scores: Path | None = None

    @classmethod
    def of(cls, plan: PoolPlan, *, exported: str | Path, scores: Path | None = None) -> PoolAudit:
        """Read what stayed at home."""
        directory = Path(exported)
        private = read_private(directory)
        game = plan.of_game(_game_of(directory, private, plan.name))
        check_columns(game, private.real)
        return cls(plan, directory, private, game, scores)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        return (describe_input("real", self.private.real),)

    def expected(self) -> Result:
        claim = self.private.plan.claim
        more = {"claim": None if claim is None else str(claim), "keep_persons": self.private.plan.keep_persons}
        known = self.game.expected("everyone", self.inputs, growing=FOREIGN_GROWING)
        return replace(known, plan={**known.plan, **more})

    def run(self, runner: Runner) -> Result:
        """Check every file, take down what each says about everybody, and judge."""
        private = self.private
        game = as_drawn(self.game, private.real, runner)
        setting, rows, coins = set_up(game, Foreign(self.plan.name, private.plan.claim), private.real)
        files = len(private.runs)
        delivered = check_pool(
            self.directory,
            private,
            setting=setting,
            strict=self.plan.strict,
            progress=runner.showing(0, 2 * files).progress,
        )
        foreign = ForeignSetting(setting, self.directory / SYNTHETIC, delivered.digests)
        store = self._store(runner, setting, delivered.digests)
        runner.showing(files, files + len(delivered.tasks)).draw(foreign, delivered.tasks, store)
        pool = CoinPool.gather(setting, delivered.tasks, store, planned=coin_tasks(files))
        notes = (*delivered.notes, *check_names(self.directory, pool, runs=private.runs))
        more = {"synthetic": _digest(delivered), "files": len(delivered.digests)}
        known = {**self.expected().plan, "exact_values": game.exact_values}
        expected = replace(self.expected(), plan={**known, **more})
        judged = judge_runs(game, CoinRuns(pool, private.real, rows, coins), expected, runner, scores=self.scores)
        return replace(judged, notes=(*judged.notes, ON_TRUST, *notes))

    def _store(self, runner: Runner, setting: CoinSetting, digests: Mapping[str, str]) -> Store:
        (real,) = self.inputs
        identity = {"audit": "everyone", "real": real.digest, "features": digest_of(setting.features)}
        store = runner.store(self.game, identity)
        if not isinstance(store, FileStore):
            return store
        return ForeignStore(**vars(store), digests=dict(digests))


def _digest(delivered: Delivered) -> str:
    lines = (f"{name} {digest}" for name, digest in sorted(delivered.digests.items()))
    return sha256("\n".join(lines).encode())


def _game_of(directory: Path, private: Private, name: str) -> EveryonePlan:
    """The game that the export settled."""
    kept = private.plan
    if not private.runs:
        raise InputError(
            f"{directory}: this pool has no training files, since its export was interrupted.\n"
            "Repeat `unmask pool export` with the same options."
        )
    return EveryonePlan(
        generator=named(name), runs=len(private.runs), synthetic_rows=kept.synthetic_rows, coins=kept.coins,
        subsample=kept.subsample, seed=kept.seed,
    )  # fmt: skip
