"""The pre-flight alone: are the files what they should be, which columns can be compared, which identify people?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unmask.audits.part import Part
from unmask.audits.plan import takes
from unmask.audits.release.case import Case
from unmask.audits.release.plan import CheckPlan, ReleasePlan
from unmask.audits.release.preflight.files import Preflight, looked_over
from unmask.audits.release.preflight.identifiers import IDENTIFIERS, identifiers_part
from unmask.audits.release.tables import Release, file_name, read_release
from unmask.audits.runner import Runner
from unmask.results.grid import Cell, Grid
from unmask.results.result import Input, Result, describe_input


@takes(CheckPlan)
def check(real: Any, synthetic: Any, *, holdout: Any = None, schema: Any = None, **choices: Any) -> Result:
    """Look over the tables of a release without attacking anybody: what `unmask audit` does first, in seconds.

    Tables as in `unmask.audit`. The notes of the result say what was noticed; columns that identify people are looked through
    for real people's own texts, which is a finding. `choices` are the fields of `CheckPlan`: columns, confidence, policy, seed.
    """
    plan = CheckPlan.of(choices)
    return ReleaseCheck.of(plan, real=real, synthetic=synthetic, holdout=holdout, schema=schema).run(Runner.of(1))


@dataclass(frozen=True, eq=False)
class ReleaseCheck:
    """A plan and the tables that were looked over."""

    plan: CheckPlan
    preflight: Preflight

    @classmethod
    def of(cls, plan: CheckPlan, *, real: Any, synthetic: Any, holdout: Any = None, schema: Any = None) -> ReleaseCheck:
        """Read the tables and look them over."""
        release = read_release(real, synthetic, holdout, schema, columns=plan.columns)
        return cls(plan, looked_over(release, names=[file_name(each) for each in (real, synthetic, holdout)]))

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(describe_input(role, table) for role, table in self.preflight.release.tables)

    def expected(self) -> Result:
        return self.plan.expected("check", self.inputs)

    def run(self, runner: Runner) -> Result:
        """Say what was noticed, and look for real people's texts where no attack looks."""
        release, plan = self.preflight.release, self.plan
        judged = ReleasePlan(confidence=plan.confidence, seed=plan.seed, policy=plan.policy)
        found = identifiers_part(Case(release, judged, (IDENTIFIERS,)))
        seen = self.preflight.noticed or (
            "Nothing was noticed about the files. Attack the release with `unmask audit`.",
        )
        noticed = Part(grids=(_columns(release),), notes=(*seen, *release.notes))
        return (noticed + found).told(self.expected(), None)


def _columns(release: Release) -> Grid:
    """Every column that would be attacked, and how it stands in each table."""
    heads = ("column", "kind", *(f"missing, {role}" for role, _ in release.tables), "outside the schema, release")
    rows: list[tuple[Cell, ...]] = []
    for position, column in enumerate(release.schema.columns):
        codes = release.synthetic.codes[:, position]
        gaps = (
            _percent(table.codes[:, position] == column.missing_code, column.missing) for _, table in release.tables
        )
        rows.append((column.name, str(column.kind), *gaps, _percent(codes == column.unlisted_code, True)))
    return Grid("columns", "Columns that are examined", heads, tuple(rows))


def _percent(which: np.ndarray, allowed: object) -> str:
    return f"{100 * float(which.mean()):.3g} %" if allowed else "0 %"
