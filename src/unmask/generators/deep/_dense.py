"""A network of dense layers in plain arrays, with the norm of every example's gradient at the price of one pass (ghost norms).

The gradient of one example for a dense layer is the outer product of its slope d and the layer's input a (and d for the
bias), so its squared norm is |d|^2 (|a|^2 + 1) without being formed; over layers these add up. That is exact. Clipping then
multiplies the slopes of each example by its factor before one product of matrices sums them all.

Numpy, not torch: networks this small spend their time on calls, and an audit fits thousands of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

LEAK = 0.2  # slope of a unit below 0


@dataclass(frozen=True)
class Dense:
    """Layers of these widths, leaky units between them. Parameters are one flat array, so that noise and steps are one line."""

    widths: tuple[int, ...]

    @cached_property
    def _shapes(self) -> list[tuple[int, int]]:
        return list(zip(self.widths[:-1], self.widths[1:], strict=True))

    @cached_property
    def size(self) -> int:
        return sum((a + 1) * b for a, b in self._shapes)

    def begin(self, rng: np.random.Generator) -> np.ndarray:
        """Random weights, and biases of 0."""
        parts = []
        for a, b in self._shapes:
            parts += [rng.normal(0, np.sqrt(1 / a), a * b), np.zeros(b)]
        return np.concatenate(parts).astype(np.float32)

    def layers(self, weights: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Views of the matrix and the bias of each layer."""
        found, place = [], 0
        for a, b in self._shapes:
            end = place + a * b
            found.append((weights[place:end].reshape(a, b), weights[end : end + b]))
            place = end + b
        return found

    def forward(self, weights: np.ndarray, inputs: np.ndarray) -> list[np.ndarray]:
        """What enters each layer, and last what comes out."""
        found = [inputs]
        layers = self.layers(weights)
        for place, (matrix, bias) in enumerate(layers):
            out = found[-1] @ matrix
            out += bias
            if place < len(layers) - 1:
                out = np.maximum(out, LEAK * out)
            found.append(out)
        return found

    def slopes(self, weights: np.ndarray, passed: list[np.ndarray], slope: np.ndarray) -> list[np.ndarray]:
        """The slope of each example's loss at the output of each layer, from that at the last output."""
        layers, found = self.layers(weights), [slope]
        for place in range(len(layers) - 1, 0, -1):
            slope = slope @ layers[place][0].T
            slope *= np.where(passed[place] > 0, 1, LEAK).astype(slope.dtype)
            found.append(slope)
        return found[::-1]

    def to_inputs(self, weights: np.ndarray, slopes: list[np.ndarray]) -> np.ndarray:
        """The slope of each example's loss at its own input."""
        return np.asarray(slopes[0] @ self.layers(weights)[0][0].T)

    def norms(self, passed: list[np.ndarray], slopes: list[np.ndarray]) -> np.ndarray:
        """The norm of each example's gradient."""
        return np.sqrt(self.products(passed, slopes, passed, slopes))

    def products(
        self,
        passed: list[np.ndarray],
        slopes: list[np.ndarray],
        other_passed: list[np.ndarray],
        other_slopes: list[np.ndarray],
    ) -> np.ndarray:
        """Inner products of the gradients of two lists of examples, one by one (the second may hold a single one)."""
        total = np.zeros(len(passed[0]))
        for a, d, b, e in zip(passed, slopes, other_passed, other_slopes, strict=False):
            total += _dot(d, e) * (_dot(a, b) + 1)
        return total

    def total(
        self, passed: list[np.ndarray], slopes: list[np.ndarray], factors: np.ndarray | None = None
    ) -> np.ndarray:
        """The sum of the examples' gradients, each times its factor; in 64 bits where there are factors."""
        parts = []
        for a, d in zip(passed, slopes, strict=False):
            scaled = d if factors is None else d * factors[:, None].astype(np.float64)
            parts += [(a.T.astype(scaled.dtype) @ scaled).ravel(), scaled.sum(axis=0)]
        return np.concatenate(parts)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("ij,ij->i", a, np.broadcast_to(b, a.shape), dtype=np.float64))


@dataclass
class AdamSteps:
    """Steps along a smoothed gradient in units of its smoothed size (Kingma and Ba 2015)."""

    rate: float
    first: float = 0.5
    second: float = 0.99
    steps: int = 0
    mean: np.ndarray = field(default_factory=lambda: np.zeros(0))
    square: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def step(self, weights: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """The weights after one step."""
        if not len(self.mean):
            self.mean, self.square = np.zeros_like(gradient), np.zeros_like(gradient)
        self.steps += 1
        self.mean = self.first * self.mean + (1 - self.first) * gradient
        self.square = self.second * self.square + (1 - self.second) * gradient**2
        size = np.sqrt(self.square / (1 - self.second**self.steps)) + 1e-8
        move = self.rate * (self.mean / (1 - self.first**self.steps)) / size
        return np.asarray(weights - move, dtype=weights.dtype)
