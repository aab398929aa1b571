from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import dockers
import pytest

from bot.sandbox import Interpreter, Limits, Sandbox, bubblewrap
from bot.sandbox.docker import DockerSandbox, DockerSandboxes
from bot.sandbox.process import ProcessSandbox, ProcessSandboxes
from tests.conftest import write_tree

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


KINDS = (*dockers.RUNTIMES, "bubblewrap")


@pytest.fixture(params=KINDS)
def closed_box_of(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Sandbox]]:
    """Open any sandbox that closes its processes to each other: `closed_box_of({"a.py": ""})`."""
    if request.param == "bubblewrap":
        if not bubblewrap.works():
            pytest.skip("bubblewrap does not work here")
        yield request.getfixturevalue("open_box")
        return
    sandboxes = dockers.opened(request.param)
    image = request.getfixturevalue("image_interpreter")
    with ExitStack() as stack:

        def open_container(files: Mapping[str, str]) -> Sandbox:
            tree = write_tree(Path(tempfile.mkdtemp(dir=tmp_path)), files)
            return stack.enter_context(sandboxes.open(tree, image))

        yield open_container


DockerOpener = Callable[..., DockerSandbox]


@pytest.fixture(params=dockers.RUNTIMES)
def containers(request: pytest.FixtureRequest) -> DockerSandboxes:
    """What opens Docker sandboxes, under each runtime that the engine has."""
    return dockers.opened(request.param)


@pytest.fixture(scope="session")
def image_interpreter(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    """A Python with pytest and coverage in an image."""
    dockers.opened("runc")
    return dockers.tools(str(tmp_path_factory.mktemp("empty")))


@pytest.fixture
def container_of(
    containers: DockerSandboxes, image_interpreter: Interpreter, tmp_path: Path
) -> Iterator[DockerOpener]:
    """Open a container over files: `container_of({"a.py": ""}, limits=Limits(...))`."""
    with ExitStack() as stack:

        def opener(files: Mapping[str, str] = {}, limits: Limits = Limits()) -> DockerSandbox:  # noqa: B008
            tree = Path(tempfile.mkdtemp(dir=tmp_path))
            for name, content in files.items():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                (tree / name).write_text(content)
            return stack.enter_context(containers.open(tree, image_interpreter, limits))

        yield opener


@pytest.fixture(scope="module", params=dockers.RUNTIMES)
def shared_container(
    request: pytest.FixtureRequest, image_interpreter: Interpreter, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DockerSandbox]:
    """A container for all tests of a module that only look, and leave nothing that another one would meet."""
    with dockers.opened(request.param).open(tmp_path_factory.mktemp("tree"), image_interpreter) as box:
        yield box


@pytest.fixture
def container(container_of: DockerOpener) -> DockerSandbox:
    """A container with an empty tree."""
    return container_of()
