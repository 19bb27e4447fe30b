"""The audit of a differential-privacy claim: can anybody tell a table with the target from one without, better than allowed?

One fair coin per run decides between two neighbouring tables; attacks bet on the coin from the output. If they earn twenty
times what they had, the claim is refuted at 95 %, whenever that happens. Nobody can prove a claim this way: "not refuted" comes
with what would have been seen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from unmask import generators as generator_list
from unmask.attacks.claim.wager import Wager
from unmask.audits.epsilon.attacks import attacks_for
from unmask.audits.epsilon.plan import EpsilonPlan
from unmask.audits.epsilon.result import Control, PlayedClaim, part_of
from unmask.audits.plan import takes
from unmask.audits.runner import Runner
from unmask.errors import GeneratorError, ParameterError, RunError
from unmask.files import write_atomically
from unmask.generators._generator import Generator, Measurement
from unmask.generators.claim import parse_claim
from unmask.generators.copycat import Copycat
from unmask.generators.oblivious import Oblivious
from unmask.results.directory import check_directory
from unmask.results.result import Input, Result, describe_input
from unmask.simulation.executors import Executor, Progress, no_progress
from unmask.simulation.gather import outcomes
from unmask.simulation.pair import Mechanism, PairSetting, PairTask, coin_of, seen_in
from unmask.simulation.store import MemoryStore, Store
from unmask.simulation.task import Failed, Whose
from unmask.stream import stream
from unmask.tables.read import read_table
from unmask.tables.table import Table
from unmask.threats.pairs import Pair, PairPlan, parse_pair

STATE = "epsilon-state.json"
BLOCK = 16  # runs that are played before the wealth is looked at, per worker; changes no result
MOST_ROWS = 5_000  # synthetic rows asked for by default, unless the table is larger
CONTROL_RUNS = 100


@takes(EpsilonPlan)
def audit_epsilon(
    generator: str | Generator | Any,
    *,
    table: Any = None,
    schema: Any = None,
    pairs: str | PairPlan | Sequence[str | PairPlan] | None = None,
    out: str | Path | None = None,
    carry_on: bool = False,
    workers: int | Executor | None = None,
    time_budget: float | None = None,
    progress: Progress = no_progress,
    **choices: Any,
) -> Result:
    """Try to refute a differential-privacy claim; the generator's own claim by default.

    `generator` is a generator, its text (`privbayes:epsilon=1`) or any function of (table, rng) that returns numbers. `pairs`
    says which neighbouring tables to use: the worst case by default, and a canary too where a real table is given. Other
    choices are the fields of `EpsilonPlan`: claim, runs, seed, access, synthetic_rows, stop_early, controls, confidence. With
    `out`, every run is kept there and an interrupted audit continues; `carry_on` plays further runs on top of one that ended.
    After `time_budget` seconds no further run is begun: the bound holds whenever the audit stops.
    """
    runner = Runner.of(workers, out=out, time_budget=time_budget, progress=progress)
    named = () if pairs is None else (pairs,) if isinstance(pairs, str) or not isinstance(pairs, Sequence) else pairs
    plan = EpsilonPlan.of({
        "generator": generator if isinstance(generator, str) else _name(generator),
        "pairs": tuple(item if isinstance(item, str) else repr(item) for item in named),
        **choices,
    })  # fmt: skip
    given = None if isinstance(generator, str) else generator
    audit = EpsilonAudit.of(plan, real=table, schema=schema, generator=given, pairs=named, carry_on=carry_on)
    if out is not None:  # before any work: whether the result can be written there
        check_directory(out, audit.expected())
    return audit.run(runner)


@dataclass(frozen=True, eq=False)
class EpsilonAudit:
    """A claim, the generator that makes it, and the pairs of tables that it must not let anybody tell apart."""

    plan: EpsilonPlan
    generator: Generator | Mechanism
    pairs: tuple[Pair, ...]
    real: Table | None = None
    carry_on: bool = False  # play further runs on top of those in the run directory

    @classmethod
    def of(
        cls,
        plan: EpsilonPlan,
        *,
        real: Any = None,
        schema: Any = None,
        generator: Any = None,
        pairs: Sequence[str | PairPlan] = (),
        carry_on: bool = False,
    ) -> EpsilonAudit:
        """Settle what the plan leaves open: the generator's own claim, and pairs that fit what is there."""
        audited = plan.made() if generator is None else _as_generator(generator)
        table = None if real is None else read_table(real, schema)
        known = plan.claim
        claim = parse_claim(known, audited.claim) if isinstance(known, str) else known or audited.claim
        worst = getattr(audited, "worst_case", "worst-case")
        named = pairs or plan.pairs or ((worst,) if table is None else (worst, "canary"))
        plan = replace(
            plan,
            **generator_list.in_one_text(plan.generator, plan.settings),
            claim=claim,
            pairs=tuple(item if isinstance(item, str) else repr(item) for item in named),
        )
        built = [parse_pair(item) if isinstance(item, str) else item for item in named]
        made = tuple(item.build(plan.tested.neighbours, table, plan.seed) for item in built)
        return cls(plan, audited, made, table, carry_on)

    @property
    def _can_be_controlled(self) -> bool:
        return self.plan.controls and not isinstance(self.generator, Mechanism)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        return () if self.real is None else (describe_input("real", self.real),)

    def expected(self) -> Result:
        return self.plan.expected("epsilon", self.inputs)

    def run(self, runner: Runner) -> Result:
        """Play runs until the claim falls, or they or the time are used up."""
        plan, claim = self.plan, self.plan.tested
        settings = [
            PairSetting(plan.seed, self.generator, pair, rows_for(plan, pair), plan.access == "white-box")
            for pair in self.pairs
        ]
        pilots = [pilot_of(setting) for setting in settings]
        attacks = [attacks_for(setting, claim, pilot) for setting, pilot in zip(settings, pilots, strict=True)]
        wager = Wager.start(claim, attacks, confidence=plan.confidence)
        state = None if runner.out is None else runner.out / STATE
        if self.carry_on:
            wager.carry_on(_read_state(state), str(state))
        store = runner.store(plan, {"tables": [_digest(pair) for pair in self.pairs]})
        last = wager.runs + plan.runs
        play_runs(wager, settings, store, last, plan, runner)
        _check_failures(wager)
        controls = [] if runner.is_late or not self._can_be_controlled else _controls(plan, settings[0])
        if state is not None:
            write_atomically(state, json.dumps(wager.to_plain()))
        planned = None if self.carry_on else plan.runs
        played = PlayedClaim(plan, settings, pilots, wager, controls, planned=planned, real=self.real)
        return part_of(played).told(self.expected(), None)


