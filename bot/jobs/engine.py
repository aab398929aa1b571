"""DBOS for this process: launched with its pitfalls out of the way, its queues, and putting wishes into them."""

from __future__ import annotations

import logging
import shutil
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import sqlalchemy as sa

from bot import settings
from bot.errors import UsageError
from bot.github.app import App
from bot.github.wishes import Wish
from bot.jobs import queues
from bot.jobs.locks import Lock, locks_of
from bot.jobs.office import Office
from bot.jobs.peers import Peers
from bot.jobs.retention import Retention
from bot.settings import Settings
from bot.store import Store, database

if TYPE_CHECKING:
    from dbos import DBOSClient, WorkflowStatus

OWN_LOCK_S = 15.0
"""How long the lock of this worker's name is waited for: a peer may hold it while it puts a dead one's work back."""
POLL_S = 0.5
ORDERS_AT_ONCE = 4
MOST_REPEATS = 9
_FAILED = ("ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")

Receipt = Literal["accepted", "duplicate"]


class Engine:
    """Durable runs in this process; there is one a process.

    Args:
        operator: The settings, the App's credentials among them.
        app: Access to GitHub.
        lost: Called if another process may have taken over this worker's name.
    """

    def __init__(self, operator: Settings, store: Store, app: App, lost: Callable[[], None]) -> None:
        self.name = operator.worker_name or socket.gethostname()
        self.store = store
        self._operator = operator
        self._app = app
        self._lost = lost
        self._locks = locks_of(store.url, store.engine)
        self._lock: Lock | None = None
        self._peers: Peers | None = None
        self._retention: Retention | None = None
        self._office: Office | None = None
        self._client: DBOSClient | None = None
        self._ready = threading.Event()

    @property
    def is_ready(self) -> bool:
        """Whether wishes are taken."""
        return self._ready.is_set()

    def start(self) -> None:
        """Launch DBOS and begin to work.

        Raises:
            UsageError: Another process of the same name lives.
        """
        from dbos import DBOS

        self._lock = self._own_lock()
        try:
            work = settings.data_directory(self._operator) / "work" / self.name
            shutil.rmtree(work, ignore_errors=True)  # of a process of this name that was killed
            self._office = Office(self._operator, self.store, self._app, self.name, work)
            DBOS(config=self._config())
            # DBOS writes by a handler of its own otherwise, past the redaction of all other logs.
            dbos_log = logging.getLogger("dbos")
            dbos_log.handlers.clear()
            dbos_log.propagate = True
            _register(self._office)
            if not self._operator.runs_at_once:
                DBOS.listen_queues([])
            DBOS.launch()
            self._client = _client(self.store)
            _make_queues(self._operator, shared=not database.is_sqlite(self.store.url))
        except BaseException:
            self._lock.release()
            raise
        self._peers = Peers(self._locks, self.name, self._lock, self._lost)
        self._peers.start()
        self._retention = Retention(self._office, self._operator.keep_days)
        self._retention.start()
        self._ready.set()

    def submit(self, wishes: Sequence[Wish]) -> list[Receipt]:
        """Put wishes into their queues; when this returns, they are in the database, all by one transaction.

        A delivery that was there already is not put there again, unless what it asked for has failed.
        """
        received = time.time()
        receipts: list[Receipt] = []
        with self.store.engine.begin() as connection:
            for wish in wishes:
                fresh = self._put(connection, wish, queues.workflow_id(wish), received)
                receipts.append("accepted" if fresh else "duplicate")
        return [
            receipt if receipt == "accepted" else self._again(wish, received)
            for wish, receipt in zip(wishes, receipts, strict=True)
        ]

    def _put(self, connection: sa.Connection, wish: Wish, identity: str, received: float) -> bool:
        """Put a wish into its queue; return False if something of this name is there."""
        from dbos._error import DBOSWorkflowIDInUseError

        assert self._client is not None
        try:
            self._client.enqueue_in_transaction(
                connection, queues.options(wish, identity), wish.as_json(), received
            )
        except DBOSWorkflowIDInUseError:
            return False
        return True

    def _again(self, wish: Wish, received: float) -> Receipt:
        """Put a wish that is known into its queue once more, if what came of it has failed."""
        from dbos import DBOS

        for index in range(1, MOST_REPEATS):
            status = DBOS.get_workflow_status(queues.workflow_id(wish, index - 1))
            if status is None or not _has_failed(status):
                return "duplicate"
            with self.store.engine.begin() as connection:
                if self._put(connection, wish, queues.workflow_id(wish, index), received):
                    return "accepted"
        return "duplicate"

    def stop(self) -> None:
        """End what is under way such that another process, or the next of this name, goes on with it."""
        from dbos import DBOS

        self._ready.clear()
        if self._office is not None:
            self._office.stopping.set()
        if self._peers is not None:
            self._peers.stop()
        if self._retention is not None:
            self._retention.stop()
        patience_s = 30 if self._operator.runs_at_once else 0
        DBOS.destroy(destroy_registry=True, workflow_completion_timeout_sec=patience_s)
        if self._lock is not None:
            self._lock.release()

    def _own_lock(self) -> Lock:
        deadline = time.monotonic() + OWN_LOCK_S
        while True:
            lock = self._locks.acquire(self.name)
            if lock is not None:
                return lock
            if time.monotonic() > deadline:
                raise UsageError(
                    f"Another server or worker named {self.name!r} is running on this database. "
                    "Give each a name of its own with TESTFORGE_WORKER_NAME."
                )
            time.sleep(0.5)

    def _config(self) -> Any:
        from dbos._serialization import DBOSPortableJSONSerializer

        url = self.store.engine.url
        return {
            "name": queues.APPLICATION,
            "system_database_url": url.set(
                drivername="sqlite" if database.is_sqlite(self.store.url) else "postgresql"
            ).render_as_string(hide_password=False),
            "system_database_engine": self.store.engine,
            "executor_id": self.name,
            "application_version": queues.VERSION,
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "WARNING",
            "enable_otlp": False,
        }


