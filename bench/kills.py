"""kill -9 at many moments of a run: python -m bench.kills [--moments 20] [--seed 1] [--kinds serve,worker,run,container,pair]

Runs are killed in turn in each of the ways: the server, a worker beside a server, the run's own process, its container;
in containers where a Docker engine is. `pair` is two workers on Postgres, of which the busy one is killed and not started
again. The first moment of each kind lies within a call of the model, which is chosen at random as all others are; a
moment that turns out to lie behind the run's end is tried again at half the time. testforge's code must not change
meanwhile.

The model is a server that counts what it is asked. After each there must be one review, one summary, no container, the
model calls of a run that nobody disturbs in the journal, and none of them twice at the model's server but the one whose
reply nobody lived to read. At the end no process may be left.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.store import Store
from tests.github.server import GitHub
from tests.jobs.counting import CountedModel, counted, repeated
from tests.jobs.killing import (
    Moment,
    Outcome,
    Revivable,
    Victim,
    busy_worker,
    child_of,
    configure,
    container_of,
    containers,
    open_beside,
    orphans,
    processes_with,
    run_once,
)
from tests.jobs.serving import environment, github_in, wait_for
from tests.store.postgres import Postgres

KINDS = ("serve", "worker", "run", "container", "pair")
_TRIES = 4


@dataclass
class Scene:
    """Where one kind of killing happens.

    Attributes:
        mend: Brings back what was killed for good, for the next run.
    """

    github: GitHub
    url: str
    store: Store
    victim: Victim
    places: tuple[Path, ...]
    model: CountedModel
    logs: tuple[Path, ...]
    mend: Callable[[], None] = lambda: None

    def log(self) -> str:
        """Return the end of what was logged."""
        return "".join(path.read_text()[-3000:] for path in self.logs)

    def once(self, moment: Moment | None = None) -> Outcome:
        """Let one run happen, disturbed at a moment, or not at all."""
        victim = None if moment is None else self.victim
        return run_once(self.github, self.url, self.store, self.log, moment, victim, self.model)

    def processes(self) -> list[int]:
        """Return what was started here and lives."""
        return [pid for place in self.places for pid in processes_with(place)]

    def left(self) -> list[str]:
        """Return the containers of this server's runs, or whose process is gone."""
        owners = {str(pid) for pid in self.processes()}
        return [*orphans(), *(name for name, owner in containers() if owner in owners)]


@contextmanager
def scene(kind: str, github: GitHub, place: Path, model: CountedModel, sandbox: str) -> Iterator[Scene]:
    """Set up one kind of killing; when it ends, nothing may be left."""
    with ExitStack() as stack:
        found = _pair(stack, github, place, model, sandbox) if kind == "pair" else None
        yield found or _alone(stack, kind, github, place, model, sandbox)
    left = [pid for name in (kind, "left", "right") for pid in processes_with(place / name)]
    wait_for(lambda: not any(map(_lives, left)), f"{kind}: processes are left: {left}", 120)


