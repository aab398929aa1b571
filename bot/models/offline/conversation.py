"""The built-in model's replies: a pure function of the conversation, working as an engineer would.

explore -> write and run -> repair -> measure -> explore what is missing -> ... -> finish
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.models import Message, Reply, ToolCall, ToolSchema
from bot.models.offline import explore, reading, remarks, seeding
from bot.models.offline.notebook import Notebook
from bot.models.offline.reading import Assignment, Step

ROUNDS = 4
FEW = 30
"""Less than one killed of so many survivors is too little for another round."""
_REPAIRS = 4
_EXPLORATION_S = 600
_MEASURES = ("coverage_report", "surviving_mutants")

Call = tuple[str, str, Mapping[str, Any]]


def complete(messages: Sequence[Message], tools: Sequence[ToolSchema], *, seed: int = 0) -> Reply:
    """Reply to a conversation; the same conversation always gets the same reply.

    Args:
        messages: Of the seed's or the loop's conversation (the formats of `bot/agent`).
        tools: What may be called; with none, a zero-shot suite is written.
        seed: Varies the inputs that are tried.
    """
    task = reading.assignment(messages)
    if task is None:
        return Reply(
            "There is no file under test in this conversation, so there is nothing to write tests for."
        )
    if not tools:
        return Reply(_zero_shot(task))
    return _Worker(task, reading.steps(messages), reading.tool_names(tools), seed).reply()


def _zero_shot(task: Assignment) -> str:
    content = seeding.suite(task).content
    if not content:
        return f"The source of {task.module} shows no example and no early exit that could be tested without running it."
    return f"Tests of what {task.module} documents:\n\n```python\n{content}```\n"


@dataclass
class _Worker:
    """Decides on the next calls."""

    task: Assignment
    steps: Sequence[Step]
    tools: frozenset[str]
    seed: int

    def reply(self) -> Reply:
        self.book = Notebook.of(self.task, self.steps)
        text, calls = self._next()
        used = [(name, {"reflection": reflection, **arguments}) for name, reflection, arguments in calls]
        first = len(self.steps) + 1
        tool_calls = tuple(
            ToolCall(f"call_{first + place}", name, json.dumps(arguments, ensure_ascii=False))
            for place, (name, arguments) in enumerate(used)
        )
        return Reply(text, tool_calls, "tool_calls" if tool_calls else "stop")

    def _next(self) -> tuple[str, list[Call]]:
        task, book = self.task, self.book
        last = self.steps[-1] if self.steps else None
        if book.problem:
            return self._finish(remarks.unimportable(self.task.module, book.problem))
        if book.refusal is not None:
            return self._finish(remarks.refused(book.refusal))
        if "execute_bash" in self.tools and book.explorations == 0:
            if last is None and task.changed is not None and "surviving_mutants" in self.tools:
                return "", [("surviving_mutants", remarks.SURVIVORS_FIRST, {})]
            return self._finish(remarks.NOTHING_LEFT) if book.nothing_left else self._explore()
        if self._wants_writing():
            return self._write()
        if last is not None and last.name == "write_file" and "run_tests" in self.tools:
            return "", [("run_tests", "The suite is written; its tests have not been run yet.", {})]
        if last is None or last.name in ("run_tests", "write_file"):
            return self._measure()
        if last.name == "execute_bash" and book.explorations <= 1:
            return self._measure()
        return self._go_on()

    def _wants_writing(self) -> bool:
        """Whether the suite would read differently from how it stands, and writing it is worth another turn."""
        if "write_file" not in self.tools or self.book.repairs > _REPAIRS:
            return False
        content = self.book.compose().content
        return bool(content.strip()) and content != self.book.current

    def _explore(self) -> tuple[str, list[Call]]:
        task, book = self.task, self.book
        if book.explorations == 0:
            command = explore.first_command(
                task.source,
                task.module,
                task.path,
                python=task.python,
                seed=self.seed,
                changed_lines=task.changed,
                examples=task.examples,
                covered=task.covered if task.changed is not None else (),
                survivors=book.survivors.all_blocks if book.survivors else None,
                suite=task.suite_path,
            )
        else:
            command = explore.next_command(
                task.source,
                task.module,
                task.path,
                python=task.python,
                seed=self.seed,
                changed_lines=task.changed,
                missing_lines=book.covered.missing_lines if book.covered else frozenset(),
                missing_branches=book.covered.missing_branches if book.covered else (),
                survivors=book.survivors.blocks if book.survivors else (),
                round=book.explorations,
                examples=task.examples,
                suite=task.suite_path,
            )
        reflection = remarks.exploring(book)
        return "", [("execute_bash", reflection, {"command": command, "timeout_s": _EXPLORATION_S})]

    def _write(self) -> tuple[str, list[Call]]:
        content = self.book.compose().content
        arguments = {"path": self.task.suite_path, "content": content}
        calls: list[Call] = [("write_file", remarks.writing(self.book), arguments)]
        if "run_tests" in self.tools:
            calls.append(("run_tests", "The new text stands; this shows whether its tests hold.", {}))
        return "", calls

    def _measure(self) -> tuple[str, list[Call]]:
        calls: list[Call] = []
        if "coverage_report" in self.tools:
            calls.append(("coverage_report", remarks.measuring(self.book), {}))
        if "surviving_mutants" in self.tools:
            reflection = "Coverage says what was run; the survivors say what was run but not checked."
            calls.append(("surviving_mutants", reflection, {}))
        return ("", calls) if calls else self._finish(remarks.finished(self.book))

    def _go_on(self) -> tuple[str, list[Call]]:
        """Explore again while something is missing and the last round gained something; otherwise finish."""
        book = self.book
        missing = book.misses_something
        surviving = bool(book.survivors and book.survivors.survive)
        if (
            "execute_bash" not in self.tools
            or book.explorations >= ROUNDS
            or not (missing or surviving)
            or (book.explorations > 1 and not self._gained())
            or self.steps[-1].name == "execute_bash"
        ):
            return self._finish(remarks.finished(book))
        return self._explore()

    def _gained(self) -> bool:
        measures = self.book.measures
        if len(measures) < 2:
            return True
        before, now = measures[-2], measures[-1]
        killed = now[2] - before[2]
        alive = self.book.survivors.survive if self.book.survivors else 0
        return now[0] > before[0] or now[1] < before[1] or (killed > 0 and killed * FEW >= alive)

    def _finish(self, summary: str) -> tuple[str, list[Call]]:
        if "finish" not in self.tools:
            return summary, []
        return "", [("finish", summary, {"summary": summary})]
