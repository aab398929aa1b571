"""`tests.command` of the configuration, as pytest gets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain import Target
from bot.errors import UsageError
from bot.measure import baseline
from bot.measure.pytest_arguments import PytestArguments, read
from bot.sandbox import Interpreter, Sandbox
from bot.sandbox.process import ProcessSandboxes

OpenBox = Callable[..., Sandbox]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    (tmp_path / "tests" / "pytest.ini").write_text("[pytest]\n")
    return tmp_path


def test_no_command_adds_nothing(tree: Path) -> None:
    assert read(None, tree) == PytestArguments()


@pytest.mark.parametrize("start", ["", "pytest ", "py.test ", "python -m pytest ", "python3 -m pytest "])
def test_options_and_tests_are_told_apart_with_and_without_the_runner(tree: Path, start: str) -> None:
    found = read(f"{start}-p no:randomly tests/unit/ -q", tree)

    assert found == PytestArguments(("-p", "no:randomly", "-q"), ("tests/unit",))


def test_the_value_of_an_option_is_no_selection(tree: Path) -> None:
    found = read("-c tests/pytest.ini --ignore tests/unit", tree)

    assert found == PytestArguments(("-c", "tests/pytest.ini", "--ignore", "tests/unit"), ())


def test_a_quoted_value_stays_whole(tree: Path) -> None:
    assert read("-k 'not slow'", tree).options == ("-k", "not slow")


def test_another_program_is_refused_with_what_to_write_instead(tree: Path) -> None:
    with pytest.raises(UsageError, match="starts with 'make', which is neither pytest nor a path"):
        read("make test", tree)


def test_an_open_quote_is_refused(tree: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read as a command line: No closing quotation"):
        read("-k 'not", tree)


def test_configured_options_reach_pytest(interpreter: Interpreter, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "mod.py").write_text("def one():\n    return 1\n")
    (tmp_path / "tree" / "test_mod.py").write_text(
        "from mod import one\ndef test_one(): assert one() == 1\ndef test_slow(): assert one() == 1\n"
    )
    target = Target(
        path="mod.py", module="mod", source="def one():\n    return 1\n", changed_lines=frozenset({2})
    )
    configured = replace(interpreter, pytest_options=("-k", "not slow"))

    with ProcessSandboxes().open(tmp_path / "tree", configured) as box:
        taken = baseline.take(box, [target], timeout_s=60)

    assert taken.green == ("test_mod.py::test_one",)
