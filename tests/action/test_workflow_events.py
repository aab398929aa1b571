"""The example workflows, run as a runner runs them: each event from GitHub's own payload to review, summary and artefact."""

from __future__ import annotations

import functools
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.action.conftest import REPOSITORY, SOURCE
from tests.action.workflows import ROOT, Outcome, Runner
from tests.github.server import GitHub
from tests.github.server.npm import EXAMPLES
from tests.sandbox import dockers

LOUD = b"print('::error::from the code')\nprint('::set-output name=status::hacked')\n" + SOURCE
QUICK = {"sandbox": "process", "max-iterations": "2"}
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


@pytest.fixture
def runner(github: GitHub, tmp_path: Path) -> Callable[..., Runner]:
    """Makes the machine of a job."""
    return functools.partial(Runner, github, tmp_path / "machine", REPOSITORY)


def example(name: str) -> str:
    """Return the text of an example workflow."""
    return (ROOT / "examples/workflows" / name).read_text("utf-8")


def official(event: str, action: str | None, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return GitHub's own example of an event, with what is different here written over it."""
    (kind,) = [one for one in _examples() if one["name"] == event]
    found = next(one for one in kind["examples"] if one.get("action") == action)
    # An App has an installation, and a workflow's event has none.
    return _over(found, {name: value for name, value in own.items() if name != "installation"})


@functools.cache
def _examples() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(EXAMPLES.file().read_text("utf-8"))
    return found


def _over(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, Mapping):
        return {**below, **{name: _over(below.get(name), value) for name, value in above.items()}}
    return above


def pull_event(github: GitHub, number: int, action: str = "opened") -> dict[str, Any]:
    return official("pull_request", action, github.shapes.payload(REPOSITORY, number, action))


def forked_pull(github: GitHub) -> int:
    github.world.fork(REPOSITORY, "mallory")
    github.world.push("mallory/parcels", "school", {"school.py": LOUD})
    return github.world.open_pull(REPOSITORY, "school", head_repo="mallory/parcels").number


def comment_event(github: GitHub, number: int, body: str, user: str = "alice") -> dict[str, Any]:
    told = github.world.comment(REPOSITORY, number, body, user=user)
    own = github.shapes.payload(REPOSITORY, number, "created", comment=told, sender=user)
    return official("issue_comment", "created", own)


def dispatch_event(github: GitHub, **inputs: str) -> dict[str, Any]:
    repository = github.shapes.repository(github.world.repositories[REPOSITORY])
    own = {"inputs": inputs, "ref": "refs/heads/main", "repository": repository}
    return official("workflow_dispatch", None, own)


def engine_with_images(tools: Path) -> dict[str, str]:
    """Put a `docker` in front of the real one that says of every sandbox image that it is there."""
    tools.mkdir()
    real = shutil.which("docker")
    (tools / "docker").write_text(f'#!/bin/sh\n[ "$1" = image ] || exec {real} "$@"\n')
    (tools / "docker").chmod(0o755)
    return {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}


# ---------------------------------------------------------------- each event


@pytest.mark.slow
def test_a_pull_request_is_reviewed_in_a_container(github: GitHub, runner, pull: int, tmp_path: Path) -> None:
    if dockers.why_not() or not shutil.which("docker"):
        pytest.skip(dockers.why_not() or "no Docker engine's command")
    github.world.push(REPOSITORY, "school", {"school.py": LOUD})
    engine_with_images(tmp_path / "tools")
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
    number = forked_pull(github)

    done = runner().run(example("review.yml"), "pull_request", pull_event(github, number), QUICK)

    assert done.conclusion == "success", done.log
    assert [one.partition(",")[0] for one in done.annotations] == [
        "notice: The token of a fork's workflow cannot write"
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


# ---------------------------------------------------------------- what a workflow can have wrong


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


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"sandbox": "none"}, "error: The input 'sandbox' is 'none'. It can be auto, docker, process."),
        ({"budget-usd": "much"}, "error: The input 'budget-usd' is 'much'. It must be a number from 0 up."),
    ],
)
def test_a_wrong_input_is_one_annotation(
    github: GitHub, runner, pull: int, given: dict[str, str], sentence: str
) -> None:
    event = pull_event(github, pull)

    done = runner().run(example("review.yml"), "pull_request", event, {"sandbox": "process", **given})

    assert (done.steps[-1], done.annotations) == (("Review", 2), [sentence])


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


def _secrets_in(done: Outcome, github: GitHub) -> list[str]:
    """Return the tokens that what a job left shows."""
    shown = done.log + done.summary + str(done.artifacts)
    return [token for token in github.world.tokens if token in shown]


def _posted(github: GitHub) -> list[str]:
    """Return what was written to the tests' GitHub; fetching is none of it."""
    return [entry.path for entry in github.writes() if entry.method != "GIT"]
