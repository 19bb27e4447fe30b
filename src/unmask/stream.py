"""Random streams by words: each step has its own, so that one more step changes no other."""

from __future__ import annotations

import hashlib

import numpy as np


def stream(seed: int, *words: str) -> np.random.Generator:
    """The random stream of a task: it depends on the seed and the task alone, so more tasks change no other."""
    digest = hashlib.sha256("\x1f".join(words).encode()).digest()
    return np.random.default_rng(np.random.SeedSequence([seed, int.from_bytes(digest[:16], "little")]))
