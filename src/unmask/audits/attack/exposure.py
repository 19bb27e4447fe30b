"""What an attack on a generator means for single targets: the most exposed one, and how many are above tolerance."""

from __future__ import annotations

from collections.abc import Sequence

from unmask.results.figures import Figure
from unmask.results.result import Exposure
from unmask.stats import Estimate


def exposure_of(advantages: Sequence[Estimate]) -> Exposure | None:
    """From the advantage over each target, with intervals that hold for all targets together.

    The worst is the target with the highest lower bound; as the largest of several its value is rather too high. A target is
    above tolerance if its whole interval is above 0, so their number is a lower bound too.
    """
    if not advantages:
        return None
    worst = max(advantages, key=lambda found: found.low)
    above, size = sum(found.low > 0 for found in advantages), len(advantages)
    value, low, high = (max(0.0, float(at)) for at in (worst.value, worst.low, worst.high))
    return Exposure(
        size,
        above,
        Figure(value, low, high, worst.confidence, f"advantage, largest of {size}", worst.n),
        Figure(above, above, size, worst.confidence, "targets whose interval is above 0", size),
    )
