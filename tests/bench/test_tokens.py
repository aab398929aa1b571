"""The bench of tokens counts a recorded run, the same each time."""

from __future__ import annotations

import pytest

from bench import tokens
from bot.models.replay import Cassette

pytestmark = pytest.mark.slow


def test_the_recorded_run_of_25_turns_costs_at_most_half_of_sending_everything_anew(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = tokens.counted(Cassette(tokens.RECORDED))
    assert len(rows) == 2 + tokens.TURNS  # the greeting and the seed come before the turns
    assert sum(row.prompt - row.cached for row in rows) <= tokens.MOST_UNCACHED * sum(
        row.prompt for row in rows
    )
    assert tokens.told(rows) == 0
    assert "prompt tokens sent               629,811" in capsys.readouterr().out


def test_a_run_whose_beginning_changes_is_told_by_the_exit_code() -> None:
    rows = [tokens.Row(prompt=2_000, cached=0, completion=10)] * 3
    assert tokens.told(rows) == 1
