"""Fixtures for tests that run code in a real process sandbox."""

from __future__ import annotations

import importlib.metadata
import platform
import signal
import sys
import venv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import hypothesis
import pytest

from bot.sandbox import Interpreter, Sandbox
from bot.sandbox.process import ProcessSandboxes

# A shell that starts the tests in the background has Ctrl-C ignored, and what the tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run: a property that fails now and then is found by running it with another profile.
hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None)
hypothesis.settings.load_profile("fixed")

OpenBox = Callable[..., Sandbox]


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a directory, making what is missing."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    root.mkdir(parents=True, exist_ok=True)
    return root


@pytest.fixture(scope="session")
def interpreter(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    """The running Python with pytest and coverage and nothing else.

    The plugins of testforge's own tests (hypothesis above all) would cost every run in a sandbox a second or two.
    """
    place = tmp_path_factory.mktemp("lean") / "venv"
    venv.create(place, symlinks=True, with_pip=False)
    packages = next(place.glob("lib/python*/site-packages"))
    for name in ("pytest", "coverage", "pluggy", "iniconfig", "packaging", "pygments"):
        distribution = importlib.metadata.distribution(name)
        home = Path(str(distribution.locate_file(""))).resolve()
        tops = {
            file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")
        }
        for top in tops:
            (packages / top).symlink_to(home / top)
    return Interpreter(
        command=str(place / "bin" / "python"),
        version=".".join(platform.python_version_tuple()[:2]),
        mounts=(place, Path(sys.prefix), Path(sys.base_prefix)),
        key="running",
    )


@pytest.fixture
def open_box(interpreter: Interpreter, tmp_path: Path) -> Iterator[OpenBox]:
    """Open a sandbox over files: `open_box({"pkg/mod.py": "..."}, roots=("src",))`; closed at the test's end."""
    from dataclasses import replace

    opened = 0
    with ExitStack() as stack:

        def opener(files: Mapping[str, str | bytes], roots: Sequence[str] = (".",)) -> Sandbox:
            nonlocal opened
            opened += 1
            tree = write_tree(tmp_path / f"tree{opened}", files)
            box = ProcessSandboxes().open(tree, replace(interpreter, import_roots=tuple(roots)))
            return stack.enter_context(box)

        yield opener


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why tests were skipped, once for each reason: a machine without npm leaves hundreds out."""
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    )
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"SKIPPED {count}: {reason}")
