"""What a workflow, its runner or its event can have wrong: one clear annotation each, and the right exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.action.conftest import REPOSITORY, SOURCE
from tests.action.occasions import QUICK, dispatch_event, example, pull_event
from tests.github.server import GitHub

BY_BASE = """\
on:
  workflow_dispatch:
    inputs: {base: {required: true}}
permissions: {contents: read}
jobs:
  generate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v7
        with: {fetch-depth: DEPTH}
      - uses: testforge/testforge@v0
        with: {base: "${{ inputs.base }}", sandbox: process}
"""


def test_a_shallow_checkout_without_the_base_is_one_annotation(github: GitHub, runner) -> None:
    first = github.world.repositories[REPOSITORY].store.tip("main")
    github.world.push(REPOSITORY, "main", {"school.py": SOURCE})

    done = runner().run(
        BY_BASE.replace("DEPTH", "1"), "workflow_dispatch", dispatch_event(github, base=first)
    )

    assert (done.conclusion, done.steps[-1]) == ("failure", ("Review", 2))
    (annotation,) = done.annotations
    assert annotation.startswith(f"error: There is no commit '{first}' in this shallow clone.")
    assert annotation.endswith("In a workflow: give actions/checkout `fetch-depth: 0`.")


def test_with_all_history_the_base_may_be_another_branch(github: GitHub, runner) -> None:
    github.world.push(REPOSITORY, "stable", {"notes.md": b"kept\n"})
    github.world.push(REPOSITORY, "main", {"notes.md": b"new\n"})

    done = runner().run(
        BY_BASE.replace("DEPTH", "0"), "workflow_dispatch", dispatch_event(github, base="stable")
    )

    assert (done.conclusion, done.annotations) == ("success", []), done.log
    assert done.outputs["status"] == "nothing-to-test"


def test_a_run_by_hand_without_a_checkout_says_which_step_is_missing(github: GitHub, runner) -> None:
    workflow = BY_BASE.replace("- uses: actions/checkout@v7\n        with: {fetch-depth: DEPTH}\n      ", "")

    done = runner().run(workflow, "workflow_dispatch", dispatch_event(github, base="main"))

    assert done.steps[-1] == ("Review", 2)
    (annotation,) = done.annotations
    assert annotation.endswith("In a workflow: a run by hand needs a step with actions/checkout before it.")


def test_a_runner_without_docker_is_one_annotation(github: GitHub, runner, pull: int, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/docker").write_text("#!/bin/sh\nexit 127\n")
    (tmp_path / "tools/docker").chmod(0o755)
    machine = runner(path=[tmp_path / "tools"], variables={"DOCKER_HOST": f"unix://{tmp_path}/docker.sock"})

    done = machine.run(example("review.yml"), "pull_request", pull_event(github, pull))

    assert (done.conclusion, done.steps[-1]) == ("failure", ("Review", 3))
    (annotation,) = done.annotations
    assert annotation.startswith("error: No Docker engine answers at")
    assert annotation.endswith("or `sandbox: process` for code you trust.")
    assert (done.outputs["status"], done.artifacts) == ("inconclusive", {})


@pytest.mark.slow
def test_without_the_permission_to_post_the_tests_are_still_kept(github: GitHub, runner, pull: int) -> None:
    workflow = example("review.yml").replace("pull-requests: write", "pull-requests: read")
    workflow = workflow.replace("issues: write", "issues: read")

    done = runner().run(workflow, "pull_request", pull_event(github, pull), QUICK)

    assert (done.conclusion, done.steps[-1]) == ("failure", ("Review", 1))
    (annotation,) = done.annotations
    assert annotation.startswith("error: GitHub refused:")
    assert "The job needs `permissions: contents: read, pull-requests: write" in annotation
    assert done.outputs["status"] == "failed"
    assert "school.py" in done.summary
    assert done.artifacts["testforge"]["tests.patch"].startswith(b"diff --git")


def test_a_wrong_input_is_one_annotation(github: GitHub, runner, pull: int) -> None:
    event = pull_event(github, pull)

    done = runner().run(example("review.yml"), "pull_request", event, {"sandbox": "none"})

    assert done.steps[-1] == ("Review", 2)
    assert done.annotations == ["error: The input 'sandbox' is 'none'. It can be auto, docker, process."]


def test_a_closed_pull_request_is_a_notice(github: GitHub, runner, pull: int) -> None:
    github.world.close(REPOSITORY, pull)

    done = runner().run(example("review.yml"), "pull_request", pull_event(github, pull), QUICK)

    assert (done.conclusion, done.annotations) == ("success", ["notice: The pull request is closed."])
    assert done.outputs["status"] == "nothing-to-test"


def test_an_event_without_pull_request_is_one_annotation(github: GitHub, runner, pull: int) -> None:
    event = {name: value for name, value in pull_event(github, pull).items() if name != "pull_request"}

    done = runner().run(example("review.yml"), "pull_request", event, QUICK)

    assert done.steps[-1] == ("Review", 2)
    assert done.annotations == ["error: The event names no pull request, so there is nothing to review."]
