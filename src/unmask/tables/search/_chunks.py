"""Queries in chunks, shared by threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from unmask.errors import ParameterError

CHUNK = 512  # queries at a time: an interrupt and the next thread wait no longer than that

Part = TypeVar("Part")


def in_chunks(run: Callable[[int, int], Part], rows: int, workers: int) -> list[Part]:
    """`run` on consecutive ranges of queries, the results in order; threads, since the kernels release the GIL."""
    if workers < 1:
        raise ParameterError(f"workers is {workers}; use 1 or more threads.")
    size = max(1, min(CHUNK, -(-rows // workers)))
    lows = range(0, rows, size)
    highs = [min(low + size, rows) for low in lows]
    if workers == 1 or len(lows) < 2:
        return [run(low, high) for low, high in zip(lows, highs, strict=True)]
    pool = ThreadPoolExecutor(workers)
    try:
        return list(pool.map(run, lows, highs))
    finally:
        pool.shutdown(cancel_futures=True)
