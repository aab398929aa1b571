"""Runs that are killed in the middle: the server, a worker, the run's own process, or its container."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.store import Store, open_store
from tests.github.server import GitHub
from tests.jobs.counting import CountedModel
from tests.jobs.serving import AFTER, REPOSITORY, Process, deliver, wait_for

CONFIG = "max_iterations: 3\nmutation:\n  max_mutants: 20\nintent:\n  questions: 0\n"
"""For the repository: a run that has all stages and is short; questions would be asked of the model several times alike."""


@dataclass
class Victim:
    """What is killed, and how what it was part of goes on.

    Attributes:
        kill: Ends it at once; gives False where there is nothing to kill at the moment.
        revive: Starts it again, as a supervisor would.
    """

    kill: Callable[[], bool]
    revive: Callable[[], None]


@dataclass
class Outcome:
    """What was left of a run.

    Attributes:
        requests: The model calls in its journal.
        asked: Those that the model's server saw, where it counts.
        asked_before: How many of those it had seen when something was killed.
    """

    state: str
    reviews: int
    summaries: int
    requests: frozenset[str]
    killed: bool
    seconds: float
    asked: list[str] = field(default_factory=list)
    asked_before: int = 0

    def is_right(self, undisturbed: frozenset[str]) -> bool:
        """Whether there is one review, one summary, and no other model call than in a run that nobody disturbs."""
        one = (self.state, self.reviews, self.summaries) == ("done", 1, 1)
        return one and self.requests == undisturbed


def configure(github: GitHub, config: str = CONFIG) -> None:
    """Give the repository a configuration for short runs."""
    github.world.push(REPOSITORY, "main", {".github/testforge.yml": config.encode()})


def new_pull(github: GitHub) -> int:
    """Open a pull request with the same change as all others, and return its number."""
    branch = f"change{github.world.new_id()}"
    github.world.push(REPOSITORY, branch, {"quotes.py": AFTER.encode()})
    return int(github.world.open_pull(REPOSITORY, branch).number)


@dataclass(frozen=True)
class Moment:
    """When something is killed: so long after the webhook, or within a call of the model, by its number in the run."""

    after_s: float | None = None
    within: int | None = None


def run_once(
    github: GitHub, url: str, store: Store, log: Callable[[], str], moment: Moment | None = None,
    victim: Victim | None = None, model: CountedModel | None = None,
) -> Outcome:  # fmt: skip
    """Let a new pull request be reviewed, kill in the middle of it, and return what comes of it in the end.

    Args:
        url: Where webhooks go.
        model: Counts what is asked of it, where the server's model is this one.
    """
    asked = model.asked if model else []
    first = len(asked)
    number = new_pull(github)
    deaths: list[int] = []

    def strike() -> bool:
        if victim is not None and victim.kill():
            deaths.append(len(asked))
        return bool(deaths)

    if moment is not None and moment.within is not None:
        assert model is not None
        model.interrupt(first + moment.within, lambda: _often(strike))
    payload = github.shapes.payload(REPOSITORY, number, "opened")
    began = time.monotonic()
    status, delivery = deliver(url, github.world.webhook_secret, "pull_request", payload)
    assert status == 202
    name = f"pr/{REPOSITORY}/{number}/{delivery}"
    if moment is not None and victim is not None:
        if moment.after_s is not None:
            time.sleep(max(0.0, began + moment.after_s - time.monotonic()))
        while not deaths and not _ended(store, name):
            if moment.within is None:
                strike()
            else:
                time.sleep(0.02)
        if deaths:
            victim.revive()
    wait_for(lambda: _ended(store, name), f"{name} does not end: {log()}", 400)
    seconds = time.monotonic() - began
    pull = github.world.repositories[REPOSITORY].pulls[number]
    run = store.runs.get(name)
    assert run is not None
    return Outcome(
        run.state,
        len(pull.reviews),
        sum("testforge:sticky" in comment.body for comment in pull.comments),
        requests_of(store, name),
        bool(deaths),
        seconds,
        asked[first:],
        deaths[0] - first if deaths else 0,
    )


def _often(strike: Callable[[], bool]) -> None:
    """Kill what may not be there yet, for a while."""
    for _ in range(200):
        if strike():
            return


def _ended(store: Store, name: str) -> bool:
    run = store.runs.get(name)
    return run is not None and run.ended is not None


def requests_of(store: Store, run: str) -> frozenset[str]:
    """Return the model calls of a run, by what was asked and how often that was before."""
    query = "SELECT request, occurrence FROM testforge_model_calls WHERE run = "
    mark = "?" if store.engine.dialect.name == "sqlite" else "%s"
    with store.engine.connect() as connection:
        rows = connection.exec_driver_sql(query + mark, (run,)).all()
    return frozenset(f"{request} {occurrence}" for request, occurrence in rows)


class Revivable:
    """A server or worker that can be killed and started again under the same name and port."""

    def __init__(self, command: str, env: Mapping[str, str], log: Path) -> None:
        self._command, self._env, self._log = command, env, log
        self.process = Process(command, env, log)
        self.url = self.process.url

    def start(self) -> None:
        """Start it again."""
        port = self.process.port
        self.process = Process(self._command, self._env, self._log, port)
        if self._command == "serve":
            self.process.wait_until_ready()

    def kill(self) -> bool:
        """End it at once."""
        self.process.kill()
        return True

    @property
    def victim(self) -> Victim:
        """It, to be killed and revived."""
        return Victim(self.kill, self.start)

    def __enter__(self) -> Revivable:
        return self

    def __exit__(self, *exception: object) -> None:
        self.process.__exit__(*exception)


def child_of(data: Path) -> Victim:
    """The run's own process, which nobody starts again but the worker."""

    def kill() -> bool:
        for pid in processes_with(data):
            with contextlib.suppress(OSError):
                if b"bot.jobs.child" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)
                    return True
        time.sleep(0.02)
        return False

    return Victim(kill, lambda: None)


