"""Progress as a check run."""

from __future__ import annotations

import pytest

from bot.github import checks, pulls
from bot.github.checks import Annotation
from bot.github.hub import Hub
from tests.github.hands import HandClock, app_for
from tests.github.server import GitHub

REPOSITORY = "octo/parcels"


def test_a_check_run_tells_stage_and_counts_and_how_it_ended(hub: Hub, github: GitHub) -> None:
    check = checks.start(hub, pulls.read(hub, 1), run="run-1")
    (shown,) = github.world.repositories[REPOSITORY].checks
    assert (shown["status"], shown["name"]) == ("in_progress", "testforge")
    checks.update(hub, check, "Selecting tests", {"written": 12, "kept": 3})
    assert shown["output"]["title"] == "Selecting tests"
    assert shown["output"]["summary"] == "12 written, 3 kept"
    checks.finish(hub, check, "success", "### 3 tests", title="3 tests proposed")
    assert (shown["status"], shown["conclusion"]) == ("completed", "success")
    assert shown["output"]["title"] == "3 tests proposed"


def test_a_run_that_is_taken_up_again_goes_on_with_its_check_run(hub: Hub, github: GitHub) -> None:
    pull = pulls.read(hub, 1)
    assert checks.start(hub, pull, run="run-1") == checks.start(hub, pull, run="run-1")
    assert checks.start(hub, pull, run="run-2") != checks.start(hub, pull, run="run-1")
    assert len(github.world.repositories[REPOSITORY].checks) == 2


@pytest.mark.parametrize("kind", ["502", "502-after-success"])
def test_one_check_run_begins_when_the_answer_fails(hub: Hub, github: GitHub, kind: str) -> None:
    github.faults.add(kind, "POST", "/check-runs$")  # type: ignore[arg-type]
    assert checks.start(hub, pulls.read(hub, 1), run="run-1") > 0
    assert len(github.world.repositories[REPOSITORY].checks) == 1


def test_more_than_fifty_annotations_are_sent_in_parts(hub: Hub, github: GitHub) -> None:
    check = checks.start(hub, pulls.read(hub, 1))
    remarks = [Annotation("src/quotes.py", n, n, "Suspected bug", "price", "warning") for n in range(1, 121)]
    checks.finish(hub, check, "neutral", "x" * 70_000, annotations=remarks)
    (shown,) = github.world.repositories[REPOSITORY].checks
    assert [remark["start_line"] for remark in shown["annotations"]] == list(range(1, 121))
    assert shown["status"] == "completed"


def test_without_the_permission_nothing_is_shown_and_nothing_fails(github: GitHub, clock: HandClock) -> None:
    installation = github.world.install({"pull_requests": "read", "metadata": "read"})
    github.world.repositories[REPOSITORY].installation = installation
    with app_for(github, clock).connect(installation, REPOSITORY) as hub:
        check = checks.start(hub, pulls.read(hub, 1), run="run-1")
        assert check == 0
        checks.update(hub, check, "Selecting tests")
        checks.finish(hub, check, "success", "done")
    assert github.writes() == []
