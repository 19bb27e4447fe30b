"""Parameters that the deep generators have in common: their checks, and the number of steps they mean."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from unmask.errors import ParameterError
from unmask.generators._generator import check_positive
from unmask.generators.deep._torch import check_whole


class TrainingParameters(Protocol):
    """The parameters of training."""

    name: ClassVar[str]

    @property
    def steps(self) -> int: ...
    @property
    def epochs(self) -> int | None: ...
    @property
    def batch(self) -> int: ...
    @property
    def rate(self) -> float: ...
    @property
    def l2(self) -> float: ...
    @property
    def time_budget(self) -> float | None: ...


def check_training(parameters: TrainingParameters) -> None:
    """Refuse numbers that have no meaning."""
    what = parameters.name
    check_whole("steps", parameters.steps, what)
    check_whole("batch", parameters.batch, what)
    if parameters.epochs is not None:
        check_whole("epochs", parameters.epochs, what)
    check_positive("rate", parameters.rate, what)
    if isinstance(parameters.l2, bool) or not isinstance(parameters.l2, int | float) or not parameters.l2 >= 0:
        raise ParameterError(f"{what}: l2 is {parameters.l2!r}; it must be a number from 0.")
    if parameters.time_budget is not None:
        check_positive("time_budget", parameters.time_budget, what)


def steps_for(parameters: TrainingParameters, rows: int) -> int:
    """Steps as given, or for each epoch as many as batches fit into the table (at least one)."""
    if parameters.epochs is None:
        return parameters.steps
    return parameters.epochs * max(rows // parameters.batch, 1)


def layers_from(name: str, value: Any, what: str) -> tuple[int, ...]:
    """Widths of layers from (256, 256), from 256 or from the text 256+256, which the command line can say."""
    if isinstance(value, str):
        parts: list[Any] = [int(part) if part.strip().isdecimal() else part for part in value.split("+")]
    else:
        parts = [value] if isinstance(value, int) else list(value)
    for part in parts:
        if isinstance(part, bool) or not isinstance(part, int) or part < 1:
            raise ParameterError(f"{what}: {name} is {value!r}; write widths of layers, such as 256+256.")
    return tuple(parts)
