from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from bot.sandbox import Interpreter, Limits, bubblewrap
from bot.sandbox.process import ProcessSandbox, ProcessSandboxes

Opener = Callable[..., ProcessSandbox]


@pytest.fixture(params=[True, False], ids=["bubblewrap", "plain"])
def walls(request: pytest.FixtureRequest) -> bool:
    """Both modes of the process sandbox."""
    if request.param and not bubblewrap.works():
        pytest.skip("bubblewrap does not work here")
    return bool(request.param)


@pytest.fixture
def box_of(walls: bool, interpreter: Interpreter, tmp_path: Path) -> Iterator[Opener]:
    """Open a sandbox over files, in each mode: `box_of({"a.py": ""}, limits=Limits(...))`."""
    tree = tmp_path / "tree"
    tree.mkdir()
    with ExitStack() as stack:

        def opener(files: Mapping[str, str] = {}, limits: Limits = Limits()) -> ProcessSandbox:  # noqa: B008
            for name, content in files.items():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                (tree / name).write_text(content)
            return stack.enter_context(ProcessSandboxes(walls).open(tree, interpreter, limits))

        yield opener


@pytest.fixture
def box(box_of: Opener) -> ProcessSandbox:
    """A sandbox with an empty tree, in each mode."""
    return box_of()
