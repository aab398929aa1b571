"""A step of a workflow: its end is written down, and where GitHub does not answer it is taken again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bot.github.faults import LimitedError, UnreachableError


def step(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Take a step of a workflow; where GitHub does not answer it is taken again, six times over five minutes."""
    from dbos import DBOS

    return DBOS.run_step(
        {
            "name": name,
            "retries_allowed": True,
            "interval_seconds": 5.0,
            "backoff_rate": 2.5,
            "max_attempts": 6,
            "should_retry": lambda error: isinstance(error, (LimitedError, UnreachableError)),
        },
        function,
        *arguments,
    )
