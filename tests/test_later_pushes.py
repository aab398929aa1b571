"""What a run is told of earlier pushes: suites that were proposed, and tests that nobody wants to see again."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bot import pipeline, workshop
from bot.domain import Earlier, Reason, Request
from bot.models import Reply

pytestmark = pytest.mark.slow

SUITE = (
    "from first import double\n\n\ndef test_double():\n    assert double(3) == 6\n\n\n"
    "def test_double_of_nothing():\n    assert double(0) == 0\n    assert double(None) is None\n"
)
SOURCE = "def double(number):\n    if number is None:\n        return None\n    return number * 2\n"


class Counted:
    """A model that gives one suite and counts how often it is asked."""

    name = "counted"

    def __init__(self):
        self.asked = 0

    def complete(self, messages, tools=()):
        self.asked += 1
        return Reply(f"```python\n{SUITE}```\n")


@pytest.fixture
def model(monkeypatch):
    """The model of every run of a test."""
    found = Counted()
    monkeypatch.setattr(workshop, "load", lambda *_, **__: found)
    return found


@pytest.fixture
def review(tmp_path, monkeypatch):
    """Review a change of one file, with what is remembered."""
    root = tmp_path / "repo"
    root.mkdir()
    (root / "README").write_text("one module\n")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "one"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)

    def run(source=SOURCE, **remembered):
        (root / "first.py").write_text(source)
        request = Request(root, base="main", max_iterations=0, sandbox="process", **remembered)
        return pipeline.review(request, lambda _: None).targets[0]

    return run


def test_over_the_pushes_of_a_change(review, model):
    first = review()
    assert model.asked == 1
    assert [row.kept for row in first.ledger] == [True, True]
    assert all(row.behaviours for row in first.kept)
    earlier = (Earlier("first.py", first.target.functions_hash, first.suite.content),)

    again = review(earlier=earlier)
    assert model.asked == 1  # the function is the same, so its suite is only verified
    assert again.suite.content == first.suite.content

    changed = review(SOURCE.replace("* 2", "+ number"), earlier=earlier)
    assert model.asked == 1  # it is another function, and its earlier suite the first draft
    assert changed.suite is not None

    unwanted = frozenset(first.kept[1].behaviours)
    without = review(dismissed=unwanted)
    assert [row.reason for row in without.ledger] == [None, Reason.DISMISSED]
    assert "double(0)" not in without.suite.content
    verified = review(dismissed=unwanted, earlier=earlier)
    assert Reason.DISMISSED in [row.reason for row in verified.ledger]
    assert "double(0)" not in verified.suite.content
