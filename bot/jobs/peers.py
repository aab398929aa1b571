"""Workers look after each other: what a dead one had begun goes back to the queue, where another takes it up."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

from bot.jobs.locks import Lock, Locks

EVERY_S = 5.0


class Peers:
    """A thread that looks for workers that died with work in their hands.

    Args:
        name: This worker's own name, whose lock is held.
        lost: Called once if this worker's own lock is lost: somebody may have taken its work over.
    """

    def __init__(
        self, locks: Locks, name: str, lock: Lock, lost: Callable[[], None], every_s: float = EVERY_S
    ) -> None:
        self._locks = locks
        self._name = name
        self._lock = lock
        self._lost = lost
        self._every_s = every_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="testforge-peers", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stop.set()
        self._thread.join(timeout=30)

    def _watch(self) -> None:
        log = structlog.get_logger("testforge.peers")
        while not self._stop.wait(self._every_s):
            try:
                if not self._lock.is_held():
                    log.error("the lock of this worker is lost", worker=self._name)
                    self._lost()
                    return
                for name in dead_workers_tended(self._locks, self._name):
                    log.warning("a worker is gone; its runs go back to the queue", worker=name)
            except Exception as error:  # the database may be away for a moment
                log.warning("workers could not be looked after", error=str(error))


def dead_workers_tended(locks: Locks, own: str) -> list[str]:
    """Put the work of dead workers back into the queue, and return their names.

    The dead worker's lock is held meanwhile, so that it cannot come back and take up the same work twice.
    """
    from dbos import DBOS

    pending = DBOS.list_workflows(status="PENDING", load_input=False, load_output=False)
    names = sorted({str(row.executor_id) for row in pending if row.executor_id} - {own})
    tended = []
    for name in names:
        lock = locks.acquire(name)
        if lock is None:
            continue
        try:
            # Private, and the only way without DBOS's paid product; a test shows that it is there and works.
            DBOS._recover_pending_workflows([name])
            tended.append(name)
        finally:
            lock.release()
    return tended
