"""JSON lines that are not in the format: each is refused with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import UsageError
from bot.programs.cached import read_candidates, read_tasks, read_tests


@pytest.mark.parametrize(
    "line",
    [
        '{"task_id": 1, "codes": null}',
        '{"task_id": 1, "codes": "abc"}',
        '{"task_id": 1, "codes": [1]}',
        '{"task_id": 1, "codes": ["x = 1"], "order": 3}',
        '{"task_id": 1, "codes": ' + "[" * 200_000,
        '{"task_id": ' + "1" * 5000 + ', "codes": []}',
    ],
    ids=["null", "text", "numbers", "order", "deep", "huge"],
)
def test_candidates_of_a_wrong_type_are_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text(line)
    with pytest.raises(UsageError):
        read_candidates(file, {})


@pytest.mark.parametrize(
    "fields",
    [
        '"asserts": 5',
        '"asserts": [null]',
        '"asserts": ["a"], "samples": [0]',
        '"asserts": ["a"], "samples": 1',
    ],
)
def test_tests_of_a_wrong_type_are_refused(tmp_path: Path, fields: str) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(f'{{"task_id": 1, {fields}}}')
    with pytest.raises(UsageError):
        read_tests(file)


@pytest.mark.parametrize("fields", ['"hidden_tests": [1]', '"hidden_tests": ["a"], "test_imports": 1'])
def test_tasks_of_a_wrong_type_are_refused(tmp_path: Path, fields: str) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text(f'{{"task_id": 1, "entry_point": "f", {fields}}}')
    with pytest.raises(UsageError):
        read_tasks(file)
