"""A pull request's head on this machine's disk: files and enough history, and nothing that could run or leak.

Git gets no configuration but what stands here, so no hook, filter, helper or submodule of anybody acts. The token is
in the environment of the one git process that needs it: never among its arguments, never on disk.
"""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.errors import GitHubError, RepositoryError
from bot.github.faults import LimitedError, NotThereError, UnreachableError
from bot.github.hub import Hub
from bot.github.pulls import Pull
from bot.models.redaction import redact

_DEPTHS = (50, 500, 5000)  # commits below each end that are fetched until their histories meet; then all
_TRIES = 3
_KEPT = frozenset(
    {
        "ALL_PROXY",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "HTTPS_PROXY",
        "HTTP_PROXY",
        "LD_LIBRARY_PATH",
        "NO_PROXY",
    }
    | {"PATH", "TMPDIR"}
)
_SETTINGS = {
    "advice.detachedHead": "false",
    "core.attributesFile": "/dev/null",
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "credential.helper": "",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
}


@dataclass(frozen=True, slots=True)
class CloneLimits:
    """How large a clone may be: bytes of packed history, bytes and number of files checked out, seconds a git command."""

    pack_bytes: int = 1 << 30
    tree_bytes: int = 2 << 30
    files: int = 200_000
    seconds: float = 900.0


def clone(hub: Hub, pull: Pull, into: Path, *, limits: CloneLimits | None = None) -> None:
    """Put the head commit of a pull request into an empty or missing directory.

    Both ends' histories are there as far down as they meet. Submodules and LFS objects are not fetched.

    Raises:
        RepositoryError: The repository is too large, or the head or the base is gone.
        GitHubError: GitHub gives no token, or does not answer.
    """
    limits = limits or CloneLimits()
    into.mkdir(parents=True, exist_ok=True)
    git = _Git(hub, pull, into, limits)
    git.run("init", "--quiet", "--template=", "--initial-branch=testforge")
    for depth in (*(f"--depth={depth}" for depth in _DEPTHS), "--unshallow"):
        git.fetch(depth)
        if git.meets():
            break
        if not git.is_shallow():
            raise RepositoryError(
                "The pull request and its base share no history, so there is no change to review."
            )
    git.measure_tree()
    git.run("checkout", "--quiet", "--force", "--detach", pull.head)


