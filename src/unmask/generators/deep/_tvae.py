"""Networks and training of `tvae` (Xu et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from unmask.generators.deep._coding import Coded, Coding
from unmask.generators.deep._layers import Adam, Batches, chunks, linear, matrix_of
from unmask.generators.deep._segments import Segments
from unmask.generators.deep._torch import StepWatch, Weights, weights_of, with_weights

if TYPE_CHECKING:
    from unmask.generators.deep.tvae import Tvae, TvaeModel

NARROWEST = 0.01  # standard deviation of a number around what the decoder says
WIDEST = 1.0
IMPOSSIBLE = -13.8  # log probability of a category that no training row has: one in a million


def stack(inputs: int, layers: Sequence[int], outputs: int, stream: torch.Generator | None) -> nn.Sequential:
    """Linear layers with rectified units between them."""
    parts: list[nn.Module] = []
    for width in layers:
        parts += [linear(inputs, width, stream), nn.ReLU()]
        inputs = width
    return nn.Sequential(*parts, linear(inputs, outputs, stream))


class Autoencoder(nn.Module):
    """A row to the mean and spread of its hidden numbers, and hidden numbers back to a row."""

    def __init__(self, parameters: Tvae, coding: Coding, stream: torch.Generator | None) -> None:
        super().__init__()
        self.numbers, self.segments = len(coding.numeric), Segments(coding.sizes)
        width, self.embedding = self.numbers + self.segments.width, parameters.embedding
        self.encoder = stack(width, parameters.encoder_layers, 2 * self.embedding, stream)
        self.decoder = stack(self.embedding, parameters.decoder_layers, width, stream)
        self.log_sd = nn.Parameter(torch.full((self.numbers,), 0.1).log())

    def sd(self) -> Tensor:
        """How far a number lies from what the decoder says."""
        return self.log_sd.exp().clamp(NARROWEST, WIDEST)

    def errors(self, rows: Tensor, levels: Tensor, stream: torch.Generator) -> tuple[Tensor, Tensor]:
        """For each row: minus the log likelihood given one draw of the hidden numbers, and what those tell about the row."""
        mean, log_sd = self.encoder(rows).chunk(2, 1)
        hidden = mean + log_sd.exp() * torch.randn(mean.shape, generator=stream)
        raw = self.decoder(hidden)
        sd = self.sd()
        away = (rows[:, : self.numbers] - raw[:, : self.numbers].tanh()) / sd
        logs = self.segments.log_probabilities(raw[:, self.numbers :])
        missed = (away.square() / 2 + sd.log()).sum(1) - self.segments.chosen(logs, levels, IMPOSSIBLE).sum(1)
        told = (mean.square() + (2 * log_sd).exp() - 1).sum(1) / 2 - log_sd.sum(1)
        return missed, told


def train(parameters: Tvae, coding: Coding, coded: Coded, watch: StepWatch, stream: torch.Generator) -> Weights:
    """The weights after training on shuffled batches."""
    network = Autoencoder(parameters, coding, stream)
    real, levels = matrix_of(coded, network.segments), torch.from_numpy(coded.levels)
    optimiser = Adam(list(network.parameters()), rate=parameters.rate, decay=parameters.l2)
    batches = Batches(len(real), parameters.batch, stream)
    for _ in watch:
        batch = batches.next()
        missed, told = network.errors(real[batch], levels[batch], stream)
        optimiser.step((parameters.loss_factor * missed + told).mean())
    return weights_of(network)


@torch.no_grad()
def draw(model: TvaeModel, rows: int, stream: torch.Generator) -> Coded:
    """New rows from hidden numbers that nobody has."""
    network = with_weights(Autoencoder(model.parameters, model.coding, None), model.weights)
    values = np.empty((rows, network.numbers), dtype=np.float32)
    levels = np.empty((rows, network.segments.count), dtype=np.int64)
    for part in chunks(rows):
        raw = network.decoder(torch.randn(part.stop - part.start, network.embedding, generator=stream))
        middle = raw[:, : network.numbers].tanh()
        drawn = middle + network.sd() * torch.randn(middle.shape, generator=stream)
        values[part] = drawn.clamp(-1, 1).numpy()
        levels[part] = network.segments.draw(raw[:, network.numbers :], stream).numpy()
    return Coded(values, levels)


@torch.no_grad()
def bounds(model: TvaeModel, coded: Coded, draws: int, stream: torch.Generator) -> np.ndarray:
    """Minus the evidence lower bound of each row, mean over draws of the hidden numbers."""
    network = with_weights(Autoencoder(model.parameters, model.coding, None), model.weights)
    found = np.zeros(len(coded))
    for part in chunks(len(coded)):
        own = Coded(coded.values[part], coded.levels[part])
        rows, levels = matrix_of(own, network.segments), torch.from_numpy(own.levels)
        for _ in range(draws):
            missed, told = network.errors(rows, levels, stream)
            found[part] += (missed + told).numpy()
    return found / draws
