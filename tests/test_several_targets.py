"""Several targets at once with a distant model: nothing of the schedule shows in what comes out."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, Raw, Turn, serving

from bot.domain import Request, RunReport
from bot.pipeline import review
from bot.sandbox import Interpreter

pytestmark = pytest.mark.slow

NAMES = ("first", "second")
SUITE = """```python
from {name} import double


def test_double_of_{name}():
    assert double({number}) == {twice}
```"""


@pytest.fixture(name="server")
def _server() -> Iterator[ModelServer]:
    with serving() as server:
        server.chosen = _seed
        yield server


@pytest.fixture(name="repo")
def _repo(tmp_path: Path, interpreter: Interpreter, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "README").write_text("modules\n", "utf-8")
    (root / ".github").mkdir()
    (root / ".github/testforge.yml").write_text("mutation:\n  enabled: false\n", "utf-8")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "one"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    for name in NAMES:
        (root / f"{name}.py").write_text("def double(number):\n    return number * 2\n", "utf-8")
    monkeypatch.setenv("VIRTUAL_ENV", str(Path(interpreter.command).parents[1]))
    return root


def _seed(request: dict[str, Any]) -> Turn | Raw:
    """Answer the greeting, or the seed of whichever file is asked for."""
    text = json.dumps(request["messages"])
    for number, name in enumerate(NAMES, 1):
        if f"File under test: {name}.py" in text:
            return Turn(SUITE.format(name=name, number=number, twice=2 * number))
    return Turn("ready")


def run(root: Path, **more: Any) -> RunReport:
    options = {"model": "openai/gpt-4o", "sandbox": "process", "max_iterations": 0, **more}
    return review(Request(root, base="main", **options), lambda _: None)


def told(report: RunReport) -> list[tuple[str, str, str]]:
    return [
        (each.target.path, each.status, each.suite.content if each.suite else "") for each in report.targets
    ]


def test_what_comes_out_is_the_same_whether_files_are_asked_for_at_once_or_in_turn(
    server: ModelServer, repo: Path
) -> None:
    together = threading.Barrier(len(NAMES), timeout=120)

    def answer(request: dict[str, Any]) -> Turn | Raw:
        if "File under test" in json.dumps(request["messages"]):
            together.wait()  # nobody gets a reply before all have asked
        return _seed(request)

    server.lock, lock = _NoLock(), server.lock
    server.chosen = answer
    at_once = run(repo)
    server.lock, server.chosen = lock, _seed
    in_turn = run(repo, jobs=1)
    assert told(at_once) == told(in_turn)
    assert [path for path, *_ in told(at_once)] == [f"{name}.py" for name in NAMES]
    assert {status for _, status, _ in told(at_once)} == {"proposed"}
    assert at_once.usage == in_turn.usage
    assert at_once.usage.cost_usd == pytest.approx((1 + len(NAMES)) * 0.003)


def test_a_budget_is_kept_by_all_together(server: ModelServer, repo: Path) -> None:
    report = run(repo, budget_usd=0.05)
    assert report.usage.cost_usd <= 0.05
    assert {each.status for each in report.targets} <= {"proposed", "inconclusive"}
    assert all(request["max_tokens"] * 1e-5 <= 0.05 for request in server.requests)


def test_a_file_that_two_targets_would_extend_holds_the_tests_of_both(
    server: ModelServer, repo: Path
) -> None:
    (repo / "tests").mkdir()
    for folder in ("a", "b"):
        (repo / folder).mkdir()
        (repo / folder / "__init__.py").write_text("", "utf-8")
        (repo / folder / "maths.py").write_text(f"def {folder}(x):\n    return x + 1\n", "utf-8")

    def answer(request: dict[str, Any]) -> Turn | Raw:
        text = json.dumps(request["messages"])
        for folder in ("a", "b"):
            if f"File under test: {folder}/maths.py" in text:
                body = f"from {folder}.maths import {folder}\n\n\ndef test_{folder}():\n    assert {folder}(1) == 2\n"
                return Turn(f"```python\n{body}```")
        return Turn("ready")

    server.chosen = answer
    report = run(repo, only=("a", "b"))
    suites = [each.suite for each in report.targets]
    assert all(suite is not None for suite in suites)
    paths = [suite.path for suite in suites if suite]
    last = {suite.path: suite.content for suite in suites if suite}
    assert "def test_a" in "".join(last.values())
    assert "def test_b" in "".join(last.values())
    assert len(set(paths)) == len(last)


class _NoLock:
    """In place of the server's lock, for an answer that waits for other requests."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def test_a_budget_of_nothing_runs_the_built_in_model(server: ModelServer, repo: Path) -> None:
    report = run(repo, budget_usd=0.0, only=("first.py",))
    assert (report.model, server.requests) == ("testforge/offline", [])
    assert report.usage.cost_usd == 0.0


def test_an_unknown_model_is_found_before_anything_is_prepared(repo: Path) -> None:
    from bot.errors import UsageError

    stages: list[str] = []
    wish = Request(repo, base="main", model="nobody/nothing", sandbox="process")
    with pytest.raises(UsageError, match="There is no model 'nobody/nothing'"):
        review(wish, lambda progress: stages.append(progress.stage))
    assert set(stages) == {"changes", "model"}


def test_ctrl_c_ends_all_of_them_with_a_report_of_what_was_found(server: ModelServer, repo: Path) -> None:
    asked = threading.Barrier(len(NAMES) + 1, timeout=200)

    def answer(request: dict[str, Any]) -> Turn | Raw:
        if "File under test" not in json.dumps(request["messages"]):
            return Turn("ready")
        asked.wait()
        return Raw(manner="stall")

    server.lock, server.chosen = _NoLock(), answer
    options = ["--base", "main", "--model", "openai/gpt-4o", "--sandbox", "process", "--json", "-"]
    with subprocess.Popen(
        [sys.executable, "-c", "from bot.entry import main; main()", "review", str(repo), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as run:
        asked.wait()
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=200)
    assert run.returncode == 1, err
    assert json.loads(out)["status"] == "cancelled"
    assert b"Traceback" not in err
