"""From lower bounds to severity. The policy that judged stands in every result, so that a report prints its thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from unmask.errors import InputError, ParameterError
from unmask.files import read_toml


class Severity(StrEnum):
    """How bad a finding is; `docs/reference/severity.md` has the thresholds."""

    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


@dataclass(frozen=True)
class Policy:
    """Thresholds on the lower bound of what an attack gains over its control."""

    high: float = 0.10
    medium: float = 0.03
    high_tpr: float = 0.10  # recognised at 1 false alarm in 100

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
                raise ParameterError(
                    f"{field.name} is {value!r}; use a share above 0 and at most 1, such as {field.default}."
                )
        if self.medium > self.high:
            raise ParameterError(f"medium is {self.medium:g} and high {self.high:g}; medium begins at or below high.")

    @classmethod
    def of(cls, value: Policy | Mapping[str, Any] | str | Path | None) -> Policy:
        """The policy that was meant: none given is the usual one, a path is read, a mapping may name some thresholds."""
        if value is None or isinstance(value, Policy):
            return value or cls()
        if isinstance(value, str | Path):
            return read_policy(value)
        if not isinstance(value, Mapping):
            raise ParameterError(f"the policy is {value!r}; give a Policy, the path of a file, or thresholds by name.")
        known = [field.name for field in fields(cls)]
        if unknown := [str(name) for name in value if name not in known]:
            raise ParameterError(f"unknown field {', '.join(unknown)}. Known: {', '.join(known)}.")
        return cls(**value)

    def severity(self, excess: float, *, tpr_at_1_percent: float = 0.0) -> Severity:
        """Severity from lower bounds; both are 0 where nothing was shown."""
        if excess >= self.high or tpr_at_1_percent >= self.high_tpr:
            return Severity.HIGH
        if excess >= self.medium:
            return Severity.MEDIUM
        return Severity.LOW if excess > 0 else Severity.NONE


def read_policy(path: str | Path) -> Policy:
    """A policy from a TOML file, which names the thresholds that differ from the usual ones."""
    path = Path(path)
    plain = read_toml(path, absent="A policy is a text such as: high = 0.1")
    try:
        return Policy.of(plain)
    except ParameterError as problem:
        raise InputError(f"{path}: {problem}") from None
