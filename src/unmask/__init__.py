"""unmask: what a synthetic table gives away about the people in the real one.

The public names are loaded when first used, so that `import unmask` and `unmask --help` stay quick.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unmask import attacks, datasets, errors, generators, metrics, stats, testing
    from unmask.audits.attack.audit import attack
    from unmask.audits.compare.audit import compare
    from unmask.audits.describe import describe
    from unmask.audits.epsilon.audit import audit_epsilon
    from unmask.audits.everyone.audit import everyone
    from unmask.audits.reconstruct.audit import reconstruct
    from unmask.audits.release.audit import audit
    from unmask.audits.release.check import check
    from unmask.audits.reverse_map import reverse_map
    from unmask.audits.utility.audit import utility
    from unmask.errors import UnmaskError
    from unmask.generators.claim import Claim, Neighbours
    from unmask.reports.html import write_report
    from unmask.results.directory import load, write
    from unmask.results.policy import Severity
    from unmask.results.result import Finding, Result
    from unmask.tables.read import read_schema, read_table, write_csv, write_schema
    from unmask.tables.schema import Column, Kind, Schema
    from unmask.tables.table import Table

    __version__: str

_PLACES = {
    "Claim": "unmask.generators.claim",
    "Column": "unmask.tables.schema",
    "Finding": "unmask.results.result",
    "Kind": "unmask.tables.schema",
    "Neighbours": "unmask.generators.claim",
    "Result": "unmask.results.result",
    "Schema": "unmask.tables.schema",
    "Severity": "unmask.results.policy",
    "Table": "unmask.tables.table",
    "UnmaskError": "unmask.errors",
    "attack": "unmask.audits.attack.audit",
    "audit": "unmask.audits.release.audit",
    "audit_epsilon": "unmask.audits.epsilon.audit",
    "check": "unmask.audits.release.check",
    "compare": "unmask.audits.compare.audit",
    "describe": "unmask.audits.describe",
    "everyone": "unmask.audits.everyone.audit",
    "load": "unmask.results.directory",
    "reconstruct": "unmask.audits.reconstruct.audit",
    "read_schema": "unmask.tables.read",
    "read_table": "unmask.tables.read",
    "reverse_map": "unmask.audits.reverse_map",
    "utility": "unmask.audits.utility.audit",
    "write": "unmask.results.directory",
    "write_csv": "unmask.tables.read",
    "write_report": "unmask.reports.html",
    "write_schema": "unmask.tables.read",
}
_PACKAGES = ("attacks", "datasets", "errors", "generators", "metrics", "stats", "testing")

__all__ = [  # noqa: RUF022 - by subject
    "read_table", "read_schema", "write_csv", "write_schema", "Table", "Schema", "Column", "Kind",
    "datasets", "generators", "Claim", "Neighbours",
    "describe", "check", "attack", "audit", "everyone", "audit_epsilon", "reconstruct", "reverse_map", "utility", "compare",
    "Result", "Finding", "Severity", "write", "load", "write_report",
    "attacks", "metrics", "stats", "testing",
    "errors", "UnmaskError", "__version__",
]  # fmt: skip


class _Unmask(ModuleType):
    """This package. Importing anything of unmask/utility/ binds that name here; `unmask.utility` must stay the function."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _PLACES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Unmask


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(_PLACES[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(f"unmask.{name}")
    if name == "__version__":
        from unmask.versions import version_of

        return version_of("unmask")
    raise AttributeError(f"module 'unmask' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
