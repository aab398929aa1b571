"""The commands: options, exit codes, sentences. The pipeline behind them is a fake here, except in the slow tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import bot
from bot.cli import app
from bot.domain import (
    Function,
    Judgement,
    Progress,
    Request,
    RunReport,
    Suite,
    Target,
    TargetReport,
)
from bot.errors import InconclusiveError, ModelError, TestforgeError

SUITE = "from add import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"


class Calls(list[Request]):
    """What the commands asked of the pipeline, and what it answers: a report, an exception, or a function."""

    answer: RunReport | BaseException | Callable[[Request], RunReport]


def report(status: str = "proposed", **changes: object) -> RunReport:
    target = Target("add.py", "add", "", frozenset({2}), (Function("add", 1, 2, 2),))
    proposed = TargetReport(
        target,
        "proposed",
        suite=Suite("test_add.py", SUITE),
        ledger=(Judgement("test_add.py::test_add", None),),
    )
    fields: dict[str, object] = {
        "status": status,
        "reason": "",
        "base": None,
        "head": None,
        "model": "testforge/offline",
        "sandbox": "process",
        "targets": (proposed,) if status in ("proposed", "cancelled") else (),
    }
    return RunReport(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.fixture
def repo(tmp_path, monkeypatch):
    root = tmp_path / "repo"
    (root / "pkg").mkdir(parents=True)
    (root / "add.py").write_text("def add(a, b):\n    return a + b\n")
    (root / "pkg/mod.py").write_text("")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "one"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def calls(monkeypatch):
    """A pipeline that notes what it is asked and answers what the test wants."""
    noted = Calls()
    noted.answer = report()

    def review(request: Request, progress: Callable[[Progress], None]) -> RunReport:
        noted.append(request)
        progress(Progress("changes", "started"))
        if isinstance(noted.answer, BaseException):
            raise noted.answer
        return noted.answer(request) if callable(noted.answer) else noted.answer

    fake = types.ModuleType("bot.pipeline")
    fake.review = review  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bot.pipeline", fake)
    monkeypatch.setattr(bot, "pipeline", fake, raising=False)
    for name in [name for name in os.environ if name.startswith("TESTFORGE_")]:
        monkeypatch.delenv(name)
    return noted


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


# ---------------------------------------------------------------- what is asked of the pipeline


def test_a_review_asks_with_the_defaults(repo, calls):
    assert call("review", "--base", "main").exit_code == 0
    assert calls == [Request(root=repo, base="main")]


def test_every_option_reaches_the_request(repo, calls):
    options = "--head main --only add.py --only pkg --model x/y --sandbox process --max-iterations 3 --budget 0.5 --seed 7"
    assert call("review", str(repo / "pkg"), "--base", "main", *options.split()).exit_code == 0
    assert calls == [Request(repo, "main", "main", None, ("add.py", "pkg"), "x/y", "process", 3, 0.5, 7)]


def test_the_options_of_a_models_calls_reach_the_request(repo, calls):
    assert call("generate", "add.py", "--record", "tape", "--jobs", "3").exit_code == 0
    assert call("review", "--base", "main", "--trace", "t.jsonl", "--replay", "tape").exit_code == 0
    assert [(r.trace, r.record, r.replay, r.jobs) for r in calls] == [
        (None, Path("tape"), None, 3),
        (Path("t.jsonl"), None, Path("tape"), None),
    ]


def test_a_replay_cannot_be_recorded(repo, calls):
    result = call("generate", "add.py", "--record", "a", "--replay", "b")
    assert (result.exit_code, calls) == (2, [])
    assert "leave out --record or --replay" in result.stderr


def test_generate_asks_for_the_whole_file(repo, calls, monkeypatch):
    monkeypatch.chdir(repo / "pkg")
    assert call("generate", "../add.py").exit_code == 0
    assert calls == [Request(root=repo, whole_file="add.py")]


def test_generate_works_without_git(tmp_path, calls):
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/add.py").write_text("")
    assert call("generate", str(tmp_path / "src/add.py")).exit_code == 0
    assert (calls[0].root, calls[0].whole_file) == (tmp_path, "src/add.py")


def test_options_come_before_the_environment_and_that_before_the_configuration(repo, calls, monkeypatch):
    (repo / ".github").mkdir()
    (repo / ".github/testforge.yml").write_text("model: config/model\nmax_iterations: 4\nbudget_usd: 2\n")
    call("generate", "add.py")
    monkeypatch.setenv("TESTFORGE_MODEL", "environment/model")
    call("generate", "add.py")
    call("generate", "add.py", "--model", "option/model", "--max-iterations", "0", "--budget", "0")
    assert [(r.model, r.max_iterations, r.budget_usd) for r in calls] == [
        ("config/model", 4, 2.0),
        ("environment/model", 4, 2.0),
        ("option/model", 0, 0.0),
    ]


def test_the_configuration_of_a_review_is_the_base_commits(repo, calls):
    (repo / ".github").mkdir()
    (repo / ".github/testforge.yml").write_text("max_iterations: 4\n")
    call("review", "--base", "HEAD")
    assert calls[0].max_iterations == 25


# ---------------------------------------------------------------- what comes out


def test_the_report_goes_to_stdout_and_progress_to_stderr(repo, calls):
    result = call("review", "--base", "main")
    assert result.stdout.startswith("1 test proposed for 1 changed file\n")
    assert "changes" in result.stderr
    assert "proposed" not in result.stderr


def test_quiet_shows_no_progress(repo, calls):
    result = call("review", "--base", "main", "--quiet")
    assert result.stderr == ""
    assert "1 test proposed" in result.stdout


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("proposed", 0),
        ("nothing-to-test", 0),
        ("no-useful-tests", 0),
        ("inconclusive", 3),
        ("failed", 1),
        ("cancelled", 1),
    ],
)
def test_the_exit_code_follows_the_status(repo, calls, status, code):
    calls.answer = report(status)
    assert call("review", "--base", "main").exit_code == code


def test_json_is_written_to_a_file(repo, calls, tmp_path):
    result = call("review", "--base", "main", "--json", str(tmp_path / "out.json"))
    data = json.loads((tmp_path / "out.json").read_text())
    assert (data["schema"], data["status"]) == (1, "proposed")
    assert "1 test proposed" in result.stdout


def test_json_on_stdout_is_alone_there(repo, calls):
    result = call("review", "--base", "main", "--json", "-", "--quiet")
    assert json.loads(result.stdout)["status"] == "proposed"
    assert "1 test proposed" in result.stderr


def test_the_patch_applies(repo, calls, tmp_path):
    result = call("review", "--base", "main", "--patch", str(tmp_path / "out.patch"))
    assert "git apply" in result.stdout
    assert not (repo / "test_add.py").exists()
    subprocess.run(["git", "apply", str(tmp_path / "out.patch")], cwd=repo, check=True)
    assert (repo / "test_add.py").read_text() == SUITE


def test_apply_writes_the_tests(repo, calls):
    result = call("review", "--base", "main", "--apply")
    assert (repo / "test_add.py").read_text() == SUITE
    assert "Written: test_add.py." in result.stdout


def test_without_apply_nothing_is_written(repo, calls):
    before = sorted(repo.iterdir())
    call("review", "--base", "main")
    assert sorted(repo.iterdir()) == before


def test_a_cancelled_run_reports_but_does_not_apply(repo, calls, tmp_path):
    calls.answer = report("cancelled", reason="It was stopped.")
    result = call("review", "--base", "main", "--apply", "--json", str(tmp_path / "out.json"))
    assert result.exit_code == 1
    assert not (repo / "test_add.py").exists()
    assert "Cancelled; 1 test found until then" in result.stdout
    assert json.loads((tmp_path / "out.json").read_text())["targets"][0]["suite"]["content"] == SUITE


def test_tests_that_cannot_be_written_are_still_reported(repo, calls):
    (repo / "test_add.py").mkdir()
    result = call("review", "--base", "main", "--apply")
    assert result.exit_code == 2
    assert "1 test proposed" in result.stdout
    assert "is not a file" in result.stderr


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["review"], "Missing option '--base'"),
        (["review", "--base", "nope"], "There is no commit, branch or tag 'nope'"),
        (["review", "/nowhere", "--base", "main"], "There is no file or directory '/nowhere'"),
        (["review", "/", "--base", "main"], "is not in a git repository"),
        (["review", "--base", "main", "--only", "missing.py"], "There is no file or directory 'missing.py'"),
        (["review", "--base", "main", "--only", "/etc"], "lies outside of"),
        (["review", "--base", "main", "--json", "/nowhere/x.json"], "There is no directory '/nowhere'"),
        (["review", "--base", "main", "--json", "-", "--patch", "-"], "the same file"),
        (["review", "--base", "main", "--sandbox", "vm"], "vm"),
        (["review", "--base", "main", "--max-iterations", "-1"], "--max-iterations"),
        (["review", "--base", "main", "--nope"], "No such option: --nope"),
        (["generate", "missing.py"], "There is no file 'missing.py'"),
        (["score", "add.py", "missing.py"], "There is no file 'missing.py'"),
        (["score", "missing.py", "add.py"], "There is no file 'missing.py'"),
        (["nope"], "No such command 'nope'"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(repo, calls, arguments, sentence):
    result = call(*arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr
    assert calls == []


def test_a_wrong_configuration_is_told_before_the_work(repo, calls):
    (repo / ".github").mkdir()
    (repo / ".github/testforge.yml").write_text("modle: x\n")
    result = call("generate", "add.py")
    assert result.exit_code == 2
    assert "line 1: there is no key `modle`. Did you mean `model`?" in result.stderr
    assert calls == []


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InconclusiveError("It could not be installed.", "line one\nline \x1b[31mtwo"), 3),
        (ModelError("The model gave no reply."), 1),
        (TestforgeError("It broke."), 1),
    ],
)
def test_an_error_of_the_family_is_its_sentence(repo, calls, error, code):
    calls.answer = error
    result = call("review", "--base", "main", "--quiet")
    assert result.exit_code == code
    detail = "    line one\n    line two\n" if error.detail else ""
    assert result.stderr == f"testforge: {error.message}\n{detail}"


def test_ctrl_c_before_there_is_anything_is_a_sentence(repo, calls):
    calls.answer = KeyboardInterrupt()
    result = call("review", "--base", "main", "--quiet")
    assert (result.exit_code, result.stderr) == (1, "testforge: Stopped before anything was found.\n")


def test_an_unexpected_error_is_testforges_fault(repo, calls, monkeypatch):
    calls.answer = ZeroDivisionError("division by zero")
    result = call("review", "--base", "main", "--quiet")
    assert result.exit_code == 1
    assert "its fault, not yours" in result.stderr
    assert "ZeroDivisionError: division by zero" in result.stderr
    assert "Traceback" not in result.stderr
    monkeypatch.setenv("TESTFORGE_DEBUG", "1")
    assert isinstance(call("review", "--base", "main").exception, ZeroDivisionError)


def test_a_report_that_cannot_be_written_does_not_cost_the_patch_or_what_is_told(repo, calls):
    done = call("review", "--base", "main", "--json", "/dev/full", "--patch", "tests.patch", "--apply")
    assert done.exit_code == 1
    assert "'/dev/full' could not be written: No space left on device." in done.stderr
    assert "test_add" in (repo / "tests.patch").read_text()
    assert (repo / "test_add.py").read_text() == SUITE
    assert "1 test proposed" in done.stdout


# ---------------------------------------------------------------- the real process


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from bot.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]


def test_help_and_version_answer():
    assert "review" in run("--help").stdout
    assert run("--version").stdout.startswith("testforge ")
    assert run("review", "--help").returncode == 0


def test_help_imports_nothing_heavy():
    heavy = (
        "pydantic",
        "yaml",
        "litellm",
        "libcst",
        "cosmic_ray",
        "parso",
        "rich",
        "coverage",
        "bot.pipeline",
        "bot.changes",
    )
    code = "import sys, bot.cli\ntry: bot.cli.app(['--help'])\nexcept SystemExit: pass\nprint(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1]
    assert [name for name in heavy if f"'{name}'" in loaded] == []


def test_a_closed_pipe_is_no_traceback(repo):
    command = (
        f"{sys.executable} -c 'from bot.cli import main; main()' review --base nope 2>&1 >/dev/full | true"
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd=repo)
    assert "Traceback" not in done.stderr


def test_termination_is_handled_as_an_interruption(repo):
    code = (
        "import os, signal, sys, types, bot, bot.cli\n"
        "fake = types.ModuleType('bot.pipeline'); sys.modules['bot.pipeline'] = bot.pipeline = fake\n"
        "fake.review = lambda request, tell: os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.argv = ['testforge', 'review', '--base', 'main', '--quiet']\n"
        "bot.cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=repo)
    assert (done.returncode, done.stderr) == (1, "testforge: Stopped before anything was found.\n")


def test_odd_code_of_a_repository_causes_no_warnings():
    program = """
import atexit, sys
from bot.cli import main
atexit.register(lambda: compile("1 is 1", "suite", "exec"))
sys.argv = ["testforge", "--version"]
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
