"""Contract tests for people who write their own generators and attacks.

    from unmask.testing import check_attack, check_generator
    report = check_generator(MyGenerator(epsilon=1))   # raises ContractError, or says what it checked

A generator or attack may refuse a table that it cannot handle, by an error of unmask that says why. The report
lists the refusals. A generator must accept some table: all columns mixed, or numbers only, or two small categorical columns.
"""

from unmask.testing._contract import Checked, ContractError, Refused
from unmask.testing._tables import CASES, STYLES, plain
from unmask.testing.attacks import SPOILT, check_attack
from unmask.testing.epsilon import ClaimRefutedError, assert_not_refuted
from unmask.testing.generators import check_generator

__all__ = [
    "CASES",
    "SPOILT",
    "STYLES",
    "Checked",
    "ClaimRefutedError",
    "ContractError",
    "Refused",
    "assert_not_refuted",
    "check_attack",
    "check_generator",
    "plain",
]  # fmt: skip
