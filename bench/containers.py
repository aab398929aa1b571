"""What containers cost: `python -m bench.containers`, with a Docker engine and a sandbox image.

Three figures, each measured several times, the median told beside all of them: seconds until a warm container has run its
first command, with each runtime; seconds for an environment that has not changed; and the ratio of a review of the demo's
change under docker to one in the process sandbox, both run in turn so that a loaded machine slows both.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bot import changes, environment, repoconfig
from bot.sandbox import Interpreter
from bot.sandbox.docker import DockerSandboxes

RUNTIMES = ("runc", "runsc")


def seconds(work: Callable[[], object]) -> float:
    """Return how long some work takes, in wall seconds."""
    began = time.monotonic()
    work()
    return time.monotonic() - began


def prepared(tree: Path, sandboxes: DockerSandboxes) -> Interpreter:
    """Return the environment of the repository in `tree`."""
    roots = changes.import_roots(changes.working_files(tree))
    return environment.prepare(
        tree, tree, repoconfig.load(None), roots=roots, note=lambda _: None, sandboxes=sandboxes
    )


def opened(sandboxes: DockerSandboxes, tree: Path, interpreter: Interpreter) -> None:
    """Open a container over a tree, run one command, and remove it."""
    with sandboxes.open(tree, interpreter) as box:
        box.run(["true"], timeout_s=60)


def reviewed(repository: Path, sandbox: str) -> None:
    """Review the demo's change with the command as a person types it."""
    testforge = str(Path(sys.executable).with_name("testforge"))
    words = [testforge, "review", str(repository), "--base", "main", "--quiet"]
    subprocess.run([*words, "--sandbox", sandbox], check=True, capture_output=True)


def told(what: str, found: Sequence[float]) -> None:
    """Print a figure: its median, and all that were measured."""
    print(
        f"{what}: {statistics.median(found):.2f} ({', '.join(f'{each:.2f}' for each in found)})", flush=True
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--containers", type=int, default=10, help="how often a container is opened")
    parser.add_argument("--pairs", type=int, default=3, help="how often the demo is reviewed in each sandbox")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory:
        repository = Path(directory, "demo")
        subprocess.run(["sh", "examples/make_history.sh", str(repository)], check=True)
        sandboxes = DockerSandboxes()
        interpreter = prepared(repository, sandboxes)
        for runtime in RUNTIMES:
            if runtime in sandboxes.engine.runtimes:
                one = DockerSandboxes(runtime)
                opened(one, repository, interpreter)
                times = [
                    seconds(lambda: opened(one, repository, interpreter))  # noqa: B023 - called at once
                    for _ in range(options.containers)
                ]
                told(f"a warm container, {runtime}, s", times)
        told(
            "an unchanged environment, s",
            [seconds(lambda: prepared(repository, sandboxes)) for _ in range(5)],
        )
        if not options.pairs:
            return
        for sandbox in ("process", "docker"):
            reviewed(repository, sandbox)
        pairs = [
            (
                seconds(lambda: reviewed(repository, "process")),
                seconds(lambda: reviewed(repository, "docker")),
            )
            for _ in range(options.pairs)
        ]
        told("the demo in the process sandbox, s", [process for process, _ in pairs])
        told("the demo under docker, s", [docker for _, docker in pairs])
        told("docker to process", [docker / process for process, docker in pairs])


if __name__ == "__main__":
    main()
