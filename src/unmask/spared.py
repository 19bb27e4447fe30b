"""Modules that libraries load and nobody here uses: they come when somebody does."""

from __future__ import annotations

import sys
from importlib.util import LazyLoader, find_spec, module_from_spec


def spare(package: str, name: str) -> None:
    """Have `package.name` loaded when something in it is asked for first, and not when the package is listed.

    numpy.f2py, a compiler of Fortran with hundreds of patterns, is loaded by whoever imports all of numpy; scipy.special does.
    """
    whole = f"{package}.{name}"
    spec = None if whole in sys.modules else find_spec(whole)
    if spec is None or spec.loader is None:
        return
    loader = spec.loader = LazyLoader(spec.loader)
    module = module_from_spec(spec)
    sys.modules[whole] = module
    loader.exec_module(module)
    setattr(sys.modules[package], name, module)
