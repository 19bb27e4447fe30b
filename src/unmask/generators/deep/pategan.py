"""PATE-GAN (Jordon, Yoon and van der Schaar 2019): real rows are seen by teachers alone, and teachers only vote, with noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import expit

from unmask.errors import ParameterError
from unmask.generators._generator import check_finite, check_fits, check_positive, claim_for
from unmask.generators._noise import Seeded
from unmask.generators.claim import Claim, Neighbours
from unmask.generators.deep._blocks import Blocks
from unmask.generators.deep._dense import AdamSteps, Dense
from unmask.generators.deep._maker import Maker, is_stage, log_odds
from unmask.generators.deep._rows import COUNT_SHARE, noisy_rows
from unmask.generators.deep._teachers import Parts, Teachers
from unmask.generators.deep._torch import check_whole
from unmask.stats.votes import epsilon_of_votes, scale_of_votes, votes_for
from unmask.tables.schema import Schema
from unmask.tables.table import Table, concatenate
from unmask.threads import one_thread

FEWEST_TEACHERS = 10  # fewer, and noise that hides one of them hides all
MOST_TEACHERS = 2_000
LESSONS = 3  # gradient steps of the teachers before each vote
RECENT = 10  # votes that the student learns again: older ones were about other made-up rows
STUDIES = 3  # steps of the student after each vote
FORGETTING = 0.01  # decay of the student's weights: what teachers said long ago fades
VARIED = 0.5  # share of values drawn anew in half of the rows that are voted on


@dataclass(frozen=True)
class PATEGAN:
    """Teachers vote on made-up rows, a student learns the noisy votes, and the generator learns from the student.

    Add/remove neighbours. Real rows are divided once among the teachers, by their values; a teacher is trained on its part
    and on made-up rows. A vote counts the teachers who find a made-up row more real than the middle one of those they learnt
    against; one person moves it by 1 at most, and discrete Laplace noise is added. The accountant adds up Renyi moments of
    that noise and looks at no data; when the budget is spent, training ends. Student and generator never see a real row.
    Without `teachers`, 5 % of epsilon buys a noisy number of rows, and there is one teacher for every `rows_each` of them.
    """

    name: ClassVar[str] = "pategan"
    row_level: ClassVar[bool] = False
    claims: ClassVar[str] = "epsilon, delta, add-remove"
    shows_evidence: ClassVar[bool] = True

    epsilon: float = 1.0
    delta: float = 1e-6
    teachers: int | None = None  # None = by the noisy number of rows
    rows_each: int = 3
    noise: float = (
        0.2  # scale of the votes' noise, as a share of the teachers; less where all steps can be paid with less
    )
    steps: int = 200  # at most; fewer where the budget is spent before
    batch: int = 64  # votes of a step
    hidden: int = 16  # units of the student
    width: int = 128  # units of the generator
    rate: float = 0.03  # size of the student's steps
    maker_rate: float = 0.002  # size of the generator's steps

    def __post_init__(self) -> None:
        check_positive("epsilon", self.epsilon, self.name)
        for each in ("delta", "noise", "rate", "maker_rate"):
            check_finite(each, getattr(self, each), self.name)
        for each in ("rows_each", "steps", "batch", "hidden", "width"):
            check_whole(each, getattr(self, each), self.name)
        if self.teachers is not None:
            check_whole("teachers", self.teachers, self.name)
        if not self.delta < 1:
            raise ParameterError(f"{self.name}: delta is {self.delta!r}; it must be below 1, and well below 1/rows.")

    @property
    def claim(self) -> Claim | None:
        return Claim(float(self.epsilon), float(self.delta), Neighbours.ADD_REMOVE)

    def fit(self, table: Table, rng: np.random.Generator | None) -> PATEGANModel:
        check_fits(table, self.name)
        if rng is None:
            raise ParameterError(f"{self.name}: fitting needs an rng. Pass numpy.random.default_rng(seed).")
        with one_thread():  # sums in the same order, hence the same bytes
            return self._train(table, rng)

    def chosen_teachers(self, table: Table, rng: np.random.Generator) -> tuple[int, float, int | None]:
        """How many teachers, the epsilon that is left for votes, and the noisy number of rows if it was asked for."""
        if self.teachers is not None:
            return self.teachers, float(self.epsilon), None
        rows = noisy_rows(len(table), COUNT_SHARE * self.epsilon, rng)
        teachers = min(rows // self.rows_each, MOST_TEACHERS)
        if teachers < FEWEST_TEACHERS:
            raise ParameterError(
                f"{self.name}: about {rows:,} rows (a noisy count) are too few: with {self.rows_each} rows for each teacher "
                f"there would be {teachers}, and fewer than {FEWEST_TEACHERS} cannot outvote the noise.\n"
                "Use a larger table, fewer rows_each, or another generator (privbayes, mst); or set teachers yourself.\n"
                "The count has spent 5 % of epsilon: trying again on the same table spends it again."
            )
        return teachers, (1 - COUNT_SHARE) * float(self.epsilon), rows

    def accounted(self, teachers: int, epsilon: float) -> Ballot:
        """How many votes the budget pays for, at which noise."""
        most = self.steps * self.batch
        if math.isinf(epsilon):
            return Ballot(most, 0.0)
        scale = self.noise * teachers
        votes = votes_for(scale, epsilon, float(self.delta))
        if votes < 1:
            raise ParameterError(
                f"{self.name}: epsilon {self.epsilon:g} does not pay for one vote of {teachers} teachers with noise of scale "
                f"{scale:.3g}. Use a larger epsilon, more noise, or more teachers."
            )
        return Ballot(votes, scale) if votes <= most else Ballot(most, scale_of_votes(most, epsilon, float(self.delta)))

    def divided(self, teachers: int, rng: np.random.Generator) -> Parts:
        """Who sees which rows."""
        return Parts(teachers, int(rng.integers(2**63 - 1)))

    def _train(self, table: Table, rng: np.random.Generator) -> PATEGANModel:
        count, left, rows = self.chosen_teachers(table, rng)
        ballot = self.accounted(count, left)
        parts = self.divided(count, rng)
        maker = Maker(table.schema, noise=32, hidden=(self.width,))
        teachers = Teachers.begin(maker.blocks, parts, table.codes)
        student = Student.begin(self, maker, rng)
        held: list[Vote] = []
        codes = table.schema.code_type
        stages: list[np.ndarray] = []
        spent = 0
        while spent < ballot.votes:
            lesson = maker.make(student.making, self.batch, rng)
            teachers.learn(lesson.rows, LESSONS)
            asked = maker.make(student.making, min(self.batch, ballot.votes - spent), rng).codes
            asked = varied(asked, table.schema.sizes, rng)
            rows_asked = maker.blocks.encode(asked)
            counts = Seeded(rng).laplace(teachers.votes(rows_asked), ballot.scale)
            held.append(Vote(lesson.codes.astype(codes), asked.astype(codes), counts))
            spent += len(counts)
            student.study(rows_asked, counts / count)
            student.teach(maker)
            if is_stage(len(held) - 1, math.ceil(ballot.votes / self.batch)):
                stages.append(student.making)
        claim = claim_for(self.claim, table.schema)
        known = (
            ""
            if rows is None
            else f"; {COUNT_SHARE * self.epsilon:.4g} for the number of rows, whose noisy value is {rows:,}"
        )
        details = f"{ballot.in_words(count, float(self.delta))}{known}"
        return PATEGANModel(
            schema=table.schema,
            claim=None if claim is None else replace(claim, details=details),
            maker=maker,
            stages=np.array(stages),
            student=student.network,
            judging=student.judging,
            ballot=ballot,
            parts=parts,
            votes=tuple(held),
        )


@dataclass(frozen=True)
class Ballot:
    """What the budget pays for: so many votes, each with discrete Laplace noise of this scale."""

    votes: int
    scale: float

    def in_words(self, teachers: int, delta: float) -> str:
        """The accounting for people to check."""
        if self.scale == 0:
            return f"{self.votes:,} votes of {teachers:,} teachers without noise"
        return (
            f"{self.votes:,} votes of {teachers:,} teachers with discrete Laplace noise of scale {self.scale:.4g}: epsilon "
            f"{epsilon_of_votes(self.scale, self.votes, delta):.4g} by moments that look at no data, at delta {delta:g}"
        )


@dataclass(frozen=True, eq=False)
class Vote:
    """One step as the outside may see it: what the teachers learnt against, what they were asked, and the noisy counts."""

    lesson: np.ndarray  # codes
    asked: np.ndarray  # codes
    counts: np.ndarray


@dataclass
class Student:
    """Learns noisy votes on made-up rows, and teaches the generator. No real row comes here."""

    generator: PATEGAN
    network: Dense
    judging: np.ndarray
    making: np.ndarray
    judge_steps: AdamSteps
    maker_steps: AdamSteps
    rng: np.random.Generator
    rows: list[np.ndarray] = field(default_factory=list)
    shares: list[np.ndarray] = field(default_factory=list)

    @classmethod
    def begin(cls, generator: PATEGAN, maker: Maker, rng: np.random.Generator) -> Student:
        network = Dense((maker.blocks.width, generator.hidden, 1))
        making = maker.network.begin(rng)
        steps = AdamSteps(generator.rate, first=0.9), AdamSteps(generator.maker_rate)
        return cls(generator, network, network.begin(rng), making, *steps, rng)

    def study(self, rows: np.ndarray, shares: np.ndarray) -> None:
        """Learn this vote and the latest before it: what was published costs nothing to read twice."""
        self.rows = [*self.rows[1 - RECENT :], rows]
        self.shares = [*self.shares[1 - RECENT :], shares.astype(np.float32)]
        known, labels = np.concatenate(self.rows), np.concatenate(self.shares)[:, None]
        for _ in range(STUDIES):
            passed = self.network.forward(self.judging, known)
            slope = (expit(passed[-1]) - labels) / np.float32(len(labels))
            slopes = self.network.slopes(self.judging, passed, slope)
            gradient = self.network.total(passed, slopes) + np.float32(FORGETTING) * self.judging
            self.judging = self.judge_steps.step(self.judging, gradient)

    def teach(self, maker: Maker) -> None:
        """A step of the generator towards rows that the student takes for real."""
        made = maker.make(self.making, self.generator.batch, self.rng)
        passed = self.network.forward(self.judging, made.rows)
        slopes = self.network.slopes(self.judging, passed, -expit(-passed[-1]))
        gradient = maker.gradient(self.making, made, self.network.to_inputs(self.judging, slopes))
        self.making = self.maker_steps.step(self.making, gradient)


def varied(codes: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Made-up rows, half of them with some values drawn anew from the public domains.

    Where the generator makes one kind of row only, votes on it alone would not say where to go.
    """
    drawn = rng.integers(0, sizes, size=codes.shape)
    change = rng.random(codes.shape) < VARIED * (rng.random((len(codes), 1)) < 0.5)
    return np.where(change, drawn, codes)


