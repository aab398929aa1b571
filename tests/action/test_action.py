"""The Action as a runner starts it, from a workflow's event to the review, the outputs and the annotations."""

from __future__ import annotations

import pytest

from bot import pipeline
from bot.domain import RunReport, SuspectedBug, Target, TargetReport, Usage
from tests.action.conftest import REPOSITORY, SOURCE, Step

# ---------------------------------------------------------------- pull requests


@pytest.mark.parametrize(
    ("more", "sentence"),
    [({"state": "closed"}, "The pull request is closed."), ({"draft": True}, "The pull request is a draft")],
)
def test_what_is_not_to_be_reviewed_is_told_and_fails_nothing(
    step, pull, payload, capsys, more, sentence
) -> None:
    assert step.run("pull_request", payload(pull, **more)) == 0
    assert f"::notice::{sentence}" in capsys.readouterr().out
    assert step.outputs == {"status": "nothing-to-test"}


def test_missing_permissions_are_told_with_what_to_write(
    step: Step, pull: int, payload, github, capsys
) -> None:
    installation = github.world.repositories[REPOSITORY].installation
    token = github.world.make_token(installation, [REPOSITORY], {"metadata": "read"})
    assert step.run("pull_request", payload(pull), github_token=token.value) == 1
    out = capsys.readouterr().out
    assert out.count("::error::") == 1
    assert "permissions: contents: read, pull-requests: write" in out


# ---------------------------------------------------------------- comments


@pytest.mark.parametrize(
    ("body", "user", "answer"),
    [
        ("/testforge", "bob", "Only people with write permission"),
        ("/testforge help", "alice", "/testforge apply"),
        ("/testforge dismiss T1", "alice", "The Action forgets each run when it ends"),
    ],
)
def test_a_command_that_needs_no_run_is_answered(step: Step, pull: int, comment, body, user, answer) -> None:
    world = step.github.world
    told = world.comment(REPOSITORY, pull, body, user=user)
    event = comment(pull, body, user)
    event["comment"]["id"] = told.id
    assert step.run("issue_comment", event) == 0
    comments = world.repositories[REPOSITORY].pulls[pull].comments
    assert answer in comments[-1].body


def test_a_comment_without_command_does_nothing(step: Step, pull: int, comment) -> None:
    assert step.run("issue_comment", comment(pull, "Thank you!")) == 0
    assert not step.github.writes()


# ---------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("event", "payload", "inputs", "sentence"),
    [
        ("push", {}, {}, "testforge does nothing for the event 'push'."),
        ("pull_request", {"action": "opened"}, {}, "The event names no pull request"),
        (
            "pull_request_target",
            {"pull_request": {"number": 1}},
            {},
            "does not run under pull_request_target",
        ),
        ("workflow_dispatch", {}, {}, "needs the input `file`"),
        (
            "pull_request",
            {},
            {"sandbox": "none"},
            "The input 'sandbox' is 'none'. It can be auto, docker, process.",
        ),
        ("pull_request", {}, {"budget_usd": "much"}, "The input 'budget-usd' is 'much'. It must be a number"),
        ("pull_request", {}, {"fail_on": "always"}, "The input 'fail-on' is 'always'."),
    ],
)
def test_what_cannot_be_done_is_one_annotation(step, capsys, event, payload, inputs, sentence) -> None:
    assert step.run(event, payload, **inputs) == 2
    out = capsys.readouterr().out
    assert out.count("::error::") == 1
    assert sentence in out


def test_an_empty_token_is_told(step: Step, pull: int, payload, capsys) -> None:
    assert step.run("pull_request", payload(pull), github_token="") == 2
    assert "The input `github-token` is empty." in capsys.readouterr().out


# ---------------------------------------------------------------- what the workflow wants to fail for

BUG = SuspectedBug("tests/test_school.py::test_a", "grade", "'B'", "'C'")
TARGET = Target("school.py", "school", SOURCE.decode(), frozenset({5, 6}))


@pytest.mark.parametrize(
    ("fail_on", "found", "code", "annotation"),
    [
        ("never", {"status": "proposed", "suspected_bugs": (BUG,)}, 0, ""),
        (
            "suspected-bug",
            {"status": "proposed", "suspected_bugs": (BUG,)},
            3,
            "::error file=school.py,line=5::grade may be wrong: expected 'B', observed 'C'",
        ),
        ("suspected-bug", {"status": "inconclusive", "reason": "It hangs."}, 0, ""),
        (
            "no-tests",
            {"status": "no-useful-tests"},
            3,
            "::error file=school.py,line=5::No useful test was found.",
        ),
        (
            "inconclusive",
            {"status": "inconclusive", "reason": "It hangs."},
            3,
            "::error file=school.py,line=5::It hangs.",
        ),
        ("inconclusive no-tests", {"status": "proposed"}, 0, ""),
    ],
)
def test_a_step_fails_for_what_fail_on_names_and_annotates_it(
    step: Step, pull: int, payload, capsys, monkeypatch, fail_on, found, code, annotation
) -> None:
    def reviewed(request, tell):
        target = TargetReport(
            TARGET, found["status"], found.get("reason", ""), suspected_bugs=found.get("suspected_bugs", ())
        )
        return RunReport(
            found["status"],
            "",
            request.base,
            request.head,
            "testforge/offline",
            "process",
            1.0,
            Usage(),
            (target,),
            (),
        )

    monkeypatch.setattr(pipeline, "review", reviewed)
    assert step.run("pull_request", payload(pull), fail_on=fail_on) == code
    out = capsys.readouterr().out
    errors = [line for line in out.splitlines() if line.startswith("::error")]
    assert ("::warning::It hangs." in out) == (found["status"] == "inconclusive" and code == 0)
    assert len(errors) == bool(annotation)
    assert "".join(errors).startswith(annotation)
