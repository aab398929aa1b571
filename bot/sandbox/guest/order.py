"""The order that the events of a test process come in, if nothing but the guest writes them."""

from __future__ import annotations

import json
from typing import Any

from .phantom import NEVER

_KINDS = frozenset(
    [
        *("file", "collecting", "collected", "begin", "test", "cover"),
        *("uses", "twin", "canary", "over", "problem"),
    ]
)


class Order:
    """What one test process has said so far.

    Attributes:
        phase: `start`, `collecting`, `collected`, `running`, `over`.
        busy: What it does now: a test's node id, or a path that is imported; "" between.
        twin: The test whose twin runs now; "" if none does.
        last: The test that has ended last.
        ids: The collected tests; None before.
        problem: Why pytest failed, as it said itself.
    """

    def __init__(self, phantom: str) -> None:
        self._phantom = phantom
        self._statements: dict[str, frozenset[int]] = {}
        self.phase = "start"
        self.busy = self.twin = self.last = self.problem = ""
        self.ids: frozenset[str] | None = None

    @property
    def doing(self) -> str:
        """What must not take too long."""
        return self.busy or self.twin

    def take(self, line: bytes) -> tuple[dict[str, Any], bool]:
        """Take in an event.

        Args:
            line: The event, as JSON.

        Returns:
            The event, and whether it belongs to the results.

        Raises:
            ValueError: The guest would not have written it, at least not now; the text says why.
        """
        try:
            event = json.loads(line)
            kind = event["event"]
            if kind not in _KINDS:
                raise ValueError
            said = getattr(self, f"_{kind}")(event)
            kept = (
                not self.twin
                and kind not in ("twin", "canary", "over")
                and event.get("path") != self._phantom
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            said = "something else than the test runner has written results"
        if said:
            raise ValueError(said)
        return event, kept

    def _file(self, event: dict[str, Any]) -> str:
        if self.phase != "start":
            return "what can be covered was changed after tests had been imported"
        self._statements[event["path"]] = frozenset(event["statements"])
        return ""

    def _collecting(self, event: dict[str, Any]) -> str:
        self.phase = "collecting"
        self.busy = event["path"] if event["path"].endswith(".py") else ""
        return "" if self.ids is None else "tests were collected twice"

    def _collected(self, event: dict[str, Any]) -> str:
        if self.ids is not None:
            return "tests were collected twice"
        self.phase, self.busy = "collected", ""
        self.ids = frozenset(event["ids"])
        return ""

    def _begin(self, event: dict[str, Any]) -> str:
        if self.busy or self.phase == "over" or event["id"] not in (self.ids or ()):
            return f"{event['id']} is said to have begun, which cannot be now"
        self.phase, self.busy = "running", event["id"]
        return ""

    def _test(self, event: dict[str, Any]) -> str:
        if not self.busy or event["id"] != self.busy or self.phase != "running":
            return f"a result of {event['id']} was written while that test was not running"
        self.busy, self.last = "", event["id"]
        return ""

    def _cover(self, event: dict[str, Any]) -> str:
        context, lines = event["context"], event["lines"]
        if not self._statements[event["path"]].issuperset(lines):
            return f"lines of {event['path']} are said to be covered that do not exist"
        if event["path"] == self._phantom and NEVER in lines:
            return "a line that never runs is said to be covered"
        now = {"": self.phase == "collected", f"test {self.busy or self.twin}": self.phase == "running"}
        if not context.startswith("fixture ") and not now.get(context):
            return "coverage was written of something that was not running"
        return ""

    def _uses(self, event: dict[str, Any]) -> str:
        return (
            ""
            if event["id"] in (self.busy, self.twin)
            else "fixtures were named of a test that was not running"
        )

    def _twin(self, event: dict[str, Any]) -> str:
        self.twin = event["id"]
        return "" if not self.busy and self.phase == "running" else "a test ran inside another one"

    def _canary(self, event: dict[str, Any]) -> str:
        self.twin = ""
        if event["outcome"] == "passed":
            return f"a test that must fail passed in the place of {event['id']}: something makes tests pass"
        return ""

    def _over(self, _: dict[str, Any]) -> str:
        self.phase = "over"
        return ""

    def _problem(self, event: dict[str, Any]) -> str:
        self.problem = event["message"]
        return ""