def _lives(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _alone(
    stack: ExitStack, kind: str, github: GitHub, place: Path, model: CountedModel, sandbox: str
) -> Scene:
    """A server with SQLite, with a worker beside it where that is to be killed."""
    data = place / kind
    alone = environment(github, data, TESTFORGE_SANDBOX=sandbox, **model.environment)
    front = {**alone, "TESTFORGE_RUNS_AT_ONCE": "0"} if kind == "worker" else alone
    server = stack.enter_context(Revivable("serve", front, place / f"{kind}.log"))
    server.process.wait_until_ready()
    logs = [place / f"{kind}.log"]
    victim = {"run": child_of(data), "container": container_of(data)}.get(kind, server.victim)
    if kind == "worker":
        env = {**alone, "TESTFORGE_WORKER_NAME": "two"}
        worker = stack.enter_context(Revivable("worker", env, place / "two.log"))
        logs.append(place / "two.log")
        victim = worker.victim
    store = open_beside(alone)
    stack.callback(store.close)
    return Scene(github, server.url, store, victim, (data,), model, tuple(logs))


def _pair(stack: ExitStack, github: GitHub, place: Path, model: CountedModel, sandbox: str) -> Scene:
    """A server that only takes webhooks, and two workers on Postgres."""
    postgres = stack.enter_context(Postgres.started())
    url = postgres.new_database()
    started: dict[str, Revivable] = {}
    for name in ("pair", "left", "right"):
        env = environment(
            github, place / name, TESTFORGE_SANDBOX=sandbox, TESTFORGE_WORKER_NAME=name, TESTFORGE_DATABASE_URL=url,
            TESTFORGE_RUNS_AT_ONCE="0" if name == "pair" else "1", **model.environment,
        )  # fmt: skip
        command = "serve" if name == "pair" else "worker"
        started[name] = stack.enter_context(Revivable(command, env, place / f"{name}.log"))
    started["pair"].process.wait_until_ready()
    store = open_beside(env)
    stack.callback(store.close)

    def kill() -> bool:
        name = busy_worker(store)
        return bool(name) and started[name].kill()

    def mend() -> None:
        for one in started.values():
            if one.process.process.poll() is not None:
                one.start()

    places = tuple(place / name for name in started)
    logs = tuple(place / f"{name}.log" for name in started)
    return Scene(github, started["pair"].url, store, Victim(kill, lambda: None), places, model, logs, mend)


def main() -> None:
    """Kill, print, and fail where something is not right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--moments", type=int, default=20, help="in all, the kinds in turn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--sandbox", default="docker", choices=("docker", "process"))
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    kinds = arguments.kinds.split(",")
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="testforge-kills-") as directory:
        place = Path(directory)
        with github_in(place) as github, counted() as model:
            configure(github)
            for index, kind in enumerate(kinds):
                moments = len(range(index, arguments.moments, len(kinds)))
                with scene(kind, github, place, model, arguments.sandbox) as found:
                    if index == 0:
                        found.once()  # the environment is made once for all kinds, and its making is not timed
                    wrong += _killed(found, kind, [chance.uniform(0.03, 0.9) for _ in range(moments)])
    wait_for(lambda: not orphans(), f"containers are left: {orphans()}", 120)
    print(f"{arguments.moments - wrong} of {arguments.moments} right; nothing is left behind")
    sys.exit(1 if wrong else 0)


def _killed(found: Scene, kind: str, moments: list[float]) -> int:
    """Disturb a run at each moment, a fraction of an undisturbed one; return how many did not come out right."""
    calm = found.once()
    print(f"{kind}: undisturbed {calm.state}, {calm.seconds:.1f} s, {len(calm.asked)} requests", flush=True)
    wrong = 0
    for index, part in enumerate(moments):
        moment, told = Moment(after_s=part * calm.seconds), f"at {100 * part:.0f} %"
        if index == 0:
            # A container is there once the model improves tests, and not yet when it is asked for the first ones.
            first = 3 if kind == "container" else 1
            call = min(len(calm.asked), first + int(part * (len(calm.asked) - first + 1)))
            moment, told = Moment(within=call), f"within call {call}"
        outcome = found.once(moment)
        for _ in range(_TRIES):
            if outcome.killed or moment.after_s is None:
                break
            moment = Moment(after_s=moment.after_s / 2)
            told, outcome = f"{told}, which was too late, at {moment.after_s:.1f} s", found.once(moment)
        wrong += not _is_right(found, kind, told, calm, outcome)
        found.mend()
    return wrong


def _is_right(found: Scene, kind: str, told: str, calm: Outcome, outcome: Outcome) -> bool:
    """Print what came of a run that was disturbed, and return whether all of it is right."""
    with contextlib.suppress(AssertionError):
        wait_for(lambda: not found.left(), "", 60)
    left = found.left()
    twice, in_flight = repeated(outcome.asked, outcome.asked_before, Counter(calm.asked))
    right = outcome.is_right(calm.requests) and outcome.killed and not left and not twice
    print(
        f"{kind} {told}: {outcome.state}, reviews {outcome.reviews}, summaries {outcome.summaries}, "
        f"containers left {len(left)}; the model's server saw {len(outcome.asked)} requests, "
        f"{outcome.asked_before} before the kill, repeated {twice} finished and {in_flight} in flight; "
        f"{outcome.seconds:.1f} s{'' if outcome.killed else ', nothing to kill'}{'' if right else '   WRONG'}",
        flush=True,
    )
    if not right:
        print(found.log(), file=sys.stderr, flush=True)
    return right


if __name__ == "__main__":
    main()
