"""Memory that was freed, back to the machine.

The C library and Arrow keep what they once had for whoever asks next. After a large table was read that is a third of a gigabyte
in pieces of some megabytes, into which the arrays of an audit do not fit.
"""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """Return what is free; what the C library cannot return stays."""
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
