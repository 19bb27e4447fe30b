"""The attack from the first question to the last, against any oracle: ReconSyn as the plan asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from unmask.attacks.reconstruction.asked_rows import EMPTY, AskedRows
from unmask.attacks.reconstruction.enumerate import MOST_ROWS, SMALL, domain_size, enumerate_domain
from unmask.attacks.reconstruction.guided_search import Likelihoods, guided_search
from unmask.attacks.reconstruction.padding import MOST_REPEATS, Reader, find_padding
from unmask.attacks.reconstruction.sample import Rebuilt, nothing, sample_attack
from unmask.attacks.reconstruction.search import search_attack
from unmask.audits.reconstruct.plan import ReconstructPlan, Searching
from unmask.stream import stream
from unmask.tables.regions import Region
from unmask.threats.oracle import CallCount, Oracle

SAMPLED = 4  # where calls are limited, one in so many goes to samples
LEARNT_FROM = 20_000  # sampled rows that say which values go together

Block = tuple[np.ndarray, np.ndarray]  # rows and their rounds
Watch = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """What an attack found, and what it asked for it."""

    sampled: Rebuilt
    searched: Rebuilt
    read_sampling: int  # rows whose distance was asked for
    read: int
    cost_sampling: CallCount
    cost: CallCount
    guesses: np.ndarray  # as many rows as were found, the most frequent of the samples: what is left without the oracle
    notes: tuple[str, ...]

    @property
    def found(self) -> Rebuilt:
        return self.sampled + self.searched


def attacked(
    plan: ReconstructPlan,
    oracle: Oracle,
    blocks: Iterable[Block],
    region: Region | None,
    *,
    watch: Watch = lambda found: None,
) -> Reconstruction:
    """SampleAttack on the rounds, then the search that the plan names. An oracle that never passes is an InputError."""
    rng = stream(plan.seed, "attacker")
    stage = _Stage(Reader(oracle, find_padding(oracle, rng)), AskedRows(oracle.schema, rng), region, watch)
    sampled, learnt = nothing(len(oracle.schema.columns), oracle.schema.code_type), _Learnt()
    times = np.empty(0, dtype=np.int64)
    room = None if oracle.rules.calls is None else oracle.rules.calls // SAMPLED
    for codes, rounds in blocks:
        learnt.add(codes)
        if room is not None:  # the rest of the calls is for searching: a few starts are worth more than many samples
            codes, rounds = codes[: max(0, room - stage.reader.read)], rounds[: max(0, room - stage.reader.read)]
        sampled += sample_attack(stage.reader, stage.history, codes, rounds)
        seen = np.bincount(stage.history.known(codes), minlength=stage.history.count)
        seen[: len(times)] += times
        times = seen
        watch(len(sampled))
    read, cost, drawn = stage.reader.read, oracle.cost, stage.history.count
    how, notes = _way(plan, oracle)
    searched = _searched(plan, how, stage, learnt.codes, sampled.codes)
    found = len(sampled) + len(searched)
    frequent = np.argsort(-times, kind="stable")[: min(found, drawn)]
    guesses = stage.history.codes[frequent].copy()
    notes += _limits_met(stage.reader)
    return Reconstruction(sampled, searched, read, stage.reader.read, cost, oracle.cost, guesses, notes)


@dataclass(frozen=True, eq=False)
class _Stage:
    """What the steps of an attack share."""

    reader: Reader
    history: AskedRows
    region: Region | None
    watch: Watch


class _Learnt:
    """The first sampled rows: what says which values go together."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._count = 0

    def add(self, codes: np.ndarray) -> None:
        if self._count < LEARNT_FROM:
            self._parts.append(codes)
            self._count += len(codes)

    @property
    def codes(self) -> np.ndarray:
        return np.concatenate(self._parts)[:LEARNT_FROM]


def _way(plan: ReconstructPlan, oracle: Oracle) -> tuple[Searching, tuple[str, ...]]:
    """The search that is possible, and why it is not the one that was asked for."""
    rows = domain_size(oracle.schema)
    if plan.search != Searching.ENUMERATE or rows <= MOST_ROWS:
        return Searching(plan.search), ()
    return Searching.GUIDED, (
        f"The domain has about {float(rows):.0e} rows, too many to enumerate (at most {MOST_ROWS:,}): the guided search was "
        "used instead.",
    )


def _searched(plan: ReconstructPlan, how: Searching, stage: _Stage, learnt: np.ndarray, sampled: np.ndarray) -> Rebuilt:
    schema, reader, history = stage.reader.oracle.schema, stage.reader, stage.history
    columns = len(schema.columns)
    if how is Searching.NONE:
        return nothing(columns, schema.code_type)
    if how is Searching.ENUMERATE:
        return enumerate_domain(reader, history, stage.region)
    if how is Searching.PAPER:
        return search_attack(reader, history, distance=plan.distance or max(1, columns // 4), region=stage.region)
    found = guided_search(
        reader, history, Likelihoods.of(schema, learnt),
        found=sampled, distance=plan.distance or columns, region=stage.region, watch=stage.watch,
    )  # fmt: skip
    return found + enumerate_domain(reader, history, stage.region) if domain_size(schema) <= SMALL else found


def _limits_met(reader: Reader) -> tuple[str, ...]:
    notes = []
    if reader.spent:
        notes.append(
            f"The oracle stopped answering after {reader.oracle.cost.calls:,} calls; what it had said by then is told."
        )
    if reader.repeats > MOST_REPEATS:
        notes.append(
            f"Through this noise one distance takes about {reader.repeats:,} calls; the attacker stops at {MOST_REPEATS} and "
            "claims nothing."
        )
    return tuple(notes)


def listed(rows: np.ndarray, among: np.ndarray, history: AskedRows) -> np.ndarray:
    """Which rows stand among others; `history` is an empty one of their schema. -1: not, else the place in `among`."""
    fresh = history.fresh(among)
    history.add(among[fresh], np.zeros(len(fresh), dtype=np.int16))
    at = history.known(rows)
    return np.where(at == EMPTY, EMPTY, fresh[np.maximum(at, 0)] if len(fresh) else EMPTY)
