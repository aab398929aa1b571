"""Jobs for the guest: each given as a JSON file, answered as JSON lines, in a directory of its own below scratch."""

from __future__ import annotations

import json
import posixpath
import shlex
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.sandbox import Completed, Sandbox

ANSWER_BYTES = 1024**3
"""Largest answer that is read: coverage by test of a large suite takes its room."""
OUTPUT_LENGTH = 20_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What a job gave.

    Attributes:
        rows: The objects it wrote, in order; those written before the time limit, where it was ended for that.
        completed: The command itself.
    """

    rows: tuple[dict[str, Any], ...]
    completed: Completed

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
        script: A file of the guest, such as `run.py`; it says what its job holds and what it writes.
        job: The job; `tree`, `scratch` and `results` are added.
        timeout_s: Wall limit, in seconds.
        hash_seed: PYTHONHASHSEED.
    """
    place = posixpath.join(box.scratch, f"job-{uuid.uuid4().hex}")
    file, results = posixpath.join(place, "job.json"), posixpath.join(place, "results.jsonl")
    whole = {**job, "tree": box.tree, "scratch": place, "results": results}
    box.write(file, json.dumps(whole).encode())
    try:
        completed = box.run(
            [box.interpreter.command, posixpath.join(box.guest, script), file],
            timeout_s=timeout_s,
            env={
                "PYTHONHASHSEED": str(hash_seed),
                "PYTEST_ADDOPTS": shlex.join(box.interpreter.pytest_options),
            },
        )
        return Answer(_rows(box, results), completed)
    finally:
        box.remove(place)


def _rows(box: Sandbox, results: str) -> tuple[dict[str, Any], ...]:
    try:
        content = box.read(results, limit=ANSWER_BYTES)
    except FileNotFoundError:
        return ()
    # The last line may be cut where the sandbox was ended.
    lines = content.splitlines() if content.endswith(b"\n") else content.splitlines()[:-1]
    return tuple(json.loads(line) for line in lines)