def play_runs(
    wager: Wager,
    settings: Sequence[PairSetting],
    store: Store,
    last: int,
    plan: EpsilonPlan,
    runner: Runner,
    who: str = "audit",
) -> None:
    """Play runs in blocks until the claim falls, `last` is reached or the time is used up; pairs take turns.

    Runs are judged in order, one by one, so the outcome depends on neither blocks nor workers.
    """
    first = wager.runs
    while wager.runs < last and not (plan.stop_early and wager.refuted) and not (runner.is_late and wager.runs > first):
        block = BLOCK if runner.workers == 1 else max(BLOCK * 4 * runner.workers, wager.runs)
        if runner.seconds is not None:  # what is begun is finished, so little is begun at a time
            block = 4 * runner.workers
        runs = [
            PairTask(Whose.TEST, index, who=who, pair=index % len(settings))
            for index in range(wager.runs, min(last, wager.runs + block))
        ]
        for number, setting in enumerate(settings):
            runner.unwatched().draw(setting, [run for run in runs if run.pair == number], store)
        for run, outcome in outcomes(runs, store):
            coin = coin_of(plan.seed, run)
            if isinstance(outcome, Failed):
                wager.abstain(coin, outcome.message)
            else:
                wager.observe(run.pair, coin, *seen_in(outcome))
            if plan.stop_early and wager.refuted:
                break
        runner.progress(wager.runs, last)
    runner.progress(last, last)


def rows_for(plan: EpsilonPlan, pair: Pair) -> int:
    """Synthetic rows to ask for: never as many as a real table has, so that an exact row count shows."""
    largest = max(pair.sizes)
    rows = plan.synthetic_rows or max(min(100 * largest, MOST_ROWS), largest)
    return rows + 2 if rows in pair.sizes and plan.synthetic_rows is None else rows


def pilot_of(setting: PairSetting) -> tuple[Measurement, ...]:
    """Measurements of one fit without the target, which is no run: they tell what noise the generator declares."""
    if isinstance(setting.generator, Mechanism) or not setting.white_box:
        return ()
    try:
        model = setting.generator.fit(setting.pair.outside, stream(setting.seed, "pilot", setting.pair.name))
    except Exception as problem:  # noqa: BLE001 - foreign generators raise anything
        raise GeneratorError(
            f"The generator cannot be fitted on the pair '{setting.pair.name}': {type(problem).__name__}: {problem}\n"
            "Give a table of its own kind and use --pairs canary."
        ) from None
    return tuple(getattr(model, "measurements", ()))


def _controls(plan: EpsilonPlan, setting: PairSetting) -> list[Control]:
    """The same game with a generator that sees nothing and one that copies everything; the audit is sound if both show."""
    found = []
    own = replace(plan, stop_early=False)
    known: dict[str, Any] = {"oblivious": Oblivious(), "copycat": Copycat(1.0)}
    for name, control in known.items():
        asked = min(setting.pair.sizes) if name == "copycat" else setting.rows
        mine = replace(setting, generator=control, rows=asked)
        attacks = attacks_for(mine, plan.tested, pilot_of(mine))
        wager = Wager.start(plan.tested, [attacks], confidence=plan.confidence)
        runs = min(CONTROL_RUNS, plan.runs)
        play_runs(wager, [mine], MemoryStore(), runs, own, Runner(), who=name)
        found.append(Control(name, wager.bound(), wager.refuted))
    return found


def _as_generator(generator: Any) -> Generator | Mechanism:
    if isinstance(generator, Mechanism):
        return generator
    if hasattr(generator, "fit") and hasattr(generator, "claim"):
        found: Generator = generator
        return found
    if callable(generator):
        return Mechanism(generator)
    raise ParameterError(f"{generator!r} is neither a generator nor a function of (table, rng).")


def _name(generator: Any) -> str:
    found = _as_generator(generator)
    if isinstance(found, Mechanism):
        return f"mechanism {getattr(found.call, '__name__', type(found.call).__name__)}"
    return generator_list.text_of(found)


def _check_failures(wager: Wager) -> None:
    if wager.failed and len(wager.failed) == wager.runs:
        raise GeneratorError(f"Every run failed, so nothing was tested. The first reason: {wager.failed[0][1]}")


def _read_state(path: Path | None) -> dict[str, Any]:
    if path is None:
        raise ParameterError("Carrying on needs the run directory of the earlier audit: --out DIR.")
    try:
        plain: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(
            f"{path.parent}: there is no {STATE} here to carry on from. Run once without --carry-on."
        ) from None
    except (OSError, ValueError, RecursionError) as problem:
        raise RunError(f"{path}: cannot be read ({problem}). Start a new run directory.") from None
    return plain


def _digest(pair: Pair) -> str:
    return pair.inside.digest()[:16] + pair.outside.digest()[:16]
