"""A clean machine in a container: a bare system's image with Python, git and make, and nothing else."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.newcomer.machine import Machine


class Contained(Machine):
    """A machine whose commands run in a container."""

    container = ""

    def _shell(self, script: str) -> list[str]:
        passed = [word for name, text in self.environment.items() for word in ("--env", f"{name}={text}")]
        return ["docker", "exec", *passed, self.container, *super()._shell(script)]


@contextlib.contextmanager
def contained(image: str, source: Path, mounts: Sequence[str]) -> Iterator[Contained]:
    """Give a machine of an image until the block ends.

    Args:
        mounts: Files of this machine that it needs to reach the package index, such as certificates.
    """
    with tempfile.TemporaryDirectory(prefix="newcomer-") as directory:
        machine = Contained(Path(directory), source)
        seen = [f"{path}:{path}:ro" for path in (str(source), *mounts)]
        volumes = [word for volume in [f"{directory}:{directory}", *seen] for word in ("--volume", volume)]
        command = ["docker", "run", "--detach", "--init", "--network=host", *volumes, image, "sleep", "7200"]
        machine.container = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        try:
            yield machine
        finally:
            # Root wrote into the directory; only the container can surely remove that.
            sweep = [
                "docker",
                "exec",
                machine.container,
                "find",
                str(machine.home),
                "-mindepth",
                "1",
                "-delete",
            ]
            subprocess.run(sweep, check=False)
            subprocess.run(["docker", "rm", "--force", machine.container], check=False, capture_output=True)
