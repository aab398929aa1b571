"""A run in a process of its own: clone, pipeline, review. It prints progress and leaves its result in a file.

    python -m bot.jobs.child ASSIGNMENT.json

So the server stays small, a run that goes wrong harms nobody else, and stopping one is stopping a process.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from bot.jobs.assignment import AGAIN, Assignment, Result

if TYPE_CHECKING:
    from bot.domain import Progress

_PARENT_DEATH = 1  # PR_SET_PDEATHSIG


def main() -> None:
    """Carry out the assignment named on the command line; the process ends here."""
    assignment = Assignment.load(Path(sys.argv[1]))
    _end_with(assignment.parent)
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.filterwarnings("ignore", category=SyntaxWarning)
    # What anything prints must not be taken for progress.
    stream = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def tell(progress: Progress) -> None:
        stream.write(
            json.dumps(
                {
                    "stage": progress.stage,
                    "state": progress.state,
                    "target": progress.target,
                    "text": progress.text,
                }
            )
            + "\n"
        )

    try:
        result = _result(assignment, tell)
    except KeyboardInterrupt:
        sys.exit(1)
    if result.is_broken and not assignment.is_last:
        sys.exit(AGAIN)
    result.save(assignment.result)


def _result(assignment: Assignment, tell: object) -> Result:
    """Return what the run found, or why it found nothing."""
    from bot.errors import GitHubError, TestforgeError
    from bot.github.faults import LimitedError, UnreachableError
    from bot.jobs.pulling import review_pull_request

    try:
        return review_pull_request(assignment, tell)  # type: ignore[arg-type]
    except (LimitedError, UnreachableError) as error:
        return Result(failure=error.message, passing=True)
    except GitHubError as error:
        return Result(failure=error.message)
    except TestforgeError as error:
        return Result(failure=error.message)


def _end_with(parent: int) -> None:
    """Let the system kill this process when the worker that started it is gone, however that ended.

    Somebody else may continue the run at once, and two must not work on it.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PARENT_DEATH, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
