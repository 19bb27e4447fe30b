"""What a command costs before it does any work: which libraries are loaded, and how many threads they may use."""

import subprocess
import sys

import pytest

SLOW = ("sklearn", "scipy.stats", "scipy.optimize", "torch", "matplotlib", "rich", "jinja2", "distributed", "starlette")


@pytest.mark.parametrize(
    "module", ["unmask.audits.release.audit", "unmask.cli.audit", "unmask.metrics", "unmask.stats", "unmask.generators"]
)
def test_importing_loads_nothing_that_only_a_part_needs(module):
    code = f"import sys, {module}; print(*(name for name in {SLOW} if name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert found.stdout.split() == []
