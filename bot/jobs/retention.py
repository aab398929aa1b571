"""What is kept for how long: ended runs and what the queues know of them go after a while, so that the database stays small."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime

import structlog

from bot.jobs import dialogue
from bot.jobs.office import Office
from bot.store import Store

DAY_S = 24 * 3600.0
MEMORY_TIMES = 6
"""What a pull request's tests were is kept so many times longer: pull requests live longer than their runs matter."""
_AT_ONCE = 200
_ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]


class Retention:
    """A thread that tidies up once a day, and closes questions that nobody answers."""

    def __init__(self, office: Office, keep_days: float) -> None:
        self._office = office
        self._store = office.store
        self._keep_s = keep_days * DAY_S
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="testforge-retention", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        self._thread.join(timeout=30)

    def _repeat(self) -> None:
        log = structlog.get_logger("testforge.retention")
        while True:
            try:
                silent = dialogue.close_silent(self._office, time.time())
                if silent:
                    log.info("questions that nobody answered are closed", questions=silent)
                gone = tidy(self._store, time.time(), self._keep_s)
                if any(gone):
                    log.info("old runs are deleted", runs=gone[0], workflows=gone[1])
            except Exception as error:  # the database may be away for a moment; tomorrow is another day
                log.warning("old runs could not be deleted", error=str(error))
            if self._stop.wait(DAY_S):
                return


def tidy(store: Store, now: float, keep_s: float) -> tuple[int, int]:
    """Delete what ended long ago; return how many runs and how many workflows.

    Args:
        now: In seconds since 1970.
        keep_s: How long what ended is kept, in seconds.
    """
    from dbos import DBOS

    before = now - keep_s
    runs = store.runs.forget(before)
    store.memory.forget(now - MEMORY_TIMES * keep_s)
    store.questions.forget(now - MEMORY_TIMES * keep_s)
    workflows = 0
    while True:
        old = DBOS.list_workflows(
            status=_ENDED,
            end_time=datetime.fromtimestamp(before, UTC).isoformat(),
            limit=_AT_ONCE,
            load_input=False,
            load_output=False,
        )
        if not old:
            return runs, workflows
        DBOS.delete_workflows([row.workflow_id for row in old])
        workflows += len(old)
