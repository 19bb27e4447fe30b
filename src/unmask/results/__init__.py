"""What comes out of an audit, and all that its readers know; one file per notion, such as result, policy, state, verdict.

What a reader needs who only looks on (progress, decision) stands here, and loads no arrays.
"""

from unmask.results.decision import Decision, Publishing, read_decision, write_decision
from unmask.results.progress import RunProgress, RunState, read_progress

__all__ = [
    "Decision",
    "Publishing",
    "RunProgress",
    "RunState",
    "read_decision",
    "read_progress",
    "write_decision",
]
