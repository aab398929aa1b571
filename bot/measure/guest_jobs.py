"""Jobs for the guest: each given as a JSON file, answered as sealed JSON lines, in a directory of its own below scratch.

The seal's key is made for each job and goes to the guest's clerk alone (`bot/sandbox/guest/clerk.py`).
"""

from __future__ import annotations

import json
import posixpath
import secrets
import shlex
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.errors import SandboxError
from bot.measure import forms
from bot.sandbox import Completed, Sandbox
from bot.sandbox.guest import seal

ANSWER_BYTES = 1024**3
"""Largest answer that is read: coverage by test of a large suite takes its room."""
OUTPUT_LENGTH = 20_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a job gave.

    Attributes:
        rows: The objects it wrote, in order; those written before the time limit, where it was ended for that.
        completed: The command itself.
        forged: Why none of this can be believed; empty if it can.
    """

    rows: tuple[dict[str, Any], ...]
    completed: Completed
    forged: str = ""

    @property
    def output(self) -> str:
        """The end of what it printed, for a person to look at."""
        return (self.completed.stdout + self.completed.stderr)[-OUTPUT_LENGTH:]


def run_job(
    box: Sandbox, script: str, job: Mapping[str, object], *, timeout_s: float, hash_seed: int = 0
) -> Answer:
    """Run one of the guest's scripts on a job, and leave nothing of it behind.

    Args:
        box: Where to run it.
        script: A program of the guest, such as `run`; it says what its job holds and what it writes.
        job: The job; `tree`, `scratch` and `results` are added.
        timeout_s: Wall limit, in seconds.
        hash_seed: PYTHONHASHSEED.
    """
    place = posixpath.join(box.scratch, f"job-{uuid.uuid4().hex}")
    file, results = posixpath.join(place, "job.json"), posixpath.join(place, "results.jsonl")
    whole = {**job, "tree": box.tree, "scratch": place, "results": results, "program": script}
    key = secrets.token_bytes(seal.LENGTH)
    keep = [box.interpreter.command, "-I", "-S", "-B", posixpath.join(box.guest, "keep.py")]
    box.write(file, json.dumps(whole).encode())
    try:
        completed = box.run(
            [*keep, script, file],
            timeout_s=timeout_s,
            env={
                "PYTHONHASHSEED": str(hash_seed),
                "PYTEST_ADDOPTS": shlex.join(box.interpreter.pytest_options),
            },
            stdin=key,
        )
        return _answer(_content(box, results), key, completed)
    finally:
        box.remove(place)


def _content(box: Sandbox, results: str) -> bytes:
    try:
        return box.read(results, limit=ANSWER_BYTES)
    except (FileNotFoundError, SandboxError):  # the second: something else lies there now
        return b""


def _answer(content: bytes, key: bytes, completed: Completed) -> Answer:
    """Open the seals of all lines; the last ones may be missing only where the clerk itself was ended."""
    opener = seal.Seal(key)
    lines = content.splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        lines.pop()
    try:
        rows = [json.loads(opener.opened(line)) for line in lines]
    except seal.BrokenSealError:
        return Answer((), completed, "the results were changed by something else than the test runner")
    except (ValueError, RecursionError):
        rows = [None]
    if not all(map(forms.is_right, rows)):
        return Answer((), completed, "something else than the test runner has written results")
    complete = bool(rows) and rows[-1] == {"event": "end"}
    if completed.exit_code == 0 and not complete:
        return Answer((), completed, "the results were cut short by something else than the test runner")
    rows = rows[:-1] if complete else rows
    forged = [str(row["message"]) for row in rows if row.get("event") == "forged"]
    return Answer(tuple(rows), completed, forged[0] if forged else "")
