"""A step of a workflow: its end is written down, and where GitHub does not answer it is taken again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from bot.errors import GitHubError, TestforgeError
from bot.github.faults import LimitedError, UnreachableError

TAKEN = 6
FIRST_WAIT_S = 5.0
_GROWTH = 2.5


def step(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Take a step of a workflow; where GitHub does not answer it is taken again, six times over five minutes.

    Raises:
        TestforgeError: What the step raised; after a restart, when only its words are known, as the family's base.
    """
    from dbos import DBOS
    from dbos._serialization import PortableWorkflowError

    attempts = itertools.count(1)

    def taken(*given: Any) -> Any:
        try:
            return function(*given)
        except (LimitedError, UnreachableError) as error:
            if next(attempts) < TAKEN:
                raise
            # Given up here, and not by DBOS, which would put a sentence of its own in the place of this one.
            raise GitHubError(error.message, error.detail) from None

    try:
        return DBOS.run_step(
            {
                "name": name,
                "retries_allowed": True,
                "interval_seconds": FIRST_WAIT_S,
                "backoff_rate": _GROWTH,
                "max_attempts": TAKEN,
                "should_retry": lambda error: isinstance(error, (LimitedError, UnreachableError)),
            },
            taken,
            *arguments,
        )
    except PortableWorkflowError as error:
        if error.name in {kind.__name__ for kind in _family(TestforgeError)}:
            raise TestforgeError(error.message) from None
        raise


def _family(kind: type[TestforgeError]) -> Iterator[type[TestforgeError]]:
    """Yield an error's class and all that are derived from it."""
    yield kind
    for derived in kind.__subclasses__():
        yield from _family(derived)
