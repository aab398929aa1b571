"""Installing packages with uv, within a sandbox: the network is there, the person's home is not."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot import settings
from bot.environment import room
from bot.environment.indexes import configured
from bot.environment.pythons import Python
from bot.errors import InstallationError
from bot.sandbox import Completed, Interpreter, Limits, Sandbox
from bot.sandbox.process import ProcessSandboxes

LIMITS = Limits(memory=32 * 1024**3, file_size=16 * 1024**3, processes=4096, output=2 * 1024**2)
STEP_S = 1800.0
"""What one step of an installation may take, in seconds."""

DETAIL_LINES = 20
KEYS = (
    "Name another version with `environment.python`, or install by commands of your own with `environment.setup`, "
    "in .github/testforge.yml."
)
_OFFLINE = re.compile(
    r"(?i)failed to fetch|error sending request|dns error|connection (refused|reset)|network (is|was)|tcp connect|timed out"
)


_OVER = re.compile(r"(?m)^testforge: stopped, more than \d+ MB of disk$")
_GIT = re.compile(r"(?i)git operation failed|git executable not found|failed to (?:clone|resolve git)")
"""A repository that cannot be fetched says nothing about the index."""

_NO_COMPILER = re.compile(
    r"No such file or directory: '[\w./-]*(?:gcc|g\+\+|cc|c\+\+|clang)'|Unknown compiler\(s\)|No CMAKE_C\w*_COMPILER could be found"
    r"|Python\.h: No such file|command '[\w./-]*(?:gcc|g\+\+|cc|clang)' failed: No such file"
)
_COMPILER = (
    " Something is to be compiled, and there is no compiler, or not all that it needs: with the Docker sandbox "
    "`environment: {setup: ['apt-get install -y gcc g++ libc6-dev python3-dev']}` in .github/testforge.yml gives one, "
    "with the process sandbox install one on this machine."
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A step of an installation that did not work.

    Attributes:
        command: As a person would type it.
        reason: What went wrong, in one line.
        detail: The last lines that it printed.
    """

    command: str
    reason: str
    detail: str

    @property
    def explained(self) -> str:
        """The reason, and what to do about it where that is known."""
        return f"{self.reason}{_COMPILER if _NO_COMPILER.search(self.detail) else ''}"

    @property
    def offline(self) -> bool:
        """Whether it looks as if the package index could not be reached."""
        return bool(_OFFLINE.search(self.detail)) and not _GIT.search(self.detail)

    def error(self) -> InstallationError:
        """Return it as the error that ends a run."""
        if self.offline:
            return InstallationError(
                f"The dependencies could not be installed, since the package index could not be reached: `{self.command}` "
                f"failed. Check the network and the index settings of pip or uv. {KEYS}",
                self.detail,
            )
        if _OVER.search(self.detail):
            return room.too_much(f"`{self.command}`", room.most_bytes())
        if "No space left on device" in self.detail:
            return InstallationError(
                f"The dependencies could not be installed, since the disk is full: `{self.command}` failed. "
                "Free some space, or set XDG_CACHE_HOME to a directory with more room.",
                self.detail,
            )
        return InstallationError(
            f"The dependencies could not be installed: `{self.command}` failed: {self.explained} {KEYS}",
            self.detail,
        )


