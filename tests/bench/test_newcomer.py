"""The bench of the three ways in types what the pages say, in one shell on a clean machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.newcomer import pages
from bench.newcomer.machine import Machine, TypingError


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("command.md", "git clone"),
        ("command.md", "testforge review --base main\n"),
        ("app.md", "build.sh"),
        ("app.md", "testforge serve"),
        ("action.md", "testforge init"),
    ],
)
def test_what_is_typed_stands_on_the_page(page: str, text: str) -> None:
    assert text in pages.block(page, holds=text)


def test_what_no_page_says_is_not_typed() -> None:
    with pytest.raises(LookupError):
        pages.block("command.md", holds="sudo")


def test_the_readmes_first_command_is_found_without_its_comment() -> None:
    assert pages.readme_line("make demo") == "make demo"


def test_directories_and_exports_stay_for_what_is_typed_next(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine", tmp_path)
    machine.type("mkdir there\ncd there\nexport WORD='two words'")
    machine.type('test "$PWD" = ~/there && test "$WORD" = "two words"  # a comment')
    assert [one.text for one in machine.typed][1] == '`test "$PWD" = ~/there && test "$WORD" = "two words"`'


def test_a_command_that_fails_ends_the_way(tmp_path: Path) -> None:
    with pytest.raises(TypingError, match=r"exit code 3:\s+so it is"):
        Machine(tmp_path / "machine", tmp_path).type("echo so it is\n(exit 3)\necho on")
