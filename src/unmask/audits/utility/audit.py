"""What a release is still good for: a real table, one or more synthetic ones, perhaps a holdout and a column to predict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from unmask.audits.part import Part, together
from unmask.audits.plan import takes
from unmask.audits.release.preflight.files import Preflight, looked_over
from unmask.audits.release.tables import file_name, read_release
from unmask.audits.runner import Runner
from unmask.audits.utility.case import UtilityCase
from unmask.audits.utility.parts import MEASURES, utility_part
from unmask.audits.utility.plan import UtilityPlan
from unmask.errors import ParameterError
from unmask.results.result import Input, Result, describe_input
from unmask.simulation.executors import Progress, no_progress
from unmask.tables.schema import quoted


@takes(UtilityPlan)
def utility(
    real: Any,
    synthetic: Any,
    *,
    holdout: Any = None,
    schema: Any = None,
    time_budget: float | None = None,
    progress: Progress = no_progress,
    **choices: Any,
) -> Result:
    """Measure what a release is still good for. `synthetic` is one table or a list of tables (M sets of one release).

    Marginals, summary statistics, correlations and mutual information, whether rows can be told from real ones, and what models
    learn from them, overall and by group; each with an interval, and beside what a fresh sample of real people would score. It
    attacks nobody and says nothing about privacy. Tables as in `unmask.audit`; with a `holdout` models are tested with people
    whom the generator never saw. `choices` are the fields of `UtilityPlan`: label, repeats, train_rows, columns,
    confidence, seed.
    """
    runner = Runner.of(1, time_budget=time_budget, progress=progress)
    plan = UtilityPlan.of(choices)
    return UtilityAudit.of(plan, real=real, synthetic=synthetic, holdout=holdout, schema=schema).run(runner)


@dataclass(frozen=True, eq=False)
class UtilityAudit:
    """A plan and the tables that it is about."""

    plan: UtilityPlan
    preflight: Preflight

    @classmethod
    def of(
        cls, plan: UtilityPlan, *, real: Any, synthetic: Any, holdout: Any = None, schema: Any = None
    ) -> UtilityAudit:
        """Read the tables, each once, and look them over."""
        release = read_release(real, synthetic, holdout, schema, columns=plan.columns)
        if plan.label is not None and plan.label not in release.schema.names:
            gone = {each.name: each.why for each in release.left_out}
            why = f": {gone[plan.label]}" if plan.label in gone else ""
            raise ParameterError(
                f"--label {plan.label}: this column is not examined{why}. Examined: {quoted(release.schema.names)}."
            )
        return cls(plan, looked_over(release, names=[file_name(each) for each in (real, synthetic, holdout)]))

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(describe_input(role, table) for role, table in self.preflight.release.tables)

    def expected(self) -> Result:
        return self.plan.expected("utility", self.inputs)

    def run(self, runner: Runner) -> Result:
        """Part by part; training models is the longest."""
        release = self.preflight.release
        noticed = Part(notes=(*self.preflight.noticed, *release.notes))
        fits = self.plan.repeats * 3
        total = len(MEASURES) + fits
        case = UtilityCase(
            release, self.plan, lambda done, all_: runner.progress(len(MEASURES) + done * fits // all_, total)
        )
        part = utility_part(case, lambda place: runner.progress(place, total), lambda: runner.is_late)
        runner.progress(total, total)
        return together([noticed, part]).told(self.expected(), None)
