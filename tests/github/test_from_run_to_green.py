"""From a pull request to tests that pass in it: a real run by the built-in model, posted, accepted, run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bot import pipeline
from bot.deliver.review import Review, build
from bot.domain import Request
from bot.github import pulls
from bot.github.cloning import clone
from bot.github.hub import Hub
from bot.github.publishing import publish
from tests.github.server import GitHub

pytestmark = pytest.mark.slow

REPOSITORY = "octo/parcels"
SOURCE = b'''\
def grade(points):
    """Return the grade for a number of points."""
    if points < 0:
        raise ValueError("points must not be negative")
    if points >= 90:
        return "A"
    return "C"
'''
TESTS = b"""\
from school import grade


def test_the_lowest_grade():
    assert grade(0) == "C"
"""


@pytest.fixture
def number(github: GitHub) -> int:
    """A pull request that adds a module and, in the same change, one test for it."""
    world = github.world
    world.push(REPOSITORY, "school", {"school.py": SOURCE, "tests/test_school.py": TESTS})
    return world.open_pull(REPOSITORY, "school").number


def run(hub: Hub, number: int, into: Path, monkeypatch: pytest.MonkeyPatch) -> Review:
    """Review a pull request as the App's child process does."""
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    pull = pulls.read(hub, number)
    clone(hub, pull, into)
    request = Request(root=into, base=pull.base, head=pull.head, sandbox="process", max_iterations=2)
    report = pipeline.review(request, lambda _: None)
    review = build(report, into, run="run-1", base=pull.base, is_fork=pull.is_fork, can_push=pull.can_push)
    publish(hub, pull, review, run="run-1")
    return review


def outcome(github: GitHub, branch: str, tmp_path: Path) -> str:
    """Run the tests of a branch and return pytest's last line."""
    root = tmp_path / "after"
    store = github.world.repositories[REPOSITORY].store
    subprocess.run(["git", "clone", "-q", "-b", branch, str(store.directory), str(root)], check=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_school.py"]
    environment = {"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=environment, check=False)
    return done.stdout.strip().splitlines()[-1]


def test_suggestions_accepted_as_one_batch_give_the_proposed_file_which_passes(
    hub: Hub, github: GitHub, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = run(hub, number, tmp_path / "clone", monkeypatch)
    assert review.suggested == ("tests/test_school.py",)
    assert len(github.world.repositories[REPOSITORY].pulls[number].reviews) == 1
    oid = github.world.apply_suggestions(REPOSITORY, number)
    written = github.world.repositories[REPOSITORY].store.file(oid, "tests/test_school.py")
    assert written == review.files[0].content != TESTS
    assert " passed" in outcome(github, "school", tmp_path)
