"""A first configuration and a workflow, made after a look at a repository: what differs from the defaults, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bot.repoconfig import RepoConfig

_MANY = 3
_EXAMPLE = """\
# Reviews every pull request: tests that pass and prove something come as suggestions.
name: testforge

on:
  pull_request:
    types: [opened, synchronize, reopened, ready_for_review]

permissions: {}

concurrency:
  group: testforge-${{ github.event.pull_request.number }}
  cancel-in-progress: true

jobs:
  review:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    permissions:
      contents: read
      pull-requests: write
      issues: write
    steps:
      - uses: testforge/testforge@v0
"""


@dataclass(frozen=True, slots=True)
class Look:
    """What a repository shows.

    Attributes:
        tests: The directory that holds most of its tests; empty for none.
        classes: Whether most of its test files hold test classes.
        odd: Directories of Python that nobody wants tests for and whose names do not say so everywhere.
    """

    tests: str = ""
    classes: bool = False
    odd: tuple[str, ...] = ()


def look(root: Path, files: Iterable[str]) -> Look:
    """Look at a repository's files."""
    python = [path for path in files if path.endswith(".py")]
    tests = [path for path in python if Path(path).name.startswith("test_")]
    places = [str(Path(path).parent) for path in tests]
    common = max(sorted(set(places)), key=places.count, default="")
    texts = [_text(root / path) for path in sorted(tests)[:50]]
    classes = sum(
        "class Test" in text or "(unittest.TestCase)" in text or "(TestCase)" in text for text in texts
    )
    scripts = sorted(
        {
            path.partition("/")[0]
            for path in python
            if path.startswith(("scripts/", "tools/", "docs/", "examples/"))
        }
    )
    return Look(
        common if places.count(common) >= _MANY and len(set(places)) > 1 else "",
        bool(texts) and classes > len(texts) / 2,
        tuple(f"{name}/**" for name in scripts),
    )


def configuration(found: Look) -> str:
    """Return the text of `.github/testforge.yml`: what differs from the defaults is set, the rest stands as a comment."""
    lines = [
        "# What testforge does in this repository. It is read from the base branch; every key has a default.",
        "# Keys and defaults: docs/configuration.md of testforge.",
    ]
    if found.odd:
        lines += ["paths:", "  # Python that is run by hand, not imported."]
        lines += ["  exclude:", *(f"    - {glob!r}" for glob in found.odd)]
    else:
        lines += ["# paths:", '#   exclude: ["src/legacy/**"]']
    lines += (
        ["tests:", f"  directory: {found.tests}  # where most of the tests are"]
        if found.tests
        else ["# tests:", "#   directory: tests  # where new test files go; by default where the others are"]
    )
    if found.classes:
        lines += [*(["tests:"] if not found.tests else []), "  style: classes  # as most test files here"]
    defaults = RepoConfig()
    lines += [
        "# model: openai/gpt-4o  # without one, the built-in model: no key, no cost",
        "# budget_usd: 1.0  # what one run may cost",
        f"# max_iterations: {defaults.max_iterations}",
        "# environment:",
        '#   python: "3.12"',
        '#   setup: ["pip install -e ./plugins/local"]',
        f"# deliver: {defaults.deliver}  # or commit, or stacked-pr",
    ]
    return "\n".join(lines) + "\n"


def workflow() -> str:
    """Return the text of a workflow that reviews pull requests."""
    return _EXAMPLE


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")[:20_000]
    except OSError:
        return ""
