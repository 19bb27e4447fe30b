"""Reconstruction from a release alone: records completed from known columns, and secrets solved for from its counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from unmask.audits.part import Part, together
from unmask.audits.plan import takes
from unmask.audits.reconstruct.release_linear import LINEAR, UNPLANTED, linear_part
from unmask.audits.reconstruct.release_plan import ReleaseReconstructionPlan
from unmask.audits.release.audit import LATE, less_explained, records_of
from unmask.audits.release.case import Case, Family
from unmask.audits.release.completion import completed, in_a_sentence
from unmask.audits.release.plan import ReleasePlan
from unmask.audits.release.preflight.files import Preflight, looked_over
from unmask.audits.release.soundness import doubts_about
from unmask.audits.release.tables import Release, file_name, read_release
from unmask.audits.runner import Runner
from unmask.errors import ParameterError
from unmask.results.policy import Severity
from unmask.results.result import Facts, Finding, Input, NotTested, Result, describe_input
from unmask.results.state import LEAK, NO_HOLDOUT
from unmask.simulation.executors import Progress, no_progress
from unmask.tables.schema import quoted

COMPLETING = Family("record completion", 0.5, lambda release: 2)
UNSEEN = "Records of 10 in 100 real people that stand in the release would not have been seen for certain."


@takes(ReleaseReconstructionPlan)
def reconstruct_release(
    real: Any,
    synthetic: Any,
    *,
    holdout: Any = None,
    schema: Any = None,
    time_budget: float | None = None,
    progress: Progress = no_progress,
    **choices: Any,
) -> Result:
    """Rebuild what a release gives away of real people. `synthetic` is one table or a list of tables (M sets of one release).

    Records are completed from the known columns, and each secret is solved for as unknowns in the counts of the release, each
    beside the same attack on holdout people. Tables as in `unmask.audit`. `choices` are the fields of
    `ReleaseReconstructionPlan`: secrets, known, order, columns, confidence, policy, seed.
    """
    runner = Runner.of(1, time_budget=time_budget, progress=progress)
    plan = ReleaseReconstructionPlan.of(choices)
    return ReleaseReconstruction.of(plan, real=real, synthetic=synthetic, holdout=holdout, schema=schema).run(runner)


@dataclass(frozen=True, eq=False)
class ReleaseReconstruction:
    """A plan and the tables that it is about."""

    plan: ReleaseReconstructionPlan
    preflight: Preflight

    @classmethod
    def of(
        cls, plan: ReleaseReconstructionPlan, *, real: Any, synthetic: Any, holdout: Any = None, schema: Any = None
    ) -> ReleaseReconstruction:
        """Read the tables, each once, and look them over."""
        if both := [name for name in plan.secrets if name in plan.known]:
            raise ParameterError(
                f"{quoted(both)} is known and secret at once. What is known is not secret: remove one."
            )
        release = read_release(
            real, synthetic, holdout, schema, secrets=plan.secrets, keys=plan.known, columns=plan.columns
        )
        return cls(plan, looked_over(release, names=[file_name(each) for each in (real, synthetic, holdout)]))

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(describe_input(role, table) for role, table in self.preflight.release.tables)

    def expected(self) -> Result:
        return self.plan.expected("reconstruct", self.inputs)

    def run(self, runner: Runner) -> Result:
        """Completion first, then each secret; at last whether real table and holdout can be compared at all."""
        plan, release = self.plan, self.preflight.release
        case = Case(
            release, ReleasePlan(confidence=plan.confidence, seed=plan.seed, policy=plan.policy), (COMPLETING, LINEAR)
        )
        steps: list[tuple[str, Callable[[], Part]]] = [("record completion", partial(_completing, case, plan.known))]
        for secret in release.schema.secrets:
            name = f"linear reconstruction of {secret}"
            steps.append((name, partial(linear_part, case, secret, plan.known, plan.order)))
        parts, total = [Part(notes=(*self.preflight.noticed, *release.notes))], len(steps) + 1
        for place, (name, step) in enumerate(steps):
            runner.progress(place, total)
            parts.append(Part(not_tested=(NotTested(name, *LATE),)) if runner.is_late else step())
        runner.progress(total - 1, total)
        whole = together([*parts, *_unnamed(release)])
        if any(one.name.startswith(LINEAR.name) for one in whole.findings):
            whole += Part(notes=(UNPLANTED,), facts=Facts(visible=(UNPLANTED,)))
        whole = _beside_the_holdout(case, whole) if release.holdout is not None else whole + _NO_HOLDOUT
        runner.progress(total, total)
        return whole.told(self.expected(), records_of(release, whole))


_NO_HOLDOUT = Part(facts=Facts(inconclusive=(NO_HOLDOUT,)))


def _completing(case: Case, known: tuple[str, ...]) -> Part:
    part, planted = completed(case, COMPLETING, known)
    if planted is None:
        return part
    visible = in_a_sentence(planted)
    unseen = () if planted.sees(LEAK) else (UNSEEN,)
    return part + Part(facts=Facts(visible=(visible,), inconclusive=unseen))


def _unnamed(release: Release) -> tuple[Part, ...]:
    if release.schema.secrets:
        return ()
    remedy = "Name the columns to solve for with --secret, or mark secrets in the schema."
    return (Part(not_tested=(NotTested("linear reconstruction", "no secret is named", remedy),)),)


def _beside_the_holdout(case: Case, whole: Part) -> Part:
    """Less what real table and holdout differ by without the release; where that is not known, nothing is more than low."""
    explained: float | None = None
    doubts: tuple[Finding, ...] = ()
    if case.crowd is not None:
        _, explained, doubts = doubts_about(case.crowd, case.plan.seed)
    findings = tuple(less_explained(one, explained, case.plan.policy, Severity.NONE) for one in whole.findings)
    return replace(whole, findings=(*findings, *doubts))
