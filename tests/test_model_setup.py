"""What is wrong with a model's set-up ends a command at its start: exit code 2, what to set, and nothing prepared."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from model_server import KEY, MODELS, ModelServer, Raw, serving
from typer.testing import CliRunner, Result

from bot.cli import app

pytestmark = pytest.mark.slow

PAGE = Raw("<html>Sign in</html>", headers={"Content-Type": "text/html"})
FORMS = sorted(MODELS)


@pytest.fixture(name="server")
def _server() -> Iterator[ModelServer]:
    with serving() as server:
        server.afterwards = PAGE
        yield server


def generate(place: Path, model: str) -> Result:
    """Ask for tests, with a record, and return how that ended; lines of the output are joined."""
    (place / "halves.py").write_text("def half(number):\n    return number / 2\n", "utf-8")
    options = ["--model", model, "--sandbox", "process", "--record", str(place / "tape")]
    return CliRunner().invoke(app, ["generate", str(place / "halves.py"), *options])


def assert_told(done: Result, *words: str) -> None:
    said = " ".join(done.output.split())
    assert done.exit_code == 2, said
    assert not [word for word in words if word not in said], said
    assert set(re.findall(r"\d s\] (\w+)", done.output)) == {"changes", "model"}  # the stages that were begun
    assert "Traceback" not in said
    assert KEY not in said


@pytest.mark.parametrize("form", FORMS)
def test_a_missing_key(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert_told(generate(tmp_path, MODELS[form]), "needs a key: set", f"{form.upper()}_API_KEY")
    assert server.requests == []


def test_an_unknown_model(server: ModelServer, tmp_path: Path) -> None:
    assert_told(generate(tmp_path, "nobody/nothing"), "There is no model 'nobody/nothing'", "openai/gpt-4o")
    assert server.requests == []


@pytest.mark.parametrize("form", FORMS)
def test_an_address_where_something_else_answers(server: ModelServer, tmp_path: Path, form: str) -> None:
    assert_told(generate(tmp_path, MODELS[form]), f"check the address in {form.upper()}_API_BASE.")


@pytest.mark.parametrize("form", FORMS)
def test_no_network(server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL", "ANTHROPIC_API_BASE", "GEMINI_API_BASE"):
        monkeypatch.setenv(name, address)
    monkeypatch.setattr("bot.models.retry.Retry.wait_s", lambda *_: 0.0)
    assert_told(
        generate(tmp_path, MODELS[form]),
        f"cannot be reached; check the network, and the address in {form.upper()}_API_BASE if you set one.",
    )
    assert server.requests == []
