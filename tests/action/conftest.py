"""A runner: the files and variables that a step of a workflow finds, and a GitHub that its token is good for."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.action.run import act
from bot.settings import Settings
from tests.action.logs import outputs
from tests.action.workflows import Runner
from tests.github.hands import HandClock
from tests.github.server import GitHub, UnavailableError

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
TESTS = b"from school import grade\n\n\ndef test_the_lowest_grade():\n    assert grade(0) == 'C'\n"


@dataclass
class Step:
    """One step's environment, and what it left."""

    github: GitHub
    directory: Path
    environment: dict[str, str]

    def run(self, event: str, payload: Mapping[str, object], **inputs: str) -> int:
        """Run the step for an event; inputs by name, with underscores."""
        path = self.directory / "event.json"
        path.write_text(json.dumps(payload))
        given = {f"TESTFORGE_INPUT_{name.upper()}": value for name, value in inputs.items()}
        self.environment |= {"GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": str(path), **given}
        return act(self.environment, Settings(github_url=self.github.url, github_timeout_s=20))

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs as the runner reads them."""
        return outputs(Path(self.environment["GITHUB_OUTPUT"]).read_text())

    @property
    def summary(self) -> str:
        """The job's summary."""
        return Path(self.environment["GITHUB_STEP_SUMMARY"]).read_text()


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHub]:
    server = GitHub(tmp_path / "github", HandClock())
    server.world.slug = "github-actions"
    try:
        server.__enter__()
    except UnavailableError as error:
        pytest.skip(str(error))
    with server:
        installation = server.world.install()
        server.world.add_repository(REPOSITORY, {"README.md": b"# school\n"}, installation=installation)
        yield server
    assert server.violations == []


@pytest.fixture
def pull(github: GitHub) -> int:
    """A pull request that adds a module and a test."""
    github.world.push(REPOSITORY, "school", {"school.py": SOURCE, "tests/test_school.py": TESTS})
    return github.world.open_pull(REPOSITORY, "school").number


@pytest.fixture
def step(github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Step:
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    for name in ("output", "summary"):
        (tmp_path / name).touch()
    (tmp_path / "temp").mkdir()
    installation = github.world.repositories[REPOSITORY].installation
    assert installation is not None
    permissions = {"contents": "write", "pull_requests": "write", "issues": "write", "metadata": "read"}
    token = github.world.make_token(installation, [REPOSITORY], permissions)
    return Step(
        github,
        tmp_path,
        {
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": "77",
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "RUNNER_TEMP": str(tmp_path / "temp"),
            "TESTFORGE_INPUT_GITHUB_TOKEN": token.value,
            "TESTFORGE_INPUT_SANDBOX": "process",
            "TESTFORGE_INPUT_MAX_ITERATIONS": "2",
        },
    )


@pytest.fixture
def payload(github: GitHub) -> Callable[..., dict[str, object]]:
    """The payload of a pull request's event, as far as the Action reads it."""

    def made(number: int, **pull: object) -> dict[str, object]:
        return {
            "action": "opened",
            "pull_request": {"number": number, "state": "open", "draft": False, **pull},
        }

    return made


@pytest.fixture
def comment() -> Callable[..., dict[str, object]]:
    """The payload of a comment below a pull request."""

    def made(number: int, body: str, user: str = "alice") -> dict[str, object]:
        person = {"login": user, "type": "User"}
        return {
            "action": "created",
            "repository": {"full_name": REPOSITORY},
            "issue": {"number": number, "pull_request": {}},
            "comment": {"id": 1, "body": body, "user": person},
            "sender": person,
        }

    return made


@pytest.fixture
def runner(github: GitHub, tmp_path: Path) -> Callable[..., Runner]:
    """Makes the machine of a workflow's job."""
    return functools.partial(Runner, github, tmp_path / "machine", REPOSITORY)
