"""What is said about a step of an installation that failed."""

from __future__ import annotations

import pytest

from bot.environment.installer import Failure


@pytest.mark.parametrize(
    "printed",
    [
        "error: [Errno 2] No such file or directory: 'x86_64-linux-gnu-gcc'",
        "error: command 'gcc' failed: No such file or directory",
        "meson.build:1:0: ERROR: Unknown compiler(s): [['cc'], ['gcc'], ['clang']]",
        "  No CMAKE_CXX_COMPILER could be found.",
        "quick/_fast.c:1:10: fatal error: Python.h: No such file or directory",
    ],
)
def test_a_missing_compiler_is_recognised_and_what_to_set_is_told(printed: str) -> None:
    told = Failure("uv pip install .", "it failed.", f"building\n{printed}\nmore").error().message

    assert "there is no compiler" in told
    assert "environment: {setup: ['apt-get install -y gcc" in told


@pytest.mark.parametrize(
    ("printed", "offline"),
    [
        ("error: Failed to fetch: `https://example.com/simple/a/`\n  dns error", True),
        ("error: Git operation failed\n  failed to fetch into: /x", False),
        ("error: No solution found when resolving dependencies", False),
    ],
)
def test_a_repository_that_cannot_be_fetched_is_no_missing_index(printed: str, offline: bool) -> None:
    assert Failure("uv pip install a", "it failed.", printed).offline is offline


def test_a_full_disk_is_told_as_such() -> None:
    told = (
        Failure("uv pip install a", "it failed.", "error: No space left on device (os error 28)")
        .error()
        .message
    )

    assert "the disk is full" in told