@dataclass(frozen=True, eq=False)
class PATEGANModel:
    """A fitted generator; student, votes and accounting for those who see the model."""

    schema: Schema
    claim: Claim | None
    maker: Maker
    stages: np.ndarray
    student: Dense
    judging: np.ndarray
    ballot: Ballot
    parts: Parts
    votes: tuple[Vote, ...]

    def sample(self, rows: int, rng: np.random.Generator) -> Table:
        with one_thread():
            return self.maker.sample(self.stages, rows, rng)

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks.of(self.schema)

    def discriminator_score(self, table: Table) -> np.ndarray:
        """How real each row looks to the student: the log-odds; higher is more real."""
        with one_thread():
            return log_odds(self.student, self.judging, self._blocks, table.codes)

    def exact_votes(self, codes: np.ndarray) -> np.ndarray:
        """The votes without noise that teachers of these rows would have given in the same training."""
        teachers = Teachers.begin(self._blocks, self.parts, codes)
        found = []
        for vote in self.votes:
            teachers.learn(self._blocks.encode(vote.lesson), LESSONS)
            found.append(teachers.votes(self._blocks.encode(vote.asked)))
        return np.concatenate(found)

    def evidence(self, target: Table, others: Table) -> dict[str, float]:
        """What the votes show about a target, to somebody who knows all others; above 0 speaks for its presence."""
        with one_thread():
            without = self.exact_votes(others.codes)
            within = self.exact_votes(concatenate([others, target]).codes)
        noisy = np.concatenate([vote.counts for vote in self.votes])
        found = {"score of target": float(self.discriminator_score(target)[0])}
        if self.ballot.scale:
            ratio = (np.abs(noisy - without) - np.abs(noisy - within)).sum() / self.ballot.scale
            found["likelihood ratio"] = round(float(ratio), 6)
            found["size of noise"] = float(np.abs(noisy - without).mean() / self.ballot.scale)
        return found
