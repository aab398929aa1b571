"""`testforge serve` that cannot start."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app


def test_a_key_that_cannot_be_read_ends_it_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[int] = []
    monkeypatch.setattr("bot.commands.serve.leave", ends.append)
    monkeypatch.setenv("TESTFORGE_DATA_DIRECTORY", str(tmp_path / "data"))
    monkeypatch.setenv("TESTFORGE_APP_ID", "7")
    monkeypatch.setenv("TESTFORGE_WEBHOOK_SECRET", "secret")
    monkeypatch.setenv("TESTFORGE_PRIVATE_KEY_FILE", str(tmp_path / "private-key.pem"))
    done = CliRunner().invoke(app, ["serve", "--port", "0"])
    assert done.exit_code == 2
    assert "The App's private key cannot be read from" in done.output
    assert "Traceback" not in done.output
    assert ends == []
