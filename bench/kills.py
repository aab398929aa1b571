"""kill -9 at many moments of a run: python -m bench.kills [--moments 20] [--seed 1] [--kinds serve,worker,run,container]

Runs are killed in turn in each of the ways: the server, a worker beside a server, the run's own process, its container;
in containers where a Docker engine is. The model is a server that counts what it is asked. After each there must be one
review, one summary, no container, the model calls of a run that nobody disturbs in the journal, and none of them twice
at the model's server but the one whose reply nobody lived to read. At the end no process may be left.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.store import Store
from tests.github.server import GitHub
from tests.jobs.counting import CountedModel, counted, repeated
from tests.jobs.killing import (
    Outcome,
    Revivable,
    Victim,
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

KINDS = ("serve", "worker", "run", "container")


@dataclass
class Scene:
    """Where one kind of killing happens."""

    github: GitHub
    server: Revivable
    store: Store
    victim: Victim
    data: Path
    model: CountedModel
    logs: tuple[Path, ...]

    def log(self) -> str:
        """Return the end of what was logged."""
        return "".join(path.read_text()[-3000:] for path in self.logs)

    def once(self, after_s: float | None = None) -> Outcome:
        """Let one run happen, disturbed after so many seconds, or not at all."""
        victim = None if after_s is None else self.victim
        return run_once(self.github, self.server.url, self.store, self.log, after_s, victim, self.model)

    def left(self) -> list[str]:
        """Return the containers of this server's runs, or whose process is gone."""
        owners = {str(pid) for pid in processes_with(self.data)}
        return [*orphans(), *(name for name, owner in containers() if owner in owners)]


@contextmanager
def scene(kind: str, github: GitHub, place: Path, model: CountedModel, sandbox: str) -> Iterator[Scene]:
    """Set up one kind of killing; when it ends, nothing may be left."""
    data = place / kind
    alone = environment(github, data, TESTFORGE_SANDBOX=sandbox, **model.environment)
    with ExitStack() as stack:
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
        yield Scene(github, server, store, victim, data, model, tuple(logs))
    wait_for(lambda: not processes_with(data), f"{kind}: processes are left: {processes_with(data)}", 120)


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
                        found.once()  # whatever is made once for all runs is not timed
                    wrong += _killed(found, kind, [chance.uniform(0.03, 0.9) for _ in range(moments)])
    wait_for(lambda: not orphans(), f"containers are left: {orphans()}", 120)
    print(f"{arguments.moments - wrong} of {arguments.moments} right; nothing is left behind")
    sys.exit(1 if wrong else 0)


def _killed(found: Scene, kind: str, moments: list[float]) -> int:
    """Disturb a run at each moment, a fraction of an undisturbed one; return how many did not come out right."""
    calm = found.once()
    print(f"{kind}: undisturbed {calm.state}, {calm.seconds:.1f} s, {len(calm.asked)} requests", flush=True)
    wrong = 0
    for moment in moments:
        outcome = found.once(moment * calm.seconds)
        with contextlib.suppress(AssertionError):
            wait_for(lambda: not found.left(), "", 60)
        left = found.left()
        twice, in_flight = repeated(outcome.asked, outcome.asked_before, Counter(calm.asked))
        right = outcome.is_right(calm.requests) and outcome.killed and not left and not twice
        wrong += not right
        print(
            f"{kind} at {100 * moment:.0f} %: {outcome.state}, reviews {outcome.reviews}, summaries {outcome.summaries}, "
            f"containers left {len(left)}; the model's server saw {len(outcome.asked)} requests, "
            f"{outcome.asked_before} before the kill, repeated {twice} finished and {in_flight} in flight; "
            f"{outcome.seconds:.1f} s{'' if outcome.killed else ', nothing to kill'}{'' if right else '   WRONG'}",
            flush=True,
        )
        if not right:
            print(found.log(), file=sys.stderr, flush=True)
    return wrong


if __name__ == "__main__":
    main()
