"""The bench of several files: the model in it writes a suite, improves it once and ends."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from bench import targets


def said(messages: list[dict[str, Any]], tools: bool) -> tuple[str, list[str]]:
    choice = targets.reply(messages, tools)["choices"][0]["message"]
    return choice["content"], [call["function"]["name"] for call in choice.get("tool_calls", ())]


def test_a_file_takes_a_seed_a_turn_and_the_end() -> None:
    task = {"role": "user", "content": "File under test: scale3.py"}
    assert said([{"role": "user", "content": "Answer with one word: ready"}], tools=False) == ("ready", [])
    seed, _ = said([task], tools=False)
    assert "assert scaled(2) == 8" in seed
    assert said([task], tools=True)[1] == ["insert_lines", "run_tests"]
    assert said([task, {"role": "tool", "content": "2 passed"}], tools=True)[1] == ["finish"]


def test_the_project_adds_its_files_to_one_commit(tmp_path: Path) -> None:
    root = targets.project(tmp_path / "project", 2)
    new = subprocess.run(
        ["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True
    )
    assert new.stdout.split() == ["??", "scale1.py", "??", "scale2.py"]
    assert json.dumps(targets.SOURCE.format(factor=3)).count("* 3") == 1
