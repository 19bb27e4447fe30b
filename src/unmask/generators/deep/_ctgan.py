"""Networks, conditions and training of `ctgan` (Xu et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from torch import Tensor, nn

from unmask.generators.deep._coding import Coded, Coding
from unmask.generators.deep._layers import Adam, RunningMean, chunks, linear, matrix_of
from unmask.generators.deep._segments import Segments
from unmask.generators.deep._torch import StepWatch, Weights, weights_of, with_weights

if TYPE_CHECKING:
    from unmask.generators.deep.ctgan import Ctgan, CtganModel

PENALTY = 10.0  # weight of the gradient penalty
BETAS = (0.5, 0.9)  # of Adam
TEMPERATURE = 0.2  # of the Gumbel-softmax
SLOPE = 0.2  # of the leaky units
DROPPED = 0.5  # share of the critic's units that rest in a step
TINY = 1e-12


class Conditions:
    """Which category of which column a row is asked to have, and training rows that have it.

    Columns are equally likely. In training a category is drawn by the logarithm of its count, so that rare ones are seen
    (training by sampling); for a release by its count.
    """

    def __init__(self, segments: Segments, counts: Tensor, first: int, levels: Tensor | None = None) -> None:
        self.segments = segments  # of the categorical columns only
        self.first = first  # where they begin among all segments' columns
        self.counts = counts  # of each category, all columns side by side
        self.by_count = self._sums(counts.double())
        self.by_log = self._sums((counts + 1.0).double().log())
        if levels is not None:  # training rows, sorted by category in each column
            self.order = levels.argsort(dim=0, stable=True)
            ends = torch.cat([part.cumsum(0) for part in counts.split(segments.sizes.tolist())])
            self.begins = ends - counts

    def _sums(self, weights: Tensor) -> Tensor:
        """Running shares, where block b lies between b and b + 1."""
        parts = weights.split(self.segments.sizes.tolist())
        return torch.cat([part.cumsum(0) / part.sum() + place for place, part in enumerate(parts)])

    def draw(self, rows: int, stream: torch.Generator, *, by_log: bool) -> tuple[Tensor, Tensor]:
        """For each row a column and the place of a category among all categories."""
        column = torch.randint(self.segments.count, (rows,), generator=stream)
        wanted = column + torch.rand(rows, generator=stream, dtype=torch.float64)
        place = torch.searchsorted(self.by_log if by_log else self.by_count, wanted, right=True)
        last = self.segments.starts + self.segments.sizes - 1
        return column, torch.minimum(torch.maximum(place, self.segments.starts[column]), last[column])

    def rows(self, column: Tensor, place: Tensor, stream: torch.Generator) -> Tensor:
        """For each condition a random training row that meets it."""
        count = self.counts[place]
        within = (torch.rand(len(column), generator=stream, dtype=torch.float64) * count).long()
        return self.order[self.begins[place] + torch.minimum(within, count - 1), column]

    def one_hot(self, place: Tensor) -> Tensor:
        return nn.functional.one_hot(place, self.segments.width).float()

    def missed(self, logits: Tensor, column: Tensor, place: Tensor) -> Tensor:
        """Cross-entropy between the wanted category and what the generator says in that column."""
        logits = logits[:, self.first :]
        own = self.segments.block == column[:, None]
        within = logits.masked_fill(~own, -torch.inf).logsumexp(1)
        return (within - logits.gather(1, place[:, None])[:, 0]).mean()


class ResidualGenerator(nn.Module):
    """Noise and condition in, numbers and logits out; every layer sees all that came before it."""

    def __init__(self, inputs: int, layers: Sequence[int], outputs: int, stream: torch.Generator | None) -> None:
        super().__init__()
        self.hidden, self.norms = nn.ModuleList(), nn.ModuleList()
        for width in layers:
            self.hidden.append(linear(inputs, width, stream))
            self.norms.append(nn.BatchNorm1d(width))
            inputs += width
        self.out = linear(inputs, outputs, stream)

    def forward(self, held: Tensor) -> Tensor:
        for layer, norm in zip(self.hidden, self.norms, strict=True):
            held = torch.cat([norm(layer(held)).relu(), held], 1)
        out: Tensor = self.out(held)
        return out


class Critic(nn.Module):
    """Several rows at once in (PacGAN), one number out: higher looks more real."""

    def __init__(self, inputs: int, layers: Sequence[int], stream: torch.Generator | None) -> None:
        super().__init__()
        self.hidden = nn.ModuleList()
        for width in layers:
            self.hidden.append(linear(inputs, width, stream))
            inputs = width
        self.out = linear(inputs, 1, stream)

    def enter(self, packs: Tensor) -> Tensor:
        """The first layer: linear, so that rows between two others need no product of their own."""
        entered: Tensor = self.hidden[0](packs)
        return entered

    def forward(self, entered: Tensor, stream: torch.Generator | None = None) -> tuple[Tensor, list[Tensor]]:
        """Scores of what has entered, and the slope of every unit for every row; with a stream some units rest."""
        slopes: list[Tensor] = []
        held = entered
        for place, layer in enumerate(self.hidden):
            held = layer(held) if place else held
            with torch.no_grad():
                slope = torch.where(held > 0, 1.0, SLOPE)
                if stream is not None:
                    slope *= (torch.rand(slope.shape, generator=stream) >= DROPPED) / (1 - DROPPED)
            slopes.append(slope)
            held = held * slope
        return self.out(held)[:, 0], slopes

    def input_gradient(self, slopes: list[Tensor]) -> Tensor:
        """The gradient of the score by the input: units are linear pieces, so it is a product of weights and slopes."""
        held: Tensor = self.out.weight
        for layer, slope in zip(reversed(self.hidden), reversed(slopes), strict=True):
            held = (held * slope) @ cast(nn.Linear, layer).weight
        return held


@dataclass
class Gan:
    """Generator and critic in training."""

    generator: ResidualGenerator
    critic: Critic
    numbers: int  # the first columns of the matrix are numbers, the others levels
    segments: Segments
    conditions: Conditions | None
    embedding: int
    pac: int

    def asked(self, rows: int, stream: torch.Generator, *, by_log: bool = True) -> tuple[Tensor, Tensor] | None:
        """Conditions for so many rows; None for a table without categories."""
        return None if self.conditions is None else self.conditions.draw(rows, stream, by_log=by_log)

    def logits(self, rows: int, asked: tuple[Tensor, Tensor] | None, stream: torch.Generator) -> Tensor:
        """What the generator says, before it is made numbers and levels."""
        noise = torch.randn(rows, self.embedding, generator=stream)
        if asked is not None and self.conditions is not None:
            noise = torch.cat([noise, self.conditions.one_hot(asked[1])], 1)
        raw: Tensor = self.generator(noise)
        return raw

    def rows(self, raw: Tensor, stream: torch.Generator) -> Tensor:
        """Numbers between -1 and 1 and almost-levels."""
        levels = self.segments.soft(raw[:, self.numbers :], TEMPERATURE, stream)
        return torch.cat([raw[:, : self.numbers].tanh(), levels], 1)

    def packed(self, rows: Tensor, asked: tuple[Tensor, Tensor] | None) -> Tensor:
        """Rows with their conditions, `pac` of them side by side."""
        if asked is not None and self.conditions is not None:
            rows = torch.cat([rows, self.conditions.one_hot(asked[1])], 1)
        return rows.reshape(len(rows) // self.pac, -1)

    def critic_loss(self, real: Tensor, batch: int, stream: torch.Generator) -> Tensor:
        """Wasserstein distance with gradient penalty: fakes and real rows of the same conditions."""
        asked = self.asked(batch, stream)
        with torch.no_grad():
            fake = self.packed(self.rows(self.logits(batch, asked, stream), stream), asked)
        if asked is None or self.conditions is None:
            which = torch.randint(len(real), (batch,), generator=stream)
        else:
            which = self.conditions.rows(*asked, stream)
        true = self.packed(real[which], asked)
        entered = self.critic.enter(torch.cat([fake, true]))
        fakes, trues = self.critic(entered, stream)[0].chunk(2)
        with torch.no_grad():
            ends = entered.chunk(2)
            between = torch.lerp(ends[0], ends[1], torch.rand(len(true), 1, generator=stream))
            _, slopes = self.critic(between, stream)
        steep = (self.critic.input_gradient(slopes).square().sum(1) + TINY).sqrt()
        return fakes.mean() - trues.mean() + PENALTY * (steep - 1).square().mean()

    def generator_loss(self, batch: int, stream: torch.Generator) -> Tensor:
        """How fake the critic finds the rows, and how far they miss their conditions."""
        asked = self.asked(batch, stream)
        raw = self.logits(batch, asked, stream)
        scores, _ = self.critic(self.critic.enter(self.packed(self.rows(raw, stream), asked)), stream)
        if asked is None or self.conditions is None:
            return -scores.mean()
        return self.conditions.missed(raw[:, self.numbers :], *asked) - scores.mean()


def build(
    parameters: Ctgan,
    coding: Coding,
    counts: np.ndarray,
    levels: Tensor | None = None,
    stream: torch.Generator | None = None,
) -> Gan:
    """Both networks: with a stream for new weights and the levels of the training table, or without to be filled later."""
    segments, categories = Segments(coding.sizes), Segments([len(codes) for codes in coding.seen])
    numbers, first = len(coding.numeric), len(coding.levelled)
    width = numbers + segments.width
    conditions = None
    if categories.count:
        own = None if levels is None else levels[:, first:]
        conditions = Conditions(categories, torch.from_numpy(counts), segments.width - categories.width, own)
    generator = ResidualGenerator(parameters.embedding + categories.width, parameters.generator_layers, width, stream)
    critic = Critic((width + categories.width) * parameters.pac, parameters.discriminator_layers, stream)
    return Gan(generator, critic, numbers, segments, conditions, parameters.embedding, parameters.pac)


def train(
    parameters: Ctgan, coding: Coding, counts: np.ndarray, coded: Coded, watch: StepWatch, stream: torch.Generator
) -> tuple[Weights, Weights]:
    """The weights of generator and critic after training: one step of each in turn."""
    gan = build(parameters, coding, counts, torch.from_numpy(coded.levels), stream)
    real = matrix_of(coded, gan.segments)
    critic, generator = (
        Adam(list(network.parameters()), rate=parameters.rate, betas=BETAS, decay=parameters.l2)
        for network in (gan.critic, gan.generator)
    )
    mean = RunningMean(gan.generator)
    for _ in watch:
        critic.step(gan.critic_loss(real, parameters.batch, stream))
        generator.step(gan.generator_loss(parameters.batch, stream))
        if parameters.averaged:
            mean.add()
    if parameters.averaged:
        mean.settle()
    return weights_of(gan.generator), weights_of(gan.critic)


def trained(model: CtganModel) -> Gan:
    """The networks of a fitted model."""
    gan = build(model.parameters, model.coding, model.counts)
    with_weights(gan.generator, model.generator)
    with_weights(gan.critic, model.critic)
    return gan


@torch.no_grad()
def draw(model: CtganModel, rows: int, stream: torch.Generator) -> Coded:
    """New rows, numbers and levels."""
    gan = trained(model)
    values = np.empty((rows, gan.numbers), dtype=np.float32)
    levels = np.empty((rows, gan.segments.count), dtype=np.int64)
    for part in chunks(rows):
        count = part.stop - part.start
        raw = gan.logits(count, gan.asked(count, stream, by_log=False), stream)
        values[part] = raw[:, : gan.numbers].tanh().numpy()
        levels[part] = gan.segments.draw(raw[:, gan.numbers :], stream).numpy()
    return Coded(values, levels)


@torch.no_grad()
def looks(model: CtganModel, coded: Coded) -> np.ndarray:
    """The critic's score of each row, shown `pac` times under each of its own categories; the mean over categories."""
    gan = trained(model)
    scores = np.zeros(len(coded))
    first = cast(nn.Linear, gan.critic.hidden[0])
    # Equal rows side by side: their weights add up.
    first.weight.data = first.weight.reshape(first.out_features, gan.pac, -1).sum(1)
    for part in chunks(len(coded)):
        own = Coded(coded.values[part], coded.levels[part])
        rows = matrix_of(own, gan.segments)
        if gan.conditions is None:
            scores[part] = gan.critic(gan.critic.enter(rows))[0].numpy()
            continue
        categories = rows[:, gan.numbers + gan.conditions.first :]
        for column in range(gan.conditions.segments.count):
            condition = categories * gan.conditions.segments.member[:, column]
            scores[part] += gan.critic(gan.critic.enter(torch.cat([rows, condition], 1)))[0].numpy()
    return scores / (1 if gan.conditions is None else gan.conditions.segments.count)
