"""The plan of the audit of everyone: every choice that changes a number, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from unmask.attacks.everyone.features import FeaturePlan
from unmask.errors import ParameterError
from unmask.simulation.coin import FEWEST_RUNS
from unmask.threats.coins import Coins
from unmask.threats.knowledge import Box

AUTO = "auto"  # coins as the generator's claim asks for
SCORERS = ("ratio", "boosted")
# What may change between runs of one directory: none of these changes a draw.
GROWING = (
    "runs", "scorer", "rate", "confidence", "groups", "secrets", "redraw_secrets", "confirm", "confirm_runs",
)  # fmt: skip


@dataclass(frozen=True)
class EveryonePlan:
    """What `unmask everyone` does."""

    generator: str
    settings: tuple[str, ...] = ()  # parameters of the generator, such as epsilon=1
    runs: int = 128
    synthetic_rows: int | None = None  # None = half the rows, as many as a run is fitted to
    coins: str = AUTO
    access: str = "black-box"
    distances: bool = True
    prediction_errors: bool = False
    scorer: str = "ratio"
    subsample: int | None = None  # units to play with; None = all
    rate: float = 0.1  # expected share of false names on the list of people
    confidence: float = 0.95
    groups: tuple[str, ...] = ()  # columns by which risk is told; () = the schema's keys, else all categories
    secrets: tuple[str, ...] = ()  # attribute form: columns to be guessed
    redraw_secrets: bool = False  # a second pool in which everybody's secrets are drawn anew
    confirm: int = 0  # play the exact game at full size for this many of the most exposed
    confirm_runs: int = 400  # at most, for each of them
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("settings", "groups", "secrets"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        for name, least in (("runs", FEWEST_RUNS), ("confirm", 0), ("confirm_runs", 20), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ParameterError(f"{_option(name)} is {value!r}; use a whole number from {least}.")
        for name in ("synthetic_rows", "subsample"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ParameterError(f"{_option(name)} is {value!r}; use a whole number from 1.")
        for name in ("rate", "confidence"):
            if not 0 < getattr(self, name) < 1:
                raise ParameterError(f"{_option(name)} is {getattr(self, name)}; use a share between 0 and 1.")
        if self.scorer not in SCORERS:
            raise ParameterError(f"--scorer is '{self.scorer}'; use one of {', '.join(SCORERS)}.")
        if self.access not in (Box.BLACK, Box.WHITE):
            raise ParameterError(f"--access is '{self.access}'; use {Box.BLACK} or {Box.WHITE}.")
        if self.coins not in (AUTO, *Coins):
            raise ParameterError(f"--coins is '{self.coins}'; use one of {', '.join((AUTO, *Coins))}.")
        if self.redraw_secrets and not self.secrets:
            raise ParameterError("Redrawing secrets needs a secret: name a column with --secret.")

    @property
    def features(self) -> FeaturePlan:
        return FeaturePlan(
            distances=self.distances, white_box=self.access == Box.WHITE, prediction_errors=self.prediction_errors
        )

    def to_plain(self) -> dict[str, Any]:
        """The plan as it stands in result.json; the seed has a place of its own there."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items() if name != "seed"}


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
