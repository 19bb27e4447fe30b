"""The result of an audit: the one thing that reports, terminal, exit code and other programs read.

It holds no clock, worker count or path, so equal runs give equal bytes, and no real value: what concerns single
records is kept apart (`records`, written to records.csv, for local eyes only).
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from unmask.errors import RunError
from unmask.results.figures import Figure
from unmask.results.grid import Cell, Grid, Series
from unmask.results.migration import OLDEST, upgraded
from unmask.results.plain import from_plain, to_plain
from unmask.results.policy import Policy, Severity
from unmask.results.state import DOUBT, State, silence_of
from unmask.tables.table import Table
from unmask.tables.units import units
from unmask.versions import version_of

if TYPE_CHECKING:
    import pandas as pd

# 2: facts of a result, exposure of a finding; 3: kinds, sections and roles, the policy that judged;
# 4: columns left out, and why nothing could be concluded
FORMAT = 4


@dataclass(frozen=True)
class Exposure:
    """What a finding means for single records, by number and never by name; `docs/reference/records.md` has the definitions."""

    attacked: int  # records that the attack tried
    hit: int  # records on which it succeeded
    worst: Figure | None = None  # risk of the most exposed record, between 0 and 1
    above: Figure | None = None  # how many records are above what the control tolerates
    undefined: str = ""  # why one of them is missing


@dataclass(frozen=True)
class Finding:
    """Something that was measured and means something to a person."""

    name: str  # the attack or check, as on the command line
    title: str  # one sentence with a natural frequency
    threat: str  # who, knows what, can do what
    criterion: str  # singling out, linking, inferring, membership, reconstruction, dp claim
    severity: Severity
    estimate: Figure
    baseline: Figure | None
    control: Figure | None
    advice: str
    exposure: Exposure | None = None


@dataclass(frozen=True)
class Facts:
    """What reports put in a place of its own. Sentences stand among the notes too."""

    visible: tuple[str, ...] = ()  # how large a leak this audit would have seen
    at_risk: tuple[str, ...] = ()  # how many people are named as at risk
    claims: tuple[str, ...] = ()  # what differential privacy is claimed, and what follows from it
    left_out: tuple[str, ...] = ()  # columns that no attack looked at, why, and what was done instead
    inconclusive: tuple[str, ...] = ()  # why a leak of 10 % of the people could not have been seen; empty: it could

    def __add__(self, other: Facts) -> Facts:
        return Facts(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True)
class NotTested:
    """Something that an audit could have tested, why it did not, and how to enable it."""

    name: str
    reason: str
    remedy: str


@dataclass(frozen=True)
class Input:
    """A table that went in: its role and size, and a digest that tells whether it is the same table."""

    role: str
    rows: int
    units: int
    columns: int
    schema: str
    digest: str


@dataclass(frozen=True)
class InputFile:
    """A file that a table came from. It stands in run.json: the same table in another file gives the same result."""

    role: str
    name: str  # without its folder
    sha256: str  # of the file on disk, as `sha256sum` prints it


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a mechanism, medians. It stands in run.json: equal runs take different times."""

    name: str
    fit: float
    sample: float
    n: int


@dataclass(frozen=True, eq=False)
class Records:
    """Scores of single records by row number. Kept in a local file, never in result.json or the report."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Result:
    """Everything that came out of one audit."""

    audit: str
    seed: int
    plan: Mapping[str, Any]
    inputs: tuple[Input, ...]
    findings: tuple[Finding, ...] = ()
    grids: tuple[Grid, ...] = ()
    series: tuple[Series, ...] = ()
    notes: tuple[str, ...] = ()
    facts: Facts = Facts()
    not_tested: tuple[NotTested, ...] = ()
    failed_tasks: int = 0
    policy: Policy = Policy()  # what made severities of lower bounds
    versions: Mapping[str, str] = field(default_factory=lambda: installed_versions())
    format: int = FORMAT
    records: Records | None = field(default=None, compare=False, metadata={"local": True})
    files: tuple[InputFile, ...] = field(default=(), compare=False, metadata={"local": True})
    costs: tuple[Cost, ...] = field(default=(), compare=False, metadata={"local": True})
    # What a run directory needs to know of the plan: which choices may differ between its runs, and the usual value of those
    # that an older version did not have.
    growing: tuple[str, ...] = field(default=(), compare=False, metadata={"local": True})
    usual: Mapping[str, Any] = field(default_factory=dict, compare=False, metadata={"local": True})

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """The findings that show a leak; what throws doubt on the others is none."""
        return tuple(one for one in self.findings if one.severity is not Severity.NONE and one.name != DOUBT)

    @property
    def severity(self) -> Severity:
        """The worst leak: privacy is a maximum, not a mean."""
        return max((leak.severity for leak in self.leaks), key=lambda s: s.rank, default=Severity.NONE)

    @property
    def state(self) -> State | None:
        """What the audit comes to; None if nobody was to be attacked."""
        return State.LEAK if self.leaks else silence_of(self)

    def __repr__(self) -> str:
        told = (self.severity if self.leaks else self.state) if self.findings else "no findings"
        many = f"{len(self.findings)} finding{'' if len(self.findings) == 1 else 's'}, " if self.findings else ""
        return f"<Result of {self.audit!r}: {told}, {many}seed {self.seed}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, the findings and what to do."""
        from unmask.results.notebook import notebook_html

        return notebook_html(self)

    def to_frame(self) -> pd.DataFrame:
        """The findings as a table: one row each, worst first."""
        import pandas as pd

        rows = [
            {
                "name": finding.name, "criterion": finding.criterion, "severity": str(finding.severity),
                "gain": finding.estimate.value, "low": finding.estimate.low, "high": finding.estimate.high,
                "control": finding.control.value if finding.control else None, "title": finding.title,
            }
            for finding in self.findings
        ]  # fmt: skip
        columns = ["name", "criterion", "severity", "gain", "low", "high", "control", "title"]
        return pd.DataFrame(rows, columns=columns)

    def to_plain(self) -> dict[str, Any]:
        """The result as JSON-ready data, without what is for local eyes only."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_plain(cls, plain: Any, where: str = "result.json") -> Result:
        """Read a result back, also one of an older format; an error names the field that is wrong."""
        if not isinstance(plain, dict) or "format" not in plain:
            raise RunError(f"{where}: this is not a result of unmask.")
        plain = upgraded(plain)
        if plain["format"] != FORMAT:
            raise RunError(
                f"{where}: this result has format {plain['format']}, this version of unmask reads {OLDEST} to {FORMAT}.\n"
                "Read it with the version that wrote it (versions.unmask in the file), or run again with another --out."
            )
        result: Result = from_plain(cls, plain, where)
        return result


def describe_input(role: str, table: Table) -> Input:
    """What a result says about a table that went in."""
    return Input(
        role, len(table), units(table).count, len(table.schema.columns), str(table.schema.origin), table.digest()
    )


def installed_versions() -> dict[str, str]:
    """Versions of everything that can change a number."""
    names = ("unmask", "numpy", "scipy", "pandas", "scikit-learn", "numba")
    return {"python": platform.python_version()} | {name: version_of(name) for name in names}
