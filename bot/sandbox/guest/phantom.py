"""A test that fails, and a line that never runs: what says otherwise of them is not to be believed (`canary.py`)."""

from __future__ import annotations


def fails(never: bool = False) -> None:
    """Fail, as a test whose assertion does not hold."""
    if never:
        return
    raise AssertionError("this does not hold")


NEVER = fails.__code__.co_firstlineno + 3
"""The line that never runs."""
