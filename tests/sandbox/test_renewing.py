"""Containers that die while the agent works: a fresh one goes on, and what kills every one ends the file with a reason."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import dockers
import pytest

from bot import pipeline
from bot.domain import Request, RunReport
from bot.errors import LostError
from bot.models import Message, Model, Reply, ToolSchema
from bot.sandbox.docker import DockerSandbox, DockerSandboxes
from bot.sandbox.renewing import SPARE, Renewing

pytestmark = pytest.mark.slow

SOURCE = '''\
def double(number):
    """Return twice a number.

    >>> double(4)
    8
    """
    return number * 2
'''


class Row:
    """Containers that come one after the other, each from the engine."""

    def __init__(self, sandboxes: DockerSandboxes, tree: Path) -> None:
        self.boxes: list[DockerSandbox] = []
        self.notes: list[str] = []
        self._open = lambda: sandboxes.open(tree, dockers.tools(str(tree)))

    def next(self) -> DockerSandbox:
        self.boxes.append(self._open())
        return self.boxes[-1]

    def kill(self) -> None:
        """Kill the newest as the system does for want of memory."""
        with contextlib.closing(dockers.opened("runc").engine.client()) as client:
            client.kill(self.boxes[-1].container)


@pytest.fixture
def row(tmp_path: Path) -> Row:
    (tmp_path / "kept.py").write_text("KEPT = 1\n")
    return Row(dockers.opened("runc"), tmp_path)


def test_a_fresh_container_has_what_was_written_and_does_what_was_begun(row: Row) -> None:
    with Renewing(row.next, row.notes.append) as box:
        box.write("tests/test_new.py", b"NEW = 2\n")
        box.write("gone.py", b"")
        box.remove("gone.py")
        row.kill()
        done = box.run(["cat", "kept.py", "tests/test_new.py"], timeout_s=60)
        assert done.stdout == "KEPT = 1\nNEW = 2\n"
        assert box.files() == ("kept.py", "tests/test_new.py")
    assert (len(row.boxes), len(row.notes)) == (2, 1)


def test_what_kills_every_container_is_given_up_with_the_reason(row: Row) -> None:
    with Renewing(row.next, row.notes.append) as box:
        for _ in range(SPARE):
            row.kill()
            assert box.read("kept.py") == b"KEPT = 1\n"
        row.kill()
        for _ in range(2):
            with pytest.raises(LostError, match="ended in the middle of the run"):
                box.read("kept.py")
    assert len(row.boxes) == SPARE + 1


class Killing:
    """A model whose conversation costs containers: all there are of this process die before some of its replies."""

    def __init__(self, model: Model, when: Callable[[int], bool]) -> None:
        self.name = model.name
        self.killed = 0
        self._model, self._when, self._calls = model, when, 0

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        reply = self._model.complete(messages, tools)
        self._calls += 1
        if tools and self._when(self._calls):
            with contextlib.closing(dockers.opened("runc").engine.client()) as client:
                for row in client.containers(filters={"label": "testforge.container"}):
                    if row["Labels"]["testforge.owner"].startswith(f"{os.getpid()}-"):
                        client.kill(row["Id"])
                        self.killed += 1
        return reply


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a change that is worth a test."""
    dockers.opened("runc")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    (tmp_path / "README").write_text("one module\n")
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "one"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "first.py").write_text(SOURCE)
    return tmp_path


def review(root: Path, when: Callable[[int], bool]) -> tuple[RunReport, int]:
    models: list[Killing] = []

    def wrap(model: Model) -> Model:
        models.append(Killing(model, when))
        return models[-1]

    request = Request(root, base="main", sandbox="docker", max_iterations=3)
    report = pipeline.review(request, lambda _: None, wrap=wrap)
    return report, models[0].killed


def test_a_container_that_dies_in_the_loop_changes_nothing_of_the_result(root: Path) -> None:
    calm, _ = review(root, lambda _: False)
    report, killed = review(root, lambda call: call == 2)
    assert killed == 1
    assert (report.status, report.is_broken) == (calm.status, False) == ("proposed", False)
    assert report.targets[0].suite == calm.targets[0].suite


def test_a_loop_whose_containers_all_die_ends_with_a_clear_result(root: Path) -> None:
    report, killed = review(root, lambda _: True)
    assert killed == SPARE + 1
    assert (report.status, report.is_broken) == ("inconclusive", True)
    assert "ended in the middle of the run" in report.targets[0].reason
