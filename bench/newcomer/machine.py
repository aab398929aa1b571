"""A clean machine: an empty home, the system's own tools, and one shell that remembers where it is."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ADDRESS = "https://github.com/testforge/testforge"
_NETWORK = re.compile(r"(?:PIP|UV|SSL|REQUESTS|CURL)_\w+|\w+_proxy|\w+_PROXY")
"""Variables by which a machine reaches the package index; they belong to it and not to whoever sits at it."""
_STATE = "{ pwd; export -p; } >~/.state; times >~/.times"


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed, and what it took.

    Attributes:
        text: In one line of Markdown.
        seconds: On the clock.
        cpu_s: Of processors, by the commands themselves; what a Docker engine does for them is not counted.
    """

    text: str
    seconds: float
    cpu_s: float


class TypingError(Exception):
    """A command of the documentation failed; the message holds what it printed."""


class Machine:
    """A directory that stands for a machine, with `home` in it.

    Args:
        source: The repository that `git clone` of testforge's address gives.
        variables: More of the machine's environment.
    """

    def __init__(self, directory: Path, source: Path, variables: dict[str, str] | None = None) -> None:
        self.home = directory / "home"
        self.home.mkdir(parents=True)
        (self.home / ".gitconfig").write_text(
            f'[url "file://{source}"]\n\tinsteadOf = {ADDRESS}\n'
            f"[user]\n\tname = Ada\n\temail = ada@example.org\n"
        )
        (self.home / ".state").write_text(f"{self.home}\n")
        self.environment = {
            **{name: text for name, text in os.environ.items() if _NETWORK.fullmatch(name)},
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PATH": SYSTEM,
            "TERM": "dumb",
            **(variables or {}),
        }
        self.typed: list[Typed] = []
        self._log = self.home / ".log"

    def type(self, text: str) -> Typed:
        """Type commands and wait for them; directories and exports stay for what is typed next.

        Raises:
            TypingError: One of them failed.
        """
        started = time.monotonic()
        with self._log.open("wb") as log:
            code = self._start(f"{text}\n{_STATE}", log).wait()
        seconds = time.monotonic() - started
        if code:
            said = self._log.read_text("utf-8", "replace")[-4000:]
            raise TypingError(f"{text.strip()}\nended with exit code {code}:\n{said}")
        done = Typed(_shown(text), seconds, _seconds((self.home / ".times").read_text()))
        self.typed.append(done)
        return done

    def begin(self, text: str, log: Path) -> subprocess.Popen[bytes]:
        """Type a command that goes on, such as a server; `end` stops it."""
        with log.open("wb") as sink:
            return self._start(f"exec {text.strip()}", sink)

    def _start(self, text: str, log: object) -> subprocess.Popen[bytes]:
        where = '{ read -r place; cd "$place"; eval "$(cat)"; } <~/.state'
        command = self._shell(f"{where}\nset -eo pipefail\n{text}")
        return subprocess.Popen(
            command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )  # type: ignore[call-overload,no-any-return]

    def _shell(self, script: str) -> list[str]:
        """Return the command that runs a script in bash."""
        return ["bash", "--noprofile", "--norc", "-c", script]


def end(process: subprocess.Popen[bytes]) -> None:
    """Stop a command that was begun, as Ctrl-C does."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=120)


def _shown(text: str) -> str:
    """Return commands in one line, without their comments."""
    lines = (re.sub(r"\s+#.*", "", line).strip() for line in text.splitlines())
    return "; ".join(f"`{line}`" for line in lines if line)


def _seconds(times: str) -> float:
    """Return the seconds of processors in what bash's `times` prints: two lines of user and system time."""
    return sum(60 * float(minutes) + float(rest) for minutes, rest in re.findall(r"(\d+)m([\d.]+)s", times))