@dataclass(frozen=True, slots=True)
class _Git:
    """Git in one new repository."""

    hub: Hub
    pull: Pull
    directory: Path
    limits: CloneLimits

    def run(self, *arguments: str, secret: str = "", success: Sequence[int] = (0,)) -> bytes:
        """Run git and return what it printed.

        Raises:
            _FailedError: It ended with another exit code, or was too slow, or wrote too large a file.
        """
        # The shell only sets the limit on the size of files, which the pack then cannot pass.
        blocks = max(1, self.limits.pack_bytes // 512)
        command = [
            "sh",
            "-c",
            'ulimit -f "$0" && exec git "$@"',
            str(blocks),
            "-C",
            str(self.directory),
            *arguments,
        ]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=_environment(self._settings(secret)),
                timeout=self.limits.seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise _FailedError(f"git {arguments[0]} took too long") from None
        if done.returncode not in success:
            raise _FailedError(
                redact(done.stderr.decode("utf-8", "replace").strip()) or f"exit {done.returncode}"
            )
        return done.stdout

    def _settings(self, secret: str) -> Mapping[str, str]:
        site = self.hub.wire.git_url
        scheme = site.partition("://")[0]
        settings = {**_SETTINGS, "protocol.allow": "never", f"protocol.{scheme}.allow": "always"}
        if os.environ.get("SSL_CERT_FILE"):  # as the rest of testforge; git does not look there by itself
            settings["http.sslCAInfo"] = os.environ["SSL_CERT_FILE"]
        if secret:
            basic = base64.b64encode(f"x-access-token:{secret}".encode()).decode()
            settings[f"http.{site}/.extraHeader"] = f"Authorization: Basic {basic}"
        return settings

    def fetch(self, depth: str) -> None:
        """Fetch both ends by their ids; try again where the network fails."""
        url = f"{self.hub.wire.git_url}/{self.pull.repository}.git"
        for attempt in range(1, _TRIES + 1):
            token = self.hub.token({"contents": "read"})
            try:
                self.run(
                    "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-gc",
                    *(depth, url, self.pull.head, self.pull.base),
                    secret=token,
                )  # fmt: skip
            except _FailedError as error:
                fault = self._explained(error.said)
                if isinstance(fault, RepositoryError) or attempt == _TRIES:
                    raise fault from None
                if isinstance(fault, NotThereError):
                    self.hub.forget(token)
                self.hub.clock.sleep(float(attempt**2))
            else:
                return

    def _explained(self, said: str) -> GitHubError | RepositoryError:
        """Return the sentence for a fetch that failed."""
        text = said.lower()
        if "not our ref" in text or "unadvertised object" in text or "couldn't find remote ref" in text:
            return RepositoryError(
                f"The commit {self.pull.head[:12]} or its base is gone from GitHub: the branch was pushed over meanwhile.",
                said,
            )
        if "file too large" in text or "file size limit" in text or "signal 25" in text or "exit 153" in text:
            return RepositoryError(
                f"The repository is larger than {self.limits.pack_bytes >> 20} MB, so it is not cloned.", said
            )
        if "429" in text:
            return LimitedError("GitHub limits the rate of clones. Try again later.", 60.0)
        if any(sign in text for sign in ("401", "403", "404", "authentication failed", "not found")):
            return NotThereError(f"GitHub does not let the App read {self.pull.repository}.", 404, said)
        if "no space left" in text:
            return RepositoryError("The disk is full, so the repository cannot be cloned.", said)
        return UnreachableError(
            f"The repository could not be fetched: {said.splitlines()[-1] if said else 'git failed'}."
        )

    def meets(self) -> bool:
        """Whether what was fetched holds the commit at which the two histories part."""
        try:
            return bool(self.run("merge-base", self.pull.base, self.pull.head).strip())
        except _FailedError:
            return False

    def is_shallow(self) -> bool:
        """Whether there is more history than was fetched."""
        return self.run("rev-parse", "--is-shallow-repository").strip() == b"true"

    def measure_tree(self) -> None:
        """Raise RepositoryError if checking the head out would fill the disk: a small pack can hold large files."""
        total = count = 0
        for record in self.run("ls-tree", "-r", "-l", "-z", "--full-tree", self.pull.head).split(b"\0"):
            size = record.partition(b"\t")[0].split()[-1:]
            count += 1
            total += int(size[0]) if size and size[0].isdigit() else 0
        if total > self.limits.tree_bytes or count > self.limits.files:
            raise RepositoryError(
                f"The commit holds {count:,} files of {total >> 20:,} MB, more than this server checks out."
            )


class _FailedError(RepositoryError):
    """Git failed; `said` is its own explanation, without secrets."""

    def __init__(self, said: str) -> None:
        super().__init__("Git could not put the repository in place.", said)
        self.said = said


def _environment(settings: Mapping[str, str]) -> Mapping[str, str]:
    """Return an environment in which git knows these settings and no others, and nothing of the operator's secrets."""
    kept = {name: value for name, value in os.environ.items() if name.upper() in _KEPT}
    numbered: dict[str, str] = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(sorted(settings.items())):
        numbered[f"GIT_CONFIG_KEY_{number}"] = key
        numbered[f"GIT_CONFIG_VALUE_{number}"] = value
    return {
        **kept,
        **numbered,
        "HOME": os.devnull,  # where a .netrc might lie
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "LC_ALL": "C",
        "LANGUAGE": "",
    }
