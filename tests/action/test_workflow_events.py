"""The example workflows, run as a runner runs them: each event from GitHub's own payload to review, summary and artefact."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.action.conftest import REPOSITORY, SOURCE
from tests.action.occasions import (
    LOUD,
    QUICK,
    comment_event,
    dispatch_event,
    example,
    forked_pull,
    pull_event,
)
from tests.action.workflows import Outcome
from tests.github.server import GitHub
from tests.sandbox import dockers


def pretend_images(tools: Path) -> None:
    """Put a `docker` in front of the real one that says of every sandbox image that it is there."""
    tools.mkdir()
    real = shutil.which("docker")
    (tools / "docker").write_text(f'#!/bin/sh\n[ "$1" = image ] || exec {real} "$@"\n')
    (tools / "docker").chmod(0o755)


@pytest.mark.slow
def test_a_pull_request_is_reviewed_in_a_container(github: GitHub, runner, pull: int, tmp_path: Path) -> None:
    if dockers.why_not() or not shutil.which("docker"):
        pytest.skip(dockers.why_not() or "no Docker engine's command")
    github.world.push(REPOSITORY, "school", {"school.py": LOUD})
    pretend_images(tmp_path / "tools")
    machine = runner(path=[tmp_path / "tools"])

    done = machine.run(
        example("review.yml"), "pull_request", pull_event(github, pull), {"max-iterations": "2"}
    )

    assert (done.conclusion, done.annotations) == ("success", []), done.log
    assert [name for name, _ in done.steps] == [
        "Set testforge up",
        "Make the sandbox's image",
        "Review",
    ]
    (review,) = github.world.repositories[REPOSITORY].pulls[pull].reviews
    assert str(review.id) in done.outputs["review-url"]
    assert done.outputs["status"] == "proposed"
    assert int(done.outputs["tests-added"]) > 0
    assert done.outputs["mutation-delta"].startswith("+")
    assert "school.py" in done.summary
    kept = done.artifacts["testforge"]
    assert kept["tests.patch"].startswith(b"diff --git")
    report = json.loads(kept["report.json"])
    assert (report["schema"], report["sandbox"]) == (1, "docker")
    assert not _secrets_in(done, github)


@pytest.mark.slow
def test_a_forks_pull_request_leaves_summary_and_patch_and_posts_nothing(github: GitHub, runner) -> None:
    """Also where the workflow names a model: a fork's workflow has no key for it."""
    number = forked_pull(github)
    inputs = {**QUICK, "model": "openai/gpt-4o"}

    done = runner().run(example("review.yml"), "pull_request", pull_event(github, number), inputs)

    assert done.conclusion == "success", done.log
    assert [one.partition(",")[0] for one in done.annotations] == [
        "notice: A fork's workflow has no key for the model",
        "notice: The token of a fork's workflow cannot write",
    ]
    assert not _posted(github)
    assert done.outputs["status"] == "proposed"
    assert "school.py" in done.summary
    assert done.artifacts["testforge"]["tests.patch"].startswith(b"diff --git")


@pytest.mark.slow
def test_a_command_of_somebody_who_may_write_is_obeyed_on_a_forks_pull_request(
    github: GitHub, runner
) -> None:
    number = forked_pull(github)
    event = comment_event(github, number, "/testforge")

    done = runner().run(example("commands.yml"), "issue_comment", event, QUICK)

    assert (done.conclusion, done.annotations) == ("success", []), done.log
    (review,) = github.world.repositories[REPOSITORY].pulls[number].reviews
    assert str(review.id) in done.outputs["review-url"]


@pytest.mark.parametrize(("body", "conclusion"), [("Thank you!", "skipped"), ("/testforge", "success")])
def test_a_comment_of_somebody_who_may_not_write_starts_no_review(
    github: GitHub, runner, pull: int, body: str, conclusion: str
) -> None:
    event = comment_event(github, pull, body, user="bob")

    done = runner().run(example("commands.yml"), "issue_comment", event, QUICK)

    assert done.conclusion == conclusion
    assert done.annotations == ["notice: bob may not command testforge here."] * (conclusion == "success")
    assert github.world.repositories[REPOSITORY].pulls[pull].reviews == []


@pytest.mark.slow
def test_one_file_is_tested_by_hand(github: GitHub, runner) -> None:
    github.world.push(REPOSITORY, "main", {"school.py": SOURCE})

    done = runner().run(
        example("by-hand.yml"), "workflow_dispatch", dispatch_event(github, file="school.py"), QUICK
    )

    assert (done.conclusion, done.annotations) == ("success", []), done.log
    assert done.outputs["status"] == "proposed"
    assert b"test_school.py" in done.artifacts["testforge"]["tests.patch"]
    assert not _posted(github)


def _secrets_in(done: Outcome, github: GitHub) -> list[str]:
    """Return the tokens that what a job left shows."""
    shown = done.log + done.summary + str(done.artifacts)
    return [token for token in github.world.tokens if token in shown]


def _posted(github: GitHub) -> list[str]:
    """Return what was written to the tests' GitHub; fetching is none of it."""
    return [entry.path for entry in github.writes() if entry.method != "GIT"]
