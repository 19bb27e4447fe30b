"""What deep generators share: torch when it is needed, one thread, streams from the numpy rng, weights that pickle, the clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    import torch

EXTRA = "deep"  # the class variable `extra` of each: what `unmask generators` says is needed

Weights = dict[str, np.ndarray]  # parameters and buffers of a network as plain arrays, which pickle
Progress = Callable[[int, int], None]  # called with the steps done and the steps planned


def need_torch(what: str) -> None:
    """Say what to install where torch is missing."""
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as problem:
        if problem.name != "torch":
            raise  # torch is there, and broken
        raise MissingExtraError(f'{what} needs torch. Install it: pip install "unmask[deep]"') from None


_LOCK = threading.Lock()
_usual: list[int] = []  # for each who is at work, how many threads there were: one number is for all


@contextmanager
def quiet_torch(rng: np.random.Generator) -> Iterator[torch.Generator]:
    """A random stream made from `rng`, and one thread as long as this lasts: the same seed gives the same bytes.

    All draws must come from the stream (layers that draw by themselves, such as torch's dropout and its initial weights, do not):
    the caller's global torch state is never touched.
    """
    import torch

    with _LOCK:
        _usual.append(_usual[0] if _usual else torch.get_num_threads())
    torch.set_num_threads(1)
    try:
        yield torch.Generator().manual_seed(int(rng.integers(2**63 - 1)))
    finally:
        with _LOCK:
            threads = _usual.pop()
            if not _usual:  # else another thread of a dask worker is still at it
                torch.set_num_threads(threads)


def weights_of(network: torch.nn.Module) -> Weights:
    """Parameters and buffers by name, copied."""
    return {name: value.detach().numpy().copy() for name, value in network.state_dict().items()}


def with_weights(network: Any, weights: Weights) -> Any:
    """The network with these parameters and buffers, ready to be used and not trained further."""
    import torch

    network.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights.items()})
    return network.eval().requires_grad_(False)


@dataclass
class StepWatch:
    """Counts steps, tells who listens, and says when to stop: all steps done, or the time is up.

    for step in watch: ...    then    watch.done
    """

    planned: int
    seconds: float | None = None  # None = no limit; at least one step is done in any case
    progress: Progress | None = None
    done: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[int]:
        end = None if self.seconds is None else time.monotonic() + self.seconds
        while self.done < self.planned:
            yield self.done
            self.done += 1
            if self.progress is not None:
                self.progress(self.done, self.planned)
            if end is not None and time.monotonic() >= end:
                break

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know: that training ended early."""
        if self.done == self.planned:
            return ()
        return (f"trained for {self.done:,} of {self.planned:,} steps, as long as the time budget lasted.",)


def check_whole(name: str, value: Any, what: str, least: int = 1) -> None:
    """Refuse a parameter that is not a whole number from `least` on."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ParameterError(f"{what}: {name} is {value!r}; it must be a whole number from {least}.")