def container_of(data: Path) -> Victim:
    """A container of the run."""

    def kill() -> bool:
        owners = {str(pid) for pid in processes_with(data)}
        for name, owner in containers():
            if owner in owners:
                done = subprocess.run(["docker", "kill", name], capture_output=True, check=False)
                return done.returncode == 0
        time.sleep(0.02)
        return False

    return Victim(kill, lambda: None)


def containers() -> Iterator[tuple[str, str]]:
    """Yield the containers of all testforges on this machine, with the process that each belongs to."""
    form = '{{.ID}} {{.Label "testforge.owner"}}'
    listed = subprocess.run(
        ["docker", "ps", "-a", "--filter", "label=testforge.container", "--format", form],
        capture_output=True,
        text=True,
        check=False,
    )
    for line in listed.stdout.splitlines():
        name, _, owner = line.partition(" ")
        yield name, owner.partition("-")[0]


def orphans() -> list[str]:
    """Return the containers whose process is gone."""
    return [name for name, owner in containers() if not Path(f"/proc/{owner}").exists()]


def processes_with(data: Path) -> list[int]:
    """Return the processes that were started for a server whose directory is `data`, the server's own among them."""
    mark = f"TESTFORGE_DATA_DIRECTORY={data}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def open_beside(env: Mapping[str, str]) -> Store:
    """Open the database of a server beside it."""
    url = env.get("TESTFORGE_DATABASE_URL")
    return open_store(url or f"sqlite:///{env['TESTFORGE_DATA_DIRECTORY']}/testforge.sqlite")


def busy_worker(store: Store) -> str:
    """Return the name of the worker that has a review in its hands; empty if none has."""
    table = "workflow_status" if store.engine.dialect.name == "sqlite" else "dbos.workflow_status"
    query = f"SELECT executor_id FROM {table} WHERE status = 'PENDING' AND name = 'review_pull'"
    with store.engine.connect() as connection:
        return str(connection.exec_driver_sql(query).scalar() or "")
