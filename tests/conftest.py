"""Fixtures for tests that run code in a real process sandbox."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from bot.sandbox import Interpreter, Sandbox
from bot.sandbox.process import ProcessSandboxes

OpenBox = Callable[..., Sandbox]


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a directory, making what is missing."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    root.mkdir(parents=True, exist_ok=True)
    return root


@pytest.fixture
def interpreter() -> Interpreter:
    """The running Python, which has pytest and coverage."""
    return Interpreter(
        command=sys.executable,
        version=".".join(platform.python_version_tuple()[:2]),
        mounts=(Path(sys.prefix), Path(sys.base_prefix)),
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
