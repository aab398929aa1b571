"""The story with a model that does as it is told: what goes wrong with one target leaves the others alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bot import pipeline, stages, workshop
from bot.domain import Delta, Request, Usage
from bot.errors import MeasureError, ModelError
from bot.models import Reply
from bot.models.budget import BudgetError

pytestmark = pytest.mark.slow

SUITE = "```python\nfrom first import double\n\n\ndef test_double():\n    assert double(3) == 6\n```\n"


class Answers:
    """A model that gives these replies, or raises these errors, in order."""

    name = "scripted"

    def __init__(self, *answers):
        self.answers = list(answers)

    def complete(self, messages, tools=()):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer, usage=Usage(prompt=10, cost_usd=0.25))


@pytest.fixture
def review(tmp_path, monkeypatch):
    """Review a change of two files with a model's answers, one seed each and no loop."""
    root = tmp_path / "repo"
    root.mkdir()
    (root / "README").write_text("two modules\n")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "one"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    (root / "first.py").write_text("def double(number):\n    return number * 2\n")
    (root / "second.py").write_text("def half(number):\n    return number / 2\n")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)

    def run(*answers):
        monkeypatch.setattr(workshop, "load", lambda *_, **__: Answers(*answers))
        return pipeline.review(Request(root, base="main", max_iterations=0), lambda _: None)

    return run


def test_a_model_that_stops_answering_leaves_what_was_found(review):
    report = review(SUITE, ModelError("The model gave no reply."))
    assert report.status == "proposed"
    assert [(each.target.path, each.status, len(each.kept)) for each in report.targets] == [
        ("first.py", "proposed", 1),
        ("second.py", "failed", 0),
    ]
    assert report.targets[1].reason == "The model gave no reply."


def test_a_model_that_never_answers_is_a_failed_run(review):
    report = review(*[ModelError("The model gave no reply.")] * 2)
    assert (report.status, report.reason) == ("failed", "The model gave no reply.")


def test_a_target_that_the_budget_does_not_reach_leaves_the_others_proposed(review):
    report = review(SUITE, BudgetError("Nothing is left of the budget."))
    assert report.status == "proposed"
    assert [target.status for target in report.targets] == ["proposed", "inconclusive"]
    assert report.targets[1].reason == "Nothing is left of the budget."


def test_what_was_spent_on_a_target_counts_even_if_it_could_not_be_judged(review, monkeypatch):
    def broken(*_):
        raise MeasureError("It broke.")

    monkeypatch.setattr(stages, "select", broken)
    report = review(SUITE, "no code at all")
    assert [target.status for target in report.targets] == ["inconclusive", "no-useful-tests"]
    assert report.usage.cost_usd == 0.5


def test_a_target_without_a_suite_says_so_and_shows_what_the_existing_tests_reach(review):
    report = review(SUITE, "no code at all")
    assert report.targets[1].reason == "No test was written. The limit of 0 iterations is reached."
    assert report.targets[1].coverage.file == Delta(0.0, 0.0)
