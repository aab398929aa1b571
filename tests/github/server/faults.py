"""What goes wrong on purpose: the next requests of a kind fail in one of the ways in which GitHub has failed."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "502",  # before anything is done
    "502-after-success",
    "drop",  # the connection closes before anything is done
    "drop-after-success",
    "hang",  # nothing is done, and nothing is answered until the client gives up
    "hang-after-success",
    "truncated",  # the answer's body is cut off
    "html",  # a proxy's page with status 200
    "401",  # every token is void from now on
    "422",
    "secondary",  # a secondary rate limit with retry-after
    "secondary-bare",  # one without
    "429",
    "primary",  # the hourly limit, which lifts at its reset
]


@dataclass
class Fault:
    """Requests of `method` whose path matches `path` fail, `times` times, after the first `skip`."""

    kind: Kind
    method: str = "GET"
    path: str = ".*"
    times: int = 1
    skip: int = 0
    wait_s: int = 7


class Faults:
    """The faults that are still to come."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._coming: list[Fault] = []
        self.struck: list[tuple[str, str, str]] = []

    def add(
        self, kind: Kind, method: str, path: str, *, times: int = 1, skip: int = 0, wait_s: int = 7
    ) -> None:
        """Let requests fail."""
        self._coming.append(Fault(kind, method, path, times, skip, wait_s))

    def clear(self) -> None:
        """Let nothing fail any more."""
        with self._lock:
            self._coming.clear()
            self.struck.clear()

    def take(self, method: str, path: str) -> Fault | None:
        """Return the fault for a request."""
        with self._lock:
            for fault in self._coming:
                if fault.method != method or not re.search(fault.path, path):
                    continue
                if fault.skip:
                    fault.skip -= 1
                    continue
                fault.times -= 1
                if not fault.times:
                    self._coming.remove(fault)
                self.struck.append((fault.kind, method, path))
                return fault
        return None