class Installer:
    """Runs uv in a sandbox over a copy of the tree.

    Attributes:
        box: That sandbox; commands of the repository's own run there too.
        place: The one directory besides the copy that may be written to.
    """

    def __init__(self, box: Sandbox, place: Path, uv: str, variables: Mapping[str, str]) -> None:
        self.box = box
        self.place = place
        self._uv = uv
        self._variables = variables

    @property
    def python(self) -> str:
        """The interpreter of the environment that is being made."""
        return f"{self.place}/venv/bin/python"

    def create(self, python: Python, *, with_pip: bool) -> None:
        """Make the empty environment.

        Raises:
            InstallationError: It cannot be made.
        """
        words = ["venv", "--no-project", "--python", python.command, f"{self.place}/venv"]
        failure = self._uv_run(words + (["--seed"] if with_pip else []), "uv venv")
        if failure is not None:
            raise failure.error()

    def install(self, arguments: Sequence[str]) -> Failure | None:
        """Install what `uv pip install` takes; returns what went wrong, if anything."""
        shown = [word.replace(f"{self.box.scratch}/", "") for word in arguments]
        words = ["pip", "install", "--python", self.python, *arguments]
        return self._uv_run(words, f"uv pip install {shlex.join(shown)}")

    def export(self, arguments: Sequence[str]) -> str | Failure:
        """Return what uv.lock pins, as requirements, for the arguments of `uv export`; or why it cannot be read.

        The lock is taken as it is: nothing is asked of an index.
        """
        path = f"{self.box.scratch}/uv.lock.txt"
        # `--dev` is also how an older table, `tool.uv.dev-dependencies`, is named.
        plain = [
            "--frozen",
            "--no-emit-project",
            "--no-default-groups",
            "--dev",
            "--no-annotate",
            "--no-header",
        ]
        words = ["export", *plain, "--python", self.python, "--output-file", path, *arguments]
        failure = self._uv_run(words, shlex.join(["uv", "export", "--frozen", *arguments]))
        return failure or self.box.read(path).decode("utf-8", "replace")

    def install_beside(self, python: str, arguments: Sequence[str]) -> None:
        """Install into a plain directory of packages, `overlay`, for an interpreter that is only read.

        Raises:
            InstallationError: It cannot be done.
        """
        target = ["--target", f"{self.place}/overlay", "--compile-bytecode"]
        words = ["pip", "install", "--python", python, *target, *arguments]
        failure = self._uv_run(words, f"uv pip install {shlex.join(arguments)}")
        if failure is not None:
            raise failure.error()

    def compile(self) -> None:
        """Compile what is installed: later nothing can be written there, and each command would do it again."""
        words = [self.python, "-m", "compileall", "-q", "-j", "0", f"{self.place}/venv/lib"]
        # That a package has files which do not compile (templates, other versions' syntax) is no failure.
        self.box.run(words, timeout_s=STEP_S)

    def shell(self, command: str) -> Failure | None:
        """Run a command of the configuration with the environment active; returns what went wrong, if anything."""
        path = f"{self.place}/venv/bin:/usr/local/bin:/usr/bin:/bin:{Path(self._uv).parent}"
        active = {**self._variables, "VIRTUAL_ENV": f"{self.place}/venv", "PATH": path}
        return _failure(self.box.run(["sh", "-c", command], timeout_s=STEP_S, env=active), command)

    def _uv_run(self, words: Sequence[str], shown: str) -> Failure | None:
        done = self.box.run(
            [self._uv, "--no-progress", "--color", "never", *words],
            timeout_s=STEP_S,
            env=self._variables,
        )
        return _failure(done, shown)


@contextlib.contextmanager
def installing(tree: Path, place: Path, python: Python, mounts: Sequence[Path] = ()) -> Iterator[Installer]:
    """Give an installer that may write to `place` only, until the context ends."""
    from uv import find_uv_bin

    uv = find_uv_bin()
    indexes = configured()
    cache = settings.cache_directory() / "uv"
    cache.mkdir(exist_ok=True)
    host_python = Interpreter(
        python.command, python.version, import_roots=(), mounts=(Path(uv), *indexes.paths, *mounts)
    )
    variables = {
        **indexes.variables,
        "UV_CACHE_DIR": str(cache),
        "UV_PYTHON_DOWNLOADS": "never",
        **versions_without_git(tree),
    }
    limits = replace(LIMITS, disk=room.most_bytes())
    with ProcessSandboxes().open(tree, host_python, limits, network=True, writable=(place, cache)) as box:
        user_settings = Path.home() / ".config" / "uv" / "uv.toml"
        if user_settings.is_file():
            box.write(f"{box.scratch}/home/.config/uv/uv.toml", user_settings.read_bytes())
        yield Installer(box, place, uv, variables)


def versions_without_git(tree: Path) -> dict[str, str]:
    """Return what tells the tools that ask git for the version which one it is: the copy has no history to ask."""
    version = "0.0.0"
    with contextlib.suppress(OSError):
        told = re.search(r"(?m)^Version: (\S+)$", (tree / "PKG-INFO").read_text(errors="replace"))
        version = told[1] if told else version
    return dict.fromkeys(
        (
            "SETUPTOOLS_SCM_PRETEND_VERSION",
            "PDM_BUILD_SCM_VERSION",
            "PBR_VERSION",
            "UV_DYNAMIC_VERSIONING_BYPASS",
        ),
        version,
    )


def _failure(done: Completed, shown: str) -> Failure | None:
    if done.exit_code == 0:
        return None
    lines = [line.rstrip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    detail = "\n".join(lines[-DETAIL_LINES:])
    if done.timed_out:
        return Failure(shown, f"it did not end within {STEP_S:.0f} s.", detail)
    return Failure(shown, _reason(lines) or f"exit code {done.exit_code}.", detail)


def _reason(lines: Sequence[str]) -> str:
    """Return the one line of an installer's output that says why it failed."""
    told = [line.strip() for line in lines if not line.strip().startswith("hint:")]
    if any(line in ("[stdout]", "[stderr]") for line in told):
        text = told[-1]  # the last line of what a build printed, mostly its exception
    else:
        first = next(
            (at for at, line in enumerate(told) if line.startswith(("error:", "×"))), max(len(told) - 1, 0)
        )
        text = " ".join(told[first : first + 3])
    text = re.sub(r"╰─▶|×|error:|cause:", " ", text)
    return f"{' '.join(text.split())[:300].rstrip('.')}." if text.strip() else ""
