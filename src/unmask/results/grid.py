"""Tables and lines of charts. Each says what it is and where it stands: readers decide nothing by the text of a header."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unmask.errors import ParameterError

Cell = str | int | float | bool | None


class Section(StrEnum):
    """Where in a report a table or a chart stands."""

    COMPARED = "compared"  # mechanisms side by side
    ATTACKS = "attacks"  # attacks compared
    RISK = "risk"  # who is at risk
    EPSILON = "epsilon"  # epsilon against claim
    SOUND = "sound"  # is this audit sound?
    UTILITY = "utility"  # privacy against utility
    DETAIL = "detail"


class GridKind(StrEnum):
    """What a table is about; the last two decide what may be shared."""

    TABLE = "table"  # numbers and short texts
    HEAT = "heat"  # a matrix: the first column names the lines, all others hold numbers
    ANSWERS = (
        "answers"  # a question and a sentence, the most important first: what a verdict says where there is one for all
    )
    TRADEOFF = "tradeoff"  # a mark per line: two estimates, each with its interval
    TARGETS = "targets"  # a line per mechanism: an estimate with its interval, then one number for each unnamed target
    SWEEP = "sweep"  # a point per line: what, a parameter (BY), and an estimate with its interval
    GROUPS = "groups"  # a line per group of people: small groups are left out before it is shared
    RECORDS = "records"  # a line per person: never shared


class Role(StrEnum):
    """What a column of a table is."""

    TEXT = "text"  # anything to read
    BY = "by"  # by what people were divided, or what was tried
    GROUP = "group"  # the name of a group of people
    PEOPLE = "people"  # how many people a group has
    ESTIMATE = "estimate"  # a number whose interval stands in LOW and HIGH; drawn, 0 is nothing
    AUC = "auc"  # the same, one half is nothing
    LOW = "low"
    HIGH = "high"
    CLAIM = "claim"  # a number to compare the estimate with


@dataclass(frozen=True)
class Grid:
    """A table of numbers and short texts for people to read. It holds no real value.

    `roles` says what the columns are, in their order; left out, all are to be read and nothing is drawn.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    section: Section = Section.DETAIL
    kind: GridKind = GridKind.TABLE
    roles: tuple[Role, ...] = ()
    detail: bool = False  # for the report only; the terminal leaves it out

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ParameterError(
                f"the table '{self.name}' has a row that is not as long as its {len(self.columns)} columns."
            )
        if self.roles and len(self.roles) != len(self.columns):
            raise ParameterError(
                f"the table '{self.name}' has {len(self.columns)} columns and {len(self.roles)} roles; give one for each."
            )

    def places(self, role: Role) -> tuple[int, ...]:
        """The columns that have a role, in their order."""
        return tuple(place for place, each in enumerate(self.roles) if each is role)


class SeriesKind(StrEnum):
    """How a series is drawn."""

    LINE = "line"
    ROC = "roc"  # true against false positive rate, both logarithmic
    ECDF = "ecdf"  # shares up to a value, as steps
    HISTOGRAM = "histogram"  # left edges of bins and heights, of scores
    DISTANCES = "distances"  # the same, of distances
    RISK = "risk"  # quantiles of everybody's risk
    WEALTH = "wealth"  # evidence against a claim over runs
    POWER = "power"  # how often a leak of some size is seen
    SCATTER = "scatter"  # points of two kinds, moved at random
    TRADEOFF = "tradeoff"  # privacy against utility, a mark per release


@dataclass(frozen=True)
class Series:
    """Points of one line or histogram of a chart. Series that share all but the last part of their name share a chart."""

    name: str
    title: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    kind: SeriesKind = SeriesKind.LINE
    section: Section = Section.DETAIL
