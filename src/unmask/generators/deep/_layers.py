"""Layers and steps whose randomness comes from an explicit stream."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from unmask.generators.deep._coding import Coded
from unmask.generators.deep._segments import Segments

CHUNK = 10_000  # rows that are sampled or scored at once, so that memory stays bounded
LONGEST_MEMORY = 0.998  # of a running mean, per step: a horizon of 500 steps


def linear(inputs: int, outputs: int, stream: torch.Generator | None) -> nn.Linear:
    """A linear layer with uniform weights as wide as one over the root of the inputs; without a stream they come later."""
    layer = nn.utils.skip_init(nn.Linear, inputs, outputs)
    if stream is not None:
        limit = max(inputs, 1) ** -0.5
        with torch.no_grad():
            layer.weight.uniform_(-limit, limit, generator=stream)
            layer.bias.uniform_(-limit, limit, generator=stream)
    return layer


def chunks(rows: int) -> list[slice]:
    """Rows in pieces of at most CHUNK."""
    return [slice(start, min(start + CHUNK, rows)) for start in range(0, rows, CHUNK)]


def matrix_of(coded: Coded, segments: Segments) -> Tensor:
    """The table as one matrix: numbers, then a 1 at the level in each segment."""
    return torch.cat([torch.from_numpy(coded.values), segments.one_hot(torch.from_numpy(coded.levels))], 1)


class Batches:
    """Rows in random order, a batch at a time; a new order when too few are left. A small table is one batch."""

    def __init__(self, rows: int, batch: int, stream: torch.Generator) -> None:
        self.rows, self.batch, self.stream = rows, min(batch, rows), stream
        self.order, self.used = torch.empty(0, dtype=torch.int64), 0

    def next(self) -> Tensor:
        """The rows of the next batch."""
        if self.used + self.batch > len(self.order):
            self.order, self.used = torch.randperm(self.rows, generator=self.stream), 0
        self.used += self.batch
        return self.order[self.used - self.batch : self.used]


class RunningMean:
    """The mean of a network's weights over about the last tenth of the steps: steadier than the weights of the moment."""

    def __init__(self, network: nn.Module) -> None:
        self.live = [each for each in network.state_dict().values() if each.is_floating_point()]  # share their memory
        self.mean = [each.clone() for each in self.live]
        self.steps = 0

    @torch.no_grad()
    def add(self) -> None:
        """After a step: weights of long ago fade."""
        self.steps += 1
        torch._foreach_lerp_(self.mean, self.live, max(10 / (self.steps + 10), 1 - LONGEST_MEMORY))

    @torch.no_grad()
    def settle(self) -> None:
        """Put the mean into the network."""
        torch._foreach_copy_(self.live, self.mean)


class Adam:
    """Adam with weight decay, all parameters in one fused call.

    `torch.optim` does the same, but loads torch's compiler at its first use, which takes longer than many a fit.
    """

    def __init__(
        self,
        parameters: Sequence[Tensor],
        *,
        rate: float,
        betas: tuple[float, float] = (0.9, 0.999),
        decay: float = 0.0,
    ) -> None:
        self.parameters = list(parameters)
        self.rate, self.betas, self.decay = rate, betas, decay
        self.first = [torch.zeros_like(each) for each in self.parameters]
        self.second = [torch.zeros_like(each) for each in self.parameters]
        self.steps = [torch.zeros(()) for _ in self.parameters]

    def step(self, loss: Tensor) -> None:
        """One step down the gradient of `loss`."""
        gradients = torch.autograd.grad(loss, self.parameters)
        with torch.no_grad():
            torch._foreach_add_(self.steps, 1.0)
            torch._fused_adam_(
                self.parameters,
                [gradient.contiguous() for gradient in gradients],
                self.first,
                self.second,
                [],
                self.steps,
                lr=self.rate,
                beta1=self.betas[0],
                beta2=self.betas[1],
                weight_decay=self.decay,
                eps=1e-8,
                amsgrad=False,
                maximize=False,
                grad_scale=None,
                found_inf=None,
            )
