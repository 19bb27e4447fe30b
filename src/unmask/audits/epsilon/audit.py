"""The audit of a differential-privacy claim: can anybody tell a table with the target from one without, better than allowed?

One fair coin per run decides between two neighbouring tables; attacks bet on the coin from the output. If they earn twenty
times what they had, the claim is refuted at 95 %, whenever that happens. Nobody can prove a claim this way: "not refuted" comes
with what would have been seen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from unmask import generators as generator_list
from unmask.simulation.draws import DRAWS, open_draws
from unmask.attacks.claim.wager import Game, attacks_for
from unmask.simulation.pair import Mechanism, Run, Setting, coin_of, play
from unmask.threats.pairs import Pair, PairPlan, parse_pair
from unmask.audits.epsilon.result import Audited, Control, build_result
from unmask.results.result import Result, describe_input
from unmask.results.directory import check_directory
from unmask.errors import GeneratorError, ParameterError, RunError
from unmask.files import write_atomically
from unmask.generators._generator import Generator, Measurement
from unmask.generators.claim import Claim, Neighbours
from unmask.generators.copycat import Copycat
from unmask.generators.oblivious import Oblivious
from unmask.registry import settings_from
from unmask.simulation.executors.local import Progress, no_progress, run_tasks
from unmask.simulation.store import Failed, MemoryStore, Store
from unmask.simulation.task import Whose
from unmask.stream import stream
from unmask.tables.read import read_table
from unmask.tables.table import Table

STATE = "epsilon-state.json"
BLOCK = 16  # runs that are played before the wealth is looked at, per worker; changes no result
MOST_ROWS = 5_000  # synthetic rows asked for by default, unless the table is larger
CONTROL_RUNS = 100
# What may change between runs of one directory: no run depends on it.
GROWING = ("runs", "confidence", "stop_early", "controls")


@dataclass(frozen=True)
class EpsilonPlan:
    """What `unmask epsilon` does. `runs` may grow between runs of one directory; everything else is fixed."""

    generator: str
    claim: Claim
    pairs: tuple[str, ...] = ("worst-case",)
    runs: int = 1000
    access: str = "white-box"
    synthetic_rows: int | None = None  # None = 100 per real row, at most 5,000 unless there are more real rows
    stop_early: bool = True
    controls: bool = True
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise ParameterError(f"--runs is {self.runs}; at least 1 run is needed, and 1000 are sensible.")
        if self.access not in ("white-box", "black-box"):
            raise ParameterError(f"--access is '{self.access}'; use white-box or black-box.")
        if not 0.5 <= self.confidence < 1:
            raise ParameterError(f"--confidence is {self.confidence}; use a share such as 0.95.")
        if math.isinf(self.claim.epsilon):
            raise ParameterError("The claim is no privacy at all (epsilon infinite): there is nothing to refute.")
        if not self.pairs:
            raise ParameterError("Name at least one pair, such as worst-case.")

    def to_plain(self) -> dict[str, Any]:
        """The plan as it stands in result.json; the seed has a place of its own there."""
        plain = asdict(self) | {"claim": str(self.claim), "pairs": list(self.pairs)}
        del plain["seed"]
        return plain


def audit_epsilon(
    generator: str | Generator | Any,
    *,
    claim: Claim | None = None,
    table: Any = None,
    pairs: str | PairPlan | Sequence[str | PairPlan] | None = None,
    out: str | Path | None = None,
    carry_on: bool = False,
    workers: int = 1,
    progress: Progress = no_progress,
    **choices: Any,
) -> Result:
    """Try to refute a differential-privacy claim; the generator's own claim by default.

    `generator` is a generator, its text (`privbayes:epsilon=1`) or any function of (table, rng) that returns numbers. `pairs`
    says which neighbouring tables to use: the worst case by default, and a canary too where a real table is given. Other
    choices are the fields of `EpsilonPlan`: runs, seed, access, synthetic_rows, stop_early, controls, confidence. With `out`,
    every run is kept there and an interrupted audit continues; `carry_on` plays further runs on top of one that ended.
    """
    audited = _as_generator(generator)
    real = None if table is None else read_table(table)
    found = claim or audited.claim
    if found is None:
        raise ParameterError(
            "The generator makes no claim. Name one, such as claim=Claim(epsilon=1) or --claim epsilon=1."
        )
    chosen = _as_pairs(pairs, real)
    plan = EpsilonPlan(
        generator=generator if isinstance(generator, str) else _name(audited),
        claim=found,
        pairs=tuple(item if isinstance(item, str) else repr(item) for item in chosen),
        **choices,
    )
    built = [(parse_pair(item) if isinstance(item, str) else item) for item in chosen]
    pairs_made = [item.build(found.neighbours, real, plan.seed) for item in built]
    if out is not None:  # before any work: whether the result can be written there
        inputs = () if real is None else (describe_input("real", real),)
        check_directory(out, Result("epsilon", plan.seed, plan.to_plain(), inputs), growing=GROWING)
    return run(
        plan,
        audited,
        pairs_made,
        real,
        out=Path(out) if out else None,
        carry_on=carry_on,
        workers=workers,
        progress=progress,
    )


def parse_claim(text: str, own: Claim | None = None) -> Claim:
    """A claim from text such as `epsilon=1,delta=1e-6,neighbours=replace`; what is left out is as in `own`."""
    given = settings_from(text.split(","))
    if unknown := [name for name in given if name not in ("epsilon", "delta", "neighbours")]:
        raise ParameterError(f"A claim has no {', '.join(unknown)}. It has: epsilon, delta, neighbours.")
    if "epsilon" not in given:
        raise ParameterError(
            f"The claim '{text}' names no epsilon. Write it as epsilon=1,delta=1e-6,neighbours=replace."
        )
    neighbours = str(given.get("neighbours", own.neighbours if own else Neighbours.ADD_REMOVE))
    if neighbours not in list(Neighbours):
        raise ParameterError(f"neighbours is '{neighbours}'; use one of {', '.join(Neighbours)}.")
    try:
        epsilon, delta = float(given["epsilon"]), float(given.get("delta", own.delta if own else 0.0))
    except (TypeError, ValueError):
        raise ParameterError(f"The claim '{text}' has an epsilon or delta that is no number.") from None
    return Claim(epsilon, delta, Neighbours(neighbours))


def run(
    plan: EpsilonPlan,
    generator: Generator | Mechanism,
    pairs: Sequence[Pair],
    real: Table | None,
    *,
    out: Path | None,
    carry_on: bool,
    workers: int,
    progress: Progress,
) -> Result:
    """Carry out a plan."""
    settings = [Setting(plan.seed, generator, pair, rows_for(plan, pair), plan.access == "white-box") for pair in pairs]
    pilots = [pilot_of(setting) for setting in settings]
    attacks = [attacks_for(setting, plan.claim, pilot) for setting, pilot in zip(settings, pilots, strict=True)]
    game = Game.start(plan.claim, attacks, confidence=plan.confidence)
    state = None if out is None else out / STATE
    before = 0
    if carry_on:
        game.carry_on(_read_state(state), str(state))
        before = game.runs
    store = _open_store(out, plan, pairs, real)
    last = before + plan.runs
    play_game(game, settings, store, last, plan, workers=workers, progress=progress)
    _check_failures(game)
    controls = _controls(plan, settings[0]) if plan.controls and not isinstance(generator, Mechanism) else []
    if state is not None:
        write_atomically(state, json.dumps(game.to_plain()))
    audited = Audited(plan, settings, pilots, game, controls, planned=None if carry_on else plan.runs, real=real)
    return build_result(audited)


def play_game(
    game: Game,
    settings: Sequence[Setting],
    store: Store,
    last: int,
    plan: EpsilonPlan,
    *,
    workers: int,
    progress: Progress = no_progress,
    who: str = "audit",
) -> None:
    """Play runs in blocks until the claim falls or `last` is reached; pairs take turns.

    Runs are judged in order, one by one, so the outcome depends on neither blocks nor workers.
    """
    while game.runs < last and not (plan.stop_early and game.refuted):
        block = BLOCK if workers == 1 else max(BLOCK * 4 * workers, game.runs)
        runs = [
            Run(Whose.TEST, index, who=who, pair=index % len(settings))
            for index in range(game.runs, min(last, game.runs + block))
        ]
        for number, setting in enumerate(settings):
            mine = [run for run in runs if run.pair == number]
            run_tasks(setting, mine, store, work=play, workers=workers)
        for run in runs:
            outcome = store.get(run)
            kept = outcome if outcome is not None else Failed("its outcome was lost")
            game.observe(run.pair, coin_of(plan.seed, run), kept)
            if plan.stop_early and game.refuted:
                break
        progress(game.runs, last)
    progress(last, last)


def rows_for(plan: EpsilonPlan, pair: Pair) -> int:
    """Synthetic rows to ask for: never as many as a real table has, so that an exact row count shows."""
    largest = max(pair.sizes)
    rows = plan.synthetic_rows or max(min(100 * largest, MOST_ROWS), largest)
    return rows + 2 if rows in pair.sizes and plan.synthetic_rows is None else rows


def pilot_of(setting: Setting) -> tuple[Measurement, ...]:
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


def _controls(plan: EpsilonPlan, setting: Setting) -> list[Control]:
    """The same game with a generator that sees nothing and one that copies everything; the audit is sound if both show."""
    found = []
    own = replace(plan, stop_early=False)
    known: dict[str, Any] = {"oblivious": Oblivious(), "copycat": Copycat(1.0)}
    for name, control in known.items():
        asked = min(setting.pair.sizes) if name == "copycat" else setting.rows
        mine = replace(setting, generator=control, rows=asked)
        attacks = attacks_for(mine, plan.claim, pilot_of(mine))
        game = Game.start(plan.claim, [attacks], confidence=plan.confidence)
        runs = min(CONTROL_RUNS, plan.runs)
        play_game(game, [mine], MemoryStore(), runs, own, workers=1, who=name)
        found.append(Control(name, game.bound(), game.refuted))
    return found


def _as_generator(generator: Any) -> Generator | Mechanism:
    if isinstance(generator, str):
        return generator_list.parse(generator)
    if isinstance(generator, Mechanism):
        return generator
    if hasattr(generator, "fit") and hasattr(generator, "claim"):
        found: Generator = generator
        return found
    if callable(generator):
        return Mechanism(generator)
    raise ParameterError(f"{generator!r} is neither a generator nor a function of (table, rng).")


def _name(generator: Generator | Mechanism) -> str:
    if isinstance(generator, Mechanism):
        return f"mechanism {getattr(generator.call, '__name__', type(generator.call).__name__)}"
    return repr(generator)


def _as_pairs(pairs: Any, real: Table | None) -> list[str | PairPlan]:
    if pairs is None:
        return ["worst-case"] if real is None else ["worst-case", "canary"]
    return [pairs] if isinstance(pairs, str) or not isinstance(pairs, Sequence) else list(pairs)


def _check_failures(game: Game) -> None:
    if game.failed and len(game.failed) == game.runs:
        raise GeneratorError(f"Every run failed, so nothing was tested. The first reason: {game.failed[0][1]}")


def _read_state(path: Path | None) -> dict[str, Any]:
    if path is None:
        raise ParameterError("Carrying on needs the run directory of the earlier audit: --out DIR.")
    try:
        plain: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(
            f"{path.parent}: there is no {STATE} here to carry on from. Run once without --carry-on."
        ) from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise RunError(f"{path}: cannot be read ({problem}). Start a new run directory.") from None
    return plain


def _open_store(out: Path | None, plan: EpsilonPlan, pairs: Sequence[Pair], real: Table | None) -> Store:
    """The runs of this plan; a directory that holds runs of another plan is refused, and the field is named."""
    identity = plan.to_plain() | {"seed": plan.seed, "tables": [_digest(pair) for pair in pairs]}
    fixed = {name: value for name, value in identity.items() if name not in GROWING}
    return open_draws(out / DRAWS if out else None, fixed)


def _digest(pair: Pair) -> str:
    return pair.inside.digest()[:16] + pair.outside.digest()[:16]


__all__ = ["EpsilonPlan", "Mechanism", "audit_epsilon", "parse_claim", "run"]