def _client(store: Store) -> DBOSClient:
    """Return what puts workflows into the database within a transaction of ours."""
    from dbos import DBOSClient
    from dbos._serialization import DBOSPortableJSONSerializer

    return DBOSClient(
        system_database_engine=store.engine,
        serializer=DBOSPortableJSONSerializer(),
        application_name=queues.APPLICATION,
    )


def _has_failed(status: WorkflowStatus) -> bool:
    """Return whether a workflow ended without doing what it was for, so that asking again makes sense."""
    output = status.output if isinstance(status.output, dict) else {}
    return status.status in _FAILED or output.get("state") == "failed"


def _register(office: Office) -> None:
    """Tell DBOS the workflows."""
    from dbos import DBOS

    from bot.jobs import orders, reviews

    def review_pull(data: Mapping[str, Any], received: float) -> dict[str, Any]:
        return reviews.review_pull(office, data, received)

    def obey(data: Mapping[str, Any], received: float) -> dict[str, Any]:
        return orders.obey(office, data, received)

    DBOS.workflow(name=queues.REVIEW_WORKFLOW)(review_pull)
    DBOS.workflow(name=queues.ORDER_WORKFLOW)(obey)


def _make_queues(operator: Settings, *, shared: bool) -> None:
    """Make the queues. Their limits lie in the database and hold for all workers: who starts last sets them.

    Args:
        shared: Workers on several machines may share the database. Where they cannot, a limit for all of them would
            only make DBOS look through the repositories one by one.
    """
    from dbos import DBOS

    at_once = max(operator.runs_at_once, 1)
    policy: Literal["always_update", "never_update"] = (
        "always_update" if operator.runs_at_once else "never_update"
    )
    DBOS.register_queue(
        queues.REVIEWS,
        worker_concurrency=at_once,
        global_concurrency=max(operator.runs_in_all, at_once) if shared else None,
        partition_concurrency=1,
        polling_interval_sec=POLL_S,
        on_conflict=policy,
    )
    DBOS.register_queue(
        queues.ORDERS,
        worker_concurrency=ORDERS_AT_ONCE,
        polling_interval_sec=POLL_S,
        on_conflict=policy,
    )
