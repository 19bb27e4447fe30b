"""The plan of a look at utility."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unmask.audits.plan import option
from unmask.audits.release.plan import CheckPlan


@dataclass(frozen=True, kw_only=True)
class UtilityPlan(CheckPlan):
    """What `unmask utility` does."""

    without: ClassVar[tuple[str, ...]] = ("policy",)

    label: str | None = option(
        None, help="Column to predict, after training on synthetic rows.", shown="the first secret of the schema"
    )
    repeats: int = option(10, help="How often models are trained and tested.", least=2, most=1000)
    train_rows: int = option(5000, help="Rows to train on, at most.", least=20)
