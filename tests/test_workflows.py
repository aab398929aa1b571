"""The Action, the example workflows, this repository's own and its images, checked by the linters of their readers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
WORKFLOWS = sorted(
    str(path.relative_to(ROOT))
    for place in ("examples/workflows", ".github/workflows")
    for path in (ROOT / place).glob("*.yml")
)


@pytest.mark.parametrize(
    "command",
    [
        ["check-jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml"],
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS],
        ["zizmor", "--offline", "--no-progress", "--quiet", "action.yml", *WORKFLOWS],
        ["actionlint", *WORKFLOWS],
        ["hadolint", "Dockerfile", "sandbox-images/Dockerfile", "tests/image/postgres/Dockerfile"],
    ],
    ids=lambda command: " ".join(command[:1] + command[-1:]),
)
def test_no_linter_has_anything_to_say(command: list[str]) -> None:
    done = subprocess.run(
        [BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS)
def test_workflows_run_no_strangers_code_with_secrets(path: str) -> None:
    assert "pull_request_target" not in (ROOT / path).read_text()
