"""Diffusion of numbers and levels, the denoiser and its training for `tabddpm` (Kotelnikov et al. 2023)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from unmask.generators.deep._coding import Coded, Coding
from unmask.generators.deep._layers import Adam, Batches, RunningMean, chunks, linear
from unmask.generators.deep._segments import Segments
from unmask.generators.deep._torch import StepWatch, Weights, weights_of, with_weights

if TYPE_CHECKING:
    from unmask.generators.deep.tabddpm import TabDdpm, TabDdpmModel

OFFSET = 0.008  # of the cosine schedule (Nichol & Dhariwal 2021)
WAVES = 64  # by which a step is told to the network
FARTHEST = 5.0  # normal scores beyond are no numbers of any table
IMPOSSIBLE = -13.8  # log probability of a category that no training row has: one in a million


class Diffusion:
    """What is left of a row after each step: `kept` of its variance, or of the chance that a level is its own."""

    def __init__(self, steps: int) -> None:
        time = torch.linspace(0, 1, steps + 1, dtype=torch.float64)
        curve = ((time + OFFSET) / (1 + OFFSET) * math.pi / 2).cos().square()
        shares = (curve[1:] / curve[:-1]).clamp(min=0.001)
        self.steps = steps
        self.step_kept = shares.float()
        self.kept = shares.cumprod(0).float()
        self.before = torch.cat([torch.ones(1), self.kept[:-1]])

    def noisy_numbers(self, values: Tensor, noise: Tensor, step: Tensor) -> Tensor:
        """Numbers after this many steps."""
        kept = self.kept[step][:, None]
        return kept.sqrt() * values + (1 - kept).sqrt() * noise

    def noisy_levels(self, levels: Tensor, step: Tensor, segments: Segments, stream: torch.Generator) -> Tensor:
        """Levels after this many steps: their own, or any."""
        own = torch.rand(levels.shape, generator=stream) < self.kept[step][:, None]
        return torch.where(own, levels, anything(len(levels), segments, stream))

    def numbers_before(self, values: Tensor, noise: Tensor, step: int, stream: torch.Generator) -> Tensor:
        """Numbers one step earlier, given the noise that the network sees in them."""
        kept, before, share = self.kept[step], self.before[step], self.step_kept[step]
        clean = ((values - (1 - kept).sqrt() * noise) / kept.sqrt()).clamp(-FARTHEST, FARTHEST)
        mean = (before.sqrt() * (1 - share) * clean + share.sqrt() * (1 - before) * values) / (1 - kept)
        sd = ((1 - share) * (1 - before) / (1 - kept)).sqrt()
        return mean + sd * torch.randn(values.shape, generator=stream)

    def levels_before(
        self, levels: Tensor, clean: Tensor, step: int, segments: Segments, stream: torch.Generator
    ) -> Tensor:
        """Levels one step earlier, given those now and clean ones that the network drew.

        By Bayes' rule their chances are (share [= now] + (1 - share) / K) (before [= clean] + (1 - before) / K): the product
        multiplied out is a choice between the clean level, the level now, and any level.
        """
        share, before = self.step_kept[step], self.before[step]
        now = (share * (1 - before)).expand(levels.shape)
        any_level = ((1 - share) * (1 - before)).expand(levels.shape)
        own = (1 - share) * before + share * before * segments.sizes * (levels == clean)
        lot = torch.rand(levels.shape, generator=stream) * (own + now + any_level)
        earlier = torch.where(lot < own + now, levels, anything(len(levels), segments, stream))
        return torch.where(lot < own, clean, earlier)


def anything(rows: int, segments: Segments, stream: torch.Generator) -> Tensor:
    """Levels at random, all equally likely."""
    drawn = (torch.rand(rows, segments.count, generator=stream) * segments.sizes).long()
    return torch.minimum(drawn, segments.sizes - 1)


class Denoiser(nn.Module):
    """A noisy row and its step in; the noise in the numbers and the logits of the clean levels out."""

    def __init__(self, parameters: TabDdpm, coding: Coding, stream: torch.Generator | None) -> None:
        super().__init__()
        self.diffusion = Diffusion(parameters.diffusion_steps)
        self.numbers, self.segments = len(coding.numeric), Segments(coding.sizes)
        width, layers = self.numbers + self.segments.width, parameters.layers
        self.enter = linear(width, layers[0], stream)
        self.hidden = nn.ModuleList(
            linear(*pair, stream) for pair in zip(layers[:1] + layers[:-1], layers, strict=True)
        )
        self.leave = linear(layers[-1], width, stream)
        self.early, self.late = linear(2 * WAVES, layers[0], stream), linear(layers[0], layers[0], stream)
        rates = torch.exp(-math.log(10_000) * torch.arange(WAVES) / WAVES)
        # Steps as if there were a thousand of them, whatever their number is.
        angles = torch.arange(self.diffusion.steps)[:, None] * (1000 / self.diffusion.steps) * rates
        self.waves = torch.cat([angles.sin(), angles.cos()], 1)

    def forward(self, values: Tensor, levels: Tensor, step: Tensor) -> tuple[Tensor, Tensor]:
        times = self.late(nn.functional.silu(self.early(self.waves)))  # once for every step, not for every row
        held = self.enter(torch.cat([values, self.segments.one_hot(levels)], 1)) + times[step]
        for layer in self.hidden:
            held = layer(held).relu()
        out = self.leave(held)
        return out[:, : self.numbers], out[:, self.numbers :]

    def errors(self, values: Tensor, levels: Tensor, step: Tensor, stream: torch.Generator) -> Tensor:
        """The denoising loss of each row for one draw of noise: mean squared error of the noise plus mean cross-entropy.

        What stands for a missing number counts as well: were it free, a row that is about to have none would wander off to
        where only rows with a number are.
        """
        noise = torch.randn(values.shape, generator=stream)
        found, logits = self(
            self.diffusion.noisy_numbers(values, noise, step),
            self.diffusion.noisy_levels(levels, step, self.segments, stream),
            step,
        )
        missed = (found - noise).square().sum(1) / max(self.numbers, 1)
        logs = self.segments.chosen(self.segments.log_probabilities(logits), levels, IMPOSSIBLE)
        return missed - logs.sum(1) / max(self.segments.count, 1)


def train(parameters: TabDdpm, coding: Coding, coded: Coded, watch: StepWatch, stream: torch.Generator) -> Weights:
    """The running mean of the weights, after training at random steps with a rate that falls to zero."""
    network = Denoiser(parameters, coding, stream)
    values, levels = torch.from_numpy(coded.values), torch.from_numpy(coded.levels)
    mean = RunningMean(network)
    optimiser = Adam(list(network.parameters()), rate=parameters.rate, decay=parameters.l2)
    batches = Batches(len(values), parameters.batch, stream)
    for done in watch:
        batch = batches.next()
        step = torch.randint(parameters.diffusion_steps, (len(batch),), generator=stream)
        optimiser.rate = parameters.rate * (1 - done / watch.planned)
        optimiser.step(network.errors(values[batch], levels[batch], step, stream).mean())
        mean.add()
    mean.settle()
    return weights_of(network)


def trained_network(model: TabDdpmModel) -> Denoiser:
    """The denoiser of a fitted model."""
    network: Denoiser = with_weights(Denoiser(model.parameters, model.coding, None), model.weights)
    return network


@torch.no_grad()
def draw(model: TabDdpmModel, rows: int, stream: torch.Generator) -> Coded:
    """New rows: noise, denoised step by step."""
    network = trained_network(model)
    diffusion, segments = network.diffusion, network.segments
    values = np.empty((rows, network.numbers), dtype=np.float32)
    levels = np.empty((rows, segments.count), dtype=np.int64)
    for part in chunks(rows):
        count = part.stop - part.start
        held, own = torch.randn(count, network.numbers, generator=stream), anything(count, segments, stream)
        for step in reversed(range(diffusion.steps)):
            noise, logits = network(held, own, torch.full((count,), step))
            held = diffusion.numbers_before(held, noise, step, stream)
            own = diffusion.levels_before(own, segments.draw(logits, stream), step, segments, stream)
        values[part], levels[part] = held.numpy(), own.numpy()
    return Coded(values, levels)


@torch.no_grad()
def losses(model: TabDdpmModel, coded: Coded, steps: list[int], draws: int, stream: torch.Generator) -> np.ndarray:
    """The denoising loss of each row at each step, mean over draws of noise."""
    network = trained_network(model)
    found = np.zeros((len(coded), len(steps)))
    for part in chunks(len(coded)):
        values, levels = torch.from_numpy(coded.values[part]), torch.from_numpy(coded.levels[part])
        for place, step in enumerate(steps):
            for _ in range(draws):
                errors = network.errors(values, levels, torch.full((len(values),), step), stream)
                found[part, place] += errors.numpy() / draws
    return found
